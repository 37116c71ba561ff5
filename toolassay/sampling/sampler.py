"""`Sampler`: draws shape and size by weight, then a subgraph by search or as a part of a larger one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from random import Random

from toolassay.errors import UsageError
from toolassay.graph import Link, ToolGraph
from toolassay.graph.links import FieldPair, NumberedLink
from toolassay.records.dataset import Sample, Shape
from toolassay.sampling.chains import cut_down, find_chain
from toolassay.sampling.cover import Cover, find_around
from toolassay.sampling.dags import find_dag
from toolassay.sampling.search import (
    SHAPE_WEIGHTS,
    SIZE_WEIGHTS,
    SMALLEST,
    FoundSubgraph,
    Neighbours,
    count_of_tools,
    draw,
    free_fields,
    shape_weights,
    size_weights,
    smallest,
)


class Sampler:
    """Draws samples from a tool graph.

    Args:
        graph: The tool graph.
        seed: Random seed; a sample depends only on it, its index and the graph.
        shapes: Weight of each shape [default: the published 3 : 7 : 8 (Shen et al., 2024)].
        sizes: Weight of each number of tools of a chain or dag [default: the published weights]. A single
            has one tool.
        by_score: Draw the links of a schema graph in proportion to their scores; if not, all are equal.
        cover: The tool or edge that each sample is to have; by default any.

    Raises:
        UsageError: The weights are invalid.

    >>> from toolassay.tools.library import Tool, ToolLibrary
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
        by_score: bool = True,
        cover: Cover | None = None,
    ) -> None:
        self.graph = graph
        self.cover = cover
        self.seed = seed
        self._neighbours = Neighbours(graph, by_score=by_score)
        self.shapes = shape_weights(shapes)
        self.sizes = size_weights(sizes)
        self._examples: dict[Shape, FoundSubgraph] = {}

    @cached_property
    def reachable(self) -> dict[Shape, dict[int, float]]:
        """The size weights of each requested shape, restricted to the sizes that this graph has.

        A single has one tool, whatever the size weights.

        Raises:
            UsageError: Nothing is left; names the largest sizes found.
        """
        reachable: dict[Shape, dict[int, float]] = {}
        for shape in self.shapes:
            fitting = self._fitting(shape)
            largest = len(self._example(shape).nodes) if fitting else 0
            possible = {n: w for n, w in fitting.items() if n <= largest}
            if possible:
                reachable[shape] = possible
        if not reachable:
            raise UsageError(
                f"the graph has no {' or '.join(self.shapes)} of {self._wished}: "
                + ", ".join(map(self._why_not, self.shapes)),
                fix="use other shapes or sizes, or add tools or links",
            )
        return reachable

    def cuts(self) -> list[str]:
        """The requested shapes and sizes that this graph does not have, one sentence each.

        Raises:
            UsageError: As for `reachable`.
        """
        sentences = []
        reachable = self.reachable
        for shape in self.shapes:
            fitting = self._fitting(shape)
            if not fitting:
                sentences.append(f"{smallest(shape)}: left out")
            elif shape not in reachable:
                sentences.append(f"no {shape} of {self._wished} ({self._why_not(shape)}): left out")
            elif max(reachable[shape]) < max(fitting):
                tools = count_of_tools(len(self._example(shape).nodes))
                sentences.append(f"no {shape} of more than {tools} was found: larger ones are left out")
        return sentences

    def sample(self, index: int) -> Sample:
        """Sample number `index`, with shape and size drawn by weight; with a `cover`, around its target.

        Raises:
            UsageError: The graph has none of the requested shapes and sizes.
        """
        rng = self._rng(index)
        if self.cover is not None and (target := self.cover.target(index)) is not None:
            around = find_around(self._neighbours, target, self.shapes, self.reachable, rng)
            if around is not None:
                return self._sample(index, *around)
        shape = draw(rng, {shape: self.shapes[shape] for shape in self.reachable})
        size = draw(rng, self.reachable[shape])
        subgraph = self._find(shape, size, rng)
        # A bounded search may miss a size that there is: then a part of the example has that size.
        if len(subgraph.nodes) < size:
            subgraph = cut_down(self._example(shape), size, rng)
        return self._sample(index, shape, subgraph)

    def draw(self, shape: Shape, size: int, *, index: int = 0) -> Sample:
        """Sample number `index` of a given shape and number of tools.

        Raises:
            UsageError: the graph has no such sample; names the largest size found.
        """
        if size < SMALLEST[shape] or (shape == "single" and size != 1):
            raise UsageError(f"a {shape} of {count_of_tools(size)}: {smallest(shape)}")
        subgraph = self._find(shape, size, self._rng(index), prove=True)
        if len(subgraph.nodes) < size:
            raise UsageError(
                f"no {shape} of {count_of_tools(size)} in this graph of {len(self.graph)}: "
                + _largest(subgraph, shape)
            )
        return self._sample(index, shape, subgraph)

    def weighted(self, weights: Mapping[tuple[str, ...], float]) -> Sampler:
        """The same sampler with factors for the weights of tools and links, which are named by ids."""
        other = copy(self)
        other._neighbours = Neighbours(self.graph, by_score=self._neighbours.by_score, weights=weights)
        return other

    def samples(self, count: int, *, start: int = 0) -> Iterator[Sample]:
        """Samples number `start` to `start + count - 1`."""
        return (self.sample(index) for index in range(start, start + count))

    def _rng(self, index: int) -> Random:
        # The package's old name stays here, so that a seed gives the same samples as before the rename.
        return Random(f"toolgraph {self.seed} {index}")

    def _find(self, shape: Shape, size: int, rng: Random, *, prove: bool = False) -> FoundSubgraph:
        if shape == "single":
            if factors := self._neighbours.weights:
                names = enumerate(self.graph.library.ids)
                tool = draw(rng, {number: factors.get((name,), 1.0) for number, name in names})
                return FoundSubgraph((tool,), (), True)
            return FoundSubgraph((int(rng.random() * len(self.graph)),), (), True)
        if shape == "chain":
            return find_chain(self._neighbours, size, rng)
        return find_dag(self._neighbours, size, rng, prove=prove)

    def _fitting(self, shape: Shape) -> dict[int, float]:
        """The requested sizes that a shape can have in any graph."""
        if shape == "single":
            return {1: 1.0}
        return {size: weight for size, weight in self.sizes.items() if size >= SMALLEST[shape]}

    def _example(self, shape: Shape) -> FoundSubgraph:
        """The largest sample of a shape that a few searches find, up to the largest requested size.

        Bounded by counted work, never by time, so that samples do not depend on the machine. The last search
        equals that of `draw` with index 0, so that whatever `draw` can find is also reachable by weight.
        """
        if shape not in self._examples:
            size = max(SMALLEST[shape], *self.sizes) if shape != "single" else 1
            best = FoundSubgraph((), (), False)
            for attempt, rng in enumerate((Random(0), Random(1), Random(2), self._rng(0))):
                subgraph = self._find(shape, size, rng, prove=attempt == 0)
                best = max(best, subgraph, key=lambda candidate: (len(candidate.nodes), candidate.exact))
                if len(best.nodes) == size or best.exact:
                    break
            self._examples[shape] = best
        return self._examples[shape]

    @property
    def _wished(self) -> str:
        return count_of_tools(*self.sizes) if len(self.sizes) == 1 else "the requested sizes"

    def _why_not(self, shape: Shape) -> str:
        if not self._fitting(shape):
            return smallest(shape)
        return _largest(self._example(shape), shape, name=f" {shape}")

    def _sample(self, index: int, shape: Shape, subgraph: FoundSubgraph) -> Sample:
        ids = self.graph.library.ids
        order = {tool: position for position, tool in enumerate(subgraph.nodes)}
        links = sorted(subgraph.links, key=lambda link: (order[link.source], order[link.target]))
        fields = self._fields(subgraph.links) if self.graph.dependency_type == "schema" else {}
        shared = tuple(self._shared(link, fields) for link in links)
        return Sample(
            index,
            self.seed,
            shape,
            tuple(ids[tool] for tool in subgraph.nodes),
            tuple(Link(ids[source], ids[target], kind) for source, target, kind in links),
            tuple(fields[link] for link in links) if fields else (),
            shared if any(shared) else (),
        )

    def _shared(
        self, link: NumberedLink, fields: Mapping[NumberedLink, tuple[FieldPair, ...]]
    ) -> tuple[FieldPair, ...]:
        """The arguments of a link's tools that take the same value; an order yields to values that flow."""
        shared = self._neighbours.shared(link.source, link.target)
        if fields.get(link):
            return shared
        fed = [
            pair.target for link_, pairs in fields.items() if link_.target == link.target for pair in pairs
        ]
        is_order = not self._neighbours.fields(link.source, link.target)
        return free_fields(shared, fed) if is_order else ()

    def _fields(self, links: Sequence[NumberedLink]) -> dict[NumberedLink, tuple[FieldPair, ...]]:
        """The values that flow through each link; an argument belongs to the link that was added first."""
        fields = dict[NumberedLink, tuple[FieldPair, ...]]()
        filled = dict[int, set[str]]()
        for link in links:
            taken = filled.setdefault(link.target, set())
            fields[link] = self._neighbours.free_fields(link.source, link.target, taken)
            taken |= self._neighbours.used(link.source, link.target, taken)
        return fields


def _largest(subgraph: FoundSubgraph, shape: Shape, *, name: str = "") -> str:
    """The largest size found, as a phrase; `name` follows "the largest"."""
    if len(subgraph.nodes) < SMALLEST[shape]:
        return f"there is no {shape} at all" if subgraph.exact else f"no {shape} was found (bounded search)"
    if subgraph.exact:
        return f"the largest{name} has {len(subgraph.nodes)}"
    return f"the largest{name} found has {len(subgraph.nodes)} (bounded search)"
