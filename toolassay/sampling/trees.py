"""The largest dag of a small graph, by looking at them all.

A connected dag that is not a chain contains a spanning tree that is not a chain either: where links go
round (ignoring direction), one tool of the round gives to two others, and a link elsewhere in the round
can be left out. So it is enough to look at trees. Each holds a fork or a join, and grows from it a tool at
a time. What a tree can still become depends on its tools and on the slots that are fed, so that every
such state is visited once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from toolassay.graph.links import NumberedLink
from toolassay.sampling.search import Budget, Neighbours

_UNITS = 300_000

Fed = frozenset[tuple[int, str, int]]


class Largest(NamedTuple):
    """The links of a tree, in an order in which it grows; and whether none is larger."""

    links: tuple[NumberedLink, ...]
    exact: bool


class _State(NamedTuple):
    tools: frozenset[int]
    fed: Fed
    links: tuple[NumberedLink, ...]


def largest_tree(neighbours: Neighbours, size: int) -> Largest:
    """A tree of `size` tools that is not a chain, or the largest there is, or the largest found."""
    budget = Budget(_UNITS)
    best: tuple[NumberedLink, ...] = ()
    seen: set[tuple[frozenset[int], Fed]] = set()
    for motif in _motifs(neighbours, budget):
        waiting = [motif]
        while waiting:
            state = waiting.pop()
            if (state.tools, state.fed) in seen:
                continue
            seen.add((state.tools, state.fed))
            if len(state.links) > len(best):
                best = state.links
            if len(state.tools) == neighbours.size:
                return Largest(best, True)
            if len(state.tools) >= size:
                return Largest(best, False)
            waiting += _grown(neighbours, state, budget)
            if budget.left <= 0:
                return Largest(best, False)
    return Largest(best, budget.left > 0)


def _motifs(neighbours: Neighbours, budget: Budget) -> Iterator[_State]:
    """Every fork and every join."""
    for tool in neighbours.middles:
        alone = _State(frozenset((tool,)), frozenset(), ())
        for outward in (True, False):
            others = neighbours.after(tool) if outward else neighbours.before(tool)
            for one, two in combinations(others, 2):
                for state in _linked(neighbours, alone, tool, one, outward, budget):
                    yield from _linked(neighbours, state, tool, two, outward, budget)
                if budget.left <= 0:
                    return


def _grown(neighbours: Neighbours, state: _State, budget: Budget) -> Iterator[_State]:
    for tool in sorted(state.tools):
        for outward in (True, False):
            for other in neighbours.after(tool) if outward else neighbours.before(tool):
                if other not in state.tools:
                    yield from _linked(neighbours, state, tool, other, outward, budget)
                if not budget.spend(1):
                    return


def _linked(
    neighbours: Neighbours, state: _State, tool: int, new: int, outward: bool, budget: Budget
) -> Iterator[_State]:
    """The state with a new tool, once for every slot the link may feed."""
    source, target = (tool, new) if outward else (new, tool)
    fed = {(place, kind): count for place, kind, count in state.fed}
    for kind in neighbours.types(source, target):
        if not budget.spend(1):
            return
        count = fed.get((target, kind), 0)
        if count >= neighbours.slots(target, kind):
            continue
        now = state.fed
        if neighbours.limits:
            now = now - {(target, kind, count)} | {(target, kind, count + 1)}
        yield _State(state.tools | {new}, now, (*state.links, NumberedLink(source, target, kind)))
