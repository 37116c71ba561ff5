"""A gold plan as a drawing: where its nodes are, and what its lines mean.

Nodes are in layers, so that lines lead down and cross no node (after Sugiyama, Tagawa and Toda, 1981). A
line that passes layers keeps a narrow spot free in each of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from toolassay.dataset import reference_index
from toolassay.gold import Gold
from toolassay.report.style import given_type, type_colours, types_by_use
from toolassay.tools import ToolLibrary

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


def draw_plan(gold: Gold, library: ToolLibrary) -> dict[str, Any]:
    """Nodes and lines between them, for the page: each node in a layer after those that lead to it, and in a
    row of its layer, counted from the middle; a line that passes layers goes by the spots in `via`.

    A line is a `link` of the label, or a `reference` (an argument takes the output of a node) without one. A
    link names tools: where a tool is used twice, the nodes are those that a reference joins, else the first
    ones. A link to a tool that no node has ends at a node that is `missing`.
    """
    tools = {node.place: node.tool for node in gold.nodes}
    references = _references(gold)
    lines, missing = _lines(gold, tools, references)
    places = [*tools, *missing.values()]
    spots = arrange(places, [(line["from"], line["to"]) for line in lines])
    names = {**tools, **{place: tool for tool, place in missing.items()}}
    colours = type_colours([*types_by_use(library), ""])
    return {
        "nodes": [
            {
                "place": place,
                "tool": names[place],
                "known": names[place] in library,
                "missing": place not in tools,
                "colour": colours[given_type(library[names[place]]) if names[place] in library else ""],
                "layer": spots.nodes[place][0],
                "row": spots.nodes[place][1],
            }
            for place in places
        ],
        "lines": [
            {**line, "type": _flowing(line, names, library), "via": via}
            for line, via in zip(lines, spots.bends, strict=True)
        ],
    }


def tool_card(name: str, library: ToolLibrary) -> dict[str, Any]:
    """What the library says of a tool; `known` is False where it says nothing."""
    if name not in library:
        return {"name": name, "known": False, "description": "", "takes": [], "gives": [], "parameters": []}
    tool = library[name]
    return {
        "name": name,
        "known": True,
        "description": tool.description,
        "takes": list(tool.inputs),
        "gives": list(tool.outputs),
        "parameters": [[item.name, item.type, item.description] for item in tool.parameters],
    }


def _references(gold: Gold) -> list[tuple[int, int]]:
    """(node referred to, node that refers to it), each pair once, in order."""
    found: dict[tuple[int, int], None] = {}
    for node in gold.nodes:
        for argument in node.arguments or ():
            value = argument.get("value") if isinstance(argument, dict) else argument
            index = reference_index(value)
            if index is not None:
                found[index, node.place] = None
    return list(found)


def _lines(
    gold: Gold, tools: dict[int, str], references: list[tuple[int, int]]
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, tool in tools.items():
        places[tool].append(place)
    missing: dict[str, int] = {}
    left = [pair for pair in references if pair[0] in tools]
    lines: list[dict[str, Any]] = []
    for source, target in gold.links:
        joined = next((p for p in left if (tools[p[0]], tools[p[1]]) == (source, target)), None)
        if joined is not None:
            left.remove(joined)
            start, end = joined
        else:
            for tool in (source, target):
                if tool not in places:
                    missing.setdefault(tool, -1 - len(missing))
            start = places[source][0] if source in places else missing[source]
            end = places[target][-1] if target in places else missing[target]
        lines.append({"from": start, "to": end, "kind": "link"})
    lines += [{"from": start, "to": end, "kind": "reference"} for start, end in left]
    return lines, missing


def _flowing(line: dict[str, Any], names: dict[int, str], library: ToolLibrary) -> str:
    """The types that can flow along a line; empty where tools have none."""
    source, target = names[line["from"]], names[line["to"]]
    if source not in library or target not in library:
        return ""
    taken = library[target].inputs
    return ", ".join(dict.fromkeys(kind for kind in library[source].outputs if kind in taken))
