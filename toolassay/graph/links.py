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
from functools import cached_property
from itertools import accumulate, chain
from operator import index as whole
from typing import TYPE_CHECKING, NamedTuple, Protocol

from toolassay.tools.library import ToolLibrary

if TYPE_CHECKING:
    import numpy as np


class Without(Sequence[int]):
    """A view of a sequence without the number at `place`; it copies nothing.

    >>> list(Without(range(4), 1))
    [0, 2, 3]
    """

    def __init__(self, numbers: Sequence[int], position: int) -> None:
        self._numbers = numbers
        self._position = position

    def __len__(self) -> int:
        return len(self._numbers) - 1

    def __getitem__(self, index: int) -> int:  # type: ignore[override]
        index = whole(index)
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return self._numbers[index + (index >= self._position)]

    def __iter__(self) -> Iterator[int]:
        left_out = self._numbers[self._position]
        return (number for number in self._numbers if number != left_out)

    def __contains__(self, value: object) -> bool:
        return value != self._numbers[self._position] and value in self._numbers


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

    def start_of(self, group: int) -> int:
        """The position at which group number `place` starts."""
        return self._ends[group] - len(self._groups[group])


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
        group = self._group_of[but]
        position = bisect_left(groups, group)
        if position == len(groups) or groups[position] != group:
            return union
        return Without(union, union.start_of(position) + bisect_left(self._tools[group], but))

    def _union(self, kinds: tuple[str, ...]) -> tuple[list[int], Union]:
        if kinds in self._unions:
            self._unions.move_to_end(kinds)
            return self._unions[kinds]
        groups = sorted(set(chain.from_iterable(self._groups.get(kind, ()) for kind in kinds)))
        self._unions[kinds] = grouped_union = groups, Union([self._tools[group] for group in groups])
        self._held += len(groups)
        while self._held > self._kept and len(self._unions) > 1:
            _, (oldest, _) = self._unions.popitem(last=False)
            self._held -= len(oldest)
        return grouped_union


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


def overlap(path: str, other: str) -> bool:
    """Whether one of two arguments is the other or a part of it: `filter` and `filter.id`."""
    short, long = sorted((path, other), key=len)
    return long.startswith(short) and long[len(short) : len(short) + 1] in ("", ".", "[")


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


class LinkColumns(NamedTuple):
    """Links between tool numbers, as columns: 12 bytes for each link, rather than an object.

    Attributes:
        sources: The tool numbers of the sources.
        targets: The tool numbers of the targets.
        kinds: The numbers of the types in `names`.
        names: The types, without repeats.
    """

    sources: Sequence[int] | np.ndarray
    targets: Sequence[int] | np.ndarray
    kinds: Sequence[int] | np.ndarray
    names: Sequence[str]


class ListedLinks:
    """Links that a file lists, as adjacency lists in sorted arrays: up to 16 bytes for each link.

    Args:
        size: The number of tools.
        links: The links. Self-links and repeats are left out.
    """

    def __init__(self, size: int, links: Iterable[NumberedLink] | LinkColumns) -> None:
        import numpy as np

        sources, targets, kinds, names = links if isinstance(links, LinkColumns) else _columns(links)
        self._size = size
        keys = np.asarray(sources, dtype=np.int64) * size + np.asarray(targets, dtype=np.int64)
        kinds = np.asarray(kinds, dtype=np.int32)
        between_two = np.asarray(sources) != np.asarray(targets)
        if not between_two.all():
            keys = keys[between_two]
            kinds = kinds[between_two]
        order = np.argsort(keys, kind="stable")  # stable: the types of a pair stay in the order of the file
        keys = keys[order]
        kinds = kinds[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        ends = np.append(starts[1:], len(keys))
        # Most pairs have one type. Those with several are given the number of a tuple of types.
        groups = {(number,): number for number in range(len(names))}
        grouped = kinds[starts]
        self._count = len(starts)
        for index in np.flatnonzero(ends - starts > 1).tolist():
            group = tuple(dict.fromkeys(kinds[starts[index] : ends[index]].tolist()))
            grouped[index] = groups.setdefault(group, len(groups))
            self._count += len(group) - 1
        self._groups = [tuple(names[number] for number in group) for group in groups]
        pairs = keys[starts]
        self._targets = _numbers(pairs % size)
        self._kinds = _numbers(grouped)
        self._rows = _numbers(np.searchsorted(pairs, np.arange(size + 1) * size))

    def count(self) -> int:
        return self._count

    def successors(self, tool: int) -> Sequence[int]:
        return self._targets[self._rows[tool] : self._rows[tool + 1]]

    def predecessors(self, tool: int) -> Sequence[int]:
        rows, sources = self._incoming
        return sources[rows[tool] : rows[tool + 1]]

    @cached_property
    def _incoming(self) -> tuple[array[int], array[int]]:
        """The sources of the links, by target, and the place at which those of each target start."""
        import numpy as np

        targets = np.asarray(self._targets)
        sources = np.repeat(np.arange(self._size), np.diff(np.asarray(self._rows)))
        order = np.argsort(targets, kind="stable")
        rows = np.searchsorted(targets[order], np.arange(self._size + 1))
        return _numbers(rows), _numbers(sources[order])

    def types(self, source: int, target: int) -> tuple[str, ...]:
        end = self._rows[source + 1]
        position = bisect_left(self._targets, target, self._rows[source], end)
        is_linked = position < end and self._targets[position] == target
        return self._groups[self._kinds[position]] if is_linked else ()

    def __iter__(self) -> Iterator[NumberedLink]:
        for source in range(self._size):
            row = slice(self._rows[source], self._rows[source + 1])
            for target, group in zip(self._targets[row], self._kinds[row], strict=True):
                for kind in self._groups[group]:
                    yield NumberedLink(source, target, kind)


def _columns(links: Iterable[NumberedLink]) -> LinkColumns:
    sources = array("i")
    targets = array("i")
    kinds = array("i")
    names: dict[str, int] = {}
    for source, target, kind in links:
        sources.append(source)
        targets.append(target)
        kinds.append(names.setdefault(kind, len(names)))
    return LinkColumns(sources, targets, kinds, list(names))


def _numbers(values: np.ndarray) -> array[int]:
    """The values for use as Python's numbers, which `json` can write and which are faster one by one."""
    return array("i", values.astype("int32").tobytes())


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
