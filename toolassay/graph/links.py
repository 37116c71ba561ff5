"""The links of a tool graph, in less than n² memory.

Tools are numbered from 0 here. `ListedLinks` are listed in a file, `TypedLinks` follow from the tools' types,
`CompleteLinks` connect every tool with every other.

With 100,000 tools of 20 types, a tool may have tens of thousands of neighbours. `TypeIndex` therefore groups
the tools by their set of types: the tools that have one of several types are a few hundred disjoint groups,
and the k-th of these tools is found by bisection.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import index as whole
from typing import NamedTuple, Protocol

from toolassay.tools import ToolLibrary


class Without(Sequence[int]):
    """A view of a sequence without the number at `place`; it copies nothing.

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
    """A concatenated view of disjoint groups of numbers; it copies nothing.

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
        """The position at which group number `place` starts."""
        return self._ends[place] - len(self._groups[place])


class TypeIndex:
    """An index from types to tools.

    Args:
        types: The types of each tool, without repeats.

    >>> index = TypeIndex([("text",), ("image", "text"), ("image",), ("audio",)])
    >>> sorted(index.tools_with(["text", "image"], but=2))
    [0, 1]
    """

    # Maximum size of the cache, counted in groups, because a cached union stores one number per group.
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
        """Every type, in order of first occurrence."""
        return list(self._groups)

    def count(self, kind: str) -> int:
        """The number of tools that have a type."""
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


COMPLETE = "complete"


class NumberedLink(NamedTuple):
    """A link between tool numbers.

    `type` is the type of the resource, "complete", or in a schema graph the argument that is filled.
    """

    source: int
    target: int
    type: str


class FieldPair(NamedTuple):
    """A value that flows: `source`, a path in the result (`results[].id`), fills `target`, an argument.

    An empty `source` is the whole result; an argument inside an object has a path, too (`filter.movie_id`).
    """

    source: str
    target: str

    def to_json(self) -> dict[str, str]:
        """The pair as an object of `graph_desc.json`."""
        return {"from": self.source, "to": self.target}


class Links(Protocol):
    """The links of a tool graph.

    Neighbours are listed without repeats and without the tool itself, in the same order every time.
    """

    def count(self) -> int:
        """The number of links: one for every shared type of every pair of tools."""

    def successors(self, tool: int) -> Sequence[int]:
        """The tools that can follow `tool`."""

    def predecessors(self, tool: int) -> Sequence[int]:
        """The tools that can come before `tool`."""

    def types(self, source: int, target: int) -> tuple[str, ...]:
        """The types of the links from `source` to `target`; empty if there is none.

        In the order of the source's `output-type`, or of the file that lists them.
        """

    def __iter__(self) -> Iterator[NumberedLink]:
        """Iterate over all links, by source, then target, then in the order of `types`."""


class ListedLinks:
    """Links that a file lists, as adjacency lists."""

    def __init__(self, size: int, links: Iterable[NumberedLink]) -> None:
        self._types: dict[tuple[int, int], tuple[str, ...]] = {}
        for source, target, kind in links:
            present = self._types.get((source, target), ())
            if source != target and kind not in present:
                self._types[source, target] = (*present, kind)
        self._after = [array("i") for _ in range(size)]
        self._before = [array("i") for _ in range(size)]
        for source, target in sorted(self._types):
            self._after[source].append(target)
            self._before[target].append(source)

    def count(self) -> int:
        return sum(map(len, self._types.values()))

    def successors(self, tool: int) -> Sequence[int]:
        return self._after[tool]

    def predecessors(self, tool: int) -> Sequence[int]:
        return self._before[tool]

    def types(self, source: int, target: int) -> tuple[str, ...]:
        return self._types.get((source, target), ())

    def __iter__(self) -> Iterator[NumberedLink]:
        for (source, target), kinds in sorted(self._types.items()):
            for kind in kinds:
                yield NumberedLink(source, target, kind)


class TypedLinks:
    """Links implied by resource types: one for every type that is an output of one tool and input of another.

    Memory grows with the number of tools and types, not of links.
    """

    def __init__(self, library: ToolLibrary) -> None:
        self._gives = [tuple(dict.fromkeys(tool.outputs)) for tool in library]
        self._takes = [tuple(dict.fromkeys(tool.inputs)) for tool in library]
        self._givers = TypeIndex(self._gives)
        self._takers = TypeIndex(self._takes)

    def count(self) -> int:
        pairs = sum(self._givers.count(kind) * self._takers.count(kind) for kind in self._givers.kinds)
        loops = sum(
            len(set(gives) & set(takes)) for gives, takes in zip(self._gives, self._takes, strict=True)
        )
        return pairs - loops

    def successors(self, tool: int) -> Sequence[int]:
        return self._takers.tools_with(self._gives[tool], but=tool)

    def predecessors(self, tool: int) -> Sequence[int]:
        return self._givers.tools_with(self._takes[tool], but=tool)

    def predecessors_by(self, tool: int, kinds: Collection[str]) -> Sequence[int]:
        """The tools whose output has one of the types `kinds` that `tool` takes."""
        return self._givers.tools_with([kind for kind in self._takes[tool] if kind in kinds], but=tool)

    def types(self, source: int, target: int) -> tuple[str, ...]:
        if source == target:
            return ()
        takes = self._takes[target]
        return tuple([kind for kind in self._gives[source] if kind in takes])

    def __iter__(self) -> Iterator[NumberedLink]:
        for source in range(len(self._gives)):
            for target in sorted(self.successors(source)):
                for kind in self.types(source, target):
                    yield NumberedLink(source, target, kind)


class CompleteLinks:
    """Links of a temporal graph: every tool can follow every other."""

    def __init__(self, size: int) -> None:
        self._size = size

    def count(self) -> int:
        return self._size * (self._size - 1)

    def successors(self, tool: int) -> Sequence[int]:
        return Without(range(self._size), tool)

    def predecessors(self, tool: int) -> Sequence[int]:
        return Without(range(self._size), tool)

    def types(self, source: int, target: int) -> tuple[str, ...]:
        return () if source == target else (COMPLETE,)

    def __iter__(self) -> Iterator[NumberedLink]:
        for source in range(self._size):
            for target in self.successors(source):
                yield NumberedLink(source, target, COMPLETE)
