"""Arguments that a schema allows: valid, different, fixed by the seed, and refused where there are none."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.support.result_schemas import schemas
from toolassay.argument_values.drawn_values import (
    DrawnArguments,
    UnfillableError,
    draw_arguments,
    matching_text,
)
from toolassay.argument_values.fed_arguments import FedArgument
from toolassay.argument_values.places import as_text
from toolassay.tools.library import Tool

DRAWS = 30
TEXT = {"type": "string"}


def tool_with(
    properties: Mapping[str, Any],
    *,
    tool_id: str = "do_it",
    required: list[str] | None = None,
    **keywords: Any,
) -> Tool:
    """A tool with these properties, all of them required unless `required` names some."""
    needed = list(properties) if required is None else required
    schema = {"type": "object", "properties": dict(properties), "required": needed, **keywords}
    return Tool(tool_id, input_schema=schema)


def draws(tool: Tool, count: int = DRAWS, **further: Any) -> list[DrawnArguments]:
    """Draws with different seeds, each checked against the schema."""
    found = [draw_arguments(tool, random.Random(seed), **further) for seed in range(count)]
    checker = Draft202012Validator(
        dict(tool.input_schema or {}), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    for one in found:
        if "fed" not in further:
            checker.validate(dict(one.arguments))
    return found


def values(schema: Mapping[str, Any], name: str = "x") -> set[Any]:
    """The values that draws give to one required argument."""
    return {one.arguments[name] for one in draws(tool_with({name: schema}))}


def test_the_same_seed_gives_the_same_arguments() -> None:
    tool = tool_with({"guest_name": TEXT, "nights": {"type": "integer"}})
    first, again = (draw_arguments(tool, random.Random(4)) for _ in range(2))
    assert first == again
    assert len({str(one.arguments) for one in draws(tool)}) > 20


def test_a_text_is_the_last_word_of_its_name_with_a_number() -> None:
    assert all(one.startswith("name-") and one[5:].isdigit() for one in values(TEXT, "guest_name"))


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"enum": ["a1", "b2"]}, {"a1", "b2"}),
        ({"type": "string", "description": "single | double | suite"}, {"single", "double", "suite"}),
        ({"type": "string", "examples": ["se-28529731", "se-1"]}, {"se-28529731", "se-1"}),
        ({"type": "string", "default": "asc"}, {"asc"}),
        ({"type": "integer", "minimum": 3, "maximum": 5}, {3, 4, 5}),
        ({"type": "integer", "multipleOf": 25, "minimum": 90, "maximum": 130}, {100, 125}),
        ({"type": "integer", "description": "Stars from 1 to 3"}, {1, 2, 3}),
        ({"type": "number", "minimum": 0, "maximum": 0.1, "multipleOf": 0.1}, {0, 0.1}),
    ],
)
def test_what_a_schema_lists_or_bounds_is_drawn(schema: dict[str, Any], allowed: set[Any]) -> None:
    assert values(schema, "amount") == allowed


@pytest.mark.parametrize("form", ["date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6"])
def test_a_format_is_kept(form: str) -> None:
    assert len(values({"type": "string", "format": form})) > 10


def test_a_name_that_ends_in_a_format_has_values_of_it() -> None:
    assert all("@" in one for one in values({"type": "string"}, "customer_email"))
    assert {type(one) for one in values({"type": "integer"}, "date")} == {int}


def test_a_constant_is_given_but_not_stated() -> None:
    drawn = draws(tool_with({"kind": {"const": "room"}, "city": TEXT}), 1)[0]
    assert drawn.arguments["kind"] == "room"
    assert [place for place, _ in drawn.stated] == ["city"]


def test_texts_match_pattern_and_length() -> None:
    found = values({"type": "string", "pattern": "^BN[0-9a-f]{6}$", "maxLength": 8}, "sid")
    assert len(found) > 20
    assert all(one.startswith("BN") and len(one) == 8 for one in found)
    assert all(len(one) == 40 for one in values({"type": "string", "minLength": 40, "maxLength": 90}, "note"))


def test_up_to_two_optional_arguments_are_given() -> None:
    tool = tool_with(dict.fromkeys("abcdef", TEXT), required=["a"])
    counts = [len(one.arguments) for one in draws(tool)]
    assert {*counts} == {1, 2, 3}


def test_too_many_values_are_refused() -> None:
    with pytest.raises(UnfillableError, match="more than 12"):
        draw_arguments(tool_with({f"name_{number}": TEXT for number in range(13)}), random.Random(1))


def test_a_fed_argument_is_a_reference_and_is_not_stated() -> None:
    room = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "floor": {"type": "integer"}},
        "required": ["id", "floor"],
    }
    tool = tool_with(
        {"room": room, "rooms": {"type": "array", "items": {"type": "integer"}}}, required=["room"]
    )
    fed = (
        FedArgument(("room", "id"), 0, "<node-0>.id", ("id",)),
        FedArgument(("rooms",), 0, "<node-0>.ids[*]", ("ids", "[]")),
    )
    for one in draws(tool, fed=fed):
        assert one.arguments["room"]["id"] == "<node-0>.id"
        assert one.arguments["rooms"] == "<node-0>.ids[*]"
        assert isinstance(one.arguments["room"]["floor"], int)
        assert [place for place, _ in one.stated] == ["room.floor"]


def test_given_values_are_used_and_converted_to_the_type() -> None:
    inner = {"type": "object", "properties": {"season": {"type": "integer"}}}
    tool = tool_with({"show": TEXT, "filter": inner}, required=["show"])
    one = draws(tool, 1, given={"show": "Falling Leaves", "filter.season": "3"})[0]
    assert one.arguments == {"show": "Falling Leaves", "filter": {"season": 3}}
    with pytest.raises(UnfillableError, match="does not take the value 'three'"):
        draw_arguments(tool, random.Random(1), given={"filter.season": "three"})


def test_taken_texts_are_not_repeated_while_others_are_free() -> None:
    tool = tool_with({"color": {"enum": ["red", "green"]}})
    assert {one.arguments["color"] for one in draws(tool, taken=["red"])} == {"green"}
    assert draws(tool, 3, taken=["red", "green"])


def test_alternatives_merged_parts_and_conditions_are_valid() -> None:
    number = {"type": "integer"}
    schema = {
        "type": "object",
        "$defs": {"base": {"type": "object", "properties": {"city": TEXT}, "required": ["city"]}},
        "allOf": [
            {"$ref": "#/$defs/base"},
            {"properties": {"kind": {"enum": ["bus", "train"]}}, "required": ["kind"]},
        ],
        "if": {"properties": {"kind": {"const": "bus"}}},
        "then": {"properties": {"seats": number}, "required": ["seats"]},
        "oneOf": [{"properties": {"email": TEXT}, "required": ["email"]}, {"required": ["phone"]}],
    }
    assert all(
        {"city", "kind", "email"} <= one.arguments.keys() for one in draws(Tool("t", input_schema=schema))
    )


def test_a_recursive_schema_ends() -> None:
    node = {"type": "object", "properties": {"name": TEXT, "child": {"$ref": "#/$defs/node"}}}
    optional = {"$defs": {"node": node}, "type": "object", "properties": {"top": {"$ref": "#/$defs/node"}}}
    assert draws(Tool("t", input_schema={**optional, "required": ["top"]}), 3)
    endless = {**optional, "$defs": {"node": {**node, "required": ["child"]}}, "required": ["top"]}
    with pytest.raises(UnfillableError):
        draw_arguments(Tool("t", input_schema=endless), random.Random(1))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    schema=schemas(contradictory=True), name=st.sampled_from(["city", "amount", "x"]), seed=st.integers(0, 9)
)
def test_drawn_arguments_are_never_invalid(schema: dict[str, Any], name: str, seed: int) -> None:
    root = {"type": "object", "properties": {name: schema}, "required": [name]}
    try:
        drawn = draw_arguments(Tool("find_city", input_schema=root), random.Random(seed))
    except UnfillableError as error:
        assert str(error)
        return
    checker = Draft202012Validator(root, format_checker=Draft202012Validator.FORMAT_CHECKER)
    checker.validate(dict(drawn.arguments))
    assert all(text and "\n" not in text for text in (as_text(value) for _, value in drawn.stated))


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "required",
                    "allOf",
                    "anyOf",
                    "items",
                    "enum",
                    "minimum",
                    "pattern",
                    "$ref",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=JSON)
def test_a_broken_schema_is_refused_or_filled_but_never_fails(schema: Any) -> None:
    root = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    tool = Tool(repr(schema), input_schema=root)  # tools are cached, and 0 == False
    try:
        drawn = draw_arguments(tool, random.Random(1))
    except UnfillableError as error:
        assert str(error)
    else:
        assert "x" in drawn.arguments


@pytest.mark.parametrize(
    "text",
    [
        "a, " * 40_000,
        "'a', " * 20_000,
        "(" * 100_000,
        "e.g. " * 20_000,
        "between 1 and " * 8_000,
        "a|" * 50_000,
    ],
)
def test_a_hostile_description_does_not_hang(text: str) -> None:
    assert draws(tool_with({"x": {"type": "string", "description": text}}), 2)


@pytest.mark.parametrize(
    "pattern", ["((((a{99}){99}){99}){99})", "(a*)*b", "(?:){65535}", "[^\\s\\S]", "\\p{Han}+", "("]
)
def test_a_hostile_pattern_is_refused_or_met(pattern: str) -> None:
    try:
        drawn = draw_arguments(tool_with({"x": {"type": "string", "pattern": pattern}}), random.Random(1))
    except UnfillableError as error:
        assert "'x'" in str(error)
    else:
        assert len(drawn.arguments["x"]) <= 200


@pytest.mark.parametrize(
    "pattern",
    [
        *("^[A-Z]{2}\\d{3}$", "^(?:a|b)+c?$", "^[^/]+$", "^(x)(\\1)$", "^\\w+@\\w+\\.org$"),
        *("^(?<year>\\d{4})$", "[^\\W\\d]"),
    ],
)
def test_a_text_of_a_pattern_matches_it(pattern: str) -> None:
    python = pattern.replace("(?<year>", "(?P<year>")
    for seed in range(20):
        text = matching_text(pattern, random.Random(seed))
        assert text is not None and re.search(python, text)
