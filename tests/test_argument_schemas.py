"""Parameters, notation and validity of arguments by their schema."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.argument_schemas import ArgumentValidator, notation, properties_of, resolve, type_name

TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "required": ["root"],
    "$defs": {
        "node": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}


def is_reference(text: str) -> bool:
    return re.match(r"<node-\d+>", text) is not None


def reasons(schema: dict[str, Any], arguments: Any) -> list[tuple[str, str]]:
    return [(one.path, one.keyword) for one in ArgumentValidator(schema).problems(arguments, is_reference)]


def test_a_recursive_schema_is_shown_to_a_bounded_depth() -> None:
    assert notation(TREE, TREE) == "{root: {name: string, children?: object[]}}"
    assert notation({"type": "object", "properties": {}}, {}) == "{}"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, "any"),
        (True, "any"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"enum": ["a", 1, None]}, "'a' | 1 | null"),
        ({"const": "x"}, "'x'"),
        ({"type": "integer", "default": 3}, "integer = 3"),
        ({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {}}}]}, "string | {a?: any}"),
        (
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            "(string | integer)[]",
        ),
        ({"$ref": "#/$defs/loop", "$defs": {"loop": {"$ref": "#/$defs/loop"}}}, "any"),
    ],
)
def test_the_notation_of_a_schema(schema: Any, expected: str) -> None:
    assert notation(schema, schema if isinstance(schema, dict) else {}) == expected


def test_the_type_of_a_parameter_in_the_published_form() -> None:
    assert type_name({"enum": [1, 2]}, {}) == "integer"
    assert type_name({"type": "string", "format": "date-time"}, {}) == "date-time"
    assert type_name({"allOf": [{"$ref": "#/$defs/node"}]}, TREE) == "object"


def test_arguments_of_alternatives_are_all_named() -> None:
    schema = {
        "required": ["a"],
        "properties": {"a": {}},
        "oneOf": [{"properties": {"b": {}}, "required": ["b"]}, {"properties": {"c": {}}, "required": ["c"]}],
        "allOf": [{"properties": {"d": {}}, "required": ["d"]}],
    }
    assert {one.name: one.required for one in properties_of(schema)} == {
        "a": True,
        "b": False,
        "c": False,
        "d": True,
    }


def test_references_to_nothing_and_in_circles_are_empty() -> None:
    assert resolve({"$ref": "#/a"}, {}) == {}
    assert resolve({"$ref": "#/a"}, {"a": {"$ref": "#/a"}}) == {}
    assert resolve({"$ref": "https://example.org/a.json"}, {}) == {}


def test_values_are_validated_where_they_are() -> None:
    assert reasons(TREE, {"root": {"name": "a", "children": [{"name": 3}]}}) == [
        ("root.children[0].name", "type")
    ]
    assert reasons(TREE, {}) == [("", "required")]


def test_a_reference_is_valid_in_every_place() -> None:
    for root in (
        "<node-0>",
        {"name": "<node-1>.title", "children": "<node-0>"},
        {"name": "a", "children": ["<node-0>"]},
    ):
        assert reasons(TREE, {"root": root}) == []
    one_of = {
        "properties": {"a": {"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array"}]}}
    }
    assert reasons(one_of, {"a": ["<node-0>"]}) == []


def test_formats_are_checked() -> None:
    assert reasons({"properties": {"a": {"format": "date"}}}, {"a": "tomorrow"}) == [("a", "format")]


def test_no_pattern_runs_for_long() -> None:
    assert reasons({"properties": {"a": {"pattern": r"^(a|aa)+$"}}}, {"a": "a" * 50 + "!"}) == []
    assert reasons({"properties": {"a": {"pattern": "^b"}}}, {"a": "ab"}) == [("a", "pattern")]
    assert (
        reasons({"patternProperties": {r"^(a|aa)+$": {}}, "additionalProperties": False}, {"a" * 50 + "!": 1})
        == []
    )


def test_references_to_other_documents_are_not_fetched() -> None:
    (problem,) = ArgumentValidator({"$ref": "http://127.0.0.1:9/x.json"}).problems({})
    assert "unknown reference" in problem.reason


def test_an_invalid_schema_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"properties\.a\.type"):
        ArgumentValidator({"properties": {"a": {"type": "text"}}})


def test_long_values_are_cut_in_reasons() -> None:
    (problem,) = ArgumentValidator({"properties": {"a": {"type": "integer"}}}).problems({"a": "x" * 10_000})
    assert len(problem.reason) < 200
    assert problem.reason.endswith("is not of type 'integer'")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(_VALUES)
def test_any_value_can_be_validated(value: Any) -> None:
    ArgumentValidator(TREE).problems(value, is_reference)
