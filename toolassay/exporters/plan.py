"""A gold plan that can be carried out: what every format is written from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolassay.dataset import Shape, shape_of
from toolassay.files import readable
from toolassay.gold import Fault

_REFERENCES = re.compile(r"<node-(\d+)>")


class Unfit(ValueError):
    """A label that cannot be exported; `fault` says why, and where."""

    def __init__(self, reason: str, where: str = "") -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.fault = Fault(reason, where)


class Argument(NamedTuple):
    """A named value of a call: any JSON value, in which the text `<node-j>` is the result of call j."""

    name: str
    value: Any


class Call(NamedTuple):
    """One tool call."""

    tool: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A request and the calls that answer it.

    Attributes:
        id: as text.
        request: the user's words.
        steps: in words.
        calls: in an order in which references and links point back; `<node-j>` is the result of the j-th,
            counted from 0.
        links: (source call, target call) by number, each once, sorted.
        has_arguments: whether the label says any arguments; without, those of the calls are empty.
    """

    id: str
    request: str
    steps: tuple[str, ...]
    calls: tuple[Call, ...]
    links: tuple[tuple[int, int], ...]
    has_arguments: bool = True

    @property
    def shape(self) -> Shape:
        """Single, chain or dag, of the calls themselves."""
        return shape_of(len(self.calls), self.links)

    @property
    def size(self) -> int:
        """How many calls."""
        return len(self.calls)

    def needs(self) -> list[set[int]]:
        """For each call, the calls before it: those whose results it takes, and those linked to it."""
        needed = [set(references(call.arguments)) - {place} for place, call in enumerate(self.calls)]
        for source, target in self.links:
            needed[target].add(source)
        return [{place for place in before if place < len(self.calls)} for before in needed]

    def results(self) -> list[int]:
        """The calls that no other waits for: what the user gets."""
        used = set().union(*self.needs())
        return [place for place in range(len(self.calls)) if place not in used]


def references(value: Any) -> Iterator[int]:
    """The numbers of all `<node-j>` in a value, however deep, as a whole text or within one.

    >>> list(references([Argument("a", ["<node-2>", {"b": "of <node-0>"}]), 7]))
    [2, 0]
    """
    for text in _texts(value):
        yield from (int(number) for number in _REFERENCES.findall(text))


def renumbered(value: Any, numbers: Sequence[int]) -> Any:
    """A value in which each `<node-j>` is `<node-numbers[j]>`; numbers without a call are left alone.

    >>> renumbered(["<node-1>", "as <node-0> and <node-9>"], [1, 0])
    ['<node-0>', 'as <node-1> and <node-9>']
    """

    def new(match: re.Match[str]) -> str:
        old = int(match[1])
        return f"<node-{numbers[old]}>" if old < len(numbers) else match[0]

    return with_texts(value, lambda text: _REFERENCES.sub(new, text))


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with every text in it changed; keys of objects only become readable."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {readable(key): with_texts(item, change) for key, item in value.items()}
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
