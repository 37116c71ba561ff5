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

_TYPES = {
    "integer": "integer int long short byte bigint biginteger",
    "number": "number float double decimal bigdecimal",
    "boolean": "boolean bool",
    "string": "string str char character",
    "array": "array arraylist list linkedlist tuple set hashset queue stack vector",
    "object": "object dict dictionary map hashmap hashtable",
    "null": "null none",
}
_TYPE_OF = {word: name for name, words in _TYPES.items() for word in words.split()}


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
        schema = _converted(schema, "parameters", losses, warnings)
        response = result_of(value, "response", losses)
        return IncomingTool(
            name,
            text_of(value, "description", losses),
            schema,
            None if response is None else _converted(response, "response", losses, warnings),
            losses=losses,
            warnings=warnings,
        )


def _converted(
    schema: dict[str, Any], where: str, losses: list[Note], warnings: list[Note]
) -> dict[str, Any]:
    """A schema with BFCL's types and marks as JSON Schema."""

    def change(node: dict[str, Any], place: str) -> dict[str, Any]:
        if "type" in node:
            given = node.pop("type")
            names = [_json_type(one, f"{place}.type", losses) for one in _listed(given)]
            if None not in names:
                node = {"type": names if isinstance(given, list) else names[0], **node}
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


def _json_type(given: Any, where: str, losses: list[Note]) -> str | None:
    """The name of a type in JSON Schema; None for any type.

    >>> [_json_type(name, "", []) for name in ("dict", "ArrayList", "float", "any")]
    ['object', 'array', 'number', None]
    """
    word = given.casefold() if isinstance(given, str) else ""
    if word == "any":
        return None
    if word not in _TYPE_OF:
        losses.append(Note(where, f"'{str(given)[:60]}' is no known type; any value is allowed"))
    return _TYPE_OF.get(word)


IMPORTER = BfclImporter()
