"""Samples chains, the simple paths of the tool graph.

First a few random walks that grow at both ends, which nearly always suffice. Then a depth-first search with
backtracking that tries tools with few successors first (Warnsdorff's rule). Both are bounded by a budget of
tools examined. Last, on request, the longest path of the graph.

Finding the longest simple path is NP-hard, but tool graphs are small: HiGHS (through scipy) solves the
published ones in a tenth of a second. A path is a set of links with at most one link into and one out of each
tool, one link fewer than tools, and no cycle; cycles are excluded as they appear in solutions (the sub-tour
cuts of Dantzig, Fulkerson and Johnson, 1954). The search is bounded by size, branch-and-bound nodes and
rounds of cuts, never by time, so that results do not depend on the machine. The result says whether it is
proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

import networkx as nx
import numpy as np

from toolassay.graph.links import NumberedLink
from toolassay.sampling.search import (
    FoundSubgraph,
    Neighbours,
    SearchBudget,
    largest_chain_bound,
    pick,
    weight_at,
)

_MOST_LINKS = 4_000  # maximum links of a graph for the exact search
_BRANCH_NODES = 200  # maximum branch-and-bound nodes of one solve
_CUT_WORK = 15_000  # maximum rounds of cuts times (links + tools): a few seconds of work


class LongestPath(NamedTuple):
    """A path; `exact` says that no longer one exists."""

    path: tuple[int, ...]
    exact: bool


def longest_path(neighbours: Neighbours) -> LongestPath:
    """The longest simple path; an empty one if the graph is too large or the search reached its bound."""
    if neighbours.graph.number_of_links > _MOST_LINKS:
        return LongestPath((), False)
    return _longest_path(neighbours)


@lru_cache(maxsize=4)
def _longest_path(neighbours: Neighbours) -> LongestPath:
    links = [(s, t) for s in range(neighbours.size) for t in neighbours.after(s)]
    present = set(links)
    cycles = [{s, t} for s, t in links if s < t and (t, s) in present]
    for _ in range(_CUT_WORK // (len(links) + neighbours.size)):
        chosen, exact = _solve_path_cover(neighbours.size, links, cycles)
        if chosen is None:
            break
        picture = nx.DiGraph(chosen)
        found = [set(cycle) for cycle in nx.simple_cycles(picture)]
        if not found:
            return LongestPath(tuple(nx.topological_sort(picture)), exact)
        cycles += found
    return LongestPath((), False)


def _solve_path_cover(
    tools: int, links: list[tuple[int, int]], cycles: list[set[int]]
) -> tuple[list[tuple[int, int]] | None, bool]:
    """The largest set of links that forms one path and any number of cycles, and whether that is proven.

    Args:
        tools: Number of tools.
        links: All links of the graph.
        cycles: Tools of each cycle that a solution must not contain.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    # Variables: one per link (selected), then one per tool (used). Rows: at most one link out of each used
    # tool, at most one into it, one link fewer than tools, and one row per excluded cycle.
    entries: list[tuple[int, int, float]] = []
    for place, (source, target) in enumerate(links):
        entries += [(source, place, 1), (tools + target, place, 1), (2 * tools, place, 1)]
    for tool in range(tools):
        used = len(links) + tool
        entries += [(tool, used, -1), (tools + tool, used, -1), (2 * tools, used, -1)]
    for number, cycle in enumerate(cycles, start=1):
        entries += [
            (2 * tools + number, place, 1)
            for place, (source, target) in enumerate(links)
            if source in cycle and target in cycle
        ]
    rows, columns, values = (np.array(column) for column in zip(*entries, strict=True))
    upper = np.array([0.0] * (2 * tools) + [-1.0] + [len(cycle) - 1.0 for cycle in cycles])
    lower = np.full(len(upper), -np.inf)
    lower[2 * tools] = -1.0
    size = len(links) + tools
    matrix = coo_array((values, (rows, columns)), shape=(len(upper), size)).tocsr()
    result = milp(
        np.concatenate([np.zeros(len(links)), -np.ones(tools)]),
        constraints=LinearConstraint(matrix, lower, upper),
        integrality=np.ones(size, dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"node_limit": _BRANCH_NODES},
    )
    if result.x is None:
        return None, False
    chosen = [link for link, value in zip(links, result.x, strict=False) if value > 0.5]
    return chosen, result.status == 0


