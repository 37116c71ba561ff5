"""The texts of a gold plan's arguments, whichever form they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolgraph.gold import GoldNode


class Argument(NamedTuple):
    """An argument of a node: its place, the value in it, and where that stands in the label."""

    place: int
    value: Any
    where: str


def arguments_of(node: GoldNode) -> Iterator[Argument]:
    """The values of a node's arguments: themselves (resource), or the `value` of each (temporal)."""
    for place, argument in enumerate(node.arguments or ()):
        where = f"{node.where}.arguments[{place}]"
        if isinstance(argument, Mapping) and "value" in argument:
            yield Argument(place, argument["value"], f"{where}.value")
        else:
            yield Argument(place, argument, where)


def is_empty(value: Any) -> bool:
    """Whether a value is nothing: null, a blank text, an empty list or object."""
    if isinstance(value, str):
        return not value.strip() or value.strip().casefold() in ("<empty>", "null")
    return value is None or (isinstance(value, list | Mapping) and not value)


def text_of_number(value: float) -> str:
    """A number as a text.

    >>> text_of_number(2), text_of_number(1.5)
    ('2', '1.5')
    """
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return hex(int(value))
