"""Chains: simple paths of the tool graph.

First a few random walks that grow at both ends (nearly always enough), then a bounded depth-first search
with backtracking, trying tools with few ways on first (Warnsdorff's rule). Both end: each tool looked at
costs a unit of a budget. Only then, if asked, the longest path of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from toolassay.graph.links import NumberedLink
from toolassay.sampling.bounds import largest_chain_bound
from toolassay.sampling.longest import Longest, longest_path
from toolassay.sampling.search import Budget, Found, Neighbours, pick

_WALKS = 12
_WALK_UNITS = 2_000_000
_SEARCH_UNITS = 200_000
_SEARCH_STARTS = 1_000


def find_chain(neighbours: Neighbours, size: int, rng: Random, *, prove: bool = False) -> Found:
    """A chain of `size` tools, or the longest found.

    Args:
        neighbours: the graph.
        size: tools wanted, 2 or more.
        rng: where chance comes from.
        prove: where the search fails, look for the longest path of all (counted work, small graphs).
    """
    if neighbours.is_complete:
        best: Sequence[int] = rng.sample(range(neighbours.size), min(size, neighbours.size))
        return _found(neighbours, best, len(best) < size)
    best = ()
    budget = Budget(_WALK_UNITS)
    for _ in range(_WALKS):
        walk = _walk(neighbours, size, rng, budget)
        if len(walk) > len(best):
            best = walk
        if len(best) == size or budget.left <= 0:
            break
    exact = False
    if len(best) < size:
        deeper, exact = _search(neighbours, size, rng)
        best = max(best, deeper, key=len)
        exact = exact or len(best) == largest_chain_bound(neighbours)
    if prove and len(best) < size and not exact:
        longest, exact = longest_path(neighbours)
        if len(longest) > len(best):
            first = int(rng.random() * max(1, len(longest) - size + 1))
            best = longest[first : first + size]
    return _found(neighbours, best, exact and len(best) < size)


def _found(neighbours: Neighbours, best: Sequence[int], exact: bool) -> Found:
    links = tuple(
        NumberedLink(source, target, neighbours.types(source, target)[0]) for source, target in pairwise(best)
    )
    return Found(tuple(best), links, exact)


def _walk(neighbours: Neighbours, size: int, rng: Random, budget: Budget) -> Sequence[int]:
    """Grow a path at both ends until it is long enough or stuck."""
    start = int(rng.random() * neighbours.size)
    backward, forward, inside = [start], [start], {start}
    while len(inside) < size and budget.spend(1):
        grow_front = rng.random() < 0.5
        for front in (grow_front, not grow_front):
            end = backward if front else forward
            candidates = neighbours.before(end[-1]) if front else neighbours.after(end[-1])
            tool = pick(rng, candidates, inside, budget)
            if tool is not None:
                end.append(tool)
                inside.add(tool)
                break
        else:
            break
    return [*reversed(backward), *forward[1:]]


def _search(neighbours: Neighbours, size: int, rng: Random) -> Longest:
    """Depth-first search for a path; the longest found, and whether everything was searched."""
    budget = Budget(_SEARCH_UNITS)
    starts = rng.sample(neighbours.givers, min(len(neighbours.givers), _SEARCH_STARTS))
    best: Sequence[int] = ()
    for start in starts:
        path, inside = [start], {start}
        choices = [_ways_on(neighbours, start, inside, rng, budget)]
        while choices:
            if len(path) > len(best):
                best = tuple(path)
            if len(best) == size:
                return Longest(tuple(best), False)
            if budget.left <= 0:
                return Longest(tuple(best), False)
            if choices[-1]:
                tool = choices[-1].pop()
                path.append(tool)
                inside.add(tool)
                choices.append(_ways_on(neighbours, tool, inside, rng, budget))
            else:
                choices.pop()
                inside.discard(path.pop())
    return Longest(tuple(best), len(starts) == len(neighbours.givers) and budget.left > 0)


def _ways_on(neighbours: Neighbours, tool: int, inside: set[int], rng: Random, budget: Budget) -> list[int]:
    """The tools that can follow, the most promising last."""
    after = neighbours.after(tool)
    if not budget.spend(len(after) + 1):
        return []
    ways = [other for other in after if other not in inside]
    rng.shuffle(ways)
    ways.sort(key=lambda other: -len(neighbours.after(other)))
    return ways
