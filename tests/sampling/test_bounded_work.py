"""Every search ends soon: calls are counted, so that a busy machine changes nothing."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from tests.support.tool_graphs import listed, plain_library
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.records.dataset import Shape
from toolassay.sampling import Sampler
from toolassay.tools.library import Tool, ToolLibrary

MOST_CALLS = 8_000_000


class TooMuchWorkError(Exception):
    """More calls than allowed."""


def with_counted_calls(work: Callable[[], object], most: int) -> int:
    """The number of function calls `work` makes; stops it at `most`."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1
            if calls > most:
                raise TooMuchWorkError

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def random_pairs(size: int, count: int) -> list[tuple[int, int]]:
    chance = random.Random(1)
    return [(chance.randrange(size), chance.randrange(size)) for _ in range(count)]


def sinks() -> ToolGraph:
    tools = [Tool(f"tool {n}", "", ("text",)) for n in range(1_500)]
    return ToolGraph.build(ToolLibrary([*tools, Tool("source", "", (), ("text",))]), "resource")


GRAPHS: dict[str, Callable[[], ToolGraph]] = {
    "star": lambda: listed(800, [(0, n) for n in range(1, 800)]),
    "two halves": lambda: listed(100, [(one, two) for one in range(50) for two in range(50, 100)]),
    "path": lambda: listed(1_500, [(n, n + 1) for n in range(1_499)]),
    "pairs": lambda: listed(1_000, [(n, n + 1) for n in range(0, 1_000, 2)]),
    "no links": lambda: listed(2_000, []),
    "sparse": lambda: listed(90, random_pairs(90, 140)),
    "complete": lambda: ToolGraph.build(plain_library(400), "temporal"),
    "sinks": sinks,
}


@pytest.mark.parametrize("shape", ["chain", "dag"])
@pytest.mark.parametrize("name", GRAPHS)
def test_impossible_sizes_end(name: str, shape: Shape) -> None:
    graph = GRAPHS[name]()
    sampler = Sampler(graph, 0)

    def ask() -> None:
        for size in (5, len(graph), len(graph) + 1):
            try:
                sampler.draw(shape, size)
            except UsageError as error:
                assert "largest" in str(error) or "no " in str(error)

    with_counted_calls(ask, MOST_CALLS)


@pytest.mark.parametrize("name", ["star", "pairs", "sparse", "no links"])
def test_samples_of_awkward_graphs_are_cheap(name: str) -> None:
    sampler = Sampler(GRAPHS[name](), 0)
    sampler.sample(0)

    assert with_counted_calls(lambda: list(sampler.samples(20, start=1)), MOST_CALLS) < 500_000
