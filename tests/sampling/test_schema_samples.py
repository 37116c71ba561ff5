"""Samples of schema graphs: the fields that flow, and scores as weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.support.schema_graphs import CINEMA, link
from tests.support.tool_graphs import check
from toolassay.errors import UsageError
from toolassay.graph import Dependency, FieldPair, ToolGraph
from toolassay.records.dataset import Sample
from toolassay.sampling import Sampler
from toolassay.sampling.search import free_fields
from toolassay.tools.library import Parameter, Tool, ToolLibrary

FEW = {"2": 1.0, "3": 1.0, "4": 1.0, "5": 1.0, "6": 1.0}


def star(*scores: float) -> ToolGraph:
    """A tool that feeds an argument of each of several others, with these scores."""
    others = [f"tool {number}" for number in range(len(scores))]
    library = ToolLibrary([Tool(name, parameters=(Parameter("id"),)) for name in ("first", *others)])
    links = [
        link("first", name, ("id", "id"), score=score) for name, score in zip(others, scores, strict=True)
    ]
    return ToolGraph.of_dependencies(library, links)


def joined(*links: Dependency, optional: bool) -> ToolGraph:
    """Three tools whose links end in the third, whose arguments are all optional or all required."""
    parameters = tuple(Parameter(name, required=not optional) for name in ("movie", "language"))
    library = ToolLibrary([Tool("a"), Tool("b"), Tool("c", parameters=parameters)])
    return ToolGraph.of_dependencies(library, links)


def flows(sample: Sample) -> dict[tuple[str, str], list[tuple[str, str]]]:
    pairs = zip(sample.links, sample.fields, strict=True)
    return {(one.source, one.target): [tuple(pair) for pair in fields] for one, fields in pairs}  # type: ignore[misc]


def test_every_sample_is_sound_and_fills_no_argument_twice() -> None:
    shapes = Counter[str]()
    for by_score in (True, False):
        for sample in Sampler(CINEMA, 3, sizes=FEW, by_score=by_score).samples(300):
            check(sample, CINEMA)
            shapes[sample.shape] += 1
            assert len(sample.fields) == len(sample.links)
            filled = Counter[tuple[str, str]]()
            for one, fields in zip(sample.links, sample.fields, strict=True):
                dependency = CINEMA.dependency(one.source, one.target)
                assert dependency is not None
                assert set(fields) <= set(dependency.fields)
                assert bool(fields) == (dependency.kind == "dependency")
                filled.update((one.target, pair.target) for pair in fields)
            assert set(filled.values()) <= {1}
    assert min(shapes[shape] for shape in ("single", "chain", "dag")) > 30


def test_a_neighbour_is_drawn_in_proportion_to_its_score() -> None:
    graph, count = star(0.9, 0.3, 0.0), 3000
    drawn = Counter(Sampler(graph, 1).draw("dag", 3, index=index).nodes[1:] for index in range(20))
    assert {frozenset(pair) for pair in drawn} == {frozenset(("tool 0", "tool 1"))}

    def shares(*, by_score: bool) -> list[float]:
        sampler = Sampler(graph, 1, by_score=by_score)
        found = Counter(
            sample.nodes[1]
            for index in range(count)
            if (sample := sampler.draw("chain", 2, index=index)).nodes[0] == "first"
        )
        return [found[f"tool {number}"] / count for number in range(3)]

    # A walk starts at each of the four tools equally often; a tool of the star has only one neighbour.
    assert shares(by_score=True) == pytest.approx([0.25 + 0.25 * 0.75, 0.25 + 0.25 * 0.25, 0.25], abs=0.03)
    assert shares(by_score=False) == pytest.approx([1 / 3] * 3, abs=0.03)


def test_two_links_do_not_compete_for_a_required_argument() -> None:
    both = (
        link("a", "c", ("id", "movie"), ("lang", "language")),
        link("b", "c", ("id", "movie"), ("lang", "language")),
    )
    with pytest.raises(UsageError, match=r"there is no dag|no dag was found"):
        Sampler(joined(*both, optional=False), 1).draw("dag", 3)
    one = link("a", "c", ("id", "movie")), link("b", "c", ("lang", "language"))
    sample = Sampler(joined(*one, optional=False), 1).draw("dag", 3)
    assert flows(sample) == {("a", "c"): [("id", "movie")], ("b", "c"): [("lang", "language")]}


def test_of_optional_arguments_a_link_fills_those_that_are_free() -> None:
    links = (
        link("a", "c", ("id", "movie")),
        link("b", "c", ("id", "movie"), ("lang", "language")),
    )
    found = flows(Sampler(joined(*links, optional=True), 1).draw("dag", 3))
    assert found == {("a", "c"): [("id", "movie")], ("b", "c"): [("lang", "language")]}


@pytest.mark.parametrize("optional", [False, True])
def test_an_argument_that_both_tools_share_is_filled_by_no_other_link(optional: bool) -> None:
    first = link("a", "c", ("season", "movie"))
    sharing = replace(first, shared=(FieldPair("tongue", "language"),))
    other = link("b", "c", ("lang", "language"))
    assert len(Sampler(joined(first, other, optional=optional), 1).draw("dag", 3).links) == 2
    with pytest.raises(UsageError, match=r"there is no dag|no dag was found"):
        Sampler(joined(sharing, other, optional=optional), 1).draw("dag", 3)
    sample = Sampler(joined(sharing, other, optional=optional), 1).draw("chain", 2, index=3)
    expected = {("a", "c"): sharing.shared, ("b", "c"): ()}
    assert sample.shared in (((expected[sample.links[0].source, "c"]),), ())


def test_an_observed_link_feeds_nothing_and_is_always_possible() -> None:
    links = link("a", "c", ("id", "movie")), link("b", "c", ("id", "movie"), kind="observed")
    found = flows(Sampler(joined(*links, optional=False), 1).draw("dag", 3))
    assert found == {("a", "c"): [("id", "movie")], ("b", "c"): []}


def test_arguments_that_an_order_shares_yield_to_a_value_that_flows() -> None:
    order = replace(link("b", "c", kind="observed"), shared=(FieldPair("film", "movie"),))
    pairs = {
        (one.source, shared)
        for first in (link("a", "c", ("id", "movie")), link("a", "c", ("lang", "language")))
        for sample in [Sampler(joined(first, order, optional=False), 1).draw("dag", 3)]
        for one, shared in zip(sample.links, sample.shared or ((), ()), strict=True)
    }
    assert pairs == {("a", ()), ("b", ()), ("b", order.shared)}


@pytest.mark.parametrize(
    ("filled", "free"),
    [
        ([], ["filter.id", "filters"]),
        (["filter"], ["filters"]),
        (["filter.id"], ["filters"]),
        (["filter.id.part"], ["filters"]),
        (["filter.identity"], ["filter.id", "filters"]),
    ],
)
def test_an_argument_is_filled_with_its_parts_and_its_whole(filled: list[str], free: list[str]) -> None:
    pairs = link("a", "b", ("x", "filter.id"), ("y", "filters")).fields
    assert [pair.target for pair in free_fields(pairs, filled)] == free
