"""The parts of `measurements.tool_graphs` that decide what is counted and read."""

from __future__ import annotations

from measurements.tool_graphs import drawn, found_pairs, gold_pairs
from toolassay.graph.dependencies import Dependency


def test_known_pairs_are_distinct_consecutive_calls_without_repeated_ones() -> None:
    solutions = [
        {"query": "", "solution": ["GET /a ", "GET /b", "GET /b", "GET /c"]},
        {"query": "", "solution": ["GET /a", "GET /b"]},
    ]
    assert gold_pairs(solutions) == {("GET /a", "GET /b"), ("GET /b", "GET /c")}


def test_only_the_first_edges_count() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "d")]
    assert [found_pairs(pairs, {("b", "c"), ("c", "d")}, number) for number in (1, 2, 3)] == [0, 1, 2]


def test_links_to_read_stay_when_others_disappear() -> None:
    links = [Dependency(f"t{n}", "target") for n in range(30)]
    before, after = drawn(links, 1), drawn(reversed(links[:20]), 1)
    assert before != links and after == [link for link in before if link in links[:20]]
    assert drawn(links, 2) != before
