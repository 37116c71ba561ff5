"""Converted schemas: their size, parts that fit into a limit, and loops that are opened.

A reference in them is `#/$defs/Name`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolassay.argument_schemas import SUBSCHEMAS, subschemas, with_subschemas
from toolassay.importers.importer import Note

_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_LOOPING = {*_IN_PLACE, "$ref", "dependentSchemas"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A converted schema.

    Attributes:
        schema: A dictionary or a truth value.
        values: Number of JSON values in it.
        refs: Names of the definitions it refers to, in order.
        losses: What was not converted.
    """

    schema: Any
    values: int
    refs: tuple[str, ...]
    losses: frozenset[Note] = frozenset()


def measured(schema: Any, losses: frozenset[Note] = frozenset()) -> Piece:
    """A converted schema with its size and references."""
    values, refs, rest = 0, dict[str, None](), deque([schema])
    while rest:
        one = rest.popleft()
        own, children = _parts(one)
        values += own
        rest.extend(children)
        if isinstance(one, dict) and "$ref" in one:
            refs[str(one["$ref"]).removeprefix("#/$defs/")] = None
    return Piece(schema, values, tuple(refs), losses)


def pruned(schema: Any, most_values: int, least_depth: int = 0) -> Any:
    """A copy of the first levels that fit into the limit; below them it allows anything.

    Args:
        schema: A converted schema of more values than the limit.
        most_values: Maximum number of JSON values; what allows anything counts as one.
        least_depth: Levels that are kept even if they do not fit.
    """
    level, depth, values = [schema], 0, 0
    while level:
        parts = [_parts(one) for one in level]
        if values + len(level) > most_values:
            depth -= 1
            break
        values += sum(own for own, _ in parts)
        if values > most_values:
            break
        level = [child for _, children in parts for child in children]
        depth += 1
    return _until(schema, max(depth, least_depth))


def _until(schema: Any, depth: int) -> Any:
    """The first levels of a schema."""
    if depth <= 0 or not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {}
    return with_subschemas(schema, lambda one, _: one if isinstance(one, list) else _until(one, depth - 1))


def loosened(schema: Any) -> Any:
    """A copy in which every schema may be replaced by one that allows more; see `loosen`."""
    if not isinstance(schema, dict):
        return schema
    result = with_subschemas(schema, lambda one, _: loosened(one))
    loosen(result)
    return result


def loosen(schema: dict[str, Any]) -> None:
    """Replace what would reject a value because an inner schema allows it: `oneOf`, `not`, `if`.

    `oneOf` of two schemas that were cut to `{}` would reject everything.
    """
    for key in ("not", "if", "then", "else"):
        schema.pop(key, None)
    branches = schema.pop("oneOf", None)
    if branches and "anyOf" not in schema:
        schema["anyOf"] = branches


def _parts(schema: Any) -> tuple[int, list[Any]]:
    """The number of JSON values in a schema without those in its schemas, and these schemas."""
    if not isinstance(schema, dict):
        return 1, []
    values = 1 + sum(_size(value) for key, value in schema.items() if key not in SUBSCHEMAS)
    return values, [one for _, one in subschemas(schema)]


def _size(value: Any) -> int:
    """The number of JSON values in an example, a default or an enumeration."""
    values, rest = 0, [value]
    while rest:
        values += 1
        one = rest.pop()
        if isinstance(one, dict | list):
            rest += one.values() if isinstance(one, dict) else one
    return values


def _in_place(schema: Any) -> Iterator[tuple[str, str]]:
    """The definitions that apply to the same value as a schema, each with the outermost keyword."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield "$ref", str(schema["$ref"]).removeprefix("#/$defs/")
    for key in _IN_PLACE:
        if key in schema:
            value = schema[key]
            for one in value if isinstance(value, list) else [value]:
                yield from ((key, name) for _, name in _in_place(one))
    for one in (schema.get("dependentSchemas") or {}).values():
        yield from (("dependentSchemas", name) for _, name in _in_place(one))


def open_loops(definitions: dict[str, Piece]) -> None:
    """Change definitions that apply themselves to the same value, on which a validator would not end.

    Mostly `Pet: {oneOf: [Cat]}` with `Cat: {allOf: [Pet, …]}`. There `Cat` gets a copy of what else `Pet`
    says; `Pet` stays. Where that does not help, the keyword that closes the loop is removed.
    """
    note = Note("schema.$ref", "a schema that applies itself to the same value is opened")
    for is_last in (False, True):
        for loop in _loops(definitions):
            originals = {name: definitions[name].schema for name in loop}
            for name in sorted(loop):
                schema = _opened(originals[name], loop, {} if is_last else originals)
                if schema is not originals[name]:
                    losses = definitions[name].losses | {note}
                    definitions[name] = measured(schema, losses)


def _loops(definitions: Mapping[str, Piece]) -> list[set[str]]:
    edges = [
        (name, target)
        for name, piece in definitions.items()
        if isinstance(piece.schema, dict) and not piece.schema.keys().isdisjoint(_LOOPING)
        for _, target in _in_place(piece.schema)
    ]
    if not edges:
        return []
    import networkx

    graph = networkx.DiGraph(edges)
    return [
        component
        for component in networkx.strongly_connected_components(graph)
        if len(component) > 1 or any(graph.has_edge(name, name) for name in component)
    ]


def _opened(schema: dict[str, Any], loop: set[str], originals: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of a loop without what closes it.

    Args:
        schema: A definition of the loop.
        loop: Names of its definitions.
        originals: Definitions to copy into `allOf`; empty to remove every keyword that closes the loop.
    """
    closing = {key for key, name in _in_place(schema) if name in loop}
    if not closing or (originals and "allOf" not in closing):
        return schema
    result = dict(schema)
    if originals:
        closing = {"allOf"}
    for key in closing:
        value = result.pop(key)
        if key == "allOf":
            kept = []
            for branch in value:
                names = [name for _, name in _in_place(branch) if name in loop]
                if not names:
                    kept.append(branch)
                elif originals and branch.get("$ref") == f"#/$defs/{names[0]}":
                    other = originals[names[0]]
                    inner = {key for key, name in _in_place(other) if name in loop}
                    kept.append({key: item for key, item in other.items() if key not in inner})
            if kept:
                result["allOf"] = kept
    return result
