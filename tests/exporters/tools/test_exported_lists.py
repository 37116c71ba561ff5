from __future__ import annotations

import copy
from typing import Any

import pytest

from toolassay.exporters.exported_tools import ExportedTools, tool_exporter
from toolassay.importers.importer import ToolNote
from toolassay.tools.library import Parameter, Tool, ToolLibrary

SCHEMA = {
    "type": "object",
    "properties": {"city": {"$ref": "#/$defs/City"}},
    "required": ["city"],
    "$defs": {"City": {"type": "string", "maxLength": 40}},
}
RESULT = {"type": "object", "properties": {"rain": {"type": "boolean"}}}
FORECAST = Tool(
    "weather.forecast",
    "The weather of tomorrow.",
    parameters=(Parameter("city", "string", "Where."),),
    input_schema=SCHEMA,
    output_schema=RESULT,
    annotations={"readOnlyHint": True},
    tags=("weather",),
    source={"kind": "mcp", "name": "forecast", "server": "weather"},
)
NOW = Tool("now", input_schema={"type": "object", "properties": {}})


def exported(form: str, *tools: Tool) -> ExportedTools:
    return tool_exporter(form)(ToolLibrary(tools))


def fields(result: ExportedTools) -> list[str]:
    return [loss.field for loss in result.losses]


def test_openai_has_a_valid_name_and_no_place_for_results() -> None:
    result = exported("openai", FORECAST, NOW)
    assert result.document == [
        {
            "type": "function",
            "function": {
                "name": "weather_forecast",
                "description": "The weather of tomorrow.",
                "parameters": SCHEMA,
            },
        },
        {"type": "function", "function": {"name": "now", "description": "", "parameters": NOW.input_schema}},
    ]
    assert result.losses == [
        ToolNote("weather.forecast", "id", "is written as 'weather_forecast'"),
        ToolNote("weather.forecast", "output_schema", "the form has no place for it"),
        ToolNote("weather.forecast", "annotations", "the form has no place for it"),
        ToolNote("weather.forecast", "tags", "the form has no place for it"),
        ToolNote("weather.forecast", "source", "the form has no place for all of it"),
    ]


def test_names_of_arguments_that_anthropics_api_refuses_are_changed() -> None:
    names = ["城市", "user.name", "per page", "filter[id]"]
    schema = {"type": "object", "properties": {name: {} for name in names}, "required": ["per page"]}
    tool = Tool("find", parameters=tuple(map(Parameter, names)), input_schema=schema)
    result = exported("anthropic", tool)
    written = result.document[0]["input_schema"]
    assert [*written["properties"]] == ["argument", "user.name", "per_page", "filter_id"]
    assert written["required"] == ["per_page"]
    assert fields(result) == [f"input_schema.properties.{name}" for name in names if name != "user.name"]
    result = exported("openai", tool)
    assert result.document[0]["function"]["parameters"] == schema and not result.losses


A = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
B = {"properties": {"b": {"type": "string"}}, "required": ["b"]}
BOTH = {"type": "object", "properties": {**A["properties"], **B["properties"]}}  # type: ignore[dict-item]


@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("schema", "accepted", "changed"),
    [
        ({"type": "object", "anyOf": [A, B]}, BOTH, ["anyOf"]),
        ({"type": "object", "allOf": [A, B]}, BOTH | {"required": ["a", "b"]}, ["allOf"]),
        (
            {"type": "object", "$ref": "#/$defs/a", "$defs": {"a": A}},
            {"type": "object", **A, "$defs": {"a": A}},
            ["$ref"],
        ),
        (
            {"type": "object", "anyOf": [A, {"properties": {"a": {"type": "integer"}}}]},
            {
                "type": "object",
                "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            },
            ["anyOf"],
        ),
        ({**A}, {"type": "object", **A}, ["type"]),
        (
            {"type": "object", "properties": {"a": {"type": ["array", "null"]}}},
            {"type": "object", "properties": {"a": {"type": ["array", "null"], "items": {}}}},
            ["properties.a.items"],
        ),
        (
            {"type": "object", "properties": {"a": {"pattern": r"\p{L}"}, "b": {"pattern": "a+"}}},
            {"type": "object", "properties": {"a": {}, "b": {"pattern": "a+"}}},
            ["properties.a.pattern"],
        ),
    ],
)
def test_what_model_services_refuse_is_changed_and_listed(
    form: str, schema: dict[str, Any], accepted: dict[str, Any], changed: list[str]
) -> None:
    result = exported(form, Tool("find", input_schema=schema))
    (entry,) = result.document
    assert (entry["function"]["parameters"] if form == "openai" else entry["input_schema"]) == accepted
    assert fields(result) == [f"input_schema.{field}" for field in changed]
    assert tool_exporter("mcp")(ToolLibrary([Tool("find", input_schema=schema)])).losses == []


def test_mcp_keeps_ids_results_and_hints() -> None:
    result = exported("mcp", FORECAST)
    assert result.document == {
        "name": "weather",
        "tools": [
            {
                "name": "weather.forecast",
                "description": "The weather of tomorrow.",
                "inputSchema": SCHEMA,
                "outputSchema": RESULT,
                "annotations": {"readOnlyHint": True},
            }
        ],
    }
    assert [tuple(loss) for loss in result.losses] == [
        ("weather.forecast", "tags", "the form has no place for it"),
        ("weather.forecast", "source", "the form has no place for all of it"),
    ]


PUBLISHED: dict[str, list[dict[str, Any]]] = {
    "nodes": [
        {"id": "Image Painter", "desc": "Paints.", "input-type": ["text"], "output-type": ["image"]},
        {
            "id": "book_hotel",
            "desc": "Books a hotel.",
            "parameters": [
                {"name": "when", "type": "date", "desc": "First day."},
                {"name": "stars", "type": "Rating", "desc": "At least.", "default": 3},
            ],
            "domain": "travel",
        },
    ]
}


def test_a_published_library_comes_back_from_its_own_form() -> None:
    result = tool_exporter("taskbench")(ToolLibrary.from_json(PUBLISHED))
    expected = copy.deepcopy(PUBLISHED["nodes"])
    del expected[1]["domain"]
    del expected[1]["parameters"][1]["default"]
    assert result.document == {"nodes": expected}
    assert [(loss.tool, loss.field) for loss in result.losses] == [
        ("book_hotel", "domain"),
        ("book_hotel", "parameters.stars.default"),
    ]


def test_a_schema_made_of_parameters() -> None:
    (_, tool) = exported("openai", *ToolLibrary.from_json(PUBLISHED)).document
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "when": {"type": "string", "description": "First day.", "format": "date"},
            "stars": {"type": "string", "description": "At least."},
        },
        "required": ["when"],
    }
