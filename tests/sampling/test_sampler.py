"""What holds of every sample, on any graph."""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.running import is_the_same_in_every_process
from tests.support.tool_graphs import check, listed, plain_library, seeds, tool_graphs
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.records.dataset import Shape
from toolassay.sampling import Sampler, sampler
from toolassay.sampling.search import FoundSubgraph
from toolassay.tools.library import Tool, ToolLibrary

quick = settings(deadline=None, max_examples=50)


@quick
@given(tool_graphs(most=12), seeds, st.integers(0, 10**6))
def test_every_sample_is_sound(graph: ToolGraph, seed: int, index: int) -> None:
    sample = Sampler(graph, seed).sample(index)

    check(sample, graph)
    assert (sample.seed, sample.index) == (seed, index)


@quick
@given(tool_graphs(most=12), seeds, st.sampled_from(["chain", "dag"]), st.integers(3, 14))
def test_a_drawn_size_is_had_or_the_largest_is_named(
    graph: ToolGraph, seed: int, shape: Shape, size: int
) -> None:
    try:
        sample = Sampler(graph, seed).draw(shape, size)
    except UsageError as error:
        assert re.search(r"largest (found )?has \d+|there is no \w+ at all|no \w+ was found", str(error))
        named = re.search(r"largest (?:found )?has (\d+)", str(error))
        if named:
            assert int(named.group(1)) < size
            check(Sampler(graph, seed).draw(shape, int(named.group(1))), graph)
    else:
        check(sample, graph)
        assert (sample.shape, len(sample.nodes)) == (shape, size)


@quick
@given(tool_graphs(), seeds, st.randoms(use_true_random=False))
def test_a_sample_depends_on_seed_and_index_alone(graph: ToolGraph, seed: int, chance: random.Random) -> None:
    straight = list(Sampler(graph, seed).samples(12))
    shuffled = list(range(12))
    chance.shuffle(shuffled)
    one_sampler = Sampler(graph, seed)

    assert {index: one_sampler.sample(index) for index in shuffled} == dict(enumerate(straight))
    assert Sampler(graph, seed).sample(7) == straight[7]
    assert list(Sampler(graph, seed).samples(4, start=8)) == straight[8:]


def test_concurrent_draws_are_the_same(root: Path) -> None:
    graph = ToolGraph.build(ToolLibrary.load(root / "data_huggingface" / "tool_desc.json"), "resource")
    samples = Sampler(graph, 3)
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(samples.sample, range(300)))

    assert drawn == list(Sampler(graph, 3).samples(300))


def test_seeds_and_indices_differ(root: Path) -> None:
    graph = ToolGraph.build(ToolLibrary.load(root / "data_multimedia" / "tool_desc.json"), "resource")
    drawn = {(seed, i): Sampler(graph, seed).draw("dag", 6, index=i) for seed in (1, 2) for i in range(20)}

    assert len({(sample.nodes, sample.links) for sample in drawn.values()}) > 35


PRINT_SAMPLES = """
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler
from toolassay.tools.library import Tool, ToolLibrary

kinds = ("text", "audio", "image", "video")
tools = [Tool(f"tool {n}", "", kinds[n % 3 :] + kinds[:1], kinds[: 1 + n % 4]) for n in range(12)]
graph = ToolGraph.build(ToolLibrary(tools), "resource")
print(list(graph.links()))
print(list(Sampler(graph, 5).samples(150)))
"""


def test_samples_do_not_depend_on_the_hash_seed() -> None:
    """Where tools share several types, the published graph and sampler do."""
    assert is_the_same_in_every_process(PRINT_SAMPLES)


@pytest.mark.parametrize("shape", ["single", "chain", "dag"])
def test_a_library_of_one_tool(shape: Shape) -> None:
    samples = Sampler(ToolGraph.build(plain_library(1), "temporal"), 0)

    assert samples.sample(0).nodes == ("tool 0",)
    if shape != "single":
        with pytest.raises(UsageError, match=f"there is no {shape} at all"):
            samples.draw(shape, 3)


