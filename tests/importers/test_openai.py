from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tool_files import CITY, NO_ARGUMENTS, fields, names, read

from toolassay.errors import UsageError
from toolassay.importers.anthropic import IMPORTER as ANTHROPIC
from toolassay.importers.bfcl import IMPORTER as BFCL
from toolassay.importers.documents import DEEPEST
from toolassay.importers.importer import Importer, Skipped
from toolassay.importers.intake import take_in
from toolassay.importers.langchain import IMPORTER as LANGCHAIN
from toolassay.importers.openai import IMPORTER
from toolassay.importers.tool_lists import map_schema, other_kind

FORECAST = {"name": "forecast", "description": "The weather of tomorrow.", "parameters": CITY}
FLAT = {"type": "function", **FORECAST}
WRAPPED = {"type": "function", "function": FORECAST}
MESSAGES = [{"role": "user", "content": "Will it rain?"}]


@pytest.mark.parametrize(
    "values",
    [
        [[WRAPPED]],
        [[FLAT]],
        [[FORECAST]],
        [FORECAST],
        [WRAPPED],
        [{"functions": [FORECAST]}],
        [{"model": "m", "messages": MESSAGES, "tools": [WRAPPED]}],
        [{"custom_id": "1", "method": "POST", "body": {"model": "m", "tools": [FLAT]}}],
        [{"type": "session.update", "session": {"tools": [FLAT]}}],
        [{"messages": MESSAGES, "tools": json.dumps([WRAPPED])}],
        [{"tools": [{**FLAT, "parameters": json.dumps(CITY)}]}],
        [{"tools": [WRAPPED]}, {"messages": MESSAGES}, {"tools": [FLAT]}, {"functions": [FORECAST]}],
        [WRAPPED, WRAPPED],
    ],
)
def test_every_form_of_a_function_is_one_and_the_same_tool(tmp_path: Path, values: list[Any]) -> None:
    incoming = read(IMPORTER, tmp_path, *values)
    assert not incoming.skipped
    (tool,) = incoming.tools
    assert (tool.name, tool.description) == ("forecast", "The weather of tomorrow.")
    assert (tool.input_schema, tool.output_schema) == (CITY, None)
    assert not tool.losses
    assert not tool.warnings


@pytest.mark.parametrize("missing", [{}, {"parameters": None}, {"parameters": {}}])
def test_without_parameters_a_tool_has_no_arguments(tmp_path: Path, missing: dict[str, Any]) -> None:
    (tool,) = read(IMPORTER, tmp_path, [{"name": "now", **missing}]).tools
    assert tool.input_schema == NO_ARGUMENTS
    assert tool.description == ""


def test_what_is_not_carried_over_is_a_loss(tmp_path: Path) -> None:
    inner = {**FORECAST, "strict": False, "defer_loading": True, "note": None}
    incoming = read(IMPORTER, tmp_path, [{"type": "function", "function": inner, "cache": 1}])
    assert fields(incoming) == ["cache", "strict", "defer_loading"]
    (tool,) = read(IMPORTER, tmp_path, [{**FLAT, "description": ["no", "text"]}]).tools
    assert [tuple(note) for note in tool.losses] == [("description", "is no text")]


def test_a_tool_of_many_requests_is_one_with_the_losses_of_all(tmp_path: Path) -> None:
    lines = [{"tools": [FLAT]}, {"tools": [{**FLAT, "strict": True}]}, {"tools": [{**FLAT, "strict": True}]}]
    incoming = read(IMPORTER, tmp_path, *lines)
    assert names(incoming) == ["forecast"]
    assert fields(incoming) == ["strict"]


def test_different_definitions_of_one_name_are_kept_and_named(tmp_path: Path) -> None:
    others = [{**FLAT, "description": text} for text in ("Of today.", "Of Sunday.")]
    incoming = read(IMPORTER, tmp_path, {"tools": [FLAT]}, {"tools": others}, {"tools": [FLAT]})
    assert names(incoming) == ["forecast"] * 3
    assert [node["id"] for node in take_in("openai", incoming).nodes] == [
        "forecast_1",
        "forecast_2",
        "forecast_3",
    ]
    assert [note.reason for tool in incoming.tools for note in tool.warnings] == [
        "line 2, tool 1 defines 'forecast' differently from line 1, tool 1; both are kept",
        "line 2, tool 2 defines 'forecast' differently from line 1, tool 1; both are kept",
    ]


def test_built_in_tools_are_skipped_with_the_reason(tmp_path: Path) -> None:
    built_in = [
        {"type": "web_search"},
        {"type": "custom", "name": "sql", "format": {"type": "grammar"}},
        {"type": "mcp", "server_label": "shop", "authorization": "Bearer planted-key"},
        FLAT,
    ]
    incoming = read(IMPORTER, tmp_path, {"tools": built_in})
    assert names(incoming) == ["forecast"]
    assert incoming.skipped == (
        Skipped("tool 1", "'web_search' is a built-in tool of the provider, whose schema is not in the file"),
        Skipped("tool 2", "'sql' is a custom tool, which takes a text instead of JSON arguments"),
        Skipped("tool 3", "'shop' is an MCP server: import it with `toolassay import mcp`"),
    )
    assert "planted-key" not in repr(incoming)


