"""A gold plan as a drawing: where its nodes stand, and what its lines mean."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from toolassay.dataset import reference_index
from toolassay.gold import Gold
from toolassay.report.colours import given_type, type_colours, types_by_use
from toolassay.review.layers import arrange
from toolassay.tools import ToolLibrary


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
