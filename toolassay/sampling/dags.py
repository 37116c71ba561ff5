"""Samples directed acyclic graphs (dags) that are connected and not chains.

A dag starts from a motif (a fork, a join or a diamond), grows by one tool at a time in either direction, and
may get further links between its tools at the end. Published samplers add a link only together with a new
tool, so they can sample only forests.

`largest_tree` finds the largest dag of a small graph by enumerating trees. That is enough, because a
connected dag that is not a chain contains a spanning tree that is not a chain: every undirected cycle
has a tool with two outgoing links, and a link elsewhere in the cycle can be dropped. Each such tree contains
a fork or a join and grows from it one tool at a time. How a tree can grow depends only on its tools and its
occupied input slots, so every such state is visited once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, permutations
from random import Random
from typing import NamedTuple

import networkx as nx

from toolassay.graph.links import NumberedLink
from toolassay.sampling.search import FoundSubgraph, Neighbours, SearchBudget, draw, pick, weight_at


class GrowingDag:
    """A subgraph under construction: connected, acyclic, no input slot or argument filled twice."""

    def __init__(self, neighbours: Neighbours, first: int) -> None:
        self.neighbours = neighbours
        self.nodes = [first]
        self.inside = {first}
        self.links: list[NumberedLink] = []
        self._fed: Counter[tuple[int, str]] = Counter()
        self._fed_tools: set[int] = set()
        self._filled: dict[int, set[str]] = {}
        self._graph: nx.DiGraph[int] = nx.DiGraph()
        self._graph.add_node(first)

    def type_for(self, source: int, target: int) -> str | None:
        """The type of a link that can still be added from `source` to `target`, or None."""
        filled = self._filled.get(target)
        feeds = self.neighbours.fields(source, target) if filled else ()
        if filled and feeds and not self.neighbours.free_fields(source, target, filled):
            return None
        for kind in self.neighbours.types(source, target):
            if self._fed[target, kind] < self.neighbours.slots(target, kind):
                return kind
        return None

    def givers(self, tool: int) -> Sequence[int]:
        """Candidates for a tool that feeds `tool`; `type_for` decides whether one fits."""
        if not self.neighbours.limits or tool not in self._fed_tools:
            return self.neighbours.before(tool)
        free = [
            kind
            for kind in self.neighbours.kinds(tool)
            if self._fed[tool, kind] < self.neighbours.slots(tool, kind)
        ]
        return self.neighbours.before_by(tool, free) if free else ()

    def link(self, source: int, target: int) -> bool:
        """Add a link, with its new tool, if an input slot is free and it closes no cycle; whether it did."""
        kind = self.type_for(source, target)
        if kind is None or self._graph.has_edge(source, target):
            return False
        if source in self.inside and target in self.inside and nx.has_path(self._graph, target, source):
            return False
        self.add(NumberedLink(source, target, kind))
        return True

    def add(self, link: NumberedLink) -> None:
        """Add a link without checks."""
        for tool in (link.source, link.target):
            if tool not in self.inside:
                self.inside.add(tool)
                self.nodes.append(tool)
                self._graph.add_node(tool)
        self.links.append(link)
        self._fed[link.target, link.type] += 1
        if self.neighbours.fields(link.source, link.target):
            filled = self._filled.setdefault(link.target, set())
            filled |= self.neighbours.used(link.source, link.target, filled)
        self._fed_tools.add(link.target)
        self._graph.add_edge(link.source, link.target)

    def ordered(self) -> tuple[int, ...]:
        """The tools in topological order; ties in the order in which they were added."""
        return tuple(nx.topological_sort(self._graph))


_UNITS = 300_000  # budget of `largest_tree`

Fed = frozenset[tuple[int, str, int]]
"""Occupied input slots, (tool, type, number of links), or filled arguments, (tool, argument, 1)."""


class LargestTree(NamedTuple):
    """The links of a tree in the order in which it grew; `exact` says that no larger one exists."""

    links: tuple[NumberedLink, ...]
    exact: bool


class _TreeState(NamedTuple):
    tools: frozenset[int]
    fed: Fed
    links: tuple[NumberedLink, ...]


def largest_tree(neighbours: Neighbours, size: int) -> LargestTree:
    """A tree of `size` tools that is not a chain, or else the largest one found within the budget."""
    budget = SearchBudget(_UNITS)
    best: tuple[NumberedLink, ...] = ()
    seen_states: set[tuple[frozenset[int], Fed]] = set()
    for motif in _motifs(neighbours, budget):
        waiting = [motif]
        while waiting:
            state = waiting.pop()
            if (state.tools, state.fed) in seen_states:
                continue
            seen_states.add((state.tools, state.fed))
            if len(state.links) > len(best):
                best = state.links
            if len(state.tools) == neighbours.size:
                return LargestTree(best, True)
            if len(state.tools) >= size:
                return LargestTree(best, False)
            waiting += _grown(neighbours, state, budget)
            if budget.left <= 0:
                return LargestTree(best, False)
    return LargestTree(best, budget.left > 0 and not neighbours.fills_several)


def _motifs(neighbours: Neighbours, budget: SearchBudget) -> Iterator[_TreeState]:
    """Yield every fork and every join of two links."""
    for tool in neighbours.middles:
        alone = _TreeState(frozenset((tool,)), frozenset(), ())
        for outward in (True, False):
            others = neighbours.after(tool) if outward else neighbours.before(tool)
            # Which of two links is added first matters where the first fills the arguments of both.
            pairs = permutations if neighbours.fills_several and not outward else combinations
            for first, second in pairs(others, 2):
                for state in _linked(neighbours, alone, tool, first, outward, budget):
                    yield from _linked(neighbours, state, tool, second, outward, budget)
                if budget.left <= 0:
                    return


def _grown(neighbours: Neighbours, state: _TreeState, budget: SearchBudget) -> Iterator[_TreeState]:
    for tool in sorted(state.tools):
        for outward in (True, False):
            for other in neighbours.after(tool) if outward else neighbours.before(tool):
                if other not in state.tools:
                    yield from _linked(neighbours, state, tool, other, outward, budget)
                if not budget.spend(1):
                    return


def _linked(
    neighbours: Neighbours, state: _TreeState, tool: int, new: int, outward: bool, budget: SearchBudget
) -> Iterator[_TreeState]:
    """Yield the state with a new tool, once for every input slot that the link can occupy."""
    source, target = (tool, new) if outward else (new, tool)
    fed = {(node, kind): count for node, kind, count in state.fed}
    for kind in neighbours.types(source, target):
        if not budget.spend(1):
            return
        count = fed.get((target, kind), 0)
        if count >= neighbours.slots(target, kind):
            continue
        now = state.fed
        if neighbours.fields(source, target):
            filled = [argument for node, argument, _ in now if node == target]
            used = neighbours.used(source, target, filled)
            if not used:
                continue
            now = now | {(target, argument, 1) for argument in used}
        elif neighbours.limits:
            now = now - {(target, kind, count)} | {(target, kind, count + 1)}
        yield _TreeState(state.tools | {new}, now, (*state.links, NumberedLink(source, target, kind)))


_ATTEMPTS = 24  # attempts per sample
_GROWTH_UNITS = 2_000_000  # budget of all attempts
_STARTS = 40  # start tools tried per motif
_PAIRS = 64  # pairs of tools tried for a further link of a large dag

MOTIF_WEIGHTS = {"fork": 0.35, "join": 0.3, "diamond": 0.35}
"""Relative frequency of the motif from which a dag starts."""
_FURTHER_LINK = 0.4  # probability of each further link between existing tools


def find_dag(neighbours: Neighbours, size: int, rng: Random, *, prove: bool = False) -> FoundSubgraph:
    """Sample a dag of `size` tools, or the largest one found.

    Args:
        neighbours: The graph.
        size: Number of tools, 3 or more.
        rng: Random generator.
        prove: If sampling fails, enumerate all trees (`largest_tree`; bounded, sufficient for small graphs).
    """
    best: GrowingDag | None = None
    reached = 0
    exact = False
    budget = SearchBudget(_GROWTH_UNITS)
    for _ in range(_ATTEMPTS):
        plan = _attempt(neighbours, size, rng, budget)
        if plan is not None and (best is None or len(plan.nodes) > len(best.nodes)):
            best = plan
        reached = len(best.nodes) if best else 0
        exact = reached < size and (reached == neighbours.size or not neighbours.middles)
        if reached == size or exact or budget.left <= 0:
            break
    if prove and reached < size and not exact:
        tree, exact = largest_tree(neighbours, size)
        if len(tree) + 1 > max(reached, 1):
            best = GrowingDag(neighbours, tree[0].source)
            for link in tree:
                best.add(link)
            _link_further_while_lucky(best, rng)
    return FoundSubgraph(best.ordered(), tuple(best.links), exact) if best else FoundSubgraph((), (), exact)


def _attempt(neighbours: Neighbours, size: int, rng: Random, budget: SearchBudget) -> GrowingDag | None:
    """A dag that grew from a motif until it has `size` tools or nothing fits; None without a motif."""
    first = draw(rng, MOTIF_WEIGHTS)
    motifs = (first, *(name for name in MOTIF_WEIGHTS if name != first))
    # Tools with two neighbours may be so rare that uniform draws miss them: then draw among them only.
    plan = _start(neighbours, range(neighbours.size), motifs, size, rng, budget)
    plan = plan or _start(neighbours, neighbours.middles, motifs, size, rng, budget)
    if plan is not None:
        grow(plan, size, rng, budget)
        _link_further_while_lucky(plan, rng)
    return plan


def _start(
    neighbours: Neighbours,
    starts: Sequence[int],
    motifs: Sequence[str],
    size: int,
    rng: Random,
    budget: SearchBudget,
) -> GrowingDag | None:
    for motif in motifs:
        for _ in range(_STARTS):
            if not starts or budget.left <= 0:
                return None
            plan = GrowingDag(neighbours, starts[int(rng.random() * len(starts))])
            if _MOTIFS[motif](plan, size, rng, budget):
                return plan
    return None


def _diamond(plan: GrowingDag, size: int, rng: Random, budget: SearchBudget) -> bool:
    """Start a diamond: two paths from one tool to another, over two tools, or over one and directly."""
    last = plan.nodes[0]
    if not (more_before(plan, last, rng, budget) and more_before(plan, last, rng, budget)):
        return False
    left = plan.nodes[1]
    right = plan.nodes[2]
    if size == 3 or rng.random() < 0.3:
        return plan.link(left, right) or plan.link(right, left)
    few, many = sorted((left, right), key=lambda tool: len(plan.neighbours.before(tool)))
    tool = pick(
        rng,
        plan.neighbours.before(few),
        plan.inside,
        budget,
        lambda tool: plan.neighbours.types(tool, many),
        weight_at(plan.neighbours, few, after=False),
    )
    return tool is not None and plan.link(tool, left) and plan.link(tool, right)


_MOTIFS: dict[str, Callable[[GrowingDag, int, Random, SearchBudget], bool]] = {
    "fork": lambda plan, _, *more: all(more_after(plan, plan.nodes[0], *more) for _ in range(2)),
    "join": lambda plan, _, *more: all(more_before(plan, plan.nodes[0], *more) for _ in range(2)),
    "diamond": _diamond,
}


def grow(plan: GrowingDag, size: int, rng: Random, budget: SearchBudget) -> None:
    """Add tools one at a time until there are `size` or nothing fits."""
    # A tool at which nothing fits is dropped for good, because tools and occupied slots only increase.
    places = list(plan.nodes)
    while len(plan.nodes) < size and places and budget.left > 0:
        position = int(rng.random() * len(places))
        if _grow_at(plan, places[position], rng, budget):
            places.append(plan.nodes[-1])
        else:
            places[position] = places[-1]
            places.pop()


def grow_branch(plan: GrowingDag, rng: Random, budget: SearchBudget) -> bool:
    """Give one of the tools two successors or two predecessors; whether that was possible.

    A subgraph of one tool gets a fork or a join there.
    """
    places = list(plan.nodes)
    rng.shuffle(places)
    for tool in places:
        for way in rng.sample((more_after, more_before), 2):
            outward = way is more_after
            while sum(tool == (link.source if outward else link.target) for link in plan.links) < 2:
                if not way(plan, tool, rng, budget):
                    break
            else:
                return True
    return False


def _grow_at(plan: GrowingDag, tool: int, rng: Random, budget: SearchBudget) -> bool:
    """Add one tool after or before `tool`; the direction is drawn by the number of neighbours."""
    after = len(plan.neighbours.after(tool))
    before = len(plan.neighbours.before(tool))
    if after + before == 0:
        return False
    forward = rng.random() * (after + before) < after
    ways = (more_after, more_before) if forward else (more_before, more_after)
    return any(way(plan, tool, rng, budget) for way in ways)


def more_after(plan: GrowingDag, tool: int, rng: Random, budget: SearchBudget) -> bool:
    weight = weight_at(plan.neighbours, tool, after=True)
    new = pick(rng, plan.neighbours.after(tool), plan.inside, budget, weight=weight)
    return new is not None and plan.link(tool, new)


def more_before(plan: GrowingDag, tool: int, rng: Random, budget: SearchBudget) -> bool:
    fits = partial(plan.type_for, target=tool)
    weight = weight_at(plan.neighbours, tool, after=False)
    new = pick(rng, plan.givers(tool), plan.inside, budget, fits, weight)
    return new is not None and plan.link(new, tool)


def _link_further_while_lucky(plan: GrowingDag, rng: Random) -> None:
    """Add further links between the tools, each with probability `_FURTHER_LINK`."""
    while rng.random() < _FURTHER_LINK and _link_further(plan, rng):
        pass


def _link_further(plan: GrowingDag, rng: Random) -> bool:
    """Add one link between the tools if one is possible; of a large dag only some pairs are tried.

    A link with a score is added with that probability.
    """
    size = len(plan.nodes)
    neighbours = plan.neighbours
    if size * (size - 1) > _PAIRS * 2:
        pairs = [(rng.choice(plan.nodes), rng.choice(plan.nodes)) for _ in range(_PAIRS)]
    else:
        pairs = list(permutations(plan.nodes, 2))
        rng.shuffle(pairs)
    return any(
        source != target
        and (not neighbours.has_scores or rng.random() < neighbours.score(source, target))
        and plan.link(source, target)
        for source, target in pairs
    )
