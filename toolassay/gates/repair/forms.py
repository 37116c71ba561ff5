"""The form of arguments: a list where one is due, texts for resource tools, names and values for others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolassay.backinstruct.critics import Spellings, same_tool
from toolassay.gates.gate import Background
from toolassay.gates.literals import text_of_number
from toolassay.gates.repair.changes import Record, Repair, nodes_of
from toolassay.gates.schema.declared import kinds_of_type
from toolassay.tools import Tool

_TOLD_AS_TEXT = {"text", "date", "time", "moment", "phone"}


def mend_forms(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Arguments in the form that the tool's kind has."""
    nodes = nodes_of(record)
    mended = [_node(node, f"task_nodes[{place}]", background, repairs) for place, node in enumerate(nodes)]
    changed = any(new is not old for new, old in zip(mended, nodes, strict=True))
    return {**record, "task_nodes": mended} if changed else record


def _node(node: Any, where: str, background: Background, repairs: list[Repair]) -> Any:
    if not isinstance(node, Mapping) or node.get("arguments") is None:
        return node
    name = node.get("task", node.get("id"))
    tool = background.library[name] if isinstance(name, str) and name in background.library else None
    by_inputs = background.kind == "resource" if tool is None else background.takes_inputs(tool)
    before = arguments = node["arguments"]
    if not isinstance(arguments, list):
        arguments = _resource_list(arguments) if by_inputs else _named_list(arguments, tool)
        if arguments is None:
            return node
        repairs.append(Repair("form", f"{where}.arguments", before, arguments))
    mended = [
        _text(item, f"{where}.arguments[{place}]", tool, repairs)
        if by_inputs
        else _named(item, f"{where}.arguments[{place}]", tool, len(arguments), repairs)
        for place, item in enumerate(arguments)
    ]
    if arguments is before and all(new is old for new, old in zip(mended, before, strict=True)):
        return node
    return {**node, "arguments": mended}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _resource_list(value: Any) -> list[Any] | None:
    """The list that is meant by a text, a number or an object in its place."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        return decoded if isinstance(decoded, list) else [value]
    if _is_plain(value):
        return [value]
    if isinstance(value, Mapping):
        values = [value["value"]] if "value" in value else list(value.values())
        return values if values and all(isinstance(item, str) for item in values) else None
    return None


def _text(item: Any, where: str, tool: Tool | None, repairs: list[Repair]) -> Any:
    if isinstance(item, str) or not (_is_plain(item) or isinstance(item, Mapping)):
        return item
    if not isinstance(item, Mapping):
        text = text_of_number(item)
        repairs.append(Repair("number", where, item, text))
        return text
    inner = item.get("value")
    if "value" not in item and len(item) == 1 and _is_type(key := next(iter(item)), tool):
        inner = item[key]
    if isinstance(inner, bool) or not isinstance(inner, str | int | float):
        return item
    text = inner if isinstance(inner, str) else text_of_number(inner)
    repairs.append(Repair("form", where, item, text))
    return text


def _is_type(key: Any, tool: Tool | None) -> bool:
    """Whether a key says no more than the type of an input: {"image": "example.jpg"}."""
    types = {same_tool(kind) for kind in tool.inputs} if tool is not None else set()
    return isinstance(key, str) and same_tool(key) in types


def _named_list(value: Any, tool: Tool | None) -> list[Any] | None:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            decoded = None
        if isinstance(decoded, list):
            return decoded
    if isinstance(value, Mapping):
        if "name" in value and "value" in value:
            return [value]
        if tool is not None and value and all(_parameter(key, tool) for key in value):
            return [{"name": key, "value": item} for key, item in value.items()]
        return None
    if _is_plain(value) and tool is not None and len(tool.parameters) == 1:
        return [{"name": tool.parameters[0].name, "value": value}]
    return None


def _parameter(key: Any, tool: Tool) -> str | None:
    return Spellings(p.name for p in tool.parameters).meant(key) if isinstance(key, str) else None


def _named(item: Any, where: str, tool: Tool | None, count: int, repairs: list[Repair]) -> Any:
    if tool is None:
        return item
    if isinstance(item, Mapping):
        if "value" in item and isinstance(name := item.get("name"), str):
            return _as_text(item, name, where, tool, repairs)
        if len(item) != 1 or not _parameter(key := next(iter(item)), tool):
            return item
        after = {"name": key, "value": item[key]}
    elif _is_plain(item) and count == len(tool.parameters) == 1:
        after = {"name": tool.parameters[0].name, "value": item}
    else:
        return item
    repairs.append(Repair("form", where, item, after))
    return after


def _as_text(item: Mapping[str, Any], name: str, where: str, tool: Tool, repairs: list[Repair]) -> Any:
    """A number where the parameter takes what is written as a text."""
    value = item["value"]
    declared = next((p.type for p in tool.parameters if p.name == name), None)
    if declared is None or isinstance(value, str) or not _is_plain(value):
        return item
    kinds = kinds_of_type(declared)
    if not kinds or not kinds <= _TOLD_AS_TEXT:
        return item
    text = text_of_number(value)
    repairs.append(Repair("number", f"{where}.value", value, text))
    return {**item, "value": text}
