"""The texts of a gold plan's arguments, whichever form they have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolassay.gold import GoldNode

_MOST = 10_000  # values of one argument that are looked at
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")


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


def texts_in(argument: Argument) -> Iterator[Argument]:
    """The texts in an argument, those in its lists and objects too, each with its place.

    >>> [(text.value, text.where) for text in texts_in(Argument(0, ["a", {"b": "c"}], "arguments[0].value"))]
    [('a', 'arguments[0].value[0]'), ('c', 'arguments[0].value[1].b')]
    """
    waiting, count = [argument], 0
    while waiting and count < _MOST:
        place, value, where = waiting.pop()
        count += 1
        if isinstance(value, str):
            yield Argument(place, value, where)
        elif isinstance(value, list):
            waiting.extend(
                Argument(place, item, f"{where}[{i}]") for i, item in reversed([*enumerate(value)])
            )
        elif isinstance(value, Mapping):
            waiting.extend(
                Argument(place, item, f"{where}.{key}") for key, item in reversed([*value.items()])
            )


def is_empty(value: Any) -> bool:
    """Whether a value is nothing: null, a blank text, an empty list or object."""
    if isinstance(value, str):
        text = _INVISIBLE.sub("", value).strip()
        return not text or text.casefold() in ("<empty>", "null")
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
