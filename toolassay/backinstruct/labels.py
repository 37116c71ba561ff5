"""From a raw record to a label: names made those of the library, references made `<node-j>`, all checked.

What the published formatter gets wrong is not repeated: an argument is a reference only if the whole of it
names another node, never because it contains a tool's name; more than two inputs are fine; nothing is
silently replaced by a self reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolassay.backinstruct.arguments import References, in_order, temporal_arguments
from toolassay.backinstruct.critics import Spellings
from toolassay.backinstruct.records import plan_of
from toolassay.dataset import Shape, is_paths, reference_index, shape_of
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

WrittenNode = tuple[str, Any]
Ends = tuple[str, str]


class Labeller:
    """Turns raw records of one library into labels.

    Names are those of the library as they stand, else its only name that `same_tool` takes for the same.
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType) -> None:
        self._kind = dependency_type
        self._names = Spellings(library.ids)

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
        written, ends = plan_of(result)
        links = [(self._names.read(source), self._names.read(target)) for source, target in ends]
        nodes = self._nodes(result, written, links, problems)
        tools = {node["task"] for node in nodes}
        problems += [
            f"a link names '{name}', which is no node"
            for link, names in zip(links, ends, strict=True)
            for tool, name in zip(link, names, strict=True)
            if tool not in tools
        ]
        if steps and len(steps) != len(nodes):
            problems.append(f"{len(steps)} steps for {len(nodes)} nodes")
        sampled_nodes, sampled_links = _sampled(record, problems)
        if self._kind == "resource" and not problems:
            nodes, steps = in_order(nodes, steps, problems)
        if problems:
            return None, problems
        return {
            "id": record.get("id"),
            "seed": record.get("seed"),
            "type": _shape(nodes, links, sampled_nodes, sampled_links),
            "n_tools": len(nodes),
            "sampled_nodes": sampled_nodes,
            "sampled_links": sampled_links,
            "user_request": request,
            "task_steps": steps,
            "task_nodes": nodes,
            "task_links": [{"source": source, "target": target} for source, target in links],
            "check_by_teacher": result.get("check_by_teacher"),
        }, []

    def _nodes(
        self,
        result: Mapping[str, Any],
        written: Sequence[WrittenNode],
        links: Sequence[Ends],
        problems: list[str],
    ) -> list[dict[str, Any]]:
        graph = result.get("invoking_graph")
        raw = graph.get("nodes") if isinstance(graph, Mapping) else None
        if not isinstance(raw, list) or not written:
            problems.append("the invoking graph has no nodes")
            return []
        if len(written) != len(raw):
            problems.append("a node has no id")
        tools = [self._names.meant(name) for name, _ in written]
        problems += [
            f"unknown tool '{name}'" for (name, _), tool in zip(written, tools, strict=True) if tool is None
        ]
        references = References(tools, links)
        nodes: list[dict[str, Any]] = []
        for place, (name, values) in enumerate(written):
            if self._kind == "resource":
                arguments = references.resource_arguments(values, place, problems)
            else:
                arguments = temporal_arguments(name, values, problems)
            nodes.append({"task": tools[place] or name, "arguments": arguments})
        return nodes


def _shape(
    nodes: Sequence[Mapping[str, Any]],
    links: Sequence[Ends],
    sampled_nodes: Sequence[Any],
    sampled_links: Sequence[Mapping[str, Any]],
) -> Shape:
    """The shape a plan has. A chain that lost a link stays a chain, for the gate of the graph to find.

    Paths side by side are a dag only if they were sampled as one, or if arguments make a branch of them.
    """
    tools = [node["task"] for node in nodes]
    shape = shape_of(len(tools), links, tools=tools)
    if shape != "dag" or not is_paths(len(tools), links, tools=tools):
        return shape
    drawn = [(link["source"], link["target"]) for link in sampled_links]
    if sampled_nodes and shape_of(len(sampled_nodes), drawn) == "dag":
        return "dag"
    if len(set(tools)) < len(tools):
        return "chain"
    fed = {
        (tools[index], node["task"])
        for node in nodes
        for argument in node["arguments"]
        if (index := reference_index(argument)) is not None and index < len(tools)
    }
    return "chain" if is_paths(len(tools), {*links, *fed}) else "dag"


def _sampled(record: Mapping[str, Any], problems: list[str]) -> tuple[list[dict[str, str]], list[Any]]:
    """`sampled_nodes` (objects or plain names) and `sampled_links` of a record; empty where it has none."""
    nodes, links = record.get("sampled_nodes"), record.get("sampled_links")
    nodes, links = [] if nodes is None else nodes, [] if links is None else links
    names: list[Any] = []
    if isinstance(nodes, list):
        names = [node.get("id", node.get("task")) if isinstance(node, Mapping) else node for node in nodes]
    if not isinstance(nodes, list) or not all(isinstance(name, str) for name in names):
        problems.append("sampled_nodes is not a list of tools")
    if not isinstance(links, list) or not all(map(_is_link, links)):
        problems.append("sampled_links is not a list of links")
    return [{"task": name} for name in names], links


def _is_link(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(end), str) for end in ("source", "target"))
