"""Chains: as long as there are any, and the longest by name."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tool_graphs import check, listed, longest_chain, plain_library, seeds, tool_graphs
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler, chains
from toolassay.sampling.search import Neighbours


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
    with patch.multiple(chains, _WALKS=1, _SEARCH_STARTS=1):
        found = [chains.find_chain(Neighbours(graph), 6, Random(seed)) for seed in range(12)]

    assert {len(one.nodes) for one in found} == {2, 3}
    assert not any(one.exact for one in found)


def test_published_hangs_of_huggingface(reference: Path) -> None:
    """A chain of 6 with seed 155 never ends in the published sampler; nor do 15 tools."""
    graph = ToolGraph.load(reference / "taskbench" / "huggingface" / "graph_desc.json")
    for seed in range(301):
        check(Sampler(graph, seed).draw("chain", 6), graph)
    for size in (7, 8, 10, 15):
        assert len(Sampler(graph, 155).draw("chain", size).nodes) == size
    with pytest.raises(UsageError, match=r"the largest found has (18|19|20) "):
        Sampler(graph, 0).draw("chain", 21)


def test_published_hangs_of_multimedia(reference: Path) -> None:
    graph = ToolGraph.load(reference / "taskbench" / "multimedia" / "graph_desc.json")
    for size, seed in ((7, 203), (6, 1990)):
        sample = Sampler(graph, seed).draw("chain", size)
        check(sample, graph)
        assert (sample.shape, len(sample.nodes)) == ("chain", size)


def test_every_order_of_a_temporal_graph_is_possible() -> None:
    graph = ToolGraph.build(plain_library(40), "temporal")
    assert len(Sampler(graph, 0).draw("chain", 40).nodes) == 40
    with pytest.raises(UsageError, match="the largest has 40"):
        Sampler(graph, 0).draw("chain", 41)

    three = Sampler(ToolGraph.build(plain_library(3), "temporal"), 0)
    assert len({three.draw("chain", 3, index=index).nodes for index in range(100)}) == 6
