"""Anthropic's form: the list `tools` of the Messages API."""

from __future__ import annotations

from toolassay.exporters.function_schemas import Names
from toolassay.exporters.tools.exported_tools import ExportedTools, Loss, further_losses, signature_of
from toolassay.tools import ToolLibrary


def write(library: ToolLibrary) -> ExportedTools:
    """The tools as `[{"name", "description", "input_schema"}]`, with names that the API accepts."""
    names = Names.of(library, "resource").functions
    document, losses = [], list[Loss]()
    for tool in library:
        signature = signature_of(tool)
        document.append(
            {
                "name": names[tool.id],
                "description": signature.description,
                "input_schema": signature.schema,
            }
        )
        losses += [*signature.losses, *further_losses(tool, (), "anthropic", names[tool.id])]
    return ExportedTools(document, losses)
