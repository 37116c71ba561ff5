from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolassay.argument_schemas import pointed_at
from toolassay.exporters.tools import tool_exporter
from toolassay.exporters.tools.exported_tools import ExportedTools
from toolassay.tools import Tool, ToolLibrary

STRING = {"type": "string"}


def tool(name: str, properties: dict[str, Any], source: dict[str, Any] | None = None, **keys: Any) -> Tool:
    required = keys.pop("required", [])
    schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    schema |= keys.pop("schema", {})
    origin = {"kind": "openapi", "name": name} | source if source else {}
    return Tool(name, keys.pop("description", ""), input_schema=schema, source=origin, **keys)


def exported(*tools: Tool) -> ExportedTools:
    result = tool_exporter("openapi")(ToolLibrary(tools))
    check(result.document)
    return result


def losses(result: ExportedTools) -> list[tuple[str, str]]:
    return [(loss.field, loss.reason) for loss in result.losses]


def check(document: dict[str, Any]) -> None:
    """Check the rules of OpenAPI 3.1 that this exporter could break."""
    assert document["openapi"] == "3.1.0"
    assert document["info"].keys() == {"title", "version"}
    ids: list[str] = []
    for path, item in document["paths"].items():
        assert path.startswith("/")
        for operation in item.values():
            ids += [operation["operationId"]] if "operationId" in operation else []
            named = [(one["name"], one["in"]) for one in operation.get("parameters", ())]
            assert len(set(named)) == len(named)
            assert {name for name, place in named if place == "path"} == set(re.findall(r"\{(.*?)\}", path))
            assert all(one["required"] for one in operation.get("parameters", ()) if one["in"] == "path")
            for response in operation.get("responses", {}).values():
                assert isinstance(response["description"], str)
    assert len(set(ids)) == len(ids)
    assert all(
        re.fullmatch(r"[a-zA-Z0-9._-]+", key) for key in document.get("components", {}).get("schemas", {})
    )
    for schema in schemas(document):
        Draft202012Validator.check_schema(schema)
    for reference in references(document):
        assert reference.startswith("#/components/schemas/")
        assert pointed_at(reference, document) is not None


def schemas(value: Any) -> Iterator[Any]:
    yield from value.get("components", {}).get("schemas", {}).values()
    for item in value["paths"].values():
        for operation in item.values():
            bodies = [operation.get("requestBody", {}), *operation.get("responses", {}).values()]
            for holder in (*bodies, *operation.get("parameters", ())):
                yield from (media["schema"] for media in holder.get("content", {}).values())
                yield holder.get("schema", {})


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


def test_an_operation_comes_back_with_each_argument_in_its_place() -> None:
    source = {
        "method": "PUT",
        "path": "/shops/{shop}/items/{id}",
        "operation_id": "items/update",
        "server": "shop-api",
        "url": "https://shop.example/v1",
        "arguments": {
            "shop": "path",
            "id": "path",
            "id_query": "query:id",
            "X-Trace": "header",
            "theme": "cookie",
            "tags": "query",
            "filter": "query",
            "title": "body",
        },
        "serialization": {"tags": {"explode": False}, "filter": {"content": "application/json"}},
        "body": "multipart/form-data",
        "body_required": True,
        "response": {"status": "201", "media_type": "application/problem+json"},
        "deprecated": True,
    }
    properties = {
        "shop": {**STRING, "description": "Which shop."},
        **dict.fromkeys(["id", "id_query", "X-Trace", "theme"], STRING),
        "tags": {"type": "array", "items": STRING},
        "filter": {"type": "object"},
        "title": STRING,
    }
    update = tool(
        "items_update",
        properties,
        source,
        required=["shop", "id", "theme", "title"],
        description="Updates an item.",
        tags=("items",),
        output_schema={"type": "object", "description": "The item."},
        schema={"additionalProperties": False},
    )
    result = exported(update)
    assert result.document == {
        "openapi": "3.1.0",
        "info": {"title": "shop-api", "version": "1"},
        "servers": [{"url": "https://shop.example/v1"}],
        "paths": {
            "/shops/{shop}/items/{id}": {
                "put": {
                    "operationId": "items/update",
                    "description": "Updates an item.",
                    "tags": ["items"],
                    "deprecated": True,
                    "parameters": [
                        {
                            "name": "shop",
                            "in": "path",
                            "required": True,
                            "description": "Which shop.",
                            "schema": STRING,
                        },
                        {"name": "id", "in": "path", "required": True, "schema": STRING},
                        {"name": "id", "in": "query", "schema": STRING},
                        {"name": "X-Trace", "in": "header", "schema": STRING},
                        {"name": "theme", "in": "cookie", "required": True, "schema": STRING},
                        {"name": "tags", "in": "query", "schema": properties["tags"], "explode": False},
                        {
                            "name": "filter",
                            "in": "query",
                            "content": {"application/json": {"schema": {"type": "object"}}},
                        },
                    ],
                    "requestBody": {
                        "required": True,
                        "content": {
                            "multipart/form-data": {
                                "schema": {
                                    "type": "object",
                                    "properties": {"title": STRING},
                                    "required": ["title"],
                                    "additionalProperties": False,
                                }
                            }
                        },
                    },
                    "responses": {
                        "201": {
                            "description": "The item.",
                            "content": {"application/problem+json": {"schema": {"type": "object"}}},
                        }
                    },
                }
            }
        },
    }
    assert not result.losses


