"""Chains: as long as there are any, and the longest by name."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.graphs import check, largest_dag, listed, longest_chain, plain_library, seeds, tool_graphs
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler, chains
from toolassay.sampling.chains import longest_path
from toolassay.sampling.search import Neighbours, largest_chain_bound, largest_dag_bound
from toolassay.tools import ToolLibrary


@settings(deadline=None, max_examples=50)
@given(tool_graphs(most=6), seeds)
def test_every_chain_that_exists_is_found_and_the_longest_is_named(graph: ToolGraph, seed: int) -> None:
    longest = longest_chain(graph)
    sampler = Sampler(graph, seed)

    for size in range(2, longest + 1):
        check(sampler.draw("chain", size), graph)
    expected = f"the largest has {longest}" if longest > 1 else "there is no chain at all"
    with pytest.raises(UsageError, match=re.escape(expected)):
        sampler.draw("chain", max(2, longest + 1))


@settings(deadline=None, max_examples=50)
@given(tool_graphs(most=7), seeds, st.integers(1, 200), st.integers(1, 7))
def test_a_search_without_proof_never_claims_too_much(
    graph: ToolGraph, seed: int, units: int, starts: int
) -> None:
    """However early the budget ends."""
    with patch.multiple(chains, _WALKS=1, _SEARCH_UNITS=units, _SEARCH_STARTS=starts):
        found = chains.find_chain(Neighbours(graph), len(graph) + 1, Random(seed))

    assert len(found.nodes) <= longest_chain(graph)
    if found.exact:
        assert max(1, len(found.nodes)) == longest_chain(graph)


def test_a_search_from_some_tools_only_is_no_proof() -> None:
    graph = listed(5, [(0, 1), (2, 3), (3, 4)])
    with patch.multiple(chains, _WALKS=1, _SEARCH_STARTS=1, largest_chain_bound=lambda _: 5):
        found = [chains.find_chain(Neighbours(graph), 6, Random(seed)) for seed in range(12)]

    assert {len(one.nodes) for one in found} == {2, 3}
    assert not any(one.exact for one in found)


def test_published_hangs_of_huggingface(reference: Path) -> None:
    """A chain of 6 with seed 155 never ends in the published sampler; nor do 15 or 20 tools."""
    graph = ToolGraph.load(reference / "taskbench" / "huggingface" / "graph_desc.json")
    for seed in range(301):
        check(Sampler(graph, seed).draw("chain", 6), graph)
    for size in (7, 8, 10, 15, 20):
        assert len(Sampler(graph, 155).draw("chain", size).nodes) == size
    with pytest.raises(UsageError, match="the largest has 20"):
        Sampler(graph, 0).draw("chain", 21)


def test_published_hangs_of_multimedia(reference: Path) -> None:
    graph = ToolGraph.load(reference / "taskbench" / "multimedia" / "graph_desc.json")
    for size, seed in ((7, 203), (6, 1990)):
        sample = Sampler(graph, seed).draw("chain", size)
        check(sample, graph)
        assert (sample.shape, len(sample.nodes)) == ("chain", size)


def test_the_longest_chain_of_a_bundled_graph(root: Path) -> None:
    graph = ToolGraph.build(ToolLibrary.load(root / "data_multimedia" / "tool_desc.json"), "resource")

    assert len(Sampler(graph, 0).draw("chain", 36).nodes) == 36
    with pytest.raises(UsageError, match="the largest has 36"):
        Sampler(graph, 0).draw("chain", 37)


def test_every_order_of_a_temporal_graph_is_possible() -> None:
    graph = ToolGraph.build(plain_library(40), "temporal")
    assert len(Sampler(graph, 0).draw("chain", 40).nodes) == 40
    with pytest.raises(UsageError, match="the largest has 40"):
        Sampler(graph, 0).draw("chain", 41)

    three = Sampler(ToolGraph.build(plain_library(3), "temporal"), 0)
    assert len({three.draw("chain", 3, index=index).nodes for index in range(100)}) == 6


@settings(deadline=None, max_examples=50)
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
