"""Tools and functions of OpenAI's APIs: lists, request bodies, and JSON Lines of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from toolassay.importers.importer import IncomingTool, Note
from toolassay.importers.tool_lists import (
    DefinitionError,
    ToolListImporter,
    arguments_of,
    name_of,
    result_of,
    text_of,
    unread,
)


class OpenAIImporter(ToolListImporter):
    """Reads `{"type": "function", "function": {…}}`, the Responses API's flat form, and bare functions."""

    name: ClassVar[str] = "openai"
    title: ClassVar[str] = "OpenAI tools"
    help: ClassVar[str] = "Tools or functions of OpenAI's APIs, as a list or in request bodies."
    source_help: ClassVar[str] = "A file of JSON or JSON Lines."
    example: ClassVar[str] = '{"type": "function", "function": {"name": …, "parameters": {…}}}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a definition; see `ToolListImporter.tool_of`."""
        return function_tool(value, namespace)


def function_tool(value: dict[str, Any], namespace: Mapping[str, Any] | None = None) -> IncomingTool:
    """The tool of a function definition in any of OpenAI's forms.

    Args:
        value: The definition.
        namespace: The object `{"type": "namespace", "name", "description", "tools"}` that has it, if any.

    Raises:
        DefinitionError: It is a built-in or custom tool, or malformed.
    """
    inner, kind = value.get("function"), value.get("type", "function")
    if isinstance(inner, dict):
        losses = unread(value, ("type", "function"))
    elif kind != "function":
        raise DefinitionError(_not_a_function(kind, value))
    else:
        inner, losses = value, []
    name = name_of(inner)
    losses += unread(inner, ("type", "name", "description", "parameters", "output_schema"))
    tool = IncomingTool(
        name,
        text_of(inner, "description", losses),
        arguments_of(inner, "parameters"),
        result_of(inner, "output_schema", losses),
        losses=losses,
    )
    return tool if namespace is None else _in_namespace(tool, namespace)


def _in_namespace(tool: IncomingTool, namespace: Mapping[str, Any]) -> IncomingTool:
    group = namespace.get("name")
    notes = unread(namespace, ("type", "name", "tools"))
    losses = [*tool.losses, *(Note(f"namespace.{note.field}", note.reason) for note in notes)]
    if not isinstance(group, str) or not group.strip():
        return replace(tool, losses=losses)
    return replace(
        tool,
        tags=(group,),
        source={"namespace": group},
        further_names=(f"{group}.{tool.name}",),
        losses=losses,
    )


def _not_a_function(kind: Any, value: Mapping[str, Any]) -> str:
    label = value.get("name") or value.get("server_label") or kind
    if kind == "custom":
        return f"'{label}' is a custom tool, which takes a text instead of JSON arguments"
    if kind == "mcp":
        return f"'{label}' is an MCP server: import it with `toolassay import mcp`"
    return f"'{kind}' is a built-in tool of the provider, whose schema is not in the file"


IMPORTER = OpenAIImporter()
