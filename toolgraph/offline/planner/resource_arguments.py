"""Arguments of resource tools: for every input slot an earlier step's output or a literal of the request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from toolgraph.graph import ToolGraph
from toolgraph.offline.planner.mentions import Mention, Mentions


class Filled(NamedTuple):
    """The arguments of each node, and the pairs of nodes (source, target) that the references join."""

    arguments: list[list[str]]
    references: list[tuple[int, int]]


def fill_resources(graph: ToolGraph, tools: Sequence[int], mentions: Mentions) -> Filled:
    """One argument for each input slot of each tool, in plan order.

    A slot takes, in this order: the latest earlier output that fits and that nobody has taken, a literal
    that fits and that nobody has taken, any such output, any such literal, and the name of its type.

    Args:
        graph: the tool graph; a reference is made only along its links.
        tools: tool numbers in plan order.
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
            literals = [text for text in _literals(mentions, slot) if text not in filled]
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
                value = literal or next(iter(literals), None) or slot
                filled.append(value)
                taken_literals.add(value)
        arguments.append(filled)
    return Filled(arguments, references)


def _fits(graph: ToolGraph, source: int, target: int, slot: str) -> bool:
    return slot in graph.library.tools[source].outputs and bool(graph.numbered.types(source, target))


def _literals(mentions: Mentions, slot: str) -> list[str]:
    """The values of the request that can stand for a resource of a type, in the order of the request."""
    found = [mention.text for mention in mentions.values if _is_a(mention, slot)]
    if found or slot != "text":
        return found
    return [mentions.text] if mentions.text else []


def _is_a(mention: Mention, slot: str) -> bool:
    if mention.kind == "file":
        return slot in (mention.media, mention.text.rpartition(".")[2].casefold(), "file")
    if mention.kind == "quoted":
        return slot == "text"
    return mention.kind == slot
