"""Hostile documents: references to other places, bombs, cycles, and nonsense."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.openapi_documents import get, openapi, post, read, schema_ref
from toolassay.errors import UsageError
from toolassay.importers.importer import Incoming

TOOLS = "toolassay.importers.openapi.tools"


def reasons(incoming: Incoming) -> set[str]:
    """Why something of the tools or of the document is lost."""
    lost = {note.reason for tool in incoming.tools for note in tool.losses}
    return lost | {skipped.reason for skipped in incoming.skipped}


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("%2e%2e/secret.json", "reference outside the document's folder"),
        ("/etc/passwd", "reference outside the document's folder"),
        ("link.json", "reference outside the document's folder"),
        ("file:///etc/passwd", "reference with a scheme other than http and https"),
        ("HTTP://example.com/a#/b", "remote reference without --allow_remote"),
        ("pipe.json", "reference to a file that does not exist"),
        ("http://[", "remote reference without --allow_remote"),
        ("//[", "reference with a malformed address"),
        ("a\0b", "reference with a malformed address"),
        ("broken.json", "referenced file is not valid JSON: Expecting ':' delimiter"),
        ("deep.json", "referenced document is nested more than 200 levels deep"),
        ("#/nowhere/at/all", "reference to a place that does not exist"),
    ],
)
def test_a_reference_that_must_not_or_cannot_be_followed_is_a_loss(
    tmp_path: Path, reference: str, reason: str
) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.json").write_text('{"title": "a secret"}')
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "broken.json").write_text('{"a" "b"}')
    (folder / "deep.json").write_text('{"a":' * 300 + "1" + "}" * 300)
    os.mkfifo(folder / "pipe.json")
    item = {"$ref": reference}
    document = openapi(
        {
            "/a": {
                **get({"type": "array", "items": item}),
                "post": {"requestBody": item, "parameters": [item]},
            },
            "/b": item,
        }
    )
    incoming = read(folder, document)
    assert [tool.name for tool in incoming.tools] == ["get_a", "post_a"]
    assert "a secret" not in repr(incoming)
    assert all(any(note.reason.startswith(reason) for note in tool.losses) for tool in incoming.tools)
    assert [skipped.where for skipped in incoming.skipped] == ["/b"]
    assert str(tmp_path) not in repr([tool.losses for tool in incoming.tools])


def test_a_bomb_of_references_stays_small(tmp_path: Path) -> None:
    fan = {f"s{n}": {"allOf": [schema_ref(f"s{n + 1}")] * 10} for n in range(10)}
    long = {f"l{n}": {"allOf": [schema_ref(f"l{n + 1}")] * 10} for n in range(1_500)}
    many = {f"t{n}": {"properties": {f"p{k}": schema_ref(f"t{n + 1}") for k in range(10)}} for n in range(50)}
    last = {"s10": {"type": "object", "properties": {"a": {}}}, "t50": {}, "l1500": {"type": "object"}}
    paths = {"/a": post(schema_ref("s0")), "/b": get(schema_ref("t0")), "/c": post(schema_ref("l0"))}
    document = openapi(paths, components={"schemas": fan | long | many | last})
    flat, nested, deep = read(tmp_path, document).tools
    assert flat.input_schema["properties"] == {"a": {}}
    assert deep.input_schema["properties"] == {"body": {"$ref": "#/$defs/l0"}}
    assert nested.output_schema and len(nested.output_schema["$defs"]) == 50


@pytest.mark.parametrize("brackets", ['{"a":', "["])
@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_nesting_is_refused_in_one_line(tmp_path: Path, brackets: str, depth: int) -> None:
    closing = "}" if "{" in brackets else "]"
    text = f'{{"openapi": "3.0.0", "x-deep": {brackets * depth}1{closing * depth}}}'
    with pytest.raises(UsageError, match="nested"):
        read(tmp_path, text)


@pytest.mark.parametrize("kind", ["parameters", "pathItems", "responses", "requestBodies", "schemas"])
def test_a_cycle_of_references_is_a_loss(tmp_path: Path, kind: str) -> None:
    def ref(name: str) -> dict[str, str]:
        return {"$ref": f"#/components/{kind}/{name}"}

    components = {kind: {"A": ref("B"), "B": ref("A"), "C": {"$ref": f"#/components/{kind}/C/properties/x"}}}
    for name in "AC":
        used = ref(name)
        operations: dict[str, Any] = {
            "parameters": {"parameters": [used]},
            "responses": {"responses": {"200": used}},
            "requestBodies": {"requestBody": used},
            "schemas": {"parameters": [{"name": "q", "in": "query", "schema": used}]},
        }
        paths: dict[str, Any] = {"/a": {"get": operations.get(kind, {})}}
        if kind == "pathItems":
            paths["/b"] = used
        incoming = read(tmp_path, openapi(paths, components=components))
        assert [tool.name for tool in incoming.tools] == ["get_a"]
        assert any(reason.startswith(("circular reference", "a schema that")) for reason in reasons(incoming))


def test_one_malformed_operation_does_not_affect_the_others(tmp_path: Path) -> None:
    odd: list[Any] = [
        None,
        7,
        "text",
        [],
        {"parameters": 7, "responses": [], "tags": 7, "servers": "x", "security": 7},
    ]
    paths = {f"/{n}": {"get": value, "post": {"operationId": f"good{n}"}} for n, value in enumerate(odd)}
    incoming = read(tmp_path, openapi(paths))
    assert [tool.name for tool in incoming.tools if tool.name.startswith("good")] == [
        f"good{n}" for n in range(len(odd))
    ]
    assert [skipped.where for skipped in incoming.skipped] == ["GET /0", "GET /1", "GET /2", "GET /3"]


WORDS = st.sampled_from(
    [
        *("get", "post", "parameters", "requestBody", "responses", "content", "schema", "properties"),
        *("items", "allOf", "oneOf", "anyOf", "not", "$ref", "$id", "$anchor", "required", "type", "enum"),
        *("name", "in", "200", "default", "application/json", "description", "summary", "tags", "servers"),
        *("url", "variables", "security", "readOnly", "writeOnly", "nullable", "additionalProperties"),
        *("collectionFormat", "consumes", "produces", "schemes", "host", "basePath", "info", "title"),
        *("if", "then", "prefixItems", "dependencies", "$dynamicRef", "const", "example", "callbacks"),
        *("examples", "style", "explode", "operationId", "deprecated", "discriminator", "x-a", "/a/{b}"),
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 3),
    st.sampled_from(
        ["object", "string", "path", "query", "header", "body", "formData", "a", "", "file", "array"]
    ),
    st.sampled_from(["#/paths", "#", "#/components/schemas/S", "#/components", "#/paths/~1p/get", "b.json"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=5)),
    max_leaves=40,
)


@given(
    st.sampled_from([{"openapi": "3.0.0"}, {"openapi": "3.1.0"}, {"swagger": "2.0"}]), VALUES, VALUES, VALUES
)
def test_any_document_gives_tools_whose_references_exist(
    tmp_path_factory: pytest.TempPathFactory, version: dict[str, str], item: Any, schema: Any, root: Any
) -> None:
    document = {
        **(root if isinstance(root, dict) else {}),
        **version,
        "paths": {"/p": item, "/q": post(schema), "/r": get(schema)},
        "components": {"schemas": {"S": schema, "T": schema_ref("S")}},
        "definitions": {"S": schema},
    }
    incoming = read(tmp_path_factory.getbasetemp(), document)
    assert {"POST /q", "GET /r"} <= {
        f"{tool.source['method']} {tool.source['path']}" for tool in incoming.tools
    }
    for tool in incoming.tools:
        assert tool.input_schema["type"] == "object"
        assert tool.source["arguments"].keys() == tool.input_schema["properties"].keys()
        for schema in filter(None, (tool.input_schema, tool.output_schema)):
            assert _references(schema) <= {f"#/$defs/{name}" for name in schema.get("$defs", {})}
        json.dumps([tool.input_schema, tool.output_schema, tool.source, tool.losses])


def _references(schema: Any) -> set[str]:
    """References at places of schemas; below `default`, `enum` and the like they are data."""
    if isinstance(schema, list):
        return set().union(*map(_references, schema))
    if not isinstance(schema, dict):
        return set()
    found = {schema["$ref"]} if isinstance(schema.get("$ref"), str) else set()
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            found |= set().union(*map(_references, value.values()))
        elif key in ("allOf", "oneOf", "anyOf", "not", "items", "additionalProperties"):
            found |= _references(value)
    return found
