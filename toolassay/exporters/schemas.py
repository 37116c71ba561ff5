"""Tools as functions with a JSON schema."""

from __future__ import annotations

from typing import Any

from toolassay.exporters.names import Names
from toolassay.exporters.slots import Slot, slots_of
from toolassay.graph import DependencyType
from toolassay.tools import Tool

_FORMATS = {"date": "date", "time": "time", "datetime": "date-time", "timestamp": "date-time"}


def function_of(tool: Tool, kind: DependencyType, names: Names) -> dict[str, Any]:
    """A tool as `{"name", "description", "parameters"}`, which OpenAI puts under `function`.

    >>> from toolassay.tools import ToolLibrary
    >>> tool = Tool("Paint it", "Paints.", inputs=("text",), outputs=("image",))
    >>> function = function_of(tool, "resource", Names.of(ToolLibrary([tool]), "resource"))
    >>> function["name"], function["parameters"]["required"], function["description"]
    ('Paint_it', ['text'], 'Paints. Gives image.')
    """
    slots, called = slots_of(tool, kind), names.parameters[tool.id]
    gives = f"Gives {', '.join(tool.outputs)}." if kind == "resource" and tool.outputs else ""
    return {
        "name": names.functions[tool.id],
        "description": " ".join(text for text in (tool.description.strip(), gives) if text),
        "parameters": {
            "type": "object",
            "properties": {called[slot.name]: _property(slot) for slot in slots},
            "required": [called[slot.name] for slot in slots if slot.required],
        },
    }


def _property(slot: Slot) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": slot.json_type}
    if slot.description:
        schema["description"] = slot.description
    shape = _FORMATS.get(slot.kind.strip().casefold().replace("-", "").replace("_", ""))
    if shape is not None:
        schema["format"] = shape
    values = slot.source.get("enum")
    if isinstance(values, list) and values:
        schema["enum"] = values
    if slot.json_type == "array":
        items = slot.source.get("items")
        schema["items"] = items if isinstance(items, dict) else {}
    return schema
