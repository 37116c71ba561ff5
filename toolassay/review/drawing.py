"""A gold plan as a graph for the review page: its nodes, and what its lines mean.

The page places the nodes in layers itself, with cytoscape-dagre (`page/drawing.js`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from toolassay.dataset import references_in
from toolassay.gold import Gold
from toolassay.report.style import given_type, type_colours, types_by_use
from toolassay.signatures import details_of
from toolassay.tools import ToolLibrary


def draw_plan(gold: Gold, library: ToolLibrary) -> dict[str, Any]:
    """The nodes of a plan and the lines between them.

    A line is a `link` of the label, or a `reference`: an argument takes the output of a node, and no link
    says so. A link names tools. Where the plan uses a tool more than once, the link joins the nodes that a
    reference joins, else the first node of its source and the last of its target. A link to a tool that no
    node uses ends at an extra node, which is `missing`.

    Args:
        gold: the plan.
        library: describes its tools; gives the colour of a node (its output type) and the type of a line.

    Returns:
        `nodes`, each with `place` (its number in the plan; negative for a missing one), `tool`, `known`,
        `missing` and `colour`; and `lines`, each with `from` and `to` (places), `kind` and `type`.
    """
    tools = {node.place: node.tool for node in gold.nodes}
    lines, missing = _lines(gold, tools, _references(gold))
    names = {**tools, **{place: tool for tool, place in missing.items()}}
    colours = type_colours([*types_by_use(library), ""])
    return {
        "nodes": [
            {
                "place": place,
                "tool": name,
                "known": name in library,
                "missing": place not in tools,
                "colour": colours[given_type(library[name]) if name in library else ""],
            }
            for place, name in names.items()
        ],
        "lines": [{**line, "type": _flowing_types(line, names, library)} for line in lines],
    }


def tool_card(name: str, library: ToolLibrary) -> dict[str, Any]:
    """A tool as the page describes it; `known` is False if the library lacks the tool.

    An imported tool also has its signature, what it gives, and its required arguments: the page lists an
    optional one only if it is given.
    """
    if name not in library:
        return {"name": name, "known": False, "description": "", "takes": [], "gives": [], "parameters": []}
    tool = library[name]
    required = [item.name for item in tool.parameters if item.required]
    return {
        "name": name,
        "known": True,
        "description": tool.description,
        "takes": list(tool.inputs),
        "gives": list(tool.outputs),
        "parameters": [[item.name, item.type, item.description] for item in tool.parameters],
        **({} if tool.input_schema is None else details_of(tool) | {"required": required}),
    }


def _references(gold: Gold) -> list[tuple[int, int]]:
    """Pairs of the node that is referred to and the node that refers to it; each once, in order."""
    found: dict[tuple[int, int], None] = {}
    for node in gold.nodes:
        for argument in node.arguments or ():
            value = argument.get("value") if isinstance(argument, dict) else argument
            for reference in references_in(value):
                found[reference.node, node.place] = None
    return list(found)


def _lines(
    gold: Gold, tools: dict[int, str], references: list[tuple[int, int]]
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The lines of a plan, and the place of each missing tool."""
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


def _flowing_types(line: dict[str, Any], names: dict[int, str], library: ToolLibrary) -> str:
    """The types that the source gives and the target takes; empty if there are none."""
    source, target = names[line["from"]], names[line["to"]]
    if source not in library or target not in library:
        return ""
    taken = library[target].inputs
    return ", ".join(dict.fromkeys(kind for kind in library[source].outputs if kind in taken))