_WALKS = 12  # random walks per sample
_WALK_UNITS = 2_000_000  # budget of the walks
_SEARCH_UNITS = 200_000  # budget of the depth-first search
_SEARCH_STARTS = 1_000  # tools from which the search starts


def find_chain(neighbours: Neighbours, size: int, rng: Random, *, prove: bool = False) -> FoundSubgraph:
    """Sample a chain of `size` tools, or the longest one found.

    Args:
        neighbours: The graph.
        size: Number of tools, 2 or more.
        rng: Random generator.
        prove: If the search fails, compute the longest path of the graph (bounded work, small graphs).
    """
    if neighbours.is_complete:
        best: Sequence[int] = rng.sample(range(neighbours.size), min(size, neighbours.size))
        return _found(neighbours, best, len(best) < size)
    best = ()
    budget = SearchBudget(_WALK_UNITS)
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


def _found(neighbours: Neighbours, best: Sequence[int], exact: bool) -> FoundSubgraph:
    links = tuple(
        NumberedLink(source, target, neighbours.types(source, target)[0]) for source, target in pairwise(best)
    )
    return FoundSubgraph(tuple(best), links, exact)


def _walk(neighbours: Neighbours, size: int, rng: Random, budget: SearchBudget) -> Sequence[int]:
    """Grow a path at both ends until it is long enough or stuck."""
    start = int(rng.random() * neighbours.size)
    backward, forward, inside = [start], [start], {start}
    while len(inside) < size and budget.spend(1):
        grow_front = rng.random() < 0.5
        for front in (grow_front, not grow_front):
            end = backward if front else forward
            candidates = neighbours.before(end[-1]) if front else neighbours.after(end[-1])
            weight = weight_at(neighbours, end[-1], after=not front)
            tool = pick(rng, candidates, inside, budget, weight=weight)
            if tool is not None:
                end.append(tool)
                inside.add(tool)
                break
        else:
            break
    return [*reversed(backward), *forward[1:]]


def _search(neighbours: Neighbours, size: int, rng: Random) -> LongestPath:
    """Search depth-first for a path of `size` tools; returns the longest one found.

    `exact` says that the whole graph was searched.
    """
    budget = SearchBudget(_SEARCH_UNITS)
    starts = rng.sample(neighbours.givers, min(len(neighbours.givers), _SEARCH_STARTS))
    best: Sequence[int] = ()
    for start in starts:
        path, inside = [start], {start}
        choices = [_ways_on(neighbours, start, inside, rng, budget)]
        while choices:
            if len(path) > len(best):
                best = tuple(path)
            if len(best) == size:
                return LongestPath(tuple(best), False)
            if budget.left <= 0:
                return LongestPath(tuple(best), False)
            if choices[-1]:
                tool = choices[-1].pop()
                path.append(tool)
                inside.add(tool)
                choices.append(_ways_on(neighbours, tool, inside, rng, budget))
            else:
                choices.pop()
                inside.discard(path.pop())
    return LongestPath(tuple(best), len(starts) == len(neighbours.givers) and budget.left > 0)


def _ways_on(
    neighbours: Neighbours, tool: int, inside: set[int], rng: Random, budget: SearchBudget
) -> list[int]:
    """The tools that can follow `tool`, the one with the fewest successors last, which is tried first."""
    after = neighbours.after(tool)
    if not budget.spend(len(after) + 1):
        return []
    ways = [other for other in after if other not in inside]
    rng.shuffle(ways)
    ways.sort(key=lambda other: -len(neighbours.after(other)))
    return ways
