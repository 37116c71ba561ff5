"""What holds of every sample, on any graph."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.graphs import check, listed, plain_library, seeds, tool_graphs
from toolgraph.dataset import Shape
from toolgraph.errors import UsageError
from toolgraph.graph import ToolGraph
from toolgraph.sampling import Sampler, sampler
from toolgraph.sampling.search import Found
from toolgraph.tools import Tool, ToolLibrary

shapes = st.sampled_from(["single", "chain", "dag"])

quick = settings(deadline=None, max_examples=150)


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
from toolgraph.graph import ToolGraph
from toolgraph.sampling import Sampler
from toolgraph.tools import Tool, ToolLibrary

kinds = ("text", "audio", "image", "video")
tools = [Tool(f"tool {n}", "", kinds[n % 3 :] + kinds[:1], kinds[: 1 + n % 4]) for n in range(12)]
graph = ToolGraph.build(ToolLibrary(tools), "resource")
print(list(graph.links()))
print(list(Sampler(graph, 5).samples(150)))
"""


def test_samples_do_not_depend_on_the_hash_seed() -> None:
    """Where tools share several types, the published graph and sampler do."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PRINT_SAMPLES],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1", "12345")
    }

    assert len(outputs) == 1


@pytest.mark.parametrize("shape", ["single", "chain", "dag"])
def test_a_library_of_one_tool(shape: Shape) -> None:
    samples = Sampler(ToolGraph.build(plain_library(1), "temporal"), 0)

    assert samples.sample(0).nodes == ("tool 0",)
    if shape != "single":
        with pytest.raises(UsageError, match=f"there is no {shape} at all"):
            samples.draw(shape, 3)


def test_fewer_tools_than_the_weights_ask_for() -> None:
    """Three tools that all follow each other: the published sampler waits for a fourth for ever."""
    graph = ToolGraph.build(plain_library(3), "temporal")
    samples = Sampler(graph, 0)
    drawn = list(samples.samples(200))

    for sample in drawn:
        check(sample, graph)
    assert {sample.shape for sample in drawn} == {"single", "chain", "dag"}
    assert any("no chain of more than 3 tools" in sentence for sentence in samples.cuts())
    for shape in ("chain", "dag"):
        with pytest.raises(UsageError, match="the largest has 3"):
            samples.draw(shape, 4)


def test_shapes_the_graph_cannot_give_are_left_out() -> None:
    graph = listed(4, [(0, 1)])
    samples = Sampler(graph, 0)

    assert {sample.shape for sample in samples.samples(100)} == {"single", "chain"}
    assert "the graph has no dag of the wanted sizes: left out" in samples.cuts()
    with pytest.raises(UsageError, match="no dag of the wanted sizes"):
        Sampler(graph, 0, shapes={"dag": 1}).sample(0)


def test_the_one_dag_of_a_large_graph_is_found_every_time() -> None:
    """Random starts do not meet it among 3,000 tools that stand alone."""
    graph = listed(3_000, [(17, 2_000), (17, 900)])
    samples = Sampler(graph, 0, shapes={"dag": 1})

    for sample in samples.samples(50):
        assert set(sample.nodes) == {"tool 17", "tool 2000", "tool 900"}


def test_where_a_search_finds_nothing_the_example_of_the_shape_is_given() -> None:
    graph = listed(5, [(0, 1), (0, 2), (3, 4)])
    draws = Sampler(graph, 0, shapes={"dag": 1})
    example = draws.sample(0)
    with patch.object(sampler, "find_dag", lambda *_, **__: Found((), (), False)):
        missed = draws.sample(1)

    check(missed, graph)
    assert set(missed.nodes) == set(example.nodes)


def test_an_isolated_start_is_no_excuse() -> None:
    """A published chain from a tool without neighbours has one tool, whatever was asked."""
    graph = listed(200, [(150, 151), (151, 152), (152, 153)])

    for index in range(20):
        assert len(Sampler(graph, 0).draw("chain", 4, index=index).nodes) == 4


@pytest.mark.parametrize(("shape", "size"), [("single", 2), ("single", 0), ("chain", 1), ("dag", 2)])
def test_sizes_a_shape_never_has(shape: Shape, size: int) -> None:
    with pytest.raises(UsageError, match=f"a {shape} has"):
        Sampler(ToolGraph.build(plain_library(5), "temporal"), 0).draw(shape, size)


def test_two_slots_of_one_type_are_fed_twice_and_no_more() -> None:
    tools = [Tool(f"giver {n}", "", ("url",), ("text",)) for n in range(4)]
    graph = ToolGraph.build(ToolLibrary([*tools, Tool("join", "", ("text", "text"), ("image",))]), "resource")

    assert len(Sampler(graph, 0).draw("dag", 3).links) == 2
    with pytest.raises(UsageError, match="the largest has 3"):
        Sampler(graph, 0).draw("dag", 4)


def test_samples_of_a_large_typed_graph_are_sound() -> None:
    """Above a thousand tools, neighbours are no longer kept as lists."""
    chance = random.Random(4)
    tools = [
        Tool(
            f"tool {n}",
            "",
            tuple(chance.choices("abcdefgh", k=chance.randint(0, 3))),
            tuple(chance.sample("abcdefgh", chance.randint(1, 2))),
        )
        for n in range(2_500)
    ]
    graph = ToolGraph.build(ToolLibrary(tools), "resource")
    for sample in Sampler(graph, 1).samples(400):
        check(sample, graph)
