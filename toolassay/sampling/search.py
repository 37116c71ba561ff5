"""Shared parts of the searches: neighbours, a work budget, and upper bounds on the size of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple, TypedDict, TypeVar

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import DependencyLinks, fields_of
from toolassay.graph.links import CompleteLinks, FieldPair, NumberedLink, TypedLinks, overlap
from toolassay.records.dataset import SHAPES, Shape
from toolassay.tools.library import is_required
from toolassay.tools.output_paths import parse_path

_DRAWS = 128  # random draws before `pick` filters the whole sequence
# Tools up to which neighbours are cached as lists, which are fast but need n² numbers in all.
_SMALL = 1_000


class FoundSubgraph(NamedTuple):
    """The result of a search.

    Attributes:
        nodes: Tool numbers in topological order. Fewer than requested if no such subgraph was found.
        links: The links.
        exact: Whether no larger subgraph exists.
    """

    nodes: tuple[int, ...]
    links: tuple[NumberedLink, ...]
    exact: bool


class SearchBudget:
    """A limit on the work of a search; one unit is one tool examined."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> bool:
        """Use `units`; whether any are left."""
        self.left -= units
        return self.left > 0


class Neighbours:
    """The neighbours of tools: cached lists for small graphs, computed on demand for large ones.

    Args:
        graph: The tool graph.
        by_score: Whether links of a schema graph are drawn in proportion to their scores.
        weights: Factors of tools and links, by ids; 1 for all others.
    """

    def __init__(
        self,
        graph: ToolGraph,
        *,
        by_score: bool = True,
        weights: Mapping[tuple[str, ...], float] = MappingProxyType({}),
    ) -> None:
        self.graph = graph
        self.weights = weights
        self.size = len(graph)
        self.is_complete = isinstance(graph.numbered, CompleteLinks)
        self.after = graph.numbered.successors
        self.before = graph.numbered.predecessors
        self.types = graph.numbered.types
        if self.size <= _SMALL:
            successors = self.after
            predecessors = self.before
            self.after = lru_cache(None)(lambda tool: sorted(successors(tool)))
            self.before = lru_cache(None)(lambda tool: sorted(predecessors(tool)))
            self.types = lru_cache(None)(self.types)
        self.limits = graph.dependency_type == "resource"
        self._slots = [Counter(tool.inputs) for tool in graph.library] if self.limits else []
        numbered = graph.numbered
        self._dependencies = numbered if isinstance(numbered, DependencyLinks) else None
        self.by_score = by_score
        self.has_scores = (by_score or bool(weights)) and self._dependencies is not None
        self._required = lru_cache(_SMALL)(self._required_arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        # The caches cannot be pickled.
        return partial(Neighbours, by_score=self.by_score, weights=dict(self.weights)), (self.graph,)

    def slots(self, tool: int, kind: str) -> int:
        """The number of links of a type that may end in a tool; no limit in a temporal graph."""
        return self._slots[tool][kind] if self.limits else self.size

    def kinds(self, tool: int) -> Collection[str]:
        """The types of the input slots of a tool, in a resource graph."""
        return self._slots[tool]

    def fields(self, source: int, target: int) -> tuple[FieldPair, ...]:
        """The values that can flow from one tool to another; none in another graph than a schema graph."""
        link = self._dependencies.get(source, target) if self._dependencies else None
        return () if link is None else fields_of(link)

    def shared(self, source: int, target: int) -> tuple[FieldPair, ...]:
        """The arguments of two linked tools that take the same value, in a schema graph."""
        link = self._dependencies.get(source, target) if self._dependencies else None
        return () if link is None else link.shared

    def used(self, source: int, target: int, filled: Collection[str]) -> set[str]:
        """The arguments of `target` that a link fills or shares with `source`; none if it cannot be added."""
        free = self.free_fields(source, target, filled)
        return {pair.target for pair in (*free, *(self.shared(source, target) if free else ()))}

    def free_fields(self, source: int, target: int, filled: Collection[str]) -> tuple[FieldPair, ...]:
        """The values that can still flow; none if the link competes for a required argument.

        The values of required arguments belong together, such as the ids of a show and of its season. So an
        argument that is to have the same value as one of the source is not free for another link.

        Args:
            source: The tool that gives the values.
            target: The tool that takes them.
            filled: The arguments of the target that other links fill.
        """
        fields = self.fields(source, target)
        shared = self.shared(source, target)
        if not fields or len(free_fields(shared, filled)) < len(shared):
            return ()
        free = free_fields(fields, filled)
        required = self._required(target)
        taken = {first_name(pair.target) for pair in fields if not free_fields([pair], filled)}
        return () if taken & required else free

    def _required_arguments(self, tool: int) -> frozenset[str]:
        taker = self.graph.library.tools[tool]
        return frozenset(parameter.name for parameter in taker.parameters if is_required(parameter, taker))

    @cached_property
    def fills_several(self) -> bool:
        """Whether a link fills several arguments: then the order in which links are added matters."""
        links = self._dependencies.dependencies() if self._dependencies else ()
        return any(len(fields_of(link)) > 1 for link in links)

    def score(self, source: int, target: int) -> float:
        """The weight of a link: its score, or 1 without scores, times its factor."""
        link = self._dependencies.get(source, target) if self.by_score and self._dependencies else None
        factor = 1.0
        if self.weights:
            ids = self.graph.library.ids
            factor = self.weights.get((ids[source], ids[target]), 1.0)
        return factor * (1.0 if link is None else link.score)

    def before_by(self, tool: int, kinds: Collection[str]) -> Sequence[int]:
        """The tools that can feed `tool` with one of `kinds`; of a listed graph, all its predecessors."""
        links = self.graph.numbered
        return links.predecessors_by(tool, kinds) if isinstance(links, TypedLinks) else self.before(tool)

    @cached_property
    def givers(self) -> Sequence[int]:
        """The tools that have a successor."""
        return self._with(1, forward=True)

    @cached_property
    def middles(self) -> Sequence[int]:
        """The tools with two successors or two predecessors, where a dag can start."""
        if self.is_complete:
            return range(self.size if self.size > 2 else 0)
        return sorted({*self._with(2, forward=True), *self._with(2, forward=False)})

    def _with(self, least: int, *, forward: bool) -> Sequence[int]:
        if self.is_complete:
            return range(self.size if self.size > least else 0)
        neighbours = self.graph.numbered.successors if forward else self.graph.numbered.predecessors
        return [tool for tool in range(self.size) if len(neighbours(tool)) >= least]


def free_fields(pairs: Iterable[FieldPair], filled: Collection[str]) -> tuple[FieldPair, ...]:
    """The pairs whose argument is not filled yet, nor part of a filled one, nor the whole of one.

    >>> free_fields([FieldPair("id", "filter.id"), FieldPair("name", "name")], ["filter"])
    (FieldPair(source='name', target='name'),)
    """
    free: list[FieldPair] = []
    for pair in pairs:
        if not any(overlap(pair.target, other) for other in (*filled, *(pair_.target for pair_ in free))):
            free.append(pair)
    return tuple(free)


def first_name(argument: str) -> str:
    """The name of the argument that a path begins with.

    >>> first_name("filter.movie_id"), first_name("ids[]"), first_name("['user.name']")
    ('filter', 'ids', 'user.name')
    """
    return next((part for part in parse_path(argument) if isinstance(part, str)), argument)


def pick(
    rng: Random,
    tools: Sequence[int],
    members: Collection[int],
    budget: SearchBudget,
    fits: Callable[[int], object] = lambda _: True,
    weight: Callable[[int], float] | None = None,
) -> int | None:
    """Draw a tool from those not `members` that fit; None without one or at the end of the budget.

    Args:
        rng: Random generator.
        tools: Candidates.
        members: Tools to exclude.
        budget: Charged once, and by the number of tools if the random draws fail.
        fits: Whether a tool can be used.
        weight: Relative frequency of a tool, from 0 to 1 [default: all are equally likely]. Tools of weight 0
            are drawn only if there are no others.
    """
    size = len(tools)
    budget.spend(1)
    for _ in range(min(_DRAWS, size)):
        tool = tools[int(rng.random() * size)]
        if tool not in members and fits(tool) and (weight is None or rng.random() < weight(tool)):
            return tool
    if not budget.spend(size):
        return None
    allowed = [tool for tool in tools if tool not in members and fits(tool)]
    weights = [] if weight is None else [weight(tool) for tool in allowed]
    if any(weights):
        return rng.choices(allowed, weights)[0]
    return allowed[int(rng.random() * len(allowed))] if allowed else None


def weight_at(neighbours: Neighbours, tool: int, *, after: bool) -> Callable[[int], float] | None:
    """The weights of the neighbours of a tool, for `pick`: the scores of the links; None without scores."""
    if not neighbours.has_scores:
        return None
    return lambda other: neighbours.score(tool, other) if after else neighbours.score(other, tool)


Choice = TypeVar("Choice")

SHAPE_WEIGHTS: Mapping[Shape, float] = {"single": 3, "chain": 7, "dag": 8}
"""Published weights of the shapes (Shen et al., 2024, section 3.2)."""
SIZE_WEIGHTS: Mapping[int, float] = {
    2: 0.1, 3: 0.2, 4: 0.3, 5: 0.2, 6: 0.1, 7: 0.05, 8: 0.025, 9: 0.025, 10: 0.025,
}  # fmt: skip
"""Published weights of the numbers of tools (Shen et al., 2024); their sum is 1.025, only ratios count."""

SMALLEST: Mapping[Shape, int] = {"single": 1, "chain": 2, "dag": 3}
"""Minimum number of tools of each shape."""


def parse_weights(text: str, *, flag: str) -> dict[str, float]:
    """Parse weights of the form `name=weight,name=weight`.

    Args:
        text: The weights.
        flag: The option they come from, for messages.

    Raises:
        UsageError: The text is malformed, a name occurs twice, a weight is negative, or all are zero.

    >>> parse_weights("single=3,chain=0", flag="--shape_weights")
    {'single': 3.0, 'chain': 0.0}
    """
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name.strip() in weights:
            raise UsageError(f"{flag}: '{name.strip()}' is given twice", fix="give every weight once")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"{flag}: '{part}' is not name=weight", fix=_hint(flag)) from None
    _check(weights, flag)
    return weights


