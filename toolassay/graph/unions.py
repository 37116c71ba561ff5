"""Which tools have one of several types, answered without an array of them all for every question.

With 100,000 tools of 20 types, a tool may have tens of thousands of neighbours. Tools with the same set
of types are kept as one group; the tools with one of several types are then a few hundred disjoint
groups, and the k-th of them is found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import index as whole


class Without(Sequence[int]):
    """A sequence of numbers without the one at `place`, in no memory of its own.

    >>> list(Without(range(4), 1))
    [0, 2, 3]
    """

    def __init__(self, numbers: Sequence[int], place: int) -> None:
        self._numbers, self._place = numbers, place

    def __len__(self) -> int:
        return len(self._numbers) - 1

    def __getitem__(self, index: int) -> int:  # type: ignore[override]
        index = whole(index)
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return self._numbers[index + (index >= self._place)]

    def __iter__(self) -> Iterator[int]:
        left_out = self._numbers[self._place]
        return (number for number in self._numbers if number != left_out)

    def __contains__(self, value: object) -> bool:
        return value != self._numbers[self._place] and value in self._numbers


class Union(Sequence[int]):
    """Disjoint groups of numbers, one after the other.

    >>> union = Union([[1, 5], [2]])
    >>> len(union), union[2], list(union)
    (3, 2, [1, 5, 2])
    """

    def __init__(self, groups: Sequence[Sequence[int]]) -> None:
        self._groups = groups
        self._ends = list(accumulate(map(len, groups)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> int:  # type: ignore[override]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        group = bisect_right(self._ends, index)
        return self._groups[group][index - self._ends[group]]

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._groups)

    def start_of(self, place: int) -> int:
        """Where group number `place` starts."""
        return self._ends[place] - len(self._groups[place])


class TypeIndex:
    """The tools that have each type.

    Args:
        types: the types of each tool, no type twice.

    >>> index = TypeIndex([("text",), ("image", "text"), ("image",), ("audio",)])
    >>> sorted(index.tools_with(["text", "image"], but=2))
    [0, 1]
    """

    # In groups, not in unions: what a union holds is one number for each of its groups.
    _kept = 1_000_000

    def __init__(self, types: Iterable[Sequence[str]]) -> None:
        groups: dict[frozenset[str], int] = {}
        self._tools: list[list[int]] = []
        self._group_of: list[int] = []
        self._groups: dict[str, list[int]] = {}
        for tool, kinds in enumerate(types):
            group = groups.setdefault(frozenset(kinds), len(groups))
            if group == len(self._tools):
                self._tools.append([])
                for kind in kinds:
                    self._groups.setdefault(kind, []).append(group)
            self._tools[group].append(tool)
            self._group_of.append(group)
        self._unions: OrderedDict[tuple[str, ...], tuple[list[int], Union]] = OrderedDict()
        self._held = 0

    @property
    def kinds(self) -> list[str]:
        """Every type, in the order of the tools."""
        return list(self._groups)

    def count(self, kind: str) -> int:
        """How many tools have a type."""
        return sum(len(self._tools[group]) for group in self._groups.get(kind, ()))

    def tools_with(self, kinds: Iterable[str], *, but: int) -> Sequence[int]:
        """The tools that have one of `kinds`, without tool `but`."""
        groups, union = self._union(tuple(sorted(kinds)))
        own = self._group_of[but]
        place = bisect_left(groups, own)
        if place == len(groups) or groups[place] != own:
            return union
        return Without(union, union.start_of(place) + bisect_left(self._tools[own], but))

    def _union(self, kinds: tuple[str, ...]) -> tuple[list[int], Union]:
        if kinds in self._unions:
            self._unions.move_to_end(kinds)
            return self._unions[kinds]
        groups = sorted(set(chain.from_iterable(self._groups.get(kind, ()) for kind in kinds)))
        self._unions[kinds] = made = groups, Union([self._tools[group] for group in groups])
        self._held += len(groups)
        while self._held > self._kept and len(self._unions) > 1:
            _, (oldest, _) = self._unions.popitem(last=False)
            self._held -= len(oldest)
        return made
