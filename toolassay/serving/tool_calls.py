"""Function calling in OpenAI's form, done by the offline planner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolassay.graph import ToolGraph
from toolassay.models import ToolCall
from toolassay.tools import Parameter, Tool, ToolLibrary

_KINDS = {"integer": (int,), "number": (int, float), "boolean": (bool,)}


def graph_of(tools: str) -> ToolGraph:
    """The functions of a request's `tools` (as JSON text), any order possible.

    Raises:
        UsageError: no function, or two of one name.
        ValueError: something else than functions.
    """
    return ToolGraph.build(ToolLibrary([_tool(item) for item in json.loads(tools)]), "temporal")


def calls_of(plan: Mapping[str, Any], tools: Sequence[Any]) -> list[ToolCall]:
    """The calls of a plan; a value that is not of the type its schema names is left out.

    The server gives them their ids.
    """
    schemas = {item["function"]["name"]: _properties(item["function"]) for item in tools}
    calls = []
    for node in plan["task_nodes"]:
        typed = {
            argument["name"]: _typed(argument["value"], schemas[node["task"]].get(argument["name"], {}))
            for argument in node["arguments"]
        }
        arguments = {name: value for name, value in typed.items() if value is not None}
        calls.append(ToolCall("", node["task"], json.dumps(arguments, ensure_ascii=False)))
    return calls


def _tool(item: Any) -> Tool:
    function = item.get("function") if isinstance(item, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ValueError("every one of 'tools' needs a function with a name")
    parameters = tuple(
        Parameter(name, str(schema.get("type", "string")), str(schema.get("description", "")))
        for name, schema in _properties(function).items()
    )
    return Tool(function["name"], str(function.get("description") or ""), parameters=parameters)


def _properties(function: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    schema = function.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {}
    return {name: value if isinstance(value, dict) else {} for name, value in properties.items()}


def _typed(value: str, schema: Mapping[str, Any]) -> Any:
    """A value of the request as the number or the boolean that is wanted; None where it is none.

    >>> _typed("3", {"type": "integer"}), _typed("three", {"type": "integer"}), _typed("3", {})
    (3, None, '3')
    """
    wanted = _KINDS.get(str(schema.get("type")))
    if wanted is None:
        return value
    try:
        read = json.loads(value.casefold())
    except ValueError:
        return None
    return read if type(read) in wanted else None
