from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import each_has
from tool_files import CITY, NO_ARGUMENTS, fields, names, read

from toolassay.importers.model_tools import ANTHROPIC as IMPORTER

FORECAST = {"name": "forecast", "description": "The weather of tomorrow.", "input_schema": CITY}


@pytest.mark.parametrize(
    "values",
    [
        [[FORECAST]],
        [{**FORECAST, "type": "custom"}],
        [{"model": "m", "max_tokens": 9, "messages": [], "tools": [FORECAST]}],
        [{"requests": [{"custom_id": "1", "params": {"model": "m", "tools": [FORECAST]}}]}],
        [{"custom_id": "1", "params": {"tools": [FORECAST]}}, {"tools": [FORECAST]}],
    ],
)
def test_every_form_is_one_and_the_same_tool(tmp_path: Path, values: list[Any]) -> None:
    incoming = read(IMPORTER, tmp_path, *values)
    (tool,) = incoming.tools
    assert (tool.name, tool.description, tool.input_schema) == (*list(FORECAST.values())[:2], CITY)
    assert not incoming.skipped
    assert not tool.losses


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
    incoming = read(IMPORTER, tmp_path, given)
    assert names(incoming) == ["now"]
    assert incoming.tools[0].input_schema == NO_ARGUMENTS
    assert each_has(
        [skipped.reason for skipped in incoming.skipped],
        *("'web_search_20250305' is a tool of the provider", "'bash_20250124' is a tool of the provider"),
        *("import mcp", "import openai", "import openai", "import mcp", "'input_schema' is no JSON Schema"),
    )


def test_examples_become_examples_of_the_schema(tmp_path: Path) -> None:
    schema = {**CITY, "examples": [{"city": "Bern"}]}
    given = [{**FORECAST, "input_schema": schema, "input_examples": [{"city": "Rome"}]}]
    (tool,) = read(IMPORTER, tmp_path, given).tools
    assert tool.input_schema["examples"] == [{"city": "Bern"}, {"city": "Rome"}]
    assert fields(read(IMPORTER, tmp_path, [{**FORECAST, "input_examples": {"city": "Rome"}}])) == [
        "input_examples"
    ]
