from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import each_has
from tool_files import CITY, NO_ARGUMENTS, names, read

from toolassay.importers.model_tools import LANGCHAIN as IMPORTER

NAMED = {"name": "forecast", "description": "The weather of tomorrow."}
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


@pytest.mark.parametrize(
    "values",
    [
        [DUMPED, DUMPED],
        [{**NAMED, "tool_call_schema": CITY}],
        [{**NAMED, "args": CITY["properties"]}],
        [{"name": "forecast", "args_schema": {"description": NAMED["description"], **CITY}}],
        [{"type": "function", "function": {**NAMED, "parameters": CITY}}],
        [{**NAMED, "args_schema": "<class 'shop.City'>", "args": CITY["properties"]}],
    ],
)
def test_every_form_is_one_and_the_same_tool(tmp_path: Path, values: list[Any]) -> None:
    incoming = read(IMPORTER, tmp_path, *values)
    (tool,) = incoming.tools
    assert (tool.name, tool.description) == tuple(NAMED.values())
    assert {**tool.input_schema, "description": 0} == {**CITY, "description": 0}
    assert not incoming.skipped
    assert not tool.losses


def test_a_tool_without_a_schema_is_skipped_or_has_no_arguments(tmp_path: Path) -> None:
    given = [
        {**NAMED, "args_schema": "<class 'shop.City'>"},
        {"lc": 1, "type": "not_implemented", "id": ["shop", "Tool"], "name": "forecast"},
        {"description": "x"},
        {**NAMED, "args_schema": None},
    ]
    incoming = read(IMPORTER, tmp_path, given)
    assert names(incoming) == ["forecast"]
    assert incoming.tools[0].input_schema == NO_ARGUMENTS
    assert [note.field for note in incoming.tools[0].warnings] == ["args_schema"]
    reasons = [skipped.reason for skipped in incoming.skipped]
    assert each_has(reasons, "is no JSON Schema", "without its schema", "has no name")