def test_shapes_the_graph_cannot_give_are_left_out() -> None:
    graph = listed(4, [(0, 1)])
    samples = Sampler(graph, 0)

    assert {sample.shape for sample in samples.samples(100)} == {"single", "chain"}
    assert "no dag of the requested sizes (there is no dag at all): left out" in samples.cuts()
    with pytest.raises(UsageError, match="no dag of the requested sizes: there is no dag at all"):
        Sampler(graph, 0, shapes={"dag": 1}).sample(0)


def test_the_one_dag_of_a_large_graph_is_found_every_time() -> None:
    """Random starts do not meet it among 3,000 tools that stand alone."""
    graph = listed(3_000, [(17, 2_000), (17, 900)])
    samples = Sampler(graph, 0, shapes={"dag": 1})

    for sample in samples.samples(50):
        assert set(sample.nodes) == {"tool 17", "tool 2000", "tool 900"}


def test_where_a_search_finds_nothing_a_part_of_the_example_is_given() -> None:
    graph = listed(7, [(0, 1), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
    draws = Sampler(graph, 0, shapes={"dag": 1, "chain": 1}, sizes={3: 1, 5: 1})
    assert draws.reachable == {"chain": {3: 1, 5: 1}, "dag": {3: 1, 5: 1}}
    nothing = FoundSubgraph((), (), False)
    with patch.multiple(sampler, find_dag=lambda *_, **__: nothing, find_chain=lambda *_, **__: nothing):
        missed = list(draws.samples(60))

    for sample in missed:
        check(sample, graph)
    assert {(sample.shape, len(sample.nodes)) for sample in missed} == {
        (shape, size) for shape in ("chain", "dag") for size in (3, 5)
    }


@pytest.mark.parametrize(("shape", "size"), [("chain", 32), ("dag", 39)])
def test_what_can_be_drawn_is_sampled(shape: Shape, size: int, root: Path) -> None:
    graph = ToolGraph.build(ToolLibrary.load(root / "data_multimedia" / "tool_desc.json"), "resource")
    assert len(Sampler(graph, 4).draw(shape, size).nodes) == size
    for sample in Sampler(graph, 4, shapes={shape: 1}, sizes={size: 1}).samples(8):
        check(sample, graph)
        assert (sample.shape, len(sample.nodes)) == (shape, size)


def test_an_impossible_wish_names_the_largest_size() -> None:
    graph = listed(6, [(0, 1), (0, 2), (2, 3), (4, 5)])
    with pytest.raises(UsageError) as raised:
        Sampler(graph, 0, shapes={"chain": 7, "dag": 8}, sizes={200: 1}).sample(0)
    assert "no chain or dag of 200 tools: the largest chain has 3, the largest dag has 4." in str(
        raised.value
    )

    with pytest.raises(UsageError, match="no dag of 2 tools: a dag has at least 3 tools"):
        Sampler(graph, 0, shapes={"dag": 1}, sizes={2: 1}).cuts()
    assert Sampler(graph, 0, shapes={"chain": 1, "dag": 1}, sizes={2: 1}).cuts() == [
        "a dag has at least 3 tools: left out"
    ]
    assert Sampler(graph, 0, shapes={"chain": 1, "dag": 1}, sizes={4: 1}).cuts() == [
        "no chain of 4 tools (the largest chain has 3): left out"
    ]
    with pytest.raises(UsageError, match="a chain of 1 tool: a chain has at least 2 tools"):
        Sampler(graph, 0).draw("chain", 1)


def test_two_slots_of_one_type_are_fed_twice_and_no_more() -> None:
    tools = [Tool(f"giver {n}", "", ("url",), ("text",)) for n in range(4)]
    graph = ToolGraph.build(ToolLibrary([*tools, Tool("join", "", ("text", "text"), ("image",))]), "resource")

    assert len(Sampler(graph, 0).draw("dag", 3).links) == 2
    with pytest.raises(UsageError, match="the largest has 3"):
        Sampler(graph, 0).draw("dag", 4)
