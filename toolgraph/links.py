"""Three ways to know the links of a tool graph without writing down n² of them.

Tools are numbered 0..n-1 here. `ListedLinks` holds what a file lists, `TypedLinks` follows from the
tools' types, `CompleteLinks` joins everything with everything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from toolgraph.tools import ToolLibrary

Numbers = NDArray[np.int32]

COMPLETE = "complete"


class NumberedLink(NamedTuple):
    """A link between tool numbers, with the type of resource that flows (or "complete")."""

    source: int
    target: int
    type: str


class Links(Protocol):
    """What a tool graph asks of its links.

    Neighbour arrays are sorted and hold no tool twice and never the tool itself.
    """

    def count(self) -> int:
        """The number of links, one for every shared type of every pair."""

    def successors(self, tool: int) -> Sequence[int] | Numbers:
        """The tools that can follow `tool`."""

    def predecessors(self, tool: int) -> Sequence[int] | Numbers:
        """The tools that can come before `tool`."""

    def types(self, source: int, target: int) -> tuple[str, ...]:
        """The types of the links from `source` to `target`; empty if there is none."""

    def __iter__(self) -> Iterator[NumberedLink]:
        """Every link, by source, then target, then type."""


class ListedLinks:
    """Links as a file lists them: adjacency lists in memory."""

    def __init__(self, size: int, links: Iterable[NumberedLink]) -> None:
        self._types: dict[tuple[int, int], tuple[str, ...]] = {}
        for source, target, kind in links:
            present = self._types.get((source, target), ())
            if source != target and kind not in present:
                self._types[source, target] = (*present, kind)
        after: list[list[int]] = [[] for _ in range(size)]
        before: list[list[int]] = [[] for _ in range(size)]
        for source, target in sorted(self._types):
            after[source].append(target)
            before[target].append(source)
        self._after = [np.array(item, dtype=np.int32) for item in after]
        self._before = [np.array(item, dtype=np.int32) for item in before]

    def count(self) -> int:
        return sum(map(len, self._types.values()))

    def successors(self, tool: int) -> Numbers:
        return self._after[tool]

    def predecessors(self, tool: int) -> Numbers:
        return self._before[tool]

    def types(self, source: int, target: int) -> tuple[str, ...]:
        return self._types.get((source, target), ())

    def __iter__(self) -> Iterator[NumberedLink]:
        for (source, target), kinds in sorted(self._types.items()):
            for kind in kinds:
                yield NumberedLink(source, target, kind)


class TypedLinks:
    """Links implied by resource types: one for every type a tool gives and another takes.

    Memory is that of the types, not of the links: neighbour lists are made on demand and a few are kept.
    """

    _kept = 256

    def __init__(self, library: ToolLibrary) -> None:
        self._gives = [tuple(dict.fromkeys(tool.outputs)) for tool in library]
        self._takes = [tuple(dict.fromkeys(tool.inputs)) for tool in library]
        self._givers = self._by_type(self._gives)
        self._takers = self._by_type(self._takes)
        self._cache: OrderedDict[tuple[bool, tuple[str, ...]], Numbers] = OrderedDict()

    @staticmethod
    def _by_type(types: Sequence[tuple[str, ...]]) -> dict[str, Numbers]:
        tools: dict[str, list[int]] = {}
        for tool, kinds in enumerate(types):
            for kind in kinds:
                tools.setdefault(kind, []).append(tool)
        return {kind: np.array(item, dtype=np.int32) for kind, item in tools.items()}

    def _union(self, forward: bool, kinds: tuple[str, ...]) -> Numbers:
        key = (forward, kinds)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        table = self._takers if forward else self._givers
        found = [table[kind] for kind in kinds if kind in table]
        union = np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int32)
        self._cache[key] = union
        if len(self._cache) > self._kept:
            self._cache.popitem(last=False)
        return union

    def count(self) -> int:
        pairs = sum(len(tools) * len(self._takers.get(kind, ())) for kind, tools in self._givers.items())
        loops = sum(
            len(set(gives) & set(takes)) for gives, takes in zip(self._gives, self._takes, strict=True)
        )
        return pairs - loops

    def successors(self, tool: int) -> Numbers:
        return _without(self._union(True, self._gives[tool]), tool)

    def predecessors(self, tool: int) -> Numbers:
        return _without(self._union(False, self._takes[tool]), tool)

    def givers(self, kind: str) -> Numbers:
        """The tools that give a type of resource."""
        return self._givers.get(kind, np.empty(0, dtype=np.int32))

    def types(self, source: int, target: int) -> tuple[str, ...]:
        if source == target:
            return ()
        takes = self._takes[target]
        return tuple(kind for kind in self._gives[source] if kind in takes)

    def __iter__(self) -> Iterator[NumberedLink]:
        for source in range(len(self._gives)):
            for target in self.successors(source).tolist():
                for kind in self.types(source, target):
                    yield NumberedLink(source, target, kind)


class CompleteLinks:
    """Every tool can follow every other: temporal dependencies."""

    def __init__(self, size: int) -> None:
        self._size = size

    def count(self) -> int:
        return self._size * (self._size - 1)

    def successors(self, tool: int) -> Sequence[int]:
        return _AllBut(self._size, tool)

    def predecessors(self, tool: int) -> Sequence[int]:
        return _AllBut(self._size, tool)

    def types(self, source: int, target: int) -> tuple[str, ...]:
        return () if source == target else (COMPLETE,)

    def __iter__(self) -> Iterator[NumberedLink]:
        for source in range(self._size):
            for target in self.successors(source):
                yield NumberedLink(source, target, COMPLETE)


class _AllBut(Sequence[int]):
    """The numbers 0..size-1 without one of them, in no memory."""

    def __init__(self, size: int, left_out: int) -> None:
        self._size, self._left_out = size, left_out

    def __len__(self) -> int:
        return self._size - 1

    def __getitem__(self, index: int) -> int:  # type: ignore[override]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return index + (index >= self._left_out)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and 0 <= value < self._size and value != self._left_out


def _without(tools: Numbers, tool: int) -> Numbers:
    place = int(np.searchsorted(tools, tool))
    if place < len(tools) and tools[place] == tool:
        return np.delete(tools, place)
    return tools
