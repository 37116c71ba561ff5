"""Parts of results in plans of schema graphs: whether a tool returns them, and whether their types fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from toolassay.argument_schemas import Schema, has_place, kinds_of, schema_at
from toolassay.gates.gate import Background
from toolassay.graph.derive.given_fields import is_informative
from toolassay.output_paths import EACH, Part, Reference, parse_path, path_text
from toolassay.tools import Tool

Shape = Literal["a list", "an object", "a single value"]
_SHAPES: Mapping[str, Shape] = {"array": "a list", "object": "an object"}


class OutputPart(NamedTuple):
    """What a schema says of a part of a result.

    Attributes:
        is_declared: False if the schema lists the fields of the object around it, and not this one.
        shapes: What its value may be; empty if the schema does not say.
    """

    is_declared: bool
    shapes: frozenset[Shape]


def output_part(schema: Schema | None, path: Iterable[Part]) -> OutputPart:
    """What an `output_schema` says of a path.

    >>> movies = {"properties": {"results": {"items": {"properties": {"id": {"type": "integer"}}}}}}
    >>> output_part(movies, ("results", 0, "id"))
    OutputPart(is_declared=True, shapes=frozenset({'a single value'}))
    >>> output_part(movies, ("results", 0, "title")).is_declared, output_part(None, ("a",)).is_declared
    (False, True)
    """
    if schema is None or not is_informative(schema):
        return OutputPart(True, frozenset())
    parts = list(path)
    place = [0 if part == EACH else part for part in parts]
    if not has_place(place, schema):
        return OutputPart(False, frozenset())
    is_many = EACH in parts
    return OutputPart(True, frozenset({"a list"}) if is_many else shapes_of(schema_at(place, schema), schema))


def shapes_of(schema: Schema, root: Schema) -> frozenset[Shape]:
    """What a value may be: a list, an object or a single value; empty if the schema does not say."""
    return frozenset(_SHAPES.get(kind, "a single value") for kind in kinds_of(schema, root) - {"null"})


def fault_of(reference: Reference, source: Tool, target: Tool, background: Background) -> str | None:
    """Why a reference to a part of a result is wrong; None if it may be right.

    A part that the link of the tool graph names is right whatever the schema says.
    """
    part = output_part(source.output_schema, reference.path)
    if part.is_declared:
        return None
    link = background.graph.dependency(source.id, target.id) if background.graph is not None else None
    named = {_plain(parse_path(pair.source)) for pair in link.fields} if link is not None else set()
    if _plain(reference.path) in named:
        return None
    return f"'{source.id}' returns no '{path_text(reference.path)}'"


def _plain(path: Iterable[Part]) -> tuple[Part, ...]:
    """A path without the numbers of items, and without an item at its end."""
    parts = [EACH if isinstance(part, int) else part for part in path]
    while parts and parts[-1] == EACH:
        parts.pop()
    return tuple(parts)


def takes(tool: Tool, place: Iterable[str | int], *, is_whole: bool) -> frozenset[Shape]:
    """What an argument of a tool, or a part of one, may be; empty if its schema does not say.

    Args:
        tool: The tool.
        place: The path of the argument.
        is_whole: Whether a whole result is given, which any text can be.
    """
    root = tool.input_schema or {}
    schema = schema_at(list(place), root)
    return frozenset() if is_whole and "string" in kinds_of(schema, root) else shapes_of(schema, root)
