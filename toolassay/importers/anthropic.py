"""Tools of Anthropic's Messages API: lists, request bodies, and JSON Lines of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toolassay.importers.importer import IncomingTool, Note
from toolassay.importers.tool_lists import (
    DefinitionError,
    ToolListImporter,
    arguments_of,
    name_of,
    text_of,
    unread,
)


class AnthropicImporter(ToolListImporter):
    """Reads `{"name", "description", "input_schema"}`; the provider's own tools are skipped."""

    name: ClassVar[str] = "anthropic"
    title: ClassVar[str] = "Anthropic tools"
    help: ClassVar[str] = "Tools of Anthropic's Messages API, as a list or in request bodies."
    source_help: ClassVar[str] = "A file of JSON or JSON Lines."
    example: ClassVar[str] = '{"name": …, "description": …, "input_schema": {…}}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a definition; see `ToolListImporter.tool_of`."""
        kind = value.get("type")
        if kind not in (None, "custom"):
            if kind == "mcp_toolset":
                raise DefinitionError("is an MCP server: import it with `toolassay import mcp`")
            raise DefinitionError(f"'{kind}' is a tool of the provider, whose schema is not in the file")
        name = name_of(value)
        losses = unread(value, ("type", "name", "description", "input_schema", "input_examples"))
        description = text_of(value, "description", losses)
        schema = arguments_of(value, "input_schema")
        examples = _fitting_examples(value.get("input_examples"), schema, losses)
        if examples:
            known = schema.get("examples")
            schema = {**schema, "examples": [*(known if isinstance(known, list) else []), *examples]}
        return IncomingTool(name, description, schema, losses=losses)


def _fitting_examples(given: Any, schema: Mapping[str, Any], losses: list[Note]) -> list[Any]:
    """The examples with all required and no undeclared arguments; every other one is a loss.

    Only the names are compared: validating values runs the patterns of a schema from outside, whose time has
    no bound.
    """
    if given is None:
        return []
    if not isinstance(given, list):
        losses.append(Note("input_examples", "is no list"))
        return []
    required, properties = schema.get("required"), schema.get("properties")
    wanted = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    declared = set(properties) if isinstance(properties, dict) else set()
    fitting = []
    for number, example in enumerate(given):
        if isinstance(example, dict) and wanted <= example.keys() <= declared:
            fitting.append(example)
        else:
            losses.append(Note(f"input_examples[{number}]", "does not fit the input schema"))
    return fitting


IMPORTER = AnthropicImporter()