def test_a_built_in_tool_of_many_requests_is_reported_once(tmp_path: Path) -> None:
    incoming = read(IMPORTER, tmp_path, *[{"tools": [{"type": "web_search"}, FLAT]}] * 3)
    assert [skipped.where for skipped in incoming.skipped] == ["line 1, tool 1 and 2 more"]
    incoming = read(IMPORTER, tmp_path, [{"type": "web_search"}, {"type": "web_search"}])
    assert [skipped.where for skipped in incoming.skipped] == ["tool 1", "tool 2"]


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
    assert [skipped.reason for skipped in incoming.skipped] == [
        "has no name",
        "'parameters' is no JSON Schema",
        "'parameters' is no JSON Schema of an object",
        "'parameters' is no JSON Schema of an object",
        "'other' has the form of 'anthropic': import it with `toolassay import anthropic`",
        "'other' has the form of 'mcp': import it with `toolassay import mcp`",
        "is no object",
        f"is nested more than {DEEPEST} levels deep",
    ]


def test_a_request_whose_tools_are_no_list_is_skipped_and_one_without_tools_is_not(tmp_path: Path) -> None:
    requests = [{"messages": MESSAGES, "tools": tools} for tools in (5, None, [FLAT])]
    incoming = read(IMPORTER, tmp_path, *requests)
    assert names(incoming) == ["forecast"]
    assert incoming.skipped == (Skipped("line 1", "has no name"),)


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
        ("mcp", {"servers": {"shop": {"url": "https://shop.example"}}}),
        ("mcp", LISTING),
        ("mcp", LISTING["tools"]),
        ("mcp", {"jsonrpc": "2.0", "id": 1, "result": LISTING}),
        ("mcp", {"servers": [{"name": "shop", **LISTING}]}),
        ("anthropic", [{"name": "find", "description": "Finds.", "input_schema": CITY}]),
        ("anthropic", {"model": "m", "tools": [{"name": "find", "input_schema": CITY}]}),
        ("openai", [WRAPPED, FLAT]),
        ("openai", {"model": "m", "tools": [WRAPPED]}),
        ("openai", {"model": "m", "tools": [FORECAST]}),
        ("langchain", [{"name": "find", "args_schema": CITY}]),
        ("bfcl", QUESTION),
    ]
    for kind, value in given:
        if kind not in kinds:
            continue
        with pytest.raises(UsageError) as caught:
            read(importer, tmp_path, value)
        assert str(caught.value).endswith(
            f"has the form of '{kind}', not of '{importer.name}'. Fix: use `toolassay import {kind}`"
        ), value


@pytest.mark.parametrize("value", [FORECAST, [FORECAST], {"name": "now"}, [], "x", None, 3, {"tools": 3}])
def test_what_may_be_of_the_own_form_is_of_no_other(value: Any) -> None:
    assert all(other_kind(value, own) is None for own in ("openai", "langchain", "bfcl"))


def test_a_deeply_nested_value_is_of_no_known_form() -> None:
    nested: Any = FORECAST
    for _ in range(5000):
        nested = {"tools": [nested]}
    assert other_kind(nested, "mcp") is None


def test_tools_of_a_namespace_are_tagged(tmp_path: Path) -> None:
    group = {"type": "namespace", "name": "weather", "description": "All weather.", "tools": [FLAT]}
    (tool,) = read(IMPORTER, tmp_path, {"tools": [group]}).tools
    assert (tool.name, tool.tags, tool.source) == ("forecast", ("weather",), {"namespace": "weather"})
    assert tool.further_names == ("weather.forecast",)
    assert [note.field for note in tool.losses] == ["namespace.description"]


def test_every_subschema_is_visited_once_from_the_inside_out() -> None:
    schema = {
        "properties": {"a": {"items": {}}},
        "anyOf": [{}, True],
        "items": [{}],
        "additionalProperties": {"not": {}},
        "enum": [{"items": {}}],
    }
    places = []

    def visit(node: dict[str, Any], place: str) -> dict[str, Any]:
        places.append(place)
        return node

    assert map_schema(schema, visit, "s") == schema
    assert places == [
        *("s.properties.a.items", "s.properties.a", "s.anyOf[0]", "s.items[0]"),
        *("s.additionalProperties.not", "s.additionalProperties", "s"),
    ]


@pytest.mark.parametrize("value", [[], {"tools": []}, {"messages": MESSAGES}, None])
def test_a_file_without_tools_is_an_error(tmp_path: Path, value: Any) -> None:
    with pytest.raises(UsageError, match=r"tools\.json: holds no tool definitions"):
        read(IMPORTER, tmp_path, value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        IMPORTER.read(str(tmp_path / "none.json"), None)


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
@settings(max_examples=100, deadline=None)
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
