"""The sampler: shape and size by weight, the subgraph by search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from random import Random

from toolgraph.dataset import Sample, Shape
from toolgraph.errors import UsageError
from toolgraph.graph import Link, ToolGraph
from toolgraph.sampling.chains import find_chain
from toolgraph.sampling.dags import find_dag
from toolgraph.sampling.search import Found, Neighbours
from toolgraph.sampling.weights import (
    SHAPE_WEIGHTS,
    SIZE_WEIGHTS,
    SMALLEST,
    draw,
    shape_weights,
    size_weights,
)


class Sampler:
    """Draws samples from a tool graph.

    Args:
        graph: the tool graph.
        seed: with the index, all the chance there is.
        shapes: weight of each shape; default TaskBench's 3 : 7 : 8.
        sizes: weight of each number of tools; default TaskBench's.

    Raises:
        UsageError: weights that leave nothing to draw.

    >>> from toolgraph.tools import Tool, ToolLibrary
    >>> graph = ToolGraph.build(ToolLibrary([Tool("a"), Tool("b"), Tool("c")]), "temporal")
    >>> sampler = Sampler(graph, seed=7)
    >>> sampler.sample(0) == sampler.sample(0), len(sampler.draw("chain", 3, index=1).links)
    (True, 2)
    """

    def __init__(
        self,
        graph: ToolGraph,
        seed: int,
        *,
        shapes: Mapping[str, float] | Mapping[Shape, float] = SHAPE_WEIGHTS,
        sizes: Mapping[str, float] | Mapping[int, float] = SIZE_WEIGHTS,
    ) -> None:
        self.graph = graph
        self.seed = seed
        self._neighbours = Neighbours(graph)
        self.shapes = shape_weights(shapes)
        self.sizes = size_weights(sizes)
        self._examples: dict[Shape, Found] = {}

    @cached_property
    def reachable(self) -> dict[Shape, dict[int, float]]:
        """The size weights of each wanted shape, cut to the sizes this graph can give.

        Raises:
            UsageError: nothing is left.
        """
        reachable: dict[Shape, dict[int, float]] = {}
        for shape in self.shapes:
            wanted = {n: w for n, w in self.sizes.items() if n >= SMALLEST[shape]}
            largest = len(self._example(shape).nodes) if wanted else 0
            possible = {n: w for n, w in wanted.items() if n <= largest} if shape != "single" else {1: 1.0}
            if possible:
                reachable[shape] = possible
        if not reachable:
            raise UsageError(
                f"the graph has no {' or '.join(self.shapes)} of the wanted sizes",
                fix="ask for other shapes or sizes, or add tools or links",
            )
        return reachable

    def cuts(self) -> list[str]:
        """What of the wanted shapes and sizes this graph cannot give, one sentence each."""
        sentences = []
        for shape in self.shapes:
            wanted = [n for n in self.sizes if n >= SMALLEST[shape]]
            left = self.reachable.get(shape)
            if left is None:
                sentences.append(f"the graph has no {shape} of the wanted sizes: left out")
            elif shape != "single" and max(left) < max(wanted):
                sentences.append(
                    f"no {shape} of more than {max(left)} tools was found: larger ones are left out"
                )
        return sentences

    def sample(self, index: int) -> Sample:
        """Sample number `index`, its shape and size drawn by weight.

        Raises:
            UsageError: the graph has none of the wanted shapes and sizes.
        """
        rng = self._rng(index)
        shape = draw(rng, {shape: self.shapes[shape] for shape in self.reachable})
        size = draw(rng, self.reachable[shape])
        found = self._find(shape, size, rng)
        # A bounded search may miss a size it has found before: a smaller sample is as good a sample.
        if len(found.nodes) < SMALLEST[shape]:
            found = self._example(shape)
        return self._sample(index, shape, found)

    def draw(self, shape: Shape, size: int, *, index: int = 0) -> Sample:
        """Sample number `index` of a given shape and number of tools.

        Raises:
            UsageError: the graph has no such sample; names the largest size found.
        """
        if size < SMALLEST[shape] or (shape == "single" and size != 1):
            only = "exactly" if shape == "single" else "at least"
            raise UsageError(f"a {shape} of {size} tools: a {shape} has {only} {SMALLEST[shape]}")
        found = self._find(shape, size, self._rng(index), prove=True)
        if len(found.nodes) < size:
            raise UsageError(
                f"no {shape} of {size} tools in this graph of {len(self.graph)}: {_largest(found, shape)}"
            )
        return self._sample(index, shape, found)

    def samples(self, count: int, *, start: int = 0) -> Iterator[Sample]:
        """Samples number `start` to `start + count - 1`."""
        return (self.sample(index) for index in range(start, start + count))

    def _rng(self, index: int) -> Random:
        return Random(f"toolgraph {self.seed} {index}")

    def _find(self, shape: Shape, size: int, rng: Random, *, prove: bool = False) -> Found:
        if shape == "single":
            return Found((int(rng.random() * len(self.graph)),), (), True)
        if shape == "chain":
            return find_chain(self._neighbours, size, rng, prove=prove)
        return find_dag(self._neighbours, size, rng, prove=prove)

    def _example(self, shape: Shape) -> Found:
        """The largest sample of a shape that a few searches find, up to the largest size wanted."""
        if shape not in self._examples:
            size = max(SMALLEST[shape], *self.sizes)
            found = (self._find(shape, size, Random(attempt), prove=attempt == 0) for attempt in range(3))
            self._examples[shape] = max(found, key=lambda one: len(one.nodes))
        return self._examples[shape]

    def _sample(self, index: int, shape: Shape, found: Found) -> Sample:
        ids = self.graph.library.ids
        order = {tool: place for place, tool in enumerate(found.nodes)}
        links = sorted(found.links, key=lambda link: (order[link.source], order[link.target]))
        return Sample(
            index,
            self.seed,
            shape,
            tuple(ids[tool] for tool in found.nodes),
            tuple(Link(ids[source], ids[target], kind) for source, target, kind in links),
        )


def _largest(found: Found, shape: Shape) -> str:
    if len(found.nodes) < SMALLEST[shape]:
        return f"there is no {shape} at all" if found.exact else f"no {shape} was found (bounded search)"
    if found.exact:
        return f"the largest has {len(found.nodes)}"
    return f"the largest found has {len(found.nodes)} (bounded search)"
