"""The published tool file: `tool_desc.json` with its published keys only."""

from __future__ import annotations

from typing import Any

from toolassay.data_folder import DEFAULT_BENCHMARK
from toolassay.exporters.tools.exported_tools import ExportedTools, Loss, further_losses
from toolassay.tools import Tool, ToolLibrary


def write(library: ToolLibrary) -> ExportedTools:
    """The tools as `{"nodes": [{"id", "desc", "parameters"}]}`, or with `input-type` and `output-type`."""
    losses: list[Loss] = []
    nodes = [_node(tool, losses) for tool in library]
    return ExportedTools({"nodes": nodes}, losses)


def _node(tool: Tool, losses: list[Loss]) -> dict[str, Any]:
    node: dict[str, Any] = {"id": tool.id, "desc": tool.description}
    losses += further_losses(tool, (), DEFAULT_BENCHMARK, tool.id)
    if tool.is_resource:
        if tool.parameters:
            losses.append(Loss(tool.id, "parameters", "the types are written instead"))
        return node | {"input-type": list(tool.inputs), "output-type": list(tool.outputs)}
    node["parameters"] = [
        {"name": one.name, "type": one.type, "desc": one.description} for one in tool.parameters
    ]
    if tool.input_schema is not None:
        losses.append(Loss(tool.id, "input_schema", "only names, types and descriptions of the arguments"))
        return node
    if "required" in tool.raw:
        losses.append(Loss(tool.id, "required", "the form has no place for it"))
    losses += [
        Loss(tool.id, f"parameters.{one.name}.{key}", "the form has no place for it")
        for one in tool.parameters
        for key in one.declaration
        if key not in ("name", "type", "desc", "description")
    ]
    return node
