"""Directed acyclic graphs: connected, not a chain, with real joins and diamonds.

A dag starts from a motif (a fork, a join, or a diamond), grows by one tool at a time in either
direction, and may end with further links between its tools. Published samplers draw a link only
together with a new tool, so they can make nothing but forests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from random import Random

from toolassay.sampling.bounds import largest_dag_bound
from toolassay.sampling.plan import Plan
from toolassay.sampling.search import Budget, Found, Neighbours, pick
from toolassay.sampling.trees import largest_tree
from toolassay.sampling.weights import draw

_ATTEMPTS = 24
_UNITS = 2_000_000
_STARTS = 40
_PAIRS = 64

MOTIF_WEIGHTS = {"fork": 0.35, "join": 0.3, "diamond": 0.35}
_FURTHER_LINK = 0.4


def find_dag(neighbours: Neighbours, size: int, rng: Random, *, prove: bool = False) -> Found:
    """A dag of `size` tools, or the largest found.

    Args:
        neighbours: the graph.
        size: tools wanted, 3 or more.
        rng: where chance comes from.
        prove: where the drawing fails, look at every possible dag (bounded: enough for small graphs).
    """
    best: Plan | None = None
    reached, exact = 0, False
    budget = Budget(_UNITS)
    for _ in range(_ATTEMPTS):
        plan = _attempt(neighbours, size, rng, budget)
        if plan is not None and (best is None or len(plan.nodes) > len(best.nodes)):
            best = plan
        reached = len(best.nodes) if best else 0
        exact = reached < size and reached >= largest_dag_bound(neighbours)
        if reached == size or exact or budget.left <= 0:
            break
    if prove and reached < size and not exact:
        tree, exact = largest_tree(neighbours, size)
        if len(tree) + 1 > max(reached, 1):
            best = Plan(neighbours, tree[0].source)
            for link in tree:
                best.add(link)
            _link_further_while_lucky(best, rng)
    return Found(best.ordered(), tuple(best.links), exact) if best else Found((), (), exact)


def _attempt(neighbours: Neighbours, size: int, rng: Random, budget: Budget) -> Plan | None:
    """A plan grown from a motif as far as it goes; None if no motif was found."""
    first = draw(rng, MOTIF_WEIGHTS)
    motifs = (first, *(name for name in MOTIF_WEIGHTS if name != first))
    # Where tools with two neighbours are rare, chance does not meet them: then draw among them.
    plan = _start(neighbours, range(neighbours.size), motifs, size, rng, budget)
    plan = plan or _start(neighbours, neighbours.middles, motifs, size, rng, budget)
    if plan is not None:
        _grow(plan, size, rng, budget)
        _link_further_while_lucky(plan, rng)
    return plan


def _start(
    neighbours: Neighbours,
    starts: Sequence[int],
    motifs: Sequence[str],
    size: int,
    rng: Random,
    budget: Budget,
) -> Plan | None:
    for motif in motifs:
        for _ in range(_STARTS):
            if not starts or budget.left <= 0:
                return None
            plan = Plan(neighbours, starts[int(rng.random() * len(starts))])
            if _MOTIFS[motif](plan, size, rng, budget):
                return plan
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
    few, many = sorted((left, right), key=lambda tool: len(plan.neighbours.before(tool)))
    tool = pick(
        rng, plan.neighbours.before(few), plan.inside, budget, lambda tool: plan.neighbours.types(tool, many)
    )
    return tool is not None and plan.link(tool, left) and plan.link(tool, right)


_MOTIFS: dict[str, Callable[[Plan, int, Random, Budget], bool]] = {
    "fork": _fork,
    "join": _join,
    "diamond": _diamond,
}


def _grow(plan: Plan, size: int, rng: Random, budget: Budget) -> None:
    """Add tools one at a time until there are enough or nothing fits."""
    # A tool at which nothing fits is out for good: tools and fed slots only become more.
    places = list(plan.nodes)
    while len(plan.nodes) < size and places and budget.left > 0:
        place = int(rng.random() * len(places))
        if _grow_at(plan, places[place], rng, budget):
            places.append(plan.nodes[-1])
        else:
            places[place] = places[-1]
            places.pop()


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
    fits = partial(plan.type_for, target=tool)
    new = pick(rng, plan.givers(tool), plan.inside, budget, fits)
    return new is not None and plan.link(new, tool)


def _link_further_while_lucky(plan: Plan, rng: Random) -> None:
    """Draw further links between tools of the plan, each as likely as the one before."""
    while rng.random() < _FURTHER_LINK and _link_further(plan, rng):
        pass


def _link_further(plan: Plan, rng: Random) -> bool:
    """Draw one more link between tools of the plan, if any is possible (in a large plan: any of a few)."""
    size = len(plan.nodes)
    if size * (size - 1) > _PAIRS * 2:
        pairs = [(rng.choice(plan.nodes), rng.choice(plan.nodes)) for _ in range(_PAIRS)]
    else:
        pairs = list(permutations(plan.nodes, 2))
        rng.shuffle(pairs)
    return any(source != target and plan.link(source, target) for source, target in pairs)
