from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.support.builders import imported_tool
from toolassay.argument_values.allowed_values import allowed_range, allowed_values, quoted_in
from toolassay.argument_values.drawn_values import draw_arguments
from toolassay.offline.planner.mentions import Mentions
from toolassay.offline.planner.plan_arguments import fill_parameters
from toolassay.tools.library import Parameter, Tool, ToolLibrary


def drawn(entry: dict[str, Any]) -> set[str]:
    """Values of one parameter in 30 draws."""
    tool = ToolLibrary.from_json({"nodes": [{"id": "kiln", "desc": "Fires.", "parameters": [entry]}]})["kiln"]
    return {draw_arguments(tool, Random(seed)).arguments[entry["name"]] for seed in range(30)}


@pytest.mark.parametrize(
    ("kind", "description", "values"),
    [
        ("string", "small | medium | large", {"small", "medium", "large"}),
        ("string", "'metric' or 'imperial'", {"metric", "imperial"}),
        ("string", "one of slow, fast, idle", {"slow", "fast", "idle"}),
        ("enum(72, 150, 300)", "", {"72", "150", "300"}),
        ("Literal['free', 'pro']", "", {"free", "pro"}),
        ("boolean", "whether to fire twice", {"true", "false"}),
    ],
)
def test_a_listed_value_is_taken(kind: str, description: str, values: set[str]) -> None:
    assert drawn({"name": "size", "type": kind, "desc": description}) == values


def test_the_enum_of_the_library_file_is_kept() -> None:
    assert drawn({"name": "city", "enum": ["Gala", "Fuji", None]}) == {"Gala", "Fuji"}


@pytest.mark.parametrize(
    ("kind", "description", "low", "high"),
    [
        ("int", "5 to 30", 5, 30),
        ("integer", "A rating between 1 and 10", 1, 10),
        ("number", "1-5", 1, 5),
        ("float", "from 0.5 to 0.9", 0.5, 0.9),
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
    assert allowed_values(parameter) == []
    assert allowed_range(parameter) is None


@pytest.mark.parametrize(
    "description",
    [
        "What to look for. It may be narrowed by filters. The filters are `artist`, `year` and `label`.",
        "Owner of the shelf (required for 'add' or 'reply')",
        "Keys to show, e.g. just 'key' and 'title'. Others are left out.",
        "Examples: 'colour:red', 'size:10'",
        "Cannot be combined with 'until' or 'limit'",
        "Split with |, e.g. Gala|Fuji",
        '要查询的城市，比如"北京"。若要查询多个城市，请用|分割，比如"北京|上海"。',
    ],
)
def test_texts_in_quotation_marks_with_another_role_restrict_nothing(description: str) -> None:
    assert allowed_values(Parameter("thing", "string", description)) == []


@pytest.mark.parametrize(
    "description",
    [
        "[Enum]: ['up', 'down']",
        "Where it goes. Valid values are: `up` and `down`.",
        "Way (either 'up' or 'down')",
        "Way: 'up' or 'down'",
        "It must be 'up' or 'down'.",
    ],
)
def test_texts_in_quotation_marks_that_are_announced_are_the_values(description: str) -> None:
    assert allowed_values(Parameter("way", "string", description)) == ["up", "down"]


@pytest.mark.parametrize(
    ("description", "values"),
    [
        ("Hamburg, Lyon or Porto", ["Hamburg", "Lyon", "Porto"]),
        ("The site that ships: Hamburg, Lyon, or Porto.", ["Hamburg", "Lyon", "Porto"]),
        ("Where it is made (Leeds or New Delhi). Not where it is sold.", ["Leeds", "New Delhi"]),
        ("The currency of the price. Must be EUR, Franc or Krone.", ["EUR", "Franc", "Krone"]),
        ("How fast: express, standard or slow", ["express", "standard", "slow"]),
        ("matt or gloss", ["matt", "gloss"]),
    ],
)
def test_a_plain_list_of_names_or_words_is_the_values(description: str, values: list[str]) -> None:
    assert allowed_values(Parameter("site", "string", description)) == values
    assert drawn({"name": "site", "type": "string", "desc": description}) == set(values)


def test_the_name_of_another_argument_is_no_value() -> None:
    properties = {
        "group_id": {"type": "string", "description": "either this or `group_ids`"},
        "group_ids": {"type": "string", "description": "e.g. `red`, or none with `group_id`"},
    }
    node = imported_tool("find", "Finds.", properties, [*properties])
    tool = ToolLibrary.from_json({"nodes": [node]})["find"]
    values = [draw_arguments(tool, Random(seed)).arguments for seed in range(20)]
    assert not {text for one in values for text in one.values()} & {*properties}
    assert "red" in {one["group_ids"] for one in values}


@pytest.mark.parametrize(
    "description",
    [
        "optional, either this or `group_ids`",
        "Either it or group_ids is needed",
        "Name, email or id",
        "Customer: Email or Phone Number",
        "A city, e.g. Leeds or Porto",
        "For example: Leeds or Porto",
        "Reads a site such as Leeds or Porto.",
        "The owner (person or firm)",
        "The orders that should be opened or closed",
        "From 2031-01-01T00:00:SSZ or YYYY-MM-DD",
    ],
)
def test_what_is_not_all_that_a_parameter_may_be_restricts_nothing(description: str) -> None:
    assert allowed_values(Parameter("site", "string", description)) == []


def test_what_the_pattern_of_the_schema_refuses_is_no_value() -> None:
    flags = Parameter("flags", "string", "[G(fast/slow), D(diesel)]", {"pattern": "^[GD]*$"})
    assert allowed_values(flags) == []


@pytest.mark.parametrize(
    "description", ["The day, as 'yyyy-MM-dd'", "(`HH:mm`)", '日期，格式为 "yyyy-MM-dd"']
)
def test_the_form_of_a_date_is_no_example(description: str) -> None:
    assert quoted_in(description) == []
    assert quoted_in(f'{description}；比如"北京"或"上海"') == ["北京", "上海"]


@pytest.mark.parametrize("kind", ["string | null", "str|None", "Optional[str]"])
def test_a_union_of_types_lists_no_values(kind: str) -> None:
    assert allowed_values(Parameter("thing", kind)) == []


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
