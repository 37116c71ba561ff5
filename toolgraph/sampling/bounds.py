"""Upper bounds on the size of a sample, used to say "no larger one exists" where that is cheap to know."""

from __future__ import annotations

import networkx as nx

from toolgraph.sampling.search import Neighbours

_MOST_TOOLS = 2_000
_MOST_LINKS = 500_000


def largest_dag_bound(neighbours: Neighbours) -> int:
    """A number of tools no connected subgraph exceeds: the largest weakly connected component."""
    if neighbours.size > _MOST_TOOLS or neighbours.graph.number_of_links > _MOST_LINKS:
        return neighbours.size
    return max(map(len, nx.weakly_connected_components(_directed(neighbours))))


def _directed(neighbours: Neighbours) -> nx.DiGraph[int]:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(neighbours.size))
    graph.add_edges_from((s, t) for s in range(neighbours.size) for t in neighbours.after(s))
    return graph
