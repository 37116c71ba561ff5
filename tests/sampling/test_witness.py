"""Parts of an example."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.graphs import listed, seeds, tool_graphs
from toolassay.dataset import shape_of
from toolassay.graph import ToolGraph
from toolassay.sampling.chains import find_chain
from toolassay.sampling.dags import find_dag
from toolassay.sampling.sampler import cut_down
from toolassay.sampling.search import Neighbours


@settings(deadline=None, max_examples=150)
@given(tool_graphs(most=12), seeds, st.booleans())
def test_a_part_has_the_shape_and_any_smaller_size(graph: ToolGraph, seed: int, dag: bool) -> None:
    find, least, shape = (find_dag, 3, "dag") if dag else (find_chain, 2, "chain")
    example = find(Neighbours(graph), 12, Random(seed))
    for size in range(least, len(example.nodes) + 1):
        part = cut_down(example, size, Random(seed))
        pairs = [(link.source, link.target) for link in part.links]

        assert len(part.nodes) == size
        assert shape_of(size, pairs) == shape
        assert {tool for pair in pairs for tool in pair} == set(part.nodes) <= set(example.nodes)
        assert set(part.links) <= set(example.links)
        order = {tool: place for place, tool in enumerate(part.nodes)}
        assert all(order[source] < order[target] for source, target in pairs)


def test_parts_differ() -> None:
    ring = listed(8, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 6), (6, 7), (7, 4)])
    example = find_dag(Neighbours(ring), 8, Random(0))
    parts = {cut_down(example, 4, Random(seed)).nodes for seed in range(40)}

    assert len(parts) > 1
