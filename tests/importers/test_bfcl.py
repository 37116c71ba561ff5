from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tool_files import fields, read

from toolassay.importers.model_tools import BFCL as IMPORTER

TRIP = {
    "name": "trip.plan",
    "description": "Plans a trip.",
    "parameters": {
        "type": "dict",
        "properties": {
            "price": {"type": "float"},
            "point": {"type": "tuple", "items": {"type": "float"}},
            "note": {"type": "any", "description": "Whatever."},
            "stops": {
                "type": "ArrayList",
                "items": {"type": "HashMap", "properties": {"n": {"type": "long"}}},
            },
        },
        "required": ["price"],
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "price": {"type": "number"},
        "point": {"type": "array", "items": {"type": "number"}},
        "note": {"description": "Whatever."},
        "stops": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    },
    "required": ["price"],
}


def question(function: Any) -> dict[str, Any]:
    return {"id": "simple_0", "question": "Plan it.", "function": function}


@pytest.mark.parametrize(
    "values",
    [
        [question(TRIP)],
        [question([TRIP]), question(TRIP)],
        [{"question": [[{"role": "user", "content": "Plan it."}]], "function": [TRIP]}],
        [TRIP],
        [[TRIP]],
    ],
)
def test_equal_functions_of_many_questions_are_one_tool(tmp_path: Path, values: list[Any]) -> None:
    incoming = read(IMPORTER, tmp_path, *values)
    (tool,) = incoming.tools
    assert (tool.name, tool.description, tool.input_schema) == ("trip.plan", "Plans a trip.", SCHEMA)
    assert not incoming.skipped
    assert not tool.losses


def test_the_mark_optional_gives_a_warning_only_where_it_contradicts_required(tmp_path: Path) -> None:
    marks = {"a": True, "b": "True", "c": False, "d": True, "optional": False}
    properties = {name: {"type": "string", "optional": mark} for name, mark in marks.items()}
    parameters = {"type": "dict", "properties": properties, "required": ["c", "d"]}
    (tool,) = read(IMPORTER, tmp_path, {"name": "f", "parameters": parameters}).tools
    assert all(schema == {"type": "string"} for schema in tool.input_schema["properties"].values())
    assert [tuple(note) for note in tool.warnings] == [
        ("parameters.properties.d.optional", "is optional, which 'required' contradicts"),
        ("parameters.properties.optional.optional", "is not optional, which 'required' contradicts"),
    ]


def test_the_response_of_a_function_is_its_output_schema(tmp_path: Path) -> None:
    response = {"type": "dict", "properties": {"ok": {"type": "bool"}}}
    incoming = read(IMPORTER, tmp_path, {**TRIP, "response": response}, {**TRIP, "name": "b", "response": 1})
    assert [tool.output_schema for tool in incoming.tools] == [
        {"type": "object", "properties": {"ok": {"type": "boolean"}}},
        None,
    ]
    assert fields(incoming) == ["response"]
