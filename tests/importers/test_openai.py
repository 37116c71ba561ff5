from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from running import each_has
from tool_files import CITY, names, read

from toolassay.errors import UsageError
from toolassay.importers.documents import DEEPEST
from toolassay.importers.importer import Importer
from toolassay.importers.intake import take_in
from toolassay.importers.model_tools import ANTHROPIC, BFCL, LANGCHAIN
from toolassay.importers.model_tools import OPENAI as IMPORTER

FORECAST = {"name": "forecast", "description": "The weather of tomorrow.", "parameters": CITY}
FLAT = {"type": "function", **FORECAST}
WRAPPED = {"type": "function", "function": FORECAST}
MESSAGES = [{"role": "user", "content": "Will it rain?"}]


@pytest.mark.parametrize(
    "values",
    [
        [[FORECAST]],
        [{"functions": [FORECAST]}],
        [{"model": "m", "messages": MESSAGES, "tools": [WRAPPED]}],
        [{"custom_id": "1", "method": "POST", "body": {"model": "m", "tools": [FLAT]}}],
        [{"type": "session.update", "session": {"tools": [FLAT]}}],
        [{"messages": MESSAGES, "tools": json.dumps([WRAPPED])}],
        [{"tools": [{**FLAT, "parameters": json.dumps(CITY)}]}],
        [{"tools": [WRAPPED]}, {"messages": MESSAGES}, {"tools": [FLAT]}, {"functions": [FORECAST]}],
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
