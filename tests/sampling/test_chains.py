"""Chains: as long as there are any, and the longest by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from sampling.graphs import check, longest_chain, plain_library, seeds, tool_graphs
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler


@settings(deadline=None, max_examples=50)
@given(tool_graphs(most=6), seeds)
def test_every_chain_that_exists_is_found_and_the_longest_is_named(graph: ToolGraph, seed: int) -> None:
    longest = longest_chain(graph)
    sampler = Sampler(graph, seed)

    for size in range(2, longest + 1):
        check(sampler.draw("chain", size), graph)
    expected = f"the largest found has {longest}" if longest > 1 else "no chain was found"
    with pytest.raises(UsageError, match=re.escape(expected)):
        sampler.draw("chain", max(2, longest + 1))


def test_published_hangs_of_huggingface(reference: Path) -> None:
    """A chain of 6 with seed 155 never ends in the published sampler; nor do 15 or 19 tools."""
    graph = ToolGraph.load(reference / "taskbench" / "huggingface" / "graph_desc.json")
    for seed in range(301):
        check(Sampler(graph, seed).draw("chain", 6), graph)
    for size in (7, 8, 10, 15, 19):
        assert len(Sampler(graph, 155).draw("chain", size).nodes) == size
    with pytest.raises(UsageError, match=r"the largest found has \d\d"):
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
    with pytest.raises(UsageError, match="the largest found has 40"):
        Sampler(graph, 0).draw("chain", 41)

    three = Sampler(ToolGraph.build(plain_library(3), "temporal"), 0)
    assert len({three.draw("chain", 3, index=index).nodes for index in range(100)}) == 6
