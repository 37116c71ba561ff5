"""Three ways to know the links of a tool graph without writing down n² of them.

Tools are numbered 0..n-1 here. `ListedLinks` holds what a file lists, `TypedLinks` follows from the
tools' types, `CompleteLinks` joins everything with everything.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from toolassay.graph.unions import TypeIndex, Without
from toolassay.tools import ToolLibrary

COMPLETE = "complete"


class NumberedLink(NamedTuple):
    """A link between tool numbers, with the type of resource that flows (or "complete")."""

    source: int
    target: int
    type: str


class Links(Protocol):
    """What a tool graph asks of its links.

    Neighbours come without repeats, never with the tool itself, and in the same order every time.
    """

    def count(self) -> int:
        """The number of links, one for every shared type of every pair."""

    def successors(self, tool: int) -> Sequence[int]:
        """The tools that can follow `tool`."""

    def predecessors(self, tool: int) -> Sequence[int]:
        """The tools that can come before `tool`."""

    def types(self, source: int, target: int) -> tuple[str, ...]:
        """The types of the links from `source` to `target`; empty if there is none.

        In the order of the source's `output-type`, or of the file that lists them.
        """

    def __iter__(self) -> Iterator[NumberedLink]:
        """Every link, by source, then target; two types of one pair in the order of `types`."""


class ListedLinks:
    """Links as a file lists them: adjacency lists in memory."""

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
    """Links implied by resource types: one for every type a tool gives and another takes.

    Memory is that of the tools and types, not of the links.
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
        """The tools that can feed `tool` with one of `kinds`."""
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
    """Every tool can follow every other: temporal dependencies."""

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
