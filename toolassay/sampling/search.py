"""Shared parts of the searches: neighbours, a work budget, and upper bounds on the size of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from random import Random
from typing import NamedTuple

import networkx as nx

from toolassay.graph import ToolGraph
from toolassay.graph.links import CompleteLinks, NumberedLink, TypedLinks

_DRAWS = 128  # random draws before `pick` filters the whole sequence
# Tools up to which neighbours are cached as lists, which are fast but need n² numbers in all.
_SMALL = 1_000


class FoundSubgraph(NamedTuple):
    """The result of a search.

    Attributes:
        nodes: Tool numbers in topological order. Fewer than requested if no such subgraph was found.
        links: The links.
        exact: Whether no larger subgraph exists.
    """

    nodes: tuple[int, ...]
    links: tuple[NumberedLink, ...]
    exact: bool


class SearchBudget:
    """A limit on the work of a search; one unit is one tool examined."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> bool:
        """Use `units`; whether any are left."""
        self.left -= units
        return self.left > 0


class Neighbours:
    """The neighbours of tools: cached lists for small graphs, computed on demand for large ones."""

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
        """The number of links of a type that may end in a tool; no limit in a temporal graph."""
        return self._slots[tool][kind] if self.limits else self.size

    def kinds(self, tool: int) -> Collection[str]:
        """The types of the input slots of a tool, in a resource graph."""
        return self._slots[tool]

    def before_by(self, tool: int, kinds: Collection[str]) -> Sequence[int]:
        """The tools that can feed `tool` with one of `kinds`; of a listed graph, all its predecessors."""
        links = self.graph.numbered
        return links.predecessors_by(tool, kinds) if isinstance(links, TypedLinks) else self.before(tool)

    @cached_property
    def givers(self) -> Sequence[int]:
        """The tools that have a successor."""
        return self._with(1, forward=True)

    @cached_property
    def middles(self) -> Sequence[int]:
        """The tools with two successors or two predecessors, where a dag can start."""
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
    """Draw a tool uniformly from those not `inside` that fit; None without one or at the end of the budget.

    Args:
        rng: Random generator.
        tools: Candidates.
        inside: Tools to exclude.
        budget: Charged once, and by the number of tools if the random draws fail.
        fits: Whether a tool can be used.
    """
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


# Up to these sizes the bounds below are computed; larger graphs use the number of tools.
_MOST_TOOLS = 2_000
_MOST_LINKS = 500_000


def largest_dag_bound(neighbours: Neighbours) -> int:
    """An upper bound on the tools of a dag: the largest weakly connected component, 0 if none can start."""
    if not neighbours.middles:
        return 0
    return _largest_component(neighbours) if _is_cheap(neighbours) else neighbours.size


def largest_chain_bound(neighbours: Neighbours) -> int:
    """An upper bound on the tools of a path.

    A path that leaves a strongly connected component cannot return to it, so it visits components along a
    path of the condensed graph, and at most every tool of each.
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
