"""Anthropic's form: the list `tools` of the Messages API."""

from __future__ import annotations

import re

from toolassay.calls.function_schemas import Names
from toolassay.exporters.tools.exported_tools import ExportedTools, Loss, accepted_signature, further_losses
from toolassay.tools import ToolLibrary

# Names of properties that the API accepts: "user.name"; not "per page" nor "größe".
_VALID_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def write(library: ToolLibrary) -> ExportedTools:
    """The tools as `[{"name", "description", "input_schema"}]`, with names of tools that the API accepts.

    Arguments keep their names; those that the API refuses are losses.
    """
    names = Names.of(library, "resource").functions
    document, losses = [], list[Loss]()
    for tool in library:
        signature = accepted_signature(tool)
        document.append(
            {
                "name": names[tool.id],
                "description": signature.description,
                "input_schema": signature.schema,
            }
        )
        losses += [*signature.losses, *further_losses(tool, (), "anthropic", names[tool.id])]
        losses += [
            Loss(tool.id, f"input_schema.properties.{name}", "Anthropic's API refuses this name")
            for name in signature.schema.get("properties") or ()
            if not _VALID_PROPERTY.fullmatch(name)
        ]
    return ExportedTools(document, losses)
