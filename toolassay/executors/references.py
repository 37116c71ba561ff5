"""Replaces the references in the arguments of a call by the results of earlier calls."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolassay.argument_schemas import Schema, kinds_of, schema_at
from toolassay.executors.executor import CallResult
from toolassay.output_paths import EACH, Part, Reference, parse_reference, path_text

# A reference to a whole result inside a longer text: the one in "about <node-0>"; not "<node-x>".
_INSIDE = re.compile(r"<node-(\d{1,18})>")
_MOST_ITEMS = 10_000  # that one reference collects


class Unresolvable(Exception):
    """A reference names something that the result does not have. The text is the reason."""


def resolve_arguments(
    arguments: Mapping[str, Any], results: Mapping[int, CallResult], schema: Schema | None
) -> dict[str, Any]:
    """The arguments with values in place of references.

    A value takes the type that the schema of its place asks for: a number in place of a text of digits, a
    text in place of a number or an object.

    Args:
        arguments: By name.
        results: The results so far, by number of the call.
        schema: The schema of the arguments; None if the tool has none.

    Raises:
        Unresolvable: A result is missing, or does not have what a reference names.

    >>> films = CallResult.of({"results": [{"id": 7}, {"id": 9}]})
    >>> resolve_arguments({"film": "<node-0>.results[1].id", "note": "of <node-0>.results"}, {0: films}, None)
    {'film': 9, 'note': 'of {"results": [{"id": 7}, {"id": 9}]}.results'}
    """
    root = schema or {}
    return {name: _resolved(value, results, (name,), root) for name, value in arguments.items()}


def _resolved(
    value: Any, results: Mapping[int, CallResult], place: tuple[str | int, ...], root: Schema
) -> Any:
    if isinstance(value, str):
        found = parse_reference(value)
        if found is not None:
            return _typed(_picked(found, results), kinds_of(schema_at(place, root), root))
        return _INSIDE.sub(lambda match: _result(int(match[1]), results).text, value)
    if isinstance(value, list):
        return [_resolved(item, results, (*place, number), root) for number, item in enumerate(value)]
    if isinstance(value, dict):
        return {name: _resolved(item, results, (*place, name), root) for name, item in value.items()}
    return value


def _result(number: int, results: Mapping[int, CallResult]) -> CallResult:
    if number not in results:
        raise Unresolvable(f"there is no result of call {number}")
    return results[number]


def _picked(reference: Reference, results: Mapping[int, CallResult]) -> CallResult:
    result = _result(reference.node, results)
    if not reference.path:
        return result
    values = [result.value]
    for depth, part in enumerate(reference.path):
        values = [item for value in values for item in _inside(value, part)][:_MOST_ITEMS]
        if not values and EACH not in reference.path[:depth]:
            place = path_text(reference.path[: depth + 1])
            raise Unresolvable(f"the result of call {reference.node} has no '{place}'")
    return CallResult.of(values if EACH in reference.path else values[0])


def _inside(value: Any, part: Part) -> Sequence[Any]:
    """What a part of a path names in a value: nothing, one value, or all items for `EACH`."""
    if part == EACH:
        return value if isinstance(value, list) else ()
    if isinstance(part, int):
        return [value[part]] if isinstance(value, list) and part < len(value) else ()
    return [value[part]] if isinstance(value, Mapping) and part in value else ()


def _typed(result: CallResult, kinds: frozenset[str]) -> Any:
    """A result in a type that its place takes, if it can be written in one."""
    value, wanted = result.value, kinds - {"null"}
    if value is None or not wanted:
        return value  # a missing value is not the text "null"
    if _fits(value, wanted):
        return result.text if wanted == {"string"} else value
    if isinstance(value, float) and value.is_integer() and "integer" in wanted:
        return int(value)
    if "string" in wanted:
        return result.text
    if isinstance(value, str):
        with contextlib.suppress(ValueError, RecursionError):
            read = json.loads(value)
            if read is not None and _fits(read, wanted):
                return read
            if isinstance(read, float) and read.is_integer() and "integer" in wanted:
                return int(read)
    return value


def _fits(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a value has one of these types; an integer is a number too."""
    kind = _KINDS.get(type(value), "null")
    return kind in kinds or (kind == "integer" and "number" in kinds)


_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
