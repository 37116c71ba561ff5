"""The longest simple path of a small tool graph, by integer programming.

Finding it is NP-hard, yet tool graphs are small: HiGHS (through scipy) solves the published ones in a
tenth of a second. A path is a set of links with at most one link into and one out of each tool, one link
fewer than tools, and no cycle; cycles are forbidden as they turn up (Dantzig, Fulkerson and Johnson's
sub-tour cuts, 1954). Bounded in size, in branch-and-bound nodes and in rounds of cuts, never by a clock:
a slow machine finds what a fast one finds. Running out is said, never guessed around.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import networkx as nx
import numpy as np

from toolassay.sampling.search import Neighbours

_MOST_LINKS = 4_000
_NODES = 200
# Links and tools, times rounds: a few seconds of work.
_WORK = 15_000


class Longest(NamedTuple):
    """A path, and whether none is longer."""

    path: tuple[int, ...]
    exact: bool


def longest_path(neighbours: Neighbours) -> Longest:
    """The longest simple path, or an empty one where the graph is too large or the search ran out."""
    if neighbours.graph.number_of_links > _MOST_LINKS:
        return Longest((), False)
    return _longest_path(neighbours)


@lru_cache(maxsize=4)
def _longest_path(neighbours: Neighbours) -> Longest:
    links = [(s, t) for s in range(neighbours.size) for t in neighbours.after(s)]
    present = set(links)
    cycles = [{s, t} for s, t in links if s < t and (t, s) in present]
    for _ in range(_WORK // (len(links) + neighbours.size)):
        chosen, exact = _solve(neighbours.size, links, cycles)
        if chosen is None:
            break
        picture = nx.DiGraph(chosen)
        found = [set(cycle) for cycle in nx.simple_cycles(picture)]
        if not found:
            return Longest(tuple(nx.topological_sort(picture)), exact)
        cycles += found
    return Longest((), False)


def _solve(
    tools: int, links: list[tuple[int, int]], cycles: list[set[int]]
) -> tuple[list[tuple[int, int]] | None, bool]:
    """The links of the largest path-and-cycles cover with one path, and whether it is proven largest."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    # Variables: one for each link (drawn), then one for each tool (used).
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
        options={"node_limit": _NODES},
    )
    if result.x is None:
        return None, False
    chosen = [link for link, value in zip(links, result.x, strict=False) if value > 0.5]
    return chosen, result.status == 0
