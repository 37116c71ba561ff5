"""Directed acyclic graphs: connected, not a chain, with real joins and diamonds.

A dag starts from a motif (a fork, a join, or a diamond), grows by one tool at a time in either
direction, and may end with further links between its tools. Published samplers draw a link only
together with a new tool, so they can make nothing but forests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from toolgraph.sampling.bounds import largest_dag_bound
from toolgraph.sampling.search import Budget, Found, Neighbours, Plan, pick
from toolgraph.sampling.weights import draw

_ATTEMPTS = 24
_UNITS = 2_000_000
_STARTS = 40

MOTIF_WEIGHTS = {"fork": 0.35, "join": 0.3, "diamond": 0.35}
_FURTHER_LINK = 0.4


def find_dag(neighbours: Neighbours, size: int, rng: Random) -> Found:
    """A dag of `size` tools, or the largest found.

    Args:
        neighbours: the graph.
        size: tools wanted, 3 or more.
        rng: where chance comes from.
    """
    best: Plan | None = None
    budget = Budget(_UNITS)
    for _ in range(_ATTEMPTS):
        plan = _attempt(neighbours, size, rng, budget)
        if plan is not None and (best is None or len(plan.nodes) > len(best.nodes)):
            best = plan
        if budget.left <= 0 or (best is not None and len(best.nodes) == size):
            break
    if best is None:
        return Found((), (), False)
    exact = len(best.nodes) < size and len(best.nodes) >= largest_dag_bound(neighbours)
    return Found(best.ordered(), tuple(best.links), exact)


def _attempt(neighbours: Neighbours, size: int, rng: Random, budget: Budget) -> Plan | None:
    first = draw(rng, MOTIF_WEIGHTS)
    for motif in (first, *(name for name in MOTIF_WEIGHTS if name != first)):
        plan = _start(neighbours, size, rng, budget, motif)
        if plan is not None:
            break
    else:
        return None
    _grow(plan, size, rng, budget)
    while rng.random() < _FURTHER_LINK and _link_further(plan, rng):
        pass
    return None if plan.is_chain else plan


def _start(neighbours: Neighbours, size: int, rng: Random, budget: Budget, motif: str) -> Plan | None:
    draw_motif = _MOTIFS[motif]
    for _ in range(_STARTS):
        plan = Plan(neighbours, int(rng.random() * neighbours.size))
        if draw_motif(plan, size, rng, budget):
            return plan
        if budget.left <= 0:
            break
    return None


def _fork(plan: Plan, size: int, rng: Random, budget: Budget) -> bool:
    return _more_after(plan, plan.nodes[0], rng, budget) and _more_after(plan, plan.nodes[0], rng, budget)


def _join(plan: Plan, size: int, rng: Random, budget: Budget) -> bool:
    return _more_before(plan, plan.nodes[0], rng, budget) and _more_before(plan, plan.nodes[0], rng, budget)


def _diamond(plan: Plan, size: int, rng: Random, budget: Budget) -> bool:
    """Two ways from one tool to another: over two tools, or over one and directly."""
    last = plan.nodes[0]
    if not (_more_before(plan, last, rng, budget) and _more_before(plan, last, rng, budget)):
        return False
    left, right = plan.nodes[1], plan.nodes[2]
    if size == 3 or rng.random() < 0.3:
        return plan.link(left, right) or plan.link(right, left)
    shared = set(plan.neighbours.before(left)) if budget.spend(1) else set()
    candidates = [int(tool) for tool in plan.neighbours.before(right) if tool in shared]
    tool = pick(rng, candidates, plan.inside, budget)
    return tool is not None and plan.link(tool, left) and plan.link(tool, right)


_MOTIFS: dict[str, Callable[[Plan, int, Random, Budget], bool]] = {
    "fork": _fork,
    "join": _join,
    "diamond": _diamond,
}


def _grow(plan: Plan, size: int, rng: Random, budget: Budget) -> None:
    """Add tools one at a time until there are enough or nothing fits."""
    while len(plan.nodes) < size and budget.left > 0:
        grown = _grow_at(plan, plan.nodes[int(rng.random() * len(plan.nodes))], rng, budget)
        if not grown:
            places: Sequence[int] = rng.sample(plan.nodes, len(plan.nodes))
            if not any(_grow_at(plan, tool, rng, budget) for tool in places):
                return


def _grow_at(plan: Plan, tool: int, rng: Random, budget: Budget) -> bool:
    """Add one tool after or before `tool`, in a direction drawn by how much lies that way."""
    after, before = len(plan.neighbours.after(tool)), len(plan.neighbours.before(tool))
    if after + before == 0:
        return False
    forward = rng.random() * (after + before) < after
    ways = (_more_after, _more_before) if forward else (_more_before, _more_after)
    return any(way(plan, tool, rng, budget) for way in ways)


def _more_after(plan: Plan, tool: int, rng: Random, budget: Budget) -> bool:
    new = pick(rng, plan.neighbours.after(tool), plan.inside, budget)
    return new is not None and plan.link(tool, new)


def _more_before(plan: Plan, tool: int, rng: Random, budget: Budget) -> bool:
    candidates = plan.neighbours.before(tool)
    new = pick(rng, candidates, plan.inside, budget)
    if new is None:
        return False
    if plan.link(new, tool):
        return True
    # The slot that tool would feed is taken: look for one that feeds another.
    if not budget.spend(len(candidates)):
        return False
    fitting = [int(t) for t in candidates if t not in plan.inside and plan.type_for(int(t), tool)]
    return bool(fitting) and plan.link(fitting[int(rng.random() * len(fitting))], tool)


def _link_further(plan: Plan, rng: Random) -> bool:
    """Draw one more link between tools of the plan, if any is possible."""
    pairs = [(s, t) for s in plan.nodes for t in plan.nodes if s != t and plan.neighbours.types(s, t)]
    rng.shuffle(pairs)
    return any(plan.link(source, target) for source, target in pairs)
