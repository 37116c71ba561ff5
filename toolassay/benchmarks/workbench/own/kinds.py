"""The types that an argument of a tool can have: as JSON Schema, in words, and how a value is read."""

from __future__ import annotations

import math
import types
from typing import Any, Literal, Union, get_args, get_origin

from toolassay.benchmarks.workbench.tools.tool import checked_text

POSSIBLE = "str, int, float, bool, Literal[…], list[…], or one of these and None"
_NAMES: dict[Any, tuple[str, str]] = {
    str: ("string", "text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
    types.NoneType: ("null", "null"),
}
_TRUTH = {"true": True, "false": False}


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type.

    Raises:
        TypeError: no argument can have this type.

    >>> schema_of(list[int] | None)
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """
    if hint in _NAMES:
        return {"type": _NAMES[hint][0]}
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal and len({type(value) for value in inner}) == 1 and type(inner[0]) in (str, int):
        return {"type": _NAMES[type(inner[0])][0], "enum": list(inner)}
    if kind is list and len(inner) == 1:
        return {"type": "array", "items": schema_of(inner[0])}
    if kind in (Union, types.UnionType) and len(inner) == 2 and types.NoneType in inner:
        return {"anyOf": [schema_of(one) for one in inner]}
    raise TypeError(getattr(hint, "__name__", str(hint)))


def words_of(hint: Any) -> str:
    """A type in words, for prompts.

    >>> words_of(list[Literal["a", "b"]])
    'a list, of each: one of "a", "b"'
    """
    if hint in _NAMES:
        return _NAMES[hint][1]
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return "one of " + ", ".join(
            f'"{value}"' if isinstance(value, str) else str(value) for value in inner
        )
    if kind is list:
        return f"a list, of each: {words_of(inner[0])}"
    return " or ".join(map(words_of, inner))


def read_value(name: str, hint: Any, value: Any) -> Any:
    """A value of an argument; a text that writes a number or a truth value is read as such.

    Raises:
        ValueError: it has another type.
        ToolFailure: it is too long a text.

    >>> read_value("days", int, "7"), read_value("days", float | None, None)
    (7, None)
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        given = read_value(name, type(inner[0]), value)
        if given in inner:
            return given
    elif kind is list:
        if isinstance(value, list):
            return [read_value(name, inner[0], item) for item in value]
    elif kind is not None:
        (other,) = (one for one in inner if one is not types.NoneType)
        return None if value is None else read_value(name, other, value)
    elif (plain := _plain(name, hint, value)) is not None:
        return plain
    raise ValueError(f"{name} is {words_of(hint)}, not {str(value)[:100]!r}")


def _plain(name: str, hint: Any, value: Any) -> str | int | float | bool | None:
    """The value as a text, a number or a truth value; None if it is none."""
    if hint is str:
        return checked_text(name, value) if isinstance(value, str) else None
    if hint is bool:
        found = _TRUTH.get(value.lower()) if isinstance(value, str) else value
        return found if isinstance(found, bool) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = hint(value)
    except (ValueError, OverflowError):
        return None
    fits = math.isfinite(number) and (isinstance(value, str) or number == value)
    return number if fits else None
