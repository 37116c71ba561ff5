"""Arguments of resource tools: for every input slot an earlier step's output or a literal of the request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from toolassay.graph import ToolGraph
from toolassay.offline.planner.mentions import Mentions


class Filled(NamedTuple):
    """The arguments of each node, and the pairs of nodes (source, target) that the references join."""

    arguments: list[list[str]]
    references: list[tuple[int, int]]


def fill_resources(
    graph: ToolGraph, tools: Sequence[int], places: Sequence[float], mentions: Mentions
) -> Filled:
    """One argument for each input slot of each tool, in plan order.

    A slot takes, in this order: the latest earlier output that fits and that nobody has taken, a literal
    that fits and that nobody has taken, any such output, any such literal, for a text what the request
    says at the tool's place, and the name of its type.

    Args:
        graph: the tool graph; a reference is made only along its links.
        tools: tool numbers in plan order.
        places: the character positions at which the request speaks of each.
        mentions: the values of the request.
    """
    arguments: list[list[str]] = []
    references: list[tuple[int, int]] = []
    taken_outputs: set[int] = set()
    taken_literals: set[str] = set()
    for node, number in enumerate(tools):
        filled: list[str] = []
        own: set[int] = set()
        for slot in graph.library.tools[number].inputs:
            outputs = [
                earlier
                for earlier in range(node - 1, -1, -1)
                if earlier not in own and _fits(graph, tools[earlier], number, slot)
            ]
            found = [mention.text for mention in mentions.values if slot in mention.resource_types]
            literals = [text for text in dict.fromkeys(found) if text not in filled]
            output = next((earlier for earlier in outputs if earlier not in taken_outputs), None)
            literal = next((text for text in literals if text not in taken_literals), None)
            if output is None and literal is None:
                output = next(iter(outputs), None)
            if output is not None:
                filled.append(f"<node-{output}>")
                references.append((output, node))
                own.add(output)
                taken_outputs.add(output)
            else:
                said = mentions.sentence_at(places[node]) if slot == "text" else ""
                value = literal or next(iter(literals), None) or (slot if said in filled else said) or slot
                filled.append(value)
                taken_literals.add(value)
        arguments.append(filled)
    return Filled(arguments, references)


def _fits(graph: ToolGraph, source: int, target: int, slot: str) -> bool:
    return slot in graph.library.tools[source].outputs and bool(graph.numbered.types(source, target))
