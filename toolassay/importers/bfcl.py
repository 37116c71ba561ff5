"""Functions of the Berkeley Function Calling Leaderboard (BFCL), whose schemas use Python and Java types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toolassay.importers.importer import IncomingTool, Note
from toolassay.importers.tool_lists import (
    ToolListImporter,
    arguments_of,
    map_schema,
    name_of,
    result_of,
    text_of,
    unread,
)
from toolassay.type_names import read_types


class BfclImporter(ToolListImporter):
    """Reads the questions of BFCL, `{"question", "function": […]}`, and its files of bare functions."""

    name: ClassVar[str] = "bfcl"
    title: ClassVar[str] = "BFCL functions"
    help: ClassVar[str] = "Functions of the questions of the Berkeley Function Calling Leaderboard."
    source_help: ClassVar[str] = "A file of BFCL: JSON Lines with 'function'."
    holders: ClassVar[tuple[str, ...]] = ("function", "functions")
    example: ClassVar[str] = '{"function": [{"name": …, "parameters": {"type": "dict", "properties": {…}}}]}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a function; see `ToolListImporter.tool_of`."""
        name = name_of(value)
        losses = unread(value, ("name", "description", "parameters", "response"))
        warnings: list[Note] = []
        schema = arguments_of(value, "parameters")
        schema = _converted(schema, "parameters", warnings)
        response = result_of(value, "response", losses)
        return IncomingTool(
            name,
            text_of(value, "description", losses),
            schema,
            None if response is None else _converted(response, "response", warnings),
            losses=losses,
            warnings=warnings,
        )


def _converted(schema: dict[str, Any], where: str, warnings: list[Note]) -> dict[str, Any]:
    """A schema with BFCL's types and marks as JSON Schema."""

    def change(node: dict[str, Any], place: str) -> dict[str, Any]:
        if (declared := read_types(node.get("type"))) is not None:
            node = declared | {key: item for key, item in node.items() if key != "type"}
        properties, required = node.get("properties"), node.get("required")
        for name, one in properties.items() if isinstance(properties, dict) else ():
            if not isinstance(one, dict) or "optional" not in one:
                continue
            optional = str(one.pop("optional")).casefold() == "true"
            if optional == (name in _listed(required)):
                said = "optional" if optional else "not optional"
                warnings.append(
                    Note(f"{place}.properties.{name}.optional", f"is {said}, which 'required' contradicts")
                )
        return node

    return map_schema(schema, change, where)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


IMPORTER = BfclImporter()
