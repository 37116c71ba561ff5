"""Samples that cover every tool or every edge."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler
from toolassay.sampling.cover import Cover, CoverKind, Round
from toolassay.tools.library import Tool, ToolLibrary

MULTIMEDIA = ToolGraph.load("data_multimedia/graph_desc.json")


def covered(graph: ToolGraph, kind: CoverKind, rounds: int = 1, seed: int = 3) -> Counter[tuple[str, ...]]:
    cover = Cover(graph, kind, seed)
    sampler = Sampler(graph, seed, cover=cover)
    found: Counter[tuple[str, ...]] = Counter()
    for index in range(len(cover) * rounds):
        sample = sampler.sample(index)
        if kind == "tools":
            found.update((name,) for name in sample.nodes)
        else:
            found.update((link.source, link.target) for link in sample.links)
    return found


@pytest.mark.parametrize("kind", ["tools", "edges"])
def test_every_target_has_as_many_samples_as_there_are_rounds(kind: CoverKind) -> None:
    found = covered(MULTIMEDIA, kind, rounds=2)
    number = len(MULTIMEDIA) if kind == "tools" else MULTIMEDIA.number_of_links
    assert len(found) == number
    assert min(found.values()) >= 2


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=2, max_size=9),
    st.integers(0, 99),
)
def test_every_edge_of_any_typed_graph_is_covered(types: list[tuple[str, str]], seed: int) -> None:
    library = ToolLibrary([Tool(f"t{n}", "", (a,), (b,)) for n, (a, b) in enumerate(types)])
    graph = ToolGraph.build(library, "resource")
    if graph.number_of_links:
        assert set(covered(graph, "edges", seed=seed)) == {
            (link.source, link.target) for link in graph.links()
        }
    assert set(covered(graph, "tools", seed=seed)) == {(name,) for name in library.ids}


def test_a_sample_depends_on_its_number_only() -> None:
    samplers = [Sampler(MULTIMEDIA, 5, cover=Cover(MULTIMEDIA, "edges", 5)) for _ in range(2)]
    forward = [samplers[0].sample(index) for index in range(40)]
    assert [samplers[1].sample(index) for index in reversed(range(40))] == forward[::-1]


def test_shape_and_size_are_among_those_requested() -> None:
    cover = Cover(MULTIMEDIA, "edges", 1)
    sampler = Sampler(MULTIMEDIA, 1, cover=cover, shapes={"chain": 1}, sizes={3: 1, 4: 1})
    for index in range(60):
        sample = sampler.sample(index)
        assert sample.shape == "chain" and len(sample.nodes) in (3, 4)


def test_a_later_round_aims_at_its_targets() -> None:
    names = MULTIMEDIA.library.ids[:2]
    cover = Cover(MULTIMEDIA, "tools", 1, [Round(0), Round(10, targets=tuple((name,) for name in names))])
    sampler = Sampler(MULTIMEDIA, 1, cover=cover)
    for index in range(10, 20):
        assert names[index % 2] in sampler.sample(index).nodes
    assert msgspec.convert(msgspec.to_builtins(cover.rounds[1]), Round) == cover.rounds[1]


def test_more_targets_than_can_be_listed_are_refused() -> None:
    library = ToolLibrary([Tool(f"t{number}") for number in range(1_100)])
    with pytest.raises(UsageError, match=r"1,208,900 edges.*--cover tools"):
        Cover(ToolGraph.build(library, "temporal"), "edges", 1)
