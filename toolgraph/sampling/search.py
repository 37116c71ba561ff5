"""What every sampler works with: the graph as numbers, a work budget, and a plan under construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple, cast

from toolgraph.graph import ToolGraph
from toolgraph.links import NumberedLink, Numbers

_DRAWS = 6
_SMALL = 5_000


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
        keep = None if self.size <= _SMALL else 64
        self.after = lru_cache(keep)(self._after)
        self.before = lru_cache(keep)(self._before)
        self.types = lru_cache(1 << 16)(graph.numbered.types)
        self.limits = graph.dependency_type == "resource"
        self._slots = [Counter(tool.inputs) for tool in graph.library] if self.limits else []

    def slots(self, tool: int, kind: str) -> int:
        """How many links of a type may end in a tool (a type the tool does not declare: one)."""
        return max(1, self._slots[tool][kind]) if self.limits else self.size

    def _after(self, tool: int) -> Sequence[int]:
        return self._fast(self.graph.numbered.successors(tool))

    def _before(self, tool: int) -> Sequence[int]:
        return self._fast(self.graph.numbered.predecessors(tool))

    def _fast(self, tools: Sequence[int] | Numbers) -> Sequence[int]:
        return [int(tool) for tool in tools] if self.size <= _SMALL else cast(Sequence[int], tools)


def pick(rng: Random, tools: Sequence[int], inside: Collection[int], budget: Budget) -> int | None:
    """A uniformly drawn tool that is not `inside`, or None."""
    size = len(tools)
    if size == 0:
        return None
    for _ in range(_DRAWS):
        tool = int(tools[int(rng.random() * size)])
        if tool not in inside:
            return tool
    if not budget.spend(size):
        return None
    rest = [int(tool) for tool in tools if tool not in inside]
    return rest[int(rng.random() * len(rest))] if rest else None


class Plan:
    """A subgraph under construction: connected, acyclic, no input slot fed twice."""

    def __init__(self, neighbours: Neighbours, first: int) -> None:
        self.neighbours = neighbours
        self.nodes = [first]
        self.inside = {first}
        self.links: list[NumberedLink] = []
        self._fed: Counter[tuple[int, str]] = Counter()
        self._after: dict[int, list[int]] = {first: []}

    def type_for(self, source: int, target: int) -> str | None:
        """The type of a link that may still be drawn from `source` to `target`, or None."""
        for kind in self.neighbours.types(source, target):
            if self._fed[target, kind] < self.neighbours.slots(target, kind):
                return kind
        return None

    def link(self, source: int, target: int) -> bool:
        """Draw a link (adding the tool that is new) if a slot is free and no cycle comes of it."""
        kind = self.type_for(source, target)
        if kind is None or target in self._after.get(source, ()):
            return False
        if source in self.inside and target in self.inside and self._reaches(target, source):
            return False
        for tool in (source, target):
            if tool not in self.inside:
                self.inside.add(tool)
                self.nodes.append(tool)
                self._after[tool] = []
        self.links.append(NumberedLink(source, target, kind))
        self._fed[target, kind] += 1
        self._after[source].append(target)
        return True

    def _reaches(self, start: int, goal: int) -> bool:
        waiting, seen = [start], {start}
        while waiting:
            tool = waiting.pop()
            if tool == goal:
                return True
            for following in self._after[tool]:
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return False

    @property
    def is_chain(self) -> bool:
        """Whether the links form one path."""
        return (
            all(len(after) <= 1 for after in self._after.values())
            and len({link.target for link in self.links}) == len(self.links) == len(self.nodes) - 1
        )

    def ordered(self) -> tuple[int, ...]:
        """The tools in an order in which every link points forward; ties as they were added."""
        waiting = Counter(link.target for link in self.links)
        ready = [tool for tool in self.nodes if not waiting[tool]]
        order: list[int] = []
        while ready:
            tool = ready.pop(0)
            order.append(tool)
            for following in self._after[tool]:
                waiting[following] -= 1
                if not waiting[following]:
                    ready.append(following)
        return tuple(order)