def _check(weights: Mapping[str, float], flag: str) -> None:
    if not all(0 <= weight < float("inf") for weight in weights.values()) or not any(weights.values()):
        raise UsageError(f"{flag}: weights must be 0 or more, and not all 0", fix=_hint(flag))


def _hint(flag: str) -> str:
    return "write e.g. 3=0.5,4=0.5" if "size" in flag else "write e.g. single=3,chain=7"


class SampleWeights(TypedDict):
    """The weights of a `Sampler`, as keyword arguments."""

    shapes: Mapping[str, float]
    sizes: Mapping[str, float] | Mapping[int, float]


def wanted(
    method: Shape | None,
    tools: int | None,
    shapes: Mapping[str, float] | None = None,
    sizes: Mapping[str, float] | Mapping[int, float] | None = None,
) -> SampleWeights:
    """The sampler weights for the options of a command.

    Args:
        method: The only shape, which overrides `shapes`; None draws shapes by weight.
        tools: The only number of tools, which overrides `sizes`; None draws sizes by weight. Unless it is 1,
            singles are dropped; the sampler drops shapes that need more tools.
        shapes: Weights of shapes [default: the published ones].
        sizes: Weights of numbers of tools [default: the published ones].

    Raises:
        UsageError: Only singles are requested, with several tools.

    >>> wanted(None, 4)
    {'shapes': {'chain': 7, 'dag': 8}, 'sizes': {4: 1}}
    >>> wanted("dag", None, sizes={"5": 1})
    {'shapes': {'dag': 1}, 'sizes': {'5': 1}}
    """
    weights = {str(name): weight for name, weight in (shapes or SHAPE_WEIGHTS).items()}
    if method is not None:
        weights = {method: 1}
    if tools is None:
        return {"shapes": weights, "sizes": sizes or SIZE_WEIGHTS}
    if tools != 1 and weights.pop("single", 0) and not any(weights.values()):
        raise UsageError(f"a single of {tools} tools: {smallest('single')}")
    return {"shapes": weights, "sizes": {tools: 1}}


