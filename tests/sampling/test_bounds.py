from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings

from sampling.graphs import largest_dag, listed, longest_chain, tool_graphs
from toolassay.graph import ToolGraph
from toolassay.sampling.chains import longest_path
from toolassay.sampling.search import Neighbours, largest_chain_bound, largest_dag_bound


@settings(deadline=None, max_examples=100)
@given(tool_graphs(most=6, most_links=9))
def test_nothing_exceeds_the_bounds(graph: ToolGraph) -> None:
    neighbours = Neighbours(graph)

    assert largest_dag(graph) <= largest_dag_bound(neighbours)
    assert longest_chain(graph) <= largest_chain_bound(neighbours)


@settings(deadline=None, max_examples=60)
@given(tool_graphs(most=6))
def test_longest_path_is_the_longest(graph: ToolGraph) -> None:
    path, exact = longest_path(Neighbours(graph))

    assert exact
    assert max(1, len(path)) == longest_chain(graph)
    assert all(graph.numbered.types(one, two) for one, two in pairwise(path))


def test_bounds_that_are_met() -> None:
    two_rings = listed(7, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (5, 6)])

    assert largest_chain_bound(Neighbours(two_rings)) == 5
    assert largest_dag_bound(Neighbours(two_rings)) == 5
    assert largest_dag_bound(Neighbours(listed(3, [(0, 1)]))) == 0
