"""What every sampler works with: the graph as numbers, and a work budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from random import Random
from typing import NamedTuple

from toolassay.graph import ToolGraph
from toolassay.graph.links import CompleteLinks, NumberedLink, TypedLinks

_DRAWS = 128
# Lists are fast and of n² numbers in all: above this size, neighbours are asked for each time.
_SMALL = 1_000


class Found(NamedTuple):
    """What a search ended with.

    `nodes` are tool numbers, every link pointing forward. Where the wanted size was not reached, this is
    the largest found; `exact` says that no larger one exists.
    """

    nodes: tuple[int, ...]
    links: tuple[NumberedLink, ...]
    exact: bool


class Budget:
    """A bound on work, so that every search ends; one unit is one tool looked at."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> bool:
        """Take `units`; False once there is nothing left."""
        self.left -= units
        return self.left > 0


class Neighbours:
    """Neighbours of tools as fast sequences: lists for small graphs, on demand for large ones."""

    def __init__(self, graph: ToolGraph) -> None:
        self.graph = graph
        self.size = len(graph)
        self.is_small = self.size <= _SMALL
        self.is_complete = isinstance(graph.numbered, CompleteLinks)
        self.after = lru_cache(None)(self._after) if self.is_small else graph.numbered.successors
        self.before = lru_cache(None)(self._before) if self.is_small else graph.numbered.predecessors
        self.types = lru_cache(None)(graph.numbered.types) if self.is_small else graph.numbered.types
        self.limits = graph.dependency_type == "resource"
        self._slots = [Counter(tool.inputs) for tool in graph.library] if self.limits else []

    def slots(self, tool: int, kind: str) -> int:
        """How many links of a type may end in a tool (any number, where links are not resources)."""
        return self._slots[tool][kind] if self.limits else self.size

    def kinds(self, tool: int) -> Collection[str]:
        """The types of which a link may end in a tool, in a resource graph."""
        return self._slots[tool]

    def before_by(self, tool: int, kinds: Collection[str]) -> Sequence[int]:
        """The tools that can feed `tool` with one of `kinds`; some that cannot may be among them."""
        links = self.graph.numbered
        return links.predecessors_by(tool, kinds) if isinstance(links, TypedLinks) else self.before(tool)

    @cached_property
    def givers(self) -> Sequence[int]:
        """The tools that something can follow."""
        return self._with(1, forward=True)

    @cached_property
    def middles(self) -> Sequence[int]:
        """The tools that two can follow, or that two can come before: where a dag may start."""
        if self.is_complete:
            return range(self.size if self.size > 2 else 0)
        return sorted({*self._with(2, forward=True), *self._with(2, forward=False)})

    def _with(self, least: int, *, forward: bool) -> Sequence[int]:
        if self.is_complete:
            return range(self.size if self.size > least else 0)
        neighbours = self.graph.numbered.successors if forward else self.graph.numbered.predecessors
        return [tool for tool in range(self.size) if len(neighbours(tool)) >= least]

    def _after(self, tool: int) -> Sequence[int]:
        return sorted(self.graph.numbered.successors(tool))

    def _before(self, tool: int) -> Sequence[int]:
        return sorted(self.graph.numbered.predecessors(tool))


def pick(
    rng: Random,
    tools: Sequence[int],
    inside: Collection[int],
    budget: Budget,
    fits: Callable[[int], object] = lambda _: True,
) -> int | None:
    """A uniformly drawn tool that is not `inside` and `fits`, or None."""
    size = len(tools)
    budget.spend(1)
    for _ in range(min(_DRAWS, size)):
        tool = tools[int(rng.random() * size)]
        if tool not in inside and fits(tool):
            return tool
    if not budget.spend(size):
        return None
    rest = [tool for tool in tools if tool not in inside and fits(tool)]
    return rest[int(rng.random() * len(rest))] if rest else None
