"""Dags: as large as there are any, the largest by name, of the shapes that plans have; and their parts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from unittest.mock import patch

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tool_graphs import check, largest_dag, listed, plain_library, seeds, tool_graphs
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.graph.links import ListedLinks, TypedLinks
from toolassay.records.dataset import shape_of
from toolassay.sampling import Sampler, dags
from toolassay.sampling.chains import cut_down, find_chain
from toolassay.sampling.dags import find_dag
from toolassay.sampling.search import Neighbours
from toolassay.tools.library import Tool, ToolLibrary

PUBLISHED = ("huggingface", "multimedia", "dailylifeapis")


@settings(deadline=None, max_examples=40)
@given(tool_graphs(most=7, most_links=9), seeds)
def test_every_dag_that_exists_is_found_and_the_largest_is_named(graph: ToolGraph, seed: int) -> None:
    largest = largest_dag(graph)
    sampler = Sampler(graph, seed)

    for size in range(3, largest + 1):
        check(sampler.draw("dag", size), graph)
    expected = f"the largest has {largest}" if largest else "there is no dag at all"
    with pytest.raises(UsageError, match=re.escape(expected)):
        sampler.draw("dag", max(3, largest + 1))


@settings(deadline=None, max_examples=40)
@given(tool_graphs(most=7, most_links=9), seeds, st.integers(1, 60), st.booleans())
def test_a_search_without_proof_never_claims_too_much(
    graph: ToolGraph, seed: int, units: int, prove: bool
) -> None:
    """However early the budget ends."""
    with patch.object(dags, "_UNITS", units), patch.object(dags, "_ATTEMPTS", 1):
        found = dags.find_dag(Neighbours(graph), 8, Random(seed), prove=prove)

    assert len(found.nodes) <= largest_dag(graph)
    if found.exact:
        assert len(found.nodes) == largest_dag(graph)


@settings(deadline=None, max_examples=40)
@given(tool_graphs(most=7, most_links=9))
def test_the_largest_tree_is_the_largest_dag(graph: ToolGraph) -> None:
    """A connected dag that is no chain has a spanning tree that is none."""
    links, exact = dags.largest_tree(Neighbours(graph), 8)

    assert exact
    assert (len(links) + 1 if links else 0) == largest_dag(graph)


@pytest.mark.parametrize("name", PUBLISHED)
def test_shapes_on_the_published_graphs(name: str, reference: Path) -> None:
    """The published sampler draws nothing but forests there, a third of its dags simple paths."""
    graph = ToolGraph.load(reference / "taskbench" / name / "graph_desc.json")
    samples = list(Sampler(graph, 0).samples(5_000))
    for sample in samples:
        check(sample, graph)
    drawn = [sample for sample in samples if sample.shape == "dag"]
    joins = sum(max(Counter(link.target for link in dag.links).values()) > 1 for dag in drawn)
    beyond_trees = sum(len(dag.links) >= len(dag.nodes) for dag in drawn)

    assert 0.40 < len(drawn) / 5_000 < 0.49  # 8 of 18
    assert joins >= 0.3 * len(drawn)
    assert beyond_trees >= 0.1 * len(drawn)
    assert sum(len(dag.links) for dag in drawn) >= 1.1 * sum(len(dag.nodes) - 1 for dag in drawn)


def test_diamonds_occur(root: Path) -> None:
    graph = ToolGraph.build(ToolLibrary.load(root / "data_huggingface" / "tool_desc.json"), "resource")
    drawn = [Sampler(graph, 0).draw("dag", 4, index=index) for index in range(300)]

    def is_diamond(pairs: list[tuple[str, str]]) -> bool:
        picture = nx.DiGraph(pairs)
        return (
            sorted(picture.in_degree(n) for n in picture) == [0, 1, 1, 2]
            and len(pairs) == 4
            and (sorted(picture.out_degree(n) for n in picture) == [0, 1, 1, 2])
        )

    assert sum(is_diamond([(link.source, link.target) for link in dag.links]) for dag in drawn) >= 10


def test_links_whose_type_the_target_does_not_take_are_never_drawn() -> None:
    """The published dag sampler stops with a ValueError there, in 182 of 200 seeds."""
    tools = [Tool(name, "", ("text",), ("text",)) for name in "abc"]
    links = ListedLinks(3, [link._replace(type="complete") for link in TypedLinks(ToolLibrary(tools))])
    graph = ToolGraph(ToolLibrary(tools), "resource", links)

    with pytest.raises(UsageError, match="there is no dag at all"):
        Sampler(graph, 0).draw("dag", 3)


def test_a_slot_is_fed_once_even_where_many_could_feed_it() -> None:
    """One text slot each: no join is possible, so every dag is a tree that spreads."""
    tools = [Tool(f"tool {n}", "", ("text",), ("text",)) for n in range(12)]
    graph = ToolGraph.build(ToolLibrary(tools), "resource")
    for index in range(100):
        sample = Sampler(graph, 0).draw("dag", 8, index=index)
        assert max(Counter(link.target for link in sample.links).values()) == 1


def test_a_dag_of_every_tool() -> None:
    graph = ToolGraph.build(plain_library(60), "temporal")

    check(Sampler(graph, 0).draw("dag", 60), graph)
    with pytest.raises(UsageError, match="the largest has 60"):
        Sampler(graph, 0).draw("dag", 61)


@settings(deadline=None, max_examples=50)
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
