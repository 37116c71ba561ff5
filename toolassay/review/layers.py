"""Nodes in layers, so that lines lead down and cross no node (after Sugiyama, Tagawa and Toda, 1981).

A line that passes layers keeps a narrow spot free in each of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

Line = tuple[int, int]
Spot = tuple[int, float]
"""A layer from the top, and a row counted from the middle of the layer; a node is one row wide."""

_NARROW = 0.5
_SWEEPS = 4


class Arranged(NamedTuple):
    """Where each node stands, and by which spots each line goes."""

    nodes: dict[int, Spot]
    bends: list[list[Spot]]


def arrange(nodes: Sequence[int], lines: Sequence[Line]) -> Arranged:
    """The places of nodes.

    Args:
        nodes: each once.
        lines: between them; circles are allowed.

    >>> arrange([0, 1, 2], [(0, 1), (1, 2), (0, 2)]).nodes
    {0: (0, 0.0), 1: (1, -0.25), 2: (2, 0.0)}
    """
    layers = layers_of(nodes, lines)
    rows: defaultdict[int, list[object]] = defaultdict(list)
    for node in nodes:
        rows[layers[node]].append(node)
    near: defaultdict[object, list[object]] = defaultdict(list)
    chains: list[list[object]] = []
    for number, (start, end) in enumerate(lines):
        between: list[object] = [("bend", number, at) for at in range(layers[start] + 1, layers[end])]
        for bend, at in zip(between, range(layers[start] + 1, layers[end]), strict=True):
            rows[at].append(bend)
        chain = [start, *between, end]
        for one, other in pairwise(chain):
            near[one].append(other)
            near[other].append(one)
        chains.append(between)
    spots = {item: row for at in rows for item, row in _rows(rows[at]).items()}
    for sweep in range(_SWEEPS):
        for at in sorted(rows, reverse=bool(sweep % 2)):
            rows[at].sort(key=lambda item: _middle([spots[other] for other in near[item]], spots[item]))
            spots |= _rows(rows[at])
    layer_of = {item: at for at, items in rows.items() for item in items}
    return Arranged(
        {node: (layers[node], spots[node]) for node in nodes},
        [[(layer_of[bend], spots[bend]) for bend in chain] for chain in chains],
    )


def layers_of(nodes: Sequence[int], lines: Sequence[Line]) -> dict[int, int]:
    """How many lines lead to each node, one after the other, at most; lines that close a circle count not.

    >>> layers_of([0, 1, 2], [(0, 1), (1, 2), (2, 1)])
    {0: 0, 1: 1, 2: 2}
    """
    after: dict[int, list[int]] = {node: [] for node in nodes}
    for start, end in lines:
        after[start].append(end)
    order = _backwards(after)
    rank = {node: number for number, node in enumerate(reversed(order))}
    layers = dict.fromkeys(nodes, 0)
    for node in reversed(order):
        for end in after[node]:
            if rank[end] > rank[node]:
                layers[end] = max(layers[end], layers[node] + 1)
    return layers


def _backwards(after: Mapping[int, Sequence[int]]) -> list[int]:
    """Each node after those that come after it, by depth-first search."""
    order: list[int] = []
    seen: set[int] = set()
    for first in after:
        # A node is on its way while it stands in the stack: what leads back to it closes a circle.
        stack = [] if first in seen else [(first, iter(after[first]))]
        seen.add(first)
        while stack:
            node, ends = stack[-1]
            end = next((end for end in ends if end not in seen), None)
            if end is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(end)
                stack.append((end, iter(after[end])))
    return order


def _rows(items: Sequence[object]) -> dict[object, float]:
    """The rows of a layer's items, side by side about the middle."""
    widths = [1.0 if isinstance(item, int) else _NARROW for item in items]
    left = -sum(widths) / 2
    rows: dict[object, float] = {}
    for item, width in zip(items, widths, strict=True):
        rows[item] = round(left + width / 2, 2) + 0.0
        left += width
    return rows


def _middle(rows: Sequence[float], own: float) -> float:
    return sum(rows) / len(rows) if rows else own