def test_a_whole_body_is_one_argument() -> None:
    source = {"method": "POST", "path": "/items", "arguments": {"body": "body:whole", "dry": "query"}}
    body = {"type": "array", "items": STRING}
    result = exported(tool("post_items", {"body": body, "dry": STRING}, source, schema={"title": "Add"}))
    operation = result.document["paths"]["/items"]["post"]
    assert operation["requestBody"] == {"content": {"application/json": {"schema": body}}}
    assert [one["name"] for one in operation["parameters"]] == ["dry"]
    assert losses(result) == [("input_schema.title", "there is no body with the arguments")]


def test_an_operation_without_arguments_comes_back() -> None:
    source = {"method": "GET", "path": "/items"}
    result = exported(tool("get_items", {}, source))
    assert result.document["paths"] == {"/items": {"get": {}}}
    assert not result.losses


def test_other_tools_become_posts_with_the_schema_as_body() -> None:
    plain = tool("find", {"q": STRING}, required=["q"], schema={"additionalProperties": False})
    result = exported(plain, Tool("Text Painter", "Paints.", inputs=("text",)), tool("now", {}))
    paths = result.document["paths"]
    assert list(paths) == ["/tools/find", "/tools/Text%20Painter", "/tools/now"]
    assert paths["/tools/find"]["post"] == {
        "operationId": "find",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": plain.input_schema}},
        },
    }
    assert "requestBody" not in paths["/tools/now"]["post"]
    assert losses(result) == [("input-type", "each type is a text argument of that name")]


@pytest.mark.parametrize(
    "schema", [{"title": "nowArguments", "additionalProperties": False}, {"$comment": "x"}]
)
def test_a_schema_without_arguments_and_rules_gives_no_body(schema: dict[str, Any]) -> None:
    result = exported(tool("now", {}, schema=schema))
    assert result.document["paths"]["/tools/now"]["post"] == {"operationId": "now"}
    assert [loss.field for loss in result.losses] == [f"input_schema.{key}" for key in sorted(schema)]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("get_orders_orderId", {}, None),
        ("get_orders_orderId", {"operation_id": "getOrder"}, "get_orders_orderId"),
        ("getOrder", {}, "getOrder"),
        ("get_order", {"operation_id": "get/order"}, "get/order"),
    ],
)
def test_an_operation_comes_back_under_the_id_of_the_tool(
    name: str, source: dict[str, Any], expected: str | None
) -> None:
    place = {"method": "GET", "path": "/orders/{orderId}", "arguments": {"orderId": "path"}}
    result = exported(tool(name, {"orderId": STRING}, place | source, required=["orderId"]))
    operation = result.document["paths"]["/orders/{orderId}"]["get"]
    assert operation.get("operationId") == expected
    is_named = expected not in (None, source.get("operation_id"))
    assert [loss.field for loss in result.losses] == ["source.operation_id"] * is_named


