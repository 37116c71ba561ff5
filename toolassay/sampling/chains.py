"""Samples chains, the simple paths of the tool graph, and parts of larger samples.

First a few random walks that grow at both ends, which nearly always suffice. Then a depth-first search with
backtracking that tries tools with few successors first (Warnsdorff's rule). Both are bounded by a budget of
tools examined, never by time, so that results do not depend on the machine. A search that ends within its
budget proves that there is no longer chain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from toolassay.graph.links import NumberedLink
from toolassay.sampling.search import FoundSubgraph, Neighbours, SearchBudget, pick, weight_at

_WALKS = 12  # random walks per sample
_WALK_UNITS = 2_000_000  # budget of the walks
_SEARCH_UNITS = 200_000  # budget of the depth-first search
_SEARCH_STARTS = 1_000  # tools from which the search starts


def find_chain(neighbours: Neighbours, size: int, rng: Random) -> FoundSubgraph:
    """Sample a chain of `size` tools, or the longest one found.

    Args:
        neighbours: The graph.
        size: Number of tools, 2 or more.
        rng: Random generator.
    """
    if neighbours.is_complete:
        best: Sequence[int] = rng.sample(range(neighbours.size), min(size, neighbours.size))
        return _subgraph(neighbours, best, len(best) < size)
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
        deeper, exact = _search(neighbours, size, rng, SearchBudget(_SEARCH_UNITS))
        best = max(best, deeper, key=len)
        exact = exact or len(best) == neighbours.size
    return _subgraph(neighbours, best, exact and len(best) < size)


def _subgraph(neighbours: Neighbours, best: Sequence[int], exact: bool) -> FoundSubgraph:
    links = tuple(
        NumberedLink(source, target, neighbours.types(source, target)[0]) for source, target in pairwise(best)
    )
    return FoundSubgraph(tuple(best), links, exact)


def _walk(neighbours: Neighbours, size: int, rng: Random, budget: SearchBudget) -> Sequence[int]:
    """Grow a path at both ends until it is long enough or stuck."""
    start = int(rng.random() * neighbours.size)
    backward = [start]
    forward = [start]
    members = {start}
    while len(members) < size and budget.spend(1):
        grow_front = rng.random() < 0.5
        for front in (grow_front, not grow_front):
            end = backward if front else forward
            candidates = neighbours.before(end[-1]) if front else neighbours.after(end[-1])
            weight = weight_at(neighbours, end[-1], after=not front)
            tool = pick(rng, candidates, members, budget, weight=weight)
            if tool is not None:
                end.append(tool)
                members.add(tool)
                break
        else:
            break
    return [*reversed(backward), *forward[1:]]


def _search(
    neighbours: Neighbours, size: int, rng: Random, budget: SearchBudget
) -> tuple[Sequence[int], bool]:
    """Search depth-first for a path of `size` tools.

    Returns:
        The longest one found, and whether the whole graph was searched.
    """
    starts = rng.sample(neighbours.givers, min(len(neighbours.givers), _SEARCH_STARTS))
    best: Sequence[int] = ()
    for start in starts:
        path = [start]
        members = {start}
        choices = [_ways_on(neighbours, start, members, rng, budget)]
        while choices:
            if len(path) > len(best):
                best = tuple(path)
            if len(best) == size or budget.left <= 0:
                return best, False
            if choices[-1]:
                tool = choices[-1].pop()
                path.append(tool)
                members.add(tool)
                choices.append(_ways_on(neighbours, tool, members, rng, budget))
            else:
                choices.pop()
                members.discard(path.pop())
    return best, (len(starts) == len(neighbours.givers) and budget.left > 0)


def _ways_on(
    neighbours: Neighbours, tool: int, members: set[int], rng: Random, budget: SearchBudget
) -> list[int]:
    """The tools that can follow `tool`, the one with the fewest successors last, which is tried first."""
    after = neighbours.after(tool)
    if not budget.spend(len(after) + 1):
        return []
    ways = [other for other in after if other not in members]
    rng.shuffle(ways)
    ways.sort(key=lambda other: -len(neighbours.after(other)))
    return ways


def cut_down(example: FoundSubgraph, size: int, rng: Random) -> FoundSubgraph:
    """Cut a subgraph of `size` tools and the same shape out of a chain or dag.

    Args:
        example: A chain or dag of at least `size` tools.
        size: Number of tools: 2 or more of a chain, 3 or more of a dag.
        rng: Random generator.
    """
    branches = _branches(example.links)
    if not branches:
        first = rng.randrange(len(example.nodes) - size + 1)
        return _restricted(example, example.nodes[first : first + size])
    # A connected part with a fork or a join is a dag: keep one of these and grow along the links from there.
    centre, *others = rng.choice(branches)
    kept_nodes = [centre, *rng.sample(others, 2)]
    neighbours_of: dict[int, list[int]] = {tool: [] for tool in example.nodes}
    for link in example.links:
        neighbours_of[link.source].append(link.target)
        neighbours_of[link.target].append(link.source)
    while len(kept_nodes) < size:
        inside = set(kept_nodes)
        fringe = sorted({other for tool in kept_nodes for other in neighbours_of[tool]} - inside)
        kept_nodes.append(rng.choice(fringe))
    return _restricted(example, kept_nodes)


def _branches(links: Sequence[NumberedLink]) -> list[list[int]]:
    """For each tool with two or more links on one side: the tool, then the tools on that side."""
    after: dict[int, list[int]] = defaultdict(list)
    before: dict[int, list[int]] = defaultdict(list)
    for link in links:
        after[link.source].append(link.target)
        before[link.target].append(link.source)
    return [[tool, *others] for side in (after, before) for tool, others in side.items() if len(others) > 1]


def _restricted(example: FoundSubgraph, kept: Sequence[int]) -> FoundSubgraph:
    members = set(kept)
    return FoundSubgraph(
        tuple(tool for tool in example.nodes if tool in members),
        tuple(link for link in example.links if link.source in members and link.target in members),
        False,
    )