def smallest(shape: Shape) -> str:
    """The minimum number of tools of a shape, as a sentence."""
    only = "exactly" if shape == "single" else "at least"
    return f"a {shape} has {only} {count_of_tools(SMALLEST[shape])}"


def count_of_tools(number: int) -> str:
    """A number of tools as a phrase: "1 tool", "3 tools"."""
    return "1 tool" if number == 1 else f"{number} tools"


def shape_weights(weights: Mapping[str, float] | Mapping[Shape, float]) -> dict[Shape, float]:
    """Check weights by shape name; drops zero weights.

    Raises:
        UsageError: A shape is unknown, a weight is negative, or all are zero.
    """
    named_weights = {str(name): weight for name, weight in weights.items()}
    _check(named_weights, "shape weights")
    unknown = [name for name in named_weights if name not in SHAPES]
    if unknown:
        raise UsageError(f"unknown shape '{unknown[0]}'", fix=f"use {', '.join(SHAPES)}")
    return {shape: named_weights[shape] for shape in SHAPES if named_weights.get(shape)}


def size_weights(weights: Mapping[str, float] | Mapping[int, float]) -> dict[int, float]:
    """Check weights by number of tools; drops zero weights.

    Raises:
        UsageError: A size is not a whole number of 1 or more, a weight is negative, or all are zero.
    """
    sizes: dict[int, float] = {}
    _check({str(name): weight for name, weight in weights.items()}, "size weights")
    for name, weight in weights.items():
        if not str(name).isdecimal() or int(name) < 1:
            raise UsageError(f"'{name}' is not a number of tools", fix="use whole numbers of 1 or more")
        if weight:
            sizes[int(name)] = weight
    return sizes


def draw(rng: Random, weights: Mapping[Choice, float]) -> Choice:
    """Draw one key with probability proportional to its weight."""
    names: Sequence[Choice] = list(weights)
    return rng.choices(names, list(weights.values()))[0]
