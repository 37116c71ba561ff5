"""The form of MCP: the answer to `tools/list`, or those of several servers."""

from __future__ import annotations

from typing import Any

from toolassay.exporters.tools.exported_tools import ExportedTools, Loss, further_losses, signature_of
from toolassay.tools import Tool, ToolLibrary

_HELD = ("annotations", "output_schema", "source.server")


def write(library: ToolLibrary) -> ExportedTools:
    """The tools as `{"tools": […]}`, or `{"servers": [{"name", "tools"}]}` if they have different servers.

    A tool is called by its id, also where its server has another name for it.
    """
    servers: dict[str, list[dict[str, Any]]] = {}
    losses: list[Loss] = []
    for tool in library:
        signature = signature_of(tool)
        server = tool.source.get("server")
        entry = {
            "name": tool.id,
            "description": signature.description,
            "inputSchema": signature.schema,
        }
        if tool.output_schema is not None:
            entry |= _output(tool, losses)
        if tool.annotations:
            entry["annotations"] = dict(tool.annotations)
        servers.setdefault(server if isinstance(server, str) else "", []).append(entry)
        losses += [*signature.losses, *further_losses(tool, _HELD, "mcp", tool.id)]
    listings = [
        {"name": name, "tools": tools} if name else {"tools": tools} for name, tools in servers.items()
    ]
    return ExportedTools(listings[0] if len(listings) == 1 else {"servers": listings}, losses)


def _output(tool: Tool, losses: list[Loss]) -> dict[str, Any]:
    schema = dict(tool.output_schema or {})
    if schema.get("type") == "object":
        return {"outputSchema": schema}
    losses.append(Loss(tool.id, "output_schema", "MCP allows only the schema of an object"))
    return {}
