"""Sampling that covers every tool or every edge of a graph: each sample is grown around a target.

The targets of a seed are in a random order. Sample number i aims at target i modulo their number, so n times
as
many samples as targets hold each target n times, where a sample of the requested shapes and sizes can. Later
rounds, each from a sample number on, may aim at some of the targets only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Literal

import msgspec

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.records.dataset import Shape
from toolassay.sampling.dags import GrowingDag, grow, grow_branch, more_after, more_before
from toolassay.sampling.search import SMALLEST, FoundSubgraph, Neighbours, SearchBudget, draw

CoverKind = Literal["tools", "edges"]
# Tools or edges to cover. More would need more samples than a benchmark has.
MOST_TARGETS = 1_000_000
_ATTEMPTS = 12  # subgraphs grown around a target before smaller ones are tried
_UNITS = 200_000  # budget of tools examined for one sample

Target = tuple[int, ...]
"""Numbers of the tools of a target: one tool, or the two ends of an edge."""


class Round(msgspec.Struct, frozen=True, omit_defaults=True):
    """The samples from number `start` to `end` - 1, and the targets at which they aim, named by tool ids.

    Without `targets` they aim at all, or at none without `--cover`; without `end` the round is the only one.
    """

    start: int
    end: int | None = None
    targets: tuple[tuple[str, ...], ...] | None = None


class Cover:
    """The targets of a graph, and at which one a sample aims.

    Args:
        graph: The tool graph.
        kind: "tools" or "edges".
        seed: Random seed of the order.
        rounds: Rounds by start; the first starts at 0.

    Raises:
        UsageError: The graph has more than a million targets.

    >>> from toolassay.tools.library import Tool, ToolLibrary
    >>> graph = ToolGraph.build(ToolLibrary([Tool("a"), Tool("b")]), "temporal")
    >>> cover = Cover(graph, "edges", 7)
    >>> len(cover), {cover.target(0), cover.target(1)} == {(0, 1), (1, 0)}
    (2, True)
    """

    def __init__(
        self, graph: ToolGraph, kind: CoverKind, seed: int, rounds: Sequence[Round] = (Round(0),)
    ) -> None:
        self.graph = graph
        self.kind = kind
        self.seed = seed
        self.rounds = tuple(rounds)
        if len(self) > MOST_TARGETS:
            raise UsageError(
                f"the graph has {len(self):,} {kind}, --cover takes up to {MOST_TARGETS:,}",
                fix="use --cover tools, or fewer links",
            )

    def __len__(self) -> int:
        return len(self.graph) if self.kind == "tools" else self.graph.number_of_links

    @cached_property
    def _targets(self) -> list[Target]:
        if self.kind == "tools":
            targets: list[Target] = [(number,) for number in range(len(self.graph))]
        else:
            targets = list(dict.fromkeys((source, target) for source, target, _ in self.graph.numbered))
        Random(f"cover {self.seed}").shuffle(targets)
        return targets

    def target(self, index: int) -> Target | None:
        """The target of sample number `index`; None if its round has none."""
        current = next(cover_round for cover_round in reversed(self.rounds) if cover_round.start <= index)
        if current.targets is None:
            targets = self._targets
        else:
            library = self.graph.library
            known_targets = (target for target in current.targets if all(name in library for name in target))
            targets = [tuple(library.index(name) for name in target) for target in known_targets]
        return targets[(index - current.start) % len(targets)] if targets else None


def find_around(
    neighbours: Neighbours,
    target: Target,
    shapes: Mapping[Shape, float],
    sizes: Mapping[Shape, Mapping[int, float]],
    rng: Random,
) -> tuple[Shape, FoundSubgraph] | None:
    """A subgraph that has a target, of a shape and size drawn by weight among those that can.

    Args:
        neighbours: The graph.
        target: A tool, or the ends of an edge.
        shapes: Weight of each shape.
        sizes: Weight of each number of tools, by shape.
        rng: Random generator.
    """
    budget = SearchBudget(_UNITS)
    left = {shape: weight for shape, weight in shapes.items() if shape in sizes and weight}
    while left:
        shape = draw(rng, left)
        del left[shape]
        if shape == "single":
            if len(target) == 1:
                return shape, FoundSubgraph(target, (), False)
            continue
        largest: GrowingDag | None = None
        wanted = draw(rng, sizes[shape])
        for _ in range(_ATTEMPTS):
            plan = _grown(neighbours, target, shape, wanted, rng, budget)
            if plan is not None and (largest is None or len(plan.nodes) > len(largest.nodes)):
                largest = plan
            if budget.left <= 0 or (largest is not None and len(largest.nodes) == wanted):
                break
        if largest is not None and len(largest.nodes) in sizes[shape]:
            return shape, FoundSubgraph(largest.ordered(), tuple(largest.links), False)
        if largest is not None and (smaller := [n for n in sizes[shape] if n <= len(largest.nodes)]):
            plan = _grown(neighbours, target, shape, max(smaller), rng, budget)
            if plan is not None and len(plan.nodes) in sizes[shape]:
                return shape, FoundSubgraph(plan.ordered(), tuple(plan.links), False)
    return None


def _grown(
    neighbours: Neighbours, target: Target, shape: Shape, size: int, rng: Random, budget: SearchBudget
) -> GrowingDag | None:
    """A chain or dag of up to `size` tools around a target; None if there is none of that shape."""
    plan = GrowingDag(neighbours, target[0])
    if len(target) > 1 and not plan.link(target[0], target[1]):
        return None
    if shape == "dag":
        if not grow_branch(plan, rng, budget):
            return None
        grow(plan, size, rng, budget)
        return plan if len(plan.nodes) <= size else None
    first = target[0]
    last = target[-1]
    while len(plan.nodes) < size and budget.left > 0:
        for forward in rng.sample((True, False), 2):
            if forward and more_after(plan, last, rng, budget):
                last = plan.nodes[-1]
                break
            if not forward and more_before(plan, first, rng, budget):
                first = plan.nodes[-1]
                break
        else:
            break
    return plan if len(plan.nodes) >= SMALLEST[shape] else None
