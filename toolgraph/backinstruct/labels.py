"""From a raw record to a label: names made those of the library, references made `<node-j>`, all checked.

What the published formatter gets wrong is not repeated: an argument is a reference only if the whole of it
names another node, never because it contains a tool's name; more than two inputs are fine; nothing is
silently replaced by a self reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from toolgraph.backinstruct.critics import same_tool
from toolgraph.backinstruct.records import plan_of
from toolgraph.dataset import reference_index, shape_of
from toolgraph.graph import DependencyType
from toolgraph.tools import ToolLibrary

_WRAPPED = re.compile(r"<?(?:output[_ ]of[_ ])?(.+?)>?", re.IGNORECASE)


class Labeller:
    """Turns raw records of one library into labels."""

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType) -> None:
        self._kind = dependency_type
        self._names = {same_tool(tool): tool for tool in reversed(library.ids)}
        self._exact = set(library.ids)

    def label(self, record: Mapping[str, Any]) -> tuple[dict[str, Any] | None, list[str]]:
        """The label of a record, or None and what is wrong with it."""
        result = record.get("result")
        if not isinstance(result, Mapping):
            return None, ["there is no result"]
        problems: list[str] = []
        steps, request = result.get("task_steps"), result.get("user_request")
        if not isinstance(request, str) or not request.strip():
            problems.append("user_request is not a text")
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            problems.append("task_steps is not a list of texts")
            steps = []
        nodes = self._nodes(result, problems)
        links = self._links(result, {node["task"] for node in nodes}, problems)
        if steps and len(steps) != len(nodes):
            problems.append(f"{len(steps)} steps for {len(nodes)} nodes")
        if self._kind == "resource" and not problems:
            nodes = _in_order(nodes, problems)
        if problems:
            return None, problems
        sampled = record.get("sampled_nodes") or []
        return {
            "id": record.get("id"),
            "seed": record.get("seed"),
            "type": shape_of(
                len(nodes),
                ((link["source"], link["target"]) for link in links),
                tools=[node["task"] for node in nodes],
            ),
            "n_tools": len(nodes),
            "sampled_nodes": [{"task": node.get("id", node.get("task"))} for node in sampled],
            "sampled_links": record.get("sampled_links") or [],
            "user_request": request,
            "task_steps": steps,
            "task_nodes": nodes,
            "task_links": links,
            "check_by_teacher": result.get("check_by_teacher"),
        }, []

    def _tool(self, name: str) -> str | None:
        return name if name in self._exact else self._names.get(same_tool(name))

    def _nodes(self, result: Mapping[str, Any], problems: list[str]) -> list[dict[str, Any]]:
        graph = result.get("invoking_graph")
        raw = graph.get("nodes") if isinstance(graph, Mapping) else None
        written, _ = plan_of(result)
        if not isinstance(raw, list) or not written:
            problems.append("the invoking graph has no nodes")
            return []
        if len(written) != len(raw):
            problems.append("a node has no id")
        names = [self._tool(name) for name, _ in written]
        problems += [
            f"unknown tool '{name}'" for (name, _), tool in zip(written, names, strict=True) if tool is None
        ]
        nodes: list[dict[str, Any]] = []
        for place, (name, values) in enumerate(written):
            if self._kind == "resource":
                arguments = _resource_arguments(values, place, names, self._tool, problems)
            else:
                arguments = _temporal_arguments(name, values, problems)
            nodes.append({"task": names[place] or name, "arguments": arguments})
        return nodes

    def _links(self, result: Mapping[str, Any], tools: set[str], problems: list[str]) -> list[dict[str, str]]:
        links = []
        for ends in plan_of(result)[1]:
            known = [self._tool(name) for name in ends]
            for name, tool in zip(ends, known, strict=True):
                if tool not in tools:
                    problems.append(f"a link names '{name}', which is no node")
            links.append({"source": known[0] or ends[0], "target": known[1] or ends[1]})
        return links


def _resource_arguments(
    values: Any, place: int, names: Sequence[str | None], tool_of: Any, problems: list[str]
) -> list[Any]:
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
            arguments.append(_reference(str(value), place, names, tool_of, problems))
    return arguments


def _reference(text: str, place: int, names: Sequence[str | None], tool_of: Any, problems: list[str]) -> str:
    """`<node-j>` if the whole text names another node, else the text."""
    index = reference_index(text)
    if index is not None:
        if index >= len(names) or index == place:
            problems.append(f"node {place} refers to {text.strip()}, which is no other node")
        return text.strip()
    match = _WRAPPED.fullmatch(text.strip())
    named = tool_of(match.group(1)) if match else None
    others = [other for other, tool in enumerate(names) if tool == named and other != place]
    if named is None or not others:
        return text
    # Of two nodes of one tool, the nearest earlier one is meant.
    earlier = [other for other in others if other < place]
    return f"<node-{earlier[-1] if earlier else others[0]}>"


def _temporal_arguments(tool: str, values: Any, problems: list[str]) -> list[Any]:
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


def _in_order(nodes: list[dict[str, Any]], problems: list[str]) -> list[dict[str, Any]]:
    """The nodes in an order in which every reference points back; unchanged if it does already."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(nodes)))
    for place, node in enumerate(nodes):
        sources = (reference_index(argument) for argument in node["arguments"])
        graph.add_edges_from((source, place) for source in sources if source is not None)
    try:
        order = list(nx.lexicographical_topological_sort(graph))
    except nx.NetworkXUnfeasible:
        problems.append("the references go in a circle")
        return nodes
    position = {place: number for number, place in enumerate(order)}

    def renumbered(argument: str) -> str:
        index = reference_index(argument)
        return argument if index is None else f"<node-{position[index]}>"

    return [
        {"task": nodes[place]["task"], "arguments": [renumbered(item) for item in nodes[place]["arguments"]]}
        for place in order
    ]
