"""What the JSON Schema of a tool says of its arguments."""

from __future__ import annotations

import time
from typing import Any

import pytest
from builders import difficult_tools, workshop_tools

from toolassay.argument_schemas import (
    ArgumentValidator,
    as_meant,
    kinds_of,
    notation,
    properties_at,
    properties_of,
    schema_at,
)
from toolassay.tools import ToolLibrary

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
    started = time.monotonic()
    assert [one.name for one in properties_of(bomb(20, 30))] == ["end"]
    circle = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"a": {}}}
    assert [one.name for one in properties_of(circle)] == ["a"]
    assert time.monotonic() - started < 5


def test_a_notation_of_endless_alternatives_ends() -> None:
    started = time.monotonic()
    schema = bomb(30, 30)
    assert len(notation(schema, schema, depth=5)) < 100_000
    wide = {"properties": {f"p{n}": {"$ref": "#"} for n in range(200)}}
    assert len(notation(wide, wide, depth=5)) < 100_000
    assert time.monotonic() - started < 20


def test_a_property_with_the_schema_false_is_no_parameter() -> None:
    assert [one.name for one in properties_at({"properties": {"a": True, "b": False}}, {})] == ["a"]


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


def test_the_schema_of_a_place_follows_additional_properties_and_alternatives() -> None:
    root = {
        "properties": {
            "labels": {"additionalProperties": {"type": "integer"}},
            "ids": {"anyOf": [{"type": "null"}, {"items": {"type": "number"}}]},
        }
    }
    assert schema_at(["labels", "any"], root) == {"type": "integer"}
    assert schema_at(["ids", 0], root) == {"type": "number"}


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"enum": ["a", 1, None]}, {"string", "integer", "null"}),
        ({"const": True}, {"boolean"}),
        ({"allOf": [{}, {"type": "array"}]}, {"array"}),
        ({"anyOf": [{"type": "string"}, {}]}, set()),
        ({"properties": {}}, {"object"}),
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
        ({"lines": '[{"unit": "metre"}]'}, {"lines": [{"unit": "metre"}]}),
        (
            {"lines": [{"unit": "metre", "free": '{"b": 2}'}]},
            {"lines": [{"unit": "metre", "free": {"b": 2}}]},
        ),
        ({"more": "{not JSON", "other": None}, {"more": "{not JSON", "other": None}),
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


def test_a_problem_has_its_place_as_parts() -> None:
    problem = ArgumentValidator(ROOT).problems({"member": {"name": 1}})[0]
    assert (problem.path, problem.parts) == ("member.name", ("member", "name"))


@pytest.mark.parametrize("tools", [workshop_tools(), difficult_tools()])
def test_the_imported_tools_of_the_tests_are_valid(tools: dict[str, Any]) -> None:
    for tool in ToolLibrary.from_json(tools):
        assert ArgumentValidator(tool.input_schema or {}).schema is tool.input_schema
