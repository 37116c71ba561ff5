"""Tool definitions as programs send them to models: OpenAI, Anthropic, LangChain and BFCL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.support.running import each_has
from toolassay.errors import UsageError
from toolassay.importers.documents import DEEPEST
from toolassay.importers.importer import Importer, Incoming
from toolassay.importers.intake import take_in
from toolassay.importers.mcp import IMPORTER as MCP
from toolassay.importers.model_tools import ANTHROPIC, BFCL, LANGCHAIN
from toolassay.importers.model_tools import OPENAI as IMPORTER

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NO_ARGUMENTS = {"type": "object", "properties": {}}
NAMED = {"name": "forecast", "description": "The weather of tomorrow."}
FORECAST = {**NAMED, "parameters": CITY}
FLAT = {"type": "function", **FORECAST}
WRAPPED = {"type": "function", "function": FORECAST}
MESSAGES = [{"role": "user", "content": "Will it rain?"}]


CLAUDE = {**NAMED, "input_schema": CITY}
DUMPED = {
    **NAMED,
    "args_schema": CITY,
    "return_direct": False,
    "verbose": False,
    "tags": None,
    "metadata": None,
    "callbacks": None,
    "handle_tool_error": False,
    "response_format": "content",
}


def read(importer: Importer, folder: Path, *values: Any) -> Incoming:
    """Read one value as a JSON document, several as JSON Lines."""
    path = folder / "tools.json"
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return importer.read(str(path), importer.options())


def names(incoming: Incoming) -> list[str]:
    return [tool.name for tool in incoming.tools]


def fields(incoming: Incoming) -> list[str]:
    """The fields of all losses."""
    return [note.field for tool in incoming.tools for note in tool.losses]


@pytest.mark.parametrize(
    ("importer", "values"),
    [
        (IMPORTER, [[FORECAST]]),
        (IMPORTER, [{"functions": [FORECAST]}]),
        (IMPORTER, [{"model": "m", "messages": MESSAGES, "tools": [WRAPPED]}]),
        (IMPORTER, [{"custom_id": "1", "method": "POST", "body": {"model": "m", "tools": [FLAT]}}]),
        (IMPORTER, [{"type": "session.update", "session": {"tools": [FLAT]}}]),
        (IMPORTER, [{"messages": MESSAGES, "tools": json.dumps([WRAPPED])}]),
        (IMPORTER, [{"tools": [{**FLAT, "parameters": json.dumps(CITY)}]}]),
        (IMPORTER, [{"tools": [WRAPPED]}, {"messages": MESSAGES}, {"functions": [FORECAST]}]),
        (ANTHROPIC, [[CLAUDE]]),
        (ANTHROPIC, [{**CLAUDE, "type": "custom"}]),
        (ANTHROPIC, [{"model": "m", "max_tokens": 9, "messages": [], "tools": [CLAUDE]}]),
        (ANTHROPIC, [{"requests": [{"custom_id": "1", "params": {"model": "m", "tools": [CLAUDE]}}]}]),
        (ANTHROPIC, [{"custom_id": "1", "params": {"tools": [CLAUDE]}}, {"tools": [CLAUDE]}]),
        (LANGCHAIN, [DUMPED, DUMPED]),
        (LANGCHAIN, [{**NAMED, "tool_call_schema": CITY}]),
        (LANGCHAIN, [{**NAMED, "args": CITY["properties"]}]),
        (LANGCHAIN, [{"name": "forecast", "args_schema": {"description": NAMED["description"], **CITY}}]),
        (LANGCHAIN, [WRAPPED]),
        (LANGCHAIN, [{**NAMED, "args_schema": "<class 'shop.City'>", "args": CITY["properties"]}]),
        (BFCL, [{"question": "Will it rain?", "function": FORECAST}]),
        (BFCL, [{"question": "Rain?", "function": [FORECAST]}, {"question": "Sun?", "function": FORECAST}]),
        (BFCL, [{"question": [MESSAGES], "function": [FORECAST]}]),
        (BFCL, [FORECAST]),
        (BFCL, [[FORECAST]]),
    ],
)
def test_every_form_of_a_function_is_one_and_the_same_tool(
    tmp_path: Path, importer: Importer, values: list[Any]
) -> None:
    incoming = read(importer, tmp_path, *values)
    (tool,) = incoming.tools
    assert (tool.name, tool.description, tool.output_schema) == (*NAMED.values(), None)
    assert {**tool.input_schema, "description": 0} == {**CITY, "description": 0}
    assert not incoming.skipped
    assert not tool.losses
    assert not tool.warnings


def test_different_definitions_of_one_name_are_kept_and_named(tmp_path: Path) -> None:
    others = [{**FLAT, "description": text} for text in ("Of today.", "Of Sunday.")]
    incoming = read(IMPORTER, tmp_path, {"tools": [FLAT]}, {"tools": others}, {"tools": [FLAT]})
    assert names(incoming) == ["forecast"] * 3
    nodes = take_in("openai", incoming).nodes
    assert [node["id"] for node in nodes] == ["forecast_1", "forecast_2", "forecast_3"]
    reasons = [note.reason for tool in incoming.tools for note in tool.warnings]
    assert each_has(reasons, "line 2, tool 1 defines 'forecast'", "line 2, tool 2 defines 'forecast'")


def test_a_malformed_tool_does_not_prevent_the_others(tmp_path: Path) -> None:
    deep: Any = {}
    for _ in range(DEEPEST):
        deep = {"not": deep}
    bad = [
        {"type": "function", "function": {"description": "x"}},
        {**FLAT, "parameters": 3},
        {**FLAT, "parameters": {"city": {"type": "string"}}},
        {**FLAT, "parameters": {"type": "array"}},
        {"name": "other", "input_schema": CITY},
        {"name": "other", "inputSchema": CITY},
        "forecast",
        {**FLAT, "parameters": deep},
    ]
    incoming = read(IMPORTER, tmp_path, {"tools": [*bad, WRAPPED]})
    assert names(incoming) == ["forecast"]
    assert each_has(
        [skipped.reason for skipped in incoming.skipped],
        *("no name", "no JSON Schema", "Schema of an object", "Schema of an object"),
        *("import anthropic", "import mcp", "is no object", f"more than {DEEPEST} levels"),
    )


LISTING = {"tools": [{"name": "find", "inputSchema": CITY}]}
QUESTION = {"question": "Will it rain?", "function": [FORECAST]}


@pytest.mark.parametrize(
    ("importer", "kinds"),
    [
        (IMPORTER, {"openapi", "mcp", "anthropic", "langchain", "bfcl"}),
        (ANTHROPIC, {"openapi", "mcp", "openai", "langchain", "bfcl"}),
        (LANGCHAIN, {"openapi", "mcp", "anthropic", "bfcl"}),
        (BFCL, {"openapi", "mcp", "anthropic", "openai", "langchain"}),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_a_file_of_another_kind_is_one_line_that_names_it(
    tmp_path: Path, importer: Importer, kinds: set[str]
) -> None:
    given: list[tuple[str, Any]] = [
        ("openapi", {"openapi": "3.1.0", "info": {}, "paths": {}}),
        ("openapi", {"swagger": "2.0", "paths": {}, "tags": [FORECAST]}),
        ("mcp", {"mcpServers": {"shop": {"command": "shop"}}}),
        ("mcp", LISTING["tools"]),
        ("anthropic", [{"name": "find", "description": "Finds.", "input_schema": CITY}]),
        ("openai", [WRAPPED, FLAT]),
        ("openai", {"model": "m", "tools": [FORECAST]}),
        ("langchain", [{"name": "find", "args_schema": CITY}]),
        ("bfcl", QUESTION),
    ]
    for kind, value in given:
        if kind not in kinds:
            continue
        with pytest.raises(UsageError, match=f"'{kind}', not of '{importer.name}'.*import {kind}`"):
            read(importer, tmp_path, value)


def test_tools_of_a_namespace_are_tagged(tmp_path: Path) -> None:
    group = {"type": "namespace", "name": "weather", "description": "All weather.", "tools": [FLAT]}
    (tool,) = read(IMPORTER, tmp_path, {"tools": [group]}).tools
    assert (tool.name, tool.tags, tool.source) == ("forecast", ("weather",), {"namespace": "weather"})
    assert tool.further_names == ("weather.forecast",)
    assert [note.field for note in tool.losses] == ["namespace.description"]


def test_tools_of_the_provider_and_other_forms_are_skipped(tmp_path: Path) -> None:
    given = [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "mcp_toolset", "mcp_server_name": "shop"},
        {"type": "function", "function": {"name": "other"}},
        {"name": "other", "parameters": CITY},
        {"name": "other", "inputSchema": CITY},
        {"name": "other", "input_schema": "city"},
        {"name": "now", "input_schema": {}},
    ]
    incoming = read(ANTHROPIC, tmp_path, given)
    assert names(incoming) == ["now"]
    assert incoming.tools[0].input_schema == NO_ARGUMENTS
    assert each_has(
        [skipped.reason for skipped in incoming.skipped],
        *("'web_search_20250305' is a tool of the provider", "'bash_20250124' is a tool of the provider"),
        *("import mcp", "import openai", "import openai", "import mcp", "'input_schema' is no JSON Schema"),
    )


def test_examples_become_examples_of_the_schema(tmp_path: Path) -> None:
    schema = {**CITY, "examples": [{"city": "Bern"}]}
    given = [{**CLAUDE, "input_schema": schema, "input_examples": [{"city": "Rome"}]}]
    (tool,) = read(ANTHROPIC, tmp_path, given).tools
    assert tool.input_schema["examples"] == [{"city": "Bern"}, {"city": "Rome"}]
    assert fields(read(ANTHROPIC, tmp_path, [{**CLAUDE, "input_examples": {"city": "Rome"}}])) == [
        "input_examples"
    ]


def test_a_tool_without_a_schema_is_skipped_or_has_no_arguments(tmp_path: Path) -> None:
    given = [
        {**NAMED, "args_schema": "<class 'shop.City'>"},
        {"lc": 1, "type": "not_implemented", "id": ["shop", "Tool"], "name": "forecast"},
        {"description": "x"},
        {**NAMED, "args_schema": None},
    ]
    incoming = read(LANGCHAIN, tmp_path, given)
    assert names(incoming) == ["forecast"]
    assert incoming.tools[0].input_schema == NO_ARGUMENTS
    assert [note.field for note in incoming.tools[0].warnings] == ["args_schema"]
    reasons = [skipped.reason for skipped in incoming.skipped]
    assert each_has(reasons, "is no JSON Schema", "without its schema", "has no name")


def test_types_of_other_languages_are_read_as_those_of_json(tmp_path: Path) -> None:
    properties = {
        "price": {"type": "float"},
        "point": {"type": "tuple", "items": {"type": "float"}},
        "note": {"type": "any", "description": "Whatever."},
        "stops": {"type": "ArrayList", "items": {"type": "HashMap", "properties": {"n": {"type": "long"}}}},
    }
    given = {**NAMED, "parameters": {"type": "dict", "properties": properties, "required": ["price"]}}
    (node,) = take_in("bfcl", read(BFCL, tmp_path, given)).nodes
    number = {"type": "number"}
    stop = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert node["input_schema"] == {
        "type": "object",
        "properties": {
            "price": number,
            "point": {"type": "array", "items": number},
            "note": {"description": "Whatever."},
            "stops": {"type": "array", "items": stop},
        },
        "required": ["price"],
    }


def test_choices_in_descriptions_of_bfcl_are_those_of_the_schema(tmp_path: Path) -> None:
    places = "Where to. [Enum]: Rivermist, New York, Rome"
    doors = 'Doors to lock. [Enum]: ["driver", "rear_left"]'
    properties: dict[str, dict[str, Any]] = {
        "place": {"type": "string", "description": places},
        "doors": {"type": "array", "items": {"type": "string"}, "description": doors},
        "note": {"type": "string", "description": "An enum: of what?"},
        "level": {"type": "integer", "description": "[Enum]: [1, 2]"},
        "money": {"type": "string", "description": "[Enum]: USD, v1.0. The default is USD."},
        "count": {"type": "integer", "description": "[Enum]: 1, 2"},
    }
    given = {**NAMED, "parameters": {"type": "dict", "properties": properties}}
    (node,) = take_in("bfcl", read(BFCL, tmp_path, given)).nodes
    taken = node["input_schema"]["properties"]
    assert taken["place"] == {**properties["place"], "enum": ["Rivermist", "New York", "Rome"]}
    assert taken["doors"]["items"] == {"type": "string", "enum": ["driver", "rear_left"]}
    assert taken["note"] == properties["note"]
    assert taken["level"]["enum"] == [1, 2]
    assert taken["money"]["enum"] == ["USD", "v1.0"] and taken["count"] == properties["count"]


PADDED = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": None}, "fee": None},
    "required": None,
}


@pytest.mark.parametrize(
    ("importer", "definition"),
    [
        (IMPORTER, {"type": "function", "function": {**NAMED, "parameters": PADDED}}),
        (IMPORTER, {**NAMED, "parameters": json.dumps(PADDED)}),
        (ANTHROPIC, {**NAMED, "input_schema": PADDED}),
        (LANGCHAIN, {**NAMED, "args_schema": PADDED}),
        (LANGCHAIN, {**NAMED, "args": PADDED["properties"]}),
        (BFCL, {"function": [{**NAMED, "parameters": {**PADDED, "type": "dict"}}]}),
        (MCP, {"tools": [{**NAMED, "inputSchema": PADDED}]}),
    ],
)
def test_a_property_that_is_null_is_that_of_another_tool_of_the_table(
    tmp_path: Path, importer: Importer, definition: dict[str, Any]
) -> None:
    intake = take_in(importer.name, read(importer, tmp_path, definition))
    assert intake.nodes[0]["input_schema"]["properties"] == {"city": {"type": "string"}}
    assert not intake.report.losses


def test_the_response_of_a_function_is_its_output_schema(tmp_path: Path) -> None:
    response = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    incoming = read(
        BFCL, tmp_path, {**FORECAST, "response": response}, {**FORECAST, "name": "b", "response": 1}
    )
    assert [tool.output_schema for tool in incoming.tools] == [response, None]
    assert fields(incoming) == ["response"]


@pytest.mark.parametrize("value", [[], {"tools": []}, {"messages": MESSAGES}, None])
def test_a_file_without_tools_is_an_error(tmp_path: Path, value: Any) -> None:
    with pytest.raises(UsageError, match=r"tools\.json: holds no tool definitions"):
        read(IMPORTER, tmp_path, value)


_KEYS = st.sampled_from(
    [
        *("type", "function", "name", "description", "parameters", "tools", "functions", "input_schema"),
        *("properties", "required", "items", "$ref", "$defs", "anyOf", "body", "input_examples", "args"),
        *("args_schema", "tags", "response", "optional", "lc", "strict", "namespace"),
    ]
)
_TEXTS = st.sampled_from(
    ["function", "namespace", "object", "dict", "any", "x", "", "#/$defs/x", '{"type": 1}']
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=30,
)


@pytest.mark.parametrize("importer", [IMPORTER, ANTHROPIC, BFCL, LANGCHAIN], ids=lambda one: str(one.name))
@settings(max_examples=40, deadline=None)
@given(values=st.lists(_VALUES, min_size=1, max_size=3))
def test_any_json_gives_tools_skipped_parts_or_one_error(
    importer: Importer, tmp_path_factory: pytest.TempPathFactory, values: list[Any]
) -> None:
    try:
        incoming = read(importer, tmp_path_factory.getbasetemp(), *values)
    except UsageError:
        return
    assert incoming.tools or incoming.skipped
    intake = take_in(importer.name, incoming)
    assert len(intake.nodes) + len(intake.report.skipped) >= len(incoming.tools)
    for node in intake.nodes:
        Draft202012Validator.check_schema(node["input_schema"])
