"""A seed gives the samples it always gave, and what cannot be sampled is said in full."""

from __future__ import annotations

import hashlib
from random import Random

import pytest

from sampling.graphs import listed, plain_library
from toolassay.errors import UsageError
from toolassay.graph import DependencyType, ToolGraph
from toolassay.sampling import Sampler
from toolassay.sampling.search import parse_weights, shape_weights, size_weights, smallest
from toolassay.tools import Tool, ToolLibrary


def made_library(size: int = 24) -> ToolLibrary:
    chance = Random(7)
    tools = [
        Tool(
            f"t{number}",
            "",
            tuple(chance.choices("abcde", k=chance.randint(0, 2))),
            tuple(chance.sample("abcde", chance.randint(1, 2))),
        )
        for number in range(size)
    ]
    return ToolLibrary(tools)


@pytest.mark.parametrize(
    ("kind", "first", "digest"),
    [
        ("resource", ("t17", "t8", "t10", "t5", "t23", "t9"), "6cd6974280b511aa"),
        ("temporal", ("t14", "t12", "t16", "t6", "t13", "t23"), "fd25e24eb5993ab7"),
    ],
)
def test_a_seed_gives_the_samples_it_always_gave(
    kind: DependencyType, first: tuple[str, ...], digest: str
) -> None:
    """Data sets are named by their seed: if this changes, the changelog must say so."""
    samples = list(Sampler(ToolGraph.build(made_library(), kind), 5).samples(300))
    assert samples[1].nodes == first
    said = [
        (sample.shape, sample.nodes, [(link.source, link.target, link.type) for link in sample.links])
        for sample in samples
    ]
    assert hashlib.sha256(repr(said).encode()).hexdigest()[:16] == digest


def test_what_cannot_be_sampled_is_said_in_full() -> None:
    path = listed(4, [(0, 1), (1, 2), (2, 3)])
    for shape, size, said in (
        ("chain", 5, "no chain of 5 tools in this graph of 4: the largest has 4"),
        ("dag", 3, "no dag of 3 tools in this graph of 4: there is no dag at all"),
        ("single", 2, "a single of 2 tools: a single has exactly 1 tool"),
        ("chain", 1, "a chain of 1 tool: a chain has at least 2 tools"),
        ("dag", 2, "a dag of 2 tools: a dag has at least 3 tools"),
    ):
        with pytest.raises(UsageError) as caught:
            Sampler(path, 0).draw(shape, size)  # type: ignore[arg-type]
        assert str(caught.value) == said
    with pytest.raises(UsageError) as caught:
        Sampler(path, 0, shapes={"chain": 1, "dag": 1}, sizes={6: 1}).sample(0)
    assert str(caught.value) == (
        "the graph has no chain or dag of 6 tools: the largest chain has 4, there is no dag at all. "
        "Fix: use other shapes or sizes, or add tools or links"
    )


def test_what_is_left_out_is_said_in_full() -> None:
    path = listed(4, [(0, 1), (1, 2), (2, 3)])
    sampler = Sampler(path, 0, shapes={"single": 1, "chain": 1, "dag": 1}, sizes={2: 1, 4: 1, 6: 1})
    assert sampler.cuts() == [
        "no chain of more than 4 tools was found: larger ones are left out",
        "no dag of the requested sizes (there is no dag at all): left out",
    ]
    assert sampler.reachable == {"single": {1: 1.0}, "chain": {2: 1, 4: 1}}
    sampler = Sampler(
        ToolGraph.build(plain_library(3), "temporal"), 0, shapes={"dag": 1, "chain": 1}, sizes={2: 1}
    )
    assert sampler.cuts() == ["a dag has at least 3 tools: left out"]
    assert sampler.reachable == {"chain": {2: 1}}


def test_what_is_wrong_with_weights_is_said_in_full() -> None:
    for text, said in (
        ("dag=1,dag=2", "--shape_weights: 'dag' is given twice. Fix: give every weight once"),
        ("dag", "--shape_weights: 'dag' is not name=weight. Fix: write e.g. single=3,chain=7"),
        (
            "dag=0",
            "--shape_weights: weights must be 0 or more, and not all 0. Fix: write e.g. single=3,chain=7",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            parse_weights(text, flag="--shape_weights")
        assert str(caught.value) == said
    with pytest.raises(UsageError) as caught:
        shape_weights({"tree": 1, "bush": 1})
    assert str(caught.value) == "unknown shape 'tree'. Fix: use single, chain, dag"
    with pytest.raises(UsageError) as caught:
        size_weights({"2.5": 1})
    assert str(caught.value) == "'2.5' is not a number of tools. Fix: use whole numbers of 1 or more"
    with pytest.raises(UsageError) as caught:
        size_weights({"3": 0})
    assert str(caught.value) == (
        "size weights: weights must be 0 or more, and not all 0. Fix: write e.g. 3=0.5,4=0.5"
    )
    assert size_weights({"1": 2}) == {1: 2}
    assert smallest("single") == "a single has exactly 1 tool"
