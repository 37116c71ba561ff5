"""What every sampler works with: neighbours, a work budget, and upper bounds on the size of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from random import Random
from typing import NamedTuple

import networkx as nx

from toolassay.graph import ToolGraph
from toolassay.graph.links import CompleteLinks, NumberedLink, TypedLinks

_DRAWS = 128
# Lists are fast and of n² numbers in all: above this size, neighbours are asked for each time.
_SMALL = 1_000


class FoundSubgraph(NamedTuple):
    """What a search ended with.

    `nodes` are tool numbers, every link pointing forward. Where the wanted size was not reached, this is
    the largest found; `exact` says that no larger one exists.
    """

    nodes: tuple[int, ...]
    links: tuple[NumberedLink, ...]
    exact: bool


class SearchBudget:
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
    budget: SearchBudget,
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


_MOST_TOOLS = 2_000
_MOST_LINKS = 500_000


def largest_dag_bound(neighbours: Neighbours) -> int:
    """A number of tools no dag exceeds: the largest weakly connected component, 0 if none can start."""
    if not neighbours.middles:
        return 0
    return _largest_component(neighbours) if _is_cheap(neighbours) else neighbours.size


def largest_chain_bound(neighbours: Neighbours) -> int:
    """A number of tools no path exceeds.

    A path that leaves a strongly connected component never comes back, so it visits components in the
    order of a path of the condensed graph, at most every tool of each.
    """
    return _largest_way(neighbours) if _is_cheap(neighbours) else neighbours.size


@lru_cache(maxsize=4)
def _largest_component(neighbours: Neighbours) -> int:
    return max(map(len, nx.weakly_connected_components(_directed(neighbours))))


@lru_cache(maxsize=4)
def _largest_way(neighbours: Neighbours) -> int:
    condensed = nx.condensation(_directed(neighbours))
    longest: dict[int, int] = {}
    for component in nx.topological_sort(condensed):
        before = max((longest[other] for other in condensed.predecessors(component)), default=0)
        longest[component] = before + len(condensed.nodes[component]["members"])
    return max(longest.values())


def _is_cheap(neighbours: Neighbours) -> bool:
    if neighbours.is_complete:
        return False
    return neighbours.size <= _MOST_TOOLS and neighbours.graph.number_of_links <= _MOST_LINKS


def _directed(neighbours: Neighbours) -> nx.DiGraph[int]:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(neighbours.size))
    graph.add_edges_from((s, t) for s in range(neighbours.size) for t in neighbours.after(s))
    return graph