def test_rules_between_arguments_are_of_the_body_and_named() -> None:
    either = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    result = exported(tool("find", {"a": STRING, "b": STRING}, schema=either))
    body = result.document["paths"]["/tools/find"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"]["anyOf"] == either["anyOf"]
    assert losses(result) == [("input_schema", "not kept as rules of the arguments: anyOf")]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ({"method": "GET", "path": "/items"}, "another tool has GET /items"),
        ({"method": "QUERY", "path": "/items"}, "QUERY /items is none of OpenAPI 3.1"),
        ({"method": "GET", "path": "items"}, "GET items is none of OpenAPI 3.1"),
        ({"method": "GET", "path": "/items/{id}"}, "the arguments differ from those of /items/{id}"),
        (
            {"method": "PUT", "path": "/items", "arguments": {"q": "path"}},
            "the arguments differ from those of",
        ),
        (
            {"method": "PUT", "path": "/items", "arguments": {"q": "fragment"}},
            "'q' has no place in a request",
        ),
        ({"method": "PUT", "path": "/items"}, "'q' has no place"),
    ],
)
def test_an_operation_that_cannot_be_written_is_a_post_and_a_loss(
    source: dict[str, Any], reason: str
) -> None:
    first = tool("get_items", {}, {"method": "GET", "path": "/items"})
    properties = {} if reason.startswith("another") else {"q": STRING}
    result = exported(first, tool("second", properties, source))
    assert list(result.document["paths"]) == ["/items", "/tools/second"]
    assert [loss.field for loss in result.losses] == ["source", "source"]
    assert result.losses[0].reason.startswith(f"the operation is not written: {reason}")


def test_operations_of_several_documents_keep_their_address_and_get_ids_of_their_own() -> None:
    tools = [
        tool(
            f"{server}.get",
            {},
            {
                "method": "GET",
                "path": f"/{server}",
                "operation_id": "get",
                "server": server,
                "url": f"https://{server}.example",
            },
        )
        for server in ("a", "b")
    ]
    result = exported(*tools)
    operations = [item["get"] for item in result.document["paths"].values()]
    assert [one["operationId"] for one in operations] == ["a.get", "b.get"]
    assert [one["servers"] for one in operations] == [
        [{"url": "https://a.example"}],
        [{"url": "https://b.example"}],
    ]
    assert [loss.field for loss in result.losses] == ["source.operation_id", "source"] * 2


def test_equal_definitions_are_one_component_and_different_ones_two() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "at": {"$ref": "#/$defs/At"}}}
    one = {"Node": node, "At": STRING}
    other = {"Node": node, "At": {"type": "integer"}}
    refers = {"node": {"$ref": "#/$defs/Node"}}
    result = exported(
        tool("a", refers, schema={"$defs": one}),
        tool("b", refers, schema={"$defs": one}),
        tool("c", refers, schema={"$defs": other}, output_schema={"$ref": "#/$defs/Node", "$defs": other}),
    )
    components = result.document["components"]["schemas"]
    assert list(components) == ["Node", "At", "c.Node", "c.At"]
    assert components["c.Node"]["properties"]["at"] == {"$ref": "#/components/schemas/c.At"}
    assert [loss.field for loss in result.losses] == [
        "input_schema.$defs.Node",
        "input_schema.$defs.At",
        "output_schema.$defs.Node",
        "output_schema.$defs.At",
        "output_schema",
    ]


def test_references_to_the_schema_itself_and_odd_names() -> None:
    definitions = {"Pet<a/b>": STRING, "unused": STRING}
    properties = {
        "more": {"type": "array", "items": {"$ref": "#"}},
        "same": {"$ref": "#/properties/pet"},
        "pet": {"$ref": "#/$defs/Pet<a~1b>"},
        "gone": {"$ref": "#/$defs/Gone", "description": "x"},
    }
    result = exported(tool("find it", properties, schema={"$defs": definitions}))
    components = result.document["components"]["schemas"]
    assert set(components) == {"Pet_a_b_", "find_it.input_schema"}
    written = components["find_it.input_schema"]["properties"]
    assert written["more"]["items"] == {"$ref": "#/components/schemas/find_it.input_schema"}
    assert written["same"] == {"$ref": "#/components/schemas/find_it.input_schema/properties/pet"}
    assert written["gone"] == {"description": "x"}
    assert [loss.field for loss in result.losses] == [
        "input_schema.$defs.unused",
        "input_schema.$defs.Pet<a/b>",
        "input_schema.properties.gone.$ref",
        "input_schema.$ref",
    ]
