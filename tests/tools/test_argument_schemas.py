"""Parameters, notation and validity of arguments by their schema."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.tools.argument_schemas import (
    ArgumentValidator,
    as_meant,
    kinds_of,
    notation,
    properties_of,
    resolve,
    schema_at,
)

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


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, "string | null"),
        ({"enum": ["a", 1, None]}, "'a' | 1 | null"),
        ({"const": "x"}, "'x'"),
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


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(_VALUES)
def test_any_value_can_be_validated(value: Any) -> None:
    ArgumentValidator(TREE).problems(value, is_reference)


ROOT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "member": {"$ref": "#/$defs/Member"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "note": {"type": ["string", "null"]},
        "more": {"type": "object"},
        "count": {"type": "integer"},
    },
    "required": ["member"],
    "$defs": {
        "Member": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "phone": {"type": "string"}},
            "required": ["name"],
        },
        "Line": {"properties": {"unit": {"enum": ["metre", "litre"]}, "free": {"type": "object"}}},
    },
}


def bomb(levels: int, width: int) -> dict[str, Any]:
    """A schema whose alternatives double at each level, by references to the same parts."""
    parts: dict[str, Any] = {
        str(level): {"anyOf": [{"$ref": f"#/$defs/{level + 1}"}] * width} for level in range(levels)
    }
    return {"$ref": "#/$defs/0", "$defs": {**parts, str(levels): {"properties": {"end": {}}}}}


def test_properties_of_shared_alternatives_are_collected_once() -> None:
    assert [one.name for one in properties_of(bomb(20, 30))] == ["end"]
    circle = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"a": {}}}
    assert [one.name for one in properties_of(circle)] == ["a"]


def test_a_notation_of_endless_alternatives_ends() -> None:
    schema = bomb(30, 4)
    assert len(notation(schema, schema, depth=5)) < 100_000
    wide = {"properties": {f"p{n}": {"$ref": "#"} for n in range(200)}}
    assert len(notation(wide, wide, depth=5)) < 100_000


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["member", "name"], {"type": "string"}),
        (["lines", 3, "unit"], {"enum": ["metre", "litre"]}),
        (["more", "x"], {}),
        (["no", 0], {}),
    ],
)
def test_the_schema_of_a_place_follows_references_and_items(path: list[str | int], expected: Any) -> None:
    assert schema_at(path, ROOT) == expected


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"enum": ["a", 1, None]}, {"string", "integer", "null"}),
        ({"allOf": [{}, {"type": "array"}]}, {"array"}),
        ({"anyOf": [{"type": "string"}, {}]}, set()),
        (True, set()),
    ],
)
def test_kinds(schema: Any, kinds: set[str]) -> None:
    assert kinds_of(schema, {}) == kinds


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"member": {"name": "Ann", "phone": None}}, {"member": {"name": "Ann"}}),
        ({"member": {"name": None}}, {"member": {"name": None}}),
        ({"note": None, "count": None}, {"note": None}),
        ({"more": '{"a": [1]}', "note": "{}"}, {"more": {"a": [1]}, "note": "{}"}),
        (
            {"lines": [{"unit": "metre", "free": '{"b": 2}'}]},
            {"lines": [{"unit": "metre", "free": {"b": 2}}]},
        ),
        ({"count": "4"}, {"count": "4"}),
    ],
)
def test_what_strict_mode_forces_is_read_back(given: Any, meant: Any) -> None:
    assert as_meant(given, ROOT, ROOT) == meant


def test_reading_a_value_back_changes_no_valid_one() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    assert as_meant({"lines": deep}, ROOT, ROOT) == {"lines": deep}
