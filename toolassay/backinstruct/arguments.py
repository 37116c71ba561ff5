"""The inputs of a written node to the arguments of a label's node, where `<node-j>` is the output of node j.

A text is a reference only if the whole of it names another node that the plan links to this one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from toolassay.backinstruct.critics import same_tool
from toolassay.dataset import reference_index

_WRAPPED = re.compile(r"<(?P<bracketed>.+)>|output[_ ]of[_ ](?P<named>.+)", re.IGNORECASE)
_STEP = re.compile(r"\b(step\s+)(\d+)\b", re.IGNORECASE)


@dataclass(frozen=True)
class References:
    """Which node of one plan a text names.

    Args:
        tools: the tool of each node, in order; None where it is unknown.
        links: the links of the plan, (source tool, target tool); with none, any node may feed any other.
    """

    tools: Sequence[str | None]
    links: Collection[tuple[str, str]]

    def resource_arguments(self, values: Any, place: int, problems: list[str]) -> list[str]:
        """The arguments of the resource node at `place`; what is wrong is added to `problems`."""
        if values is None:
            values = []
        if isinstance(values, str | int | float):
            values = [values]
        if not isinstance(values, list):
            problems.append(f"the inputs of node {place} are not a list")
            return []
        arguments = []
        for value in values:
            value = value.get("value") if isinstance(value, Mapping) and "value" in value else value
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                problems.append(f"an input of node {place} is not a text")
            else:
                arguments.append(self._argument(str(value), place, problems))
        return arguments

    def _argument(self, text: str, place: int, problems: list[str]) -> str:
        """`<node-j>` if the whole text names another node that feeds this one, else the text."""
        index = reference_index(text)
        if index is not None:
            if index >= len(self.tools) or index == place:
                problems.append(f"node {place} refers to {text.strip()}, which is no other node")
            return text.strip()
        named = next((places for places in self._readings(text) if places), [])
        others = [other for other in named if other != place and self._feeds(other, place)]
        if not others:
            return text
        # Of two nodes of one tool, the nearest earlier one is meant.
        earlier = [other for other in others if other < place]
        return f"<node-{earlier[-1] if earlier else others[0]}>"

    def _readings(self, text: str) -> Iterator[list[int]]:
        """The nodes a text names: as it stands, spelled otherwise, and without what is wrapped around it."""
        for name in _unwrapped(text.strip()):
            yield [place for place, tool in enumerate(self.tools) if tool is not None and tool == name]
            alike = [tool for tool in self.tools if tool is not None and same_tool(tool) == same_tool(name)]
            # A spelling that could be two tools names neither.
            yield [p for p, tool in enumerate(self.tools) if tool in alike] if len(set(alike)) == 1 else []

    def _feeds(self, source: int, target: int) -> bool:
        return not self.links or (self.tools[source], self.tools[target]) in self.links


def _unwrapped(text: str) -> Iterator[str]:
    """A text as it stands, then with one wrapping after the other taken off: `<…>`, `output of …`."""
    yield text
    while match := _WRAPPED.fullmatch(text):
        text = (match["bracketed"] or match["named"]).strip()
        yield text
    yield text.strip("<>")


def temporal_arguments(tool: str, values: Any, problems: list[str]) -> list[Any]:
    """The arguments of a temporal node, each with a name and a value; complaints go to `problems`."""
    if values is None:
        return []
    if isinstance(values, Mapping):
        values = [{"name": name, "value": value} for name, value in values.items()]
    if not isinstance(values, list):
        problems.append(f"the arguments of '{tool}' are not a list")
        return []
    for value in values:
        if not isinstance(value, Mapping) or "name" not in value or "value" not in value:
            problems.append(f"an argument of '{tool}' lacks a name or a value")
    return values


def in_order(
    nodes: list[dict[str, Any]], steps: list[str], problems: list[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Nodes, and the step of each, in an order in which every reference points back.

    Unchanged if it is so already, or if the references go in a circle (which is added to `problems`).
    """
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(nodes)))
    for place, node in enumerate(nodes):
        sources = (reference_index(argument) for argument in node["arguments"])
        graph.add_edges_from((source, place) for source in sources if source is not None)
    try:
        order = list(nx.lexicographical_topological_sort(graph))
    except nx.NetworkXUnfeasible:
        problems.append("the references go in a circle")
        return nodes, steps
    if order == sorted(order):
        return nodes, steps
    position = {place: number for number, place in enumerate(order)}

    def renumbered(argument: str) -> str:
        index = reference_index(argument)
        return argument if index is None else f"<node-{position[index]}>"

    return [
        {"task": nodes[place]["task"], "arguments": [renumbered(item) for item in nodes[place]["arguments"]]}
        for place in order
    ], steps_in_order(steps, order, position)


def steps_in_order(steps: list[str], order: list[int], position: Mapping[int, int]) -> list[str]:
    """The steps in `order`; where they are counted from one number on, "step k" says the new number."""
    if not steps:
        return steps
    leading = ((place, _STEP.match(step.lstrip())) for place, step in enumerate(steps))
    first = {int(match.group(2)) - place for place, match in leading if match}
    if len(first) != 1:
        return [steps[place] for place in order]
    offset = first.pop()

    def renumbered(match: re.Match[str]) -> str:
        place = int(match.group(2)) - offset
        return f"{match.group(1)}{position[place] + offset}" if place in position else match.group(0)

    return [_STEP.sub(renumbered, steps[place]) for place in order]
