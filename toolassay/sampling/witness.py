"""Cutting an example down: every shape that was found once can be had at any smaller size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from toolassay.graph.links import NumberedLink
from toolassay.sampling.search import Found


def cut_down(example: Found, size: int, rng: Random) -> Found:
    """A part of a chain or dag, with `size` tools, of the same shape.

    Args:
        example: a chain, or a dag, of at least `size` tools.
        size: tools wanted: 2 or more of a chain, 3 or more of a dag.
        rng: where chance comes from.
    """
    branches = _branches(example.links)
    if not branches:
        first = rng.randrange(len(example.nodes) - size + 1)
        return _part(example, example.nodes[first : first + size])
    # A dag stays one as long as a fork or a join is in it: keep one, and what is connected to it.
    centre, *others = rng.choice(branches)
    kept = [centre, *rng.sample(others, 2)]
    around: dict[int, list[int]] = {tool: [] for tool in example.nodes}
    for link in example.links:
        around[link.source].append(link.target)
        around[link.target].append(link.source)
    while len(kept) < size:
        inside = set(kept)
        fringe = sorted({other for tool in kept for other in around[tool]} - inside)
        kept.append(rng.choice(fringe))
    return _part(example, kept)


def _branches(links: Sequence[NumberedLink]) -> list[list[int]]:
    """For each tool with two or more links on one side: the tool, then the tools on that side."""
    outward, inward = Counter(link.source for link in links), Counter(link.target for link in links)
    forks = [
        [tool, *(link.target for link in links if link.source == tool)]
        for tool in outward
        if outward[tool] > 1
    ]
    joins = [
        [tool, *(link.source for link in links if link.target == tool)] for tool in inward if inward[tool] > 1
    ]
    return [*forks, *joins]


def _part(example: Found, kept: Sequence[int]) -> Found:
    inside = set(kept)
    return Found(
        tuple(tool for tool in example.nodes if tool in inside),
        tuple(link for link in example.links if link.source in inside and link.target in inside),
        False,
    )
