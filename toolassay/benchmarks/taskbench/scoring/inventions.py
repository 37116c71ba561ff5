"""What a plan makes up: tools that the library does not have, links that the tool graph does not have."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from toolassay.benchmarks.taskbench.scoring.strict_plan import Plan, PlanReader
from toolassay.graph import ToolGraph
from toolassay.tools import ToolLibrary


class Inventions(NamedTuple):
    """How many of a plan's tools and links do not exist, beside how many it has.

    >>> Inventions(1, 3, 0, 2).invented_tools
    1
    """

    invented_tools: int = 0
    tools: int = 0
    invented_links: int = 0
    links: int = 0


class InventionCounter:
    """Counts inventions of plans that `reader` read.

    A link is invented if one of its ends is, or if the tool graph has no such link; without a graph the ends
    alone decide. (Node and edge hallucination of GNN4TaskPlan, Wu et al., 2024.)
    """

    def __init__(self, library: ToolLibrary, graph: ToolGraph | None, reader: PlanReader) -> None:
        self._ids = {reader.name(tool): tool for tool in library.ids}
        self._graph = graph
        self._exists = lru_cache(maxsize=100_000)(self._link_exists)

    def count(self, plan: Plan) -> Inventions:
        """The inventions of a plan; where it has no list of links, its references are its links."""
        pairs = plan.links
        if pairs is None:
            pairs = [(plan.names[source], plan.names[target]) for source, target in plan.references]
        return Inventions(
            sum(name not in self._ids for name in plan.names),
            len(plan.names),
            sum(not self._exists(source, target) for source, target in pairs),
            len(pairs),
        )

    def _link_exists(self, source: str, target: str) -> bool:
        if source not in self._ids or target not in self._ids:
            return False
        if self._graph is None:
            return True
        return bool(self._graph.link_types(self._ids[source], self._ids[target]))
