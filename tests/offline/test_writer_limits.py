from __future__ import annotations

import re

import pytest

from toolassay.dataset import Sample
from toolassay.offline.planner.mentions import Mentions
from toolassay.offline.planner.plan_arguments import fill_parameters
from toolassay.offline.writer.allowed_values import allowed_range, allowed_values
from toolassay.offline.writer.instruction import write_instruction
from toolassay.tools import Parameter, Tool, ToolLibrary


def drawn(entry: dict[str, object]) -> set[str]:
    """Values of one parameter in 30 requests, each of which holds its value."""
    nodes = [{"id": "kiln", "desc": "Adjusts the furnace for the next batch.", "parameters": [entry]}]
    library = ToolLibrary.from_json({"nodes": nodes})
    values = set()
    for index in range(30):
        reply = write_instruction(Sample(index, 0, "single", ("kiln",), ()), library, "temporal")
        value = reply["invoking_graph"]["nodes"][0]["arguments"][0]["value"]
        assert value in reply["user_request"] or value in ("true", "false")
        values.add(value)
    return values


@pytest.mark.parametrize(
    ("kind", "description", "values"),
    [
        ("string", "small | medium | large", {"small", "medium", "large"}),
        ("string", "'metric' or 'imperial'", {"metric", "imperial"}),
        ("string", "one of slow, fast, idle", {"slow", "fast", "idle"}),
        ("string", "Grade of steel (soft/hard/brittle)", {"soft", "hard", "brittle"}),
        ("string", "eg. light, dark, blond etc.", {"light", "dark", "blond"}),
        ("string", "Kind of finish, e.g. matt or gloss", {"matt", "gloss"}),
        ("enum(72, 150, 300)", "", {"72", "150", "300"}),
        ("Literal['free', 'pro']", "", {"free", "pro"}),
        ("integer", "one of 4, 8, 16", {"4", "8", "16"}),
        ("boolean", "whether to fire twice", {"true", "false"}),
    ],
)
@pytest.mark.parametrize("name", ["size", "setting", "colour"])
def test_a_listed_value_is_taken(name: str, kind: str, description: str, values: set[str]) -> None:
    assert drawn({"name": name, "type": kind, "desc": description}) == values


def test_the_enum_of_the_library_file_is_kept() -> None:
    assert drawn({"name": "city", "enum": ["Gala", "Fuji", None]}) == {"Gala", "Fuji"}


@pytest.mark.parametrize(
    ("kind", "description", "low", "high"),
    [
        ("int", "5 to 30", 5, 30),
        ("integer", "A rating between 1 and 10", 1, 10),
        ("number", "1-5", 1, 5),
        ("float", "from 0.5 to 0.9", 0.5, 0.9),
        ("string", "heat level, 3–6", 3, 6),
    ],
)
def test_a_number_of_the_range_is_taken(kind: str, description: str, low: float, high: float) -> None:
    values = drawn({"name": "level", "type": kind, "desc": description})
    assert len(values) > 1
    assert all(low <= float(value) <= high for value in values)


@pytest.mark.parametrize(
    "description",
    ["day, as in 2026-05-14", "5 to 30 characters", "one of the customers", "(dd/mm/yyyy)", "at 10:30-11:30"],
)
def test_other_words_restrict_nothing(description: str) -> None:
    parameter = Parameter("thing", "string", description)
    assert allowed_values(parameter, Tool("t")) == []
    assert allowed_range(parameter, Tool("t")) is None


@pytest.mark.parametrize("kind", ["string | null", "str|None", "Optional[str]"])
def test_a_union_of_types_lists_no_values(kind: str) -> None:
    assert allowed_values(Parameter("thing", kind), Tool("t")) == []


@pytest.mark.parametrize(
    ("name", "description", "pattern"),
    [
        ("iban", "", r"[A-Z]{2}\d\d[A-Z0-9]{11,30}"),
        ("uuid", "", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("country_code", "", r"[A-Z]{2}"),
        ("country", "two-letter country code", r"[A-Z]{2}"),
        ("language_code", "", r"[a-z]{2}"),
        ("contact", "email address", r"\S+@\S+"),
        ("unit", "", r"[a-z ]+"),
        ("temperature_unit", "", r"Celsius|Fahrenheit|Kelvin"),
    ],
)
def test_a_value_looks_as_its_name_says(name: str, description: str, pattern: str) -> None:
    for value in drawn({"name": name, "desc": description}):
        assert re.fullmatch(pattern, value), value


def planned(parameter: Parameter, request: str) -> list[str]:
    tool = Tool("kiln", "Adjusts the furnace.", parameters=(parameter,))
    return [argument["value"] for argument in fill_parameters(tool, Mentions(request), 0.0, set())]


def test_the_planner_takes_what_is_allowed() -> None:
    size = Parameter("size", "string", "small | medium | large")
    assert planned(size, "Heat the furnace in 'Oslo' for a medium batch.") == ["medium"]
    assert planned(size, "Heat the furnace in 'Oslo'.") == []
    verbose = Parameter("verbose", "boolean", "whether to be verbose")
    assert planned(verbose, "Heat it with the option 'verbose' set to 'false'.") == ["false"]
    assert planned(verbose, "Heat it in a verbose manner, with the 'verbose' option.") == []
    level = Parameter("level", "integer", "5 to 30")
    assert planned(level, "Heat 900 bricks with the level set to 12.") == ["12"]
