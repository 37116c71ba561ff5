"""OpenAI's form: the list `tools` of the Chat Completions API."""

from __future__ import annotations

from toolassay.calls.function_schemas import Names
from toolassay.exporters.tools.exported_tools import ExportedTools, Loss, accepted_signature, further_losses
from toolassay.tools import ToolLibrary


def write(library: ToolLibrary) -> ExportedTools:
    """The tools as `[{"type": "function", "function": {…}}]`, with names that the API accepts.

    >>> from toolassay.tools import Tool
    >>> exported = write(ToolLibrary([Tool("shop.find", "Finds.", input_schema={"type": "object"})]))
    >>> exported.document[0]["function"]
    {'name': 'shop_find', 'description': 'Finds.', 'parameters': {'type': 'object'}}
    >>> exported.losses
    [Loss(tool='shop.find', field='id', reason="is written as 'shop_find'")]
    """
    names = Names.of(library, "resource").functions
    document, losses = [], list[Loss]()
    for tool in library:
        signature = accepted_signature(tool)
        function = {
            "name": names[tool.id],
            "description": signature.description,
            "parameters": signature.schema,
        }
        document.append({"type": "function", "function": function})
        losses += [*signature.losses, *further_losses(tool, (), "openai", names[tool.id])]
    return ExportedTools(document, losses)
