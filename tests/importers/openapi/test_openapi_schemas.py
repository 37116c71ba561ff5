"""Schemas: the budget of a document, names of definitions, and what is shared between tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.openapi_documents import get, openapi, post, read, schema_ref

TOOLS = "toolassay.importers.openapi.tools"


def small(monkeypatch: pytest.MonkeyPatch, values: int) -> None:
    """Limit the schemas of a tool."""
    monkeypatch.setattr(f"{TOOLS}._MOST_VALUES", values)


def chain(length: int) -> dict[str, Any]:
    """Schemas of which each refers to the next."""
    last = {str(length): {"type": "string"}}
    return {
        str(n): {"type": "object", "properties": {"next": schema_ref(str(n + 1))}} for n in range(length)
    } | last


def test_definitions_beyond_the_limit_allow_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, 40)
    document = openapi(
        {"/a": get({"type": "array", "items": schema_ref("0")})}, components={"schemas": chain(99)}
    )
    (tool,) = read(tmp_path, document).tools
    assert tool.output_schema
    definitions = tool.output_schema["$defs"]
    assert list(definitions) == [str(n) for n in range(len(definitions))]  # nearest first
    assert definitions.popitem()[1] == {}
    assert {} not in definitions.values()
    assert ("output_schema", "schemas of more than 40 values: 1 definition left open, e.g. 8") in tool.losses
    jsonschema.Draft202012Validator.check_schema(tool.output_schema)


def test_a_cut_schema_still_accepts_what_the_whole_one_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch, 30)
    big = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(50)}}
    schemas = {
        "A": {**big, "required": ["p1"]},
        "B": {**big, "required": ["p2"]},
        "Not": {"not": schema_ref("A")},
        "Either": {"oneOf": [schema_ref("A"), schema_ref("B")]},
    }
    result = {"type": "object", "properties": {"x": schema_ref("Either"), "y": schema_ref("Not")}}
    (tool,) = read(tmp_path, openapi({"/a": get(result)}, components={"schemas": schemas})).tools
    assert tool.output_schema
    assert jsonschema.Draft202012Validator(tool.output_schema).is_valid({"x": {"p1": ""}, "y": {"p2": ""}})


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Page«Pet[]»", "Page_Pet"], ["Page_Pet", "Page_Pet_2"]),
        (["a/b", "a~b"], ["a_b", "a_b_2"]),
        (["кошка", "собака"], ["schema", "schema_2"]),
        (["x" * 100, "y" + "x" * 99], ["x" * 60, "x" * 60 + "_2"]),
    ],
)
def test_names_of_definitions_are_plain_and_unique(
    tmp_path: Path, names: list[str], expected: list[str]
) -> None:
    escaped = [name.replace("~", "~0").replace("/", "~1") for name in names]
    result = {"type": "array", "items": {"anyOf": [schema_ref(name) for name in escaped]}}
    schemas = {name: {"const": name} for name in names}
    (tool,) = read(tmp_path, openapi({"/a": get(result)}, components={"schemas": schemas})).tools
    assert tool.output_schema
    assert tool.output_schema["$defs"] == dict(zip(expected, schemas.values(), strict=True))


def test_keywords_beside_a_reference_count_only_in_3_1(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"x": {**schema_ref("S"), "minLength": 3, "description": "X."}}}
    document = openapi({"/a": post(schema)}, components={"schemas": {"S": {"type": "string"}}})
    (old,) = read(tmp_path, document).tools
    (new,) = read(tmp_path, {**document, "openapi": "3.1.0"}).tools
    assert old.input_schema["properties"]["x"] == {"$ref": "#/$defs/S", "description": "X."}
    assert ("schema.$ref", "OpenAPI 3.0 ignores keywords beside a reference") in old.losses
    assert new.input_schema["properties"]["x"] == {"$ref": "#/$defs/S", "minLength": 3, "description": "X."}


def test_an_example_that_looks_like_a_reference_is_data(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "object", "default": {"$ref": "#/nowhere"}}}}
    (tool,) = read(tmp_path, openapi({"/a": post(schema)})).tools
    assert tool.input_schema["properties"]["x"]["default"] == {"$ref": "#/nowhere"}
    assert not [note for note in tool.losses if "nowhere" in note.reason]


def test_properties_may_be_called_like_keywords(tmp_path: Path) -> None:
    names = ["$ref", "properties", "x-note", "discriminator", "readOnly", "$defs"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    (tool,) = read(tmp_path, openapi({"/a": post(schema)})).tools
    assert list(tool.input_schema["properties"]) == names
