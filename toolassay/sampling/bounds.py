"""Upper bounds on the size of a sample, used to say "no larger one exists" where that is cheap to know."""

from __future__ import annotations

from functools import lru_cache

import networkx as nx

from toolassay.sampling.search import Neighbours

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
