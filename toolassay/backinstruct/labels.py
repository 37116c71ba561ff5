"""Turns raw records into labels: resolves tool names and references `<node-j>`, and checks every part.

Differs from the published formatter, which is wrong in three ways: a text becomes a reference only if all of
it names another node that the plan links to this one, not if it contains a tool's name; a node may have more
than two inputs; and no argument is silently replaced by a reference to its own node.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import networkx as nx

from toolassay.backinstruct.critics import EXECUTED, FOLLOW, REVIEWS, Spellings
from toolassay.backinstruct.records import Instruction, RawSample, WrittenNode
from toolassay.executors.fact_sources import FACTS
from toolassay.files.data_files import map_texts
from toolassay.graph import DependencyType
from toolassay.plans.gold import ALTERNATIVES, Gold
from toolassay.records.dataset import (
    TASK_KIND,
    Shape,
    form_of,
    is_paths,
    reference_index,
    references_in,
    renumbered,
    shape_of,
)
from toolassay.tools.argument_schemas import Schema, as_meant
from toolassay.tools.library import ToolLibrary

# What is around a name: "<" and ">" of "<Text Search>", "output of " of "output of Text Search".
_WRAPPING = re.compile(r"^[<\s]*(?:output[_ ]of[_ ]+)?[<\s]*|[>\s]+$", re.IGNORECASE)
# A step number: matches "Step 2" in "Step 2: use it", not "2 steps".
_STEP = re.compile(r"\b(step\s+)(\d+)\b", re.IGNORECASE)


# Keys of a record that its label has, too.
_KEPT = (FOLLOW, "goal", TASK_KIND, "manner", EXECUTED, REVIEWS, ALTERNATIVES)


@dataclass(frozen=True)
class References:
    """Resolves the texts of one plan to its nodes.

    Attributes:
        tools: The tool of each node, in order; None for an unknown tool.
        links: The links of the plan as (source tool, target tool); without any, any node may feed any other.
    """

    tools: Sequence[str | None]
    links: Collection[tuple[str, str]]

    def resource_arguments(self, values: Any, position: int, problems: list[str]) -> list[str]:
        """The arguments of the resource node at index `position`; errors are added to `problems`."""
        if values is None:
            values = []
        if isinstance(values, str | int | float):
            values = [values]
        if not isinstance(values, list):
            problems.append(f"the inputs of node {position} are not a list")
            return []
        arguments = []
        for value in values:
            value = value.get("value") if isinstance(value, Mapping) and "value" in value else value
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                problems.append(f"an input of node {position} is not a text")
            else:
                arguments.append(self._argument(str(value), position, problems))
        return arguments

    def _argument(self, text: str, position: int, problems: list[str]) -> str:
        """`<node-j>` if all of the text names another node that feeds this one, else the text."""
        index = reference_index(text)
        if index is not None:
            if index >= len(self.tools) or index == position:
                problems.append(f"node {position} refers to {text.strip()}, which is no other node")
            return text.strip()
        named = Spellings(filter(None, self.tools)).meant(_WRAPPING.sub("", text))
        candidates = [
            candidate
            for candidate, tool in enumerate(self.tools)
            if named is not None and tool == named and candidate != position
            if not self.links or (tool, self.tools[position]) in self.links
        ]
        if not candidates:
            return text
        # Of several nodes with this tool, the nearest earlier one is meant.
        earlier = [candidate for candidate in candidates if candidate < position]
        return f"<node-{earlier[-1] if earlier else candidates[0]}>"


def temporal_arguments(
    tool: str, values: Any, problems: list[str], schema: Schema | None = None
) -> list[Any]:
    """The arguments of a temporal node, each with a name and a value; errors are added to `problems`.

    Args:
        tool: The name of the tool.
        values: The arguments as written.
        problems: Gets a sentence for each error.
        schema: The `input_schema` of the tool, if it has one.
    """
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
    return values if schema is None else [argument for item in values for argument in _as_meant(item, schema)]


def _as_meant(argument: Any, schema: Schema) -> Iterator[Any]:
    """The argument with the value that it means; nothing if it is null and may be absent."""
    name = argument.get("name") if isinstance(argument, Mapping) and "value" in argument else None
    if not isinstance(name, str):
        yield argument
    elif name in (meant := as_meant({name: argument["value"]}, schema, schema)):
        yield {**argument, "value": meant[name]}


def in_order(
    nodes: list[LabelNode], steps: list[str], problems: list[str]
) -> tuple[list[LabelNode], list[str]]:
    """Sort nodes and their steps so that every reference points to an earlier node.

    They are unchanged if they are in such an order, or if the references form a cycle, which is added to
    `problems`.
    """
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(nodes)))
    for index, node in enumerate(nodes):
        sources = (reference.node for reference in references_in(node.arguments))
        graph.add_edges_from((source, index) for source in sources if source < len(nodes))
    try:
        order = list(nx.lexicographical_topological_sort(graph))
    except nx.NetworkXUnfeasible:
        problems.append("the references go in a circle")
        return nodes, steps
    if order == sorted(order):
        return nodes, steps
    position = {index: number for number, index in enumerate(order)}
    moved = [
        LabelNode(
            nodes[index].task,
            map_texts(nodes[index].arguments, lambda text: renumbered(text, position), key=str),
        )
        for index in order
    ]
    return moved, steps_in_order(steps, order, position)


def steps_in_order(steps: list[str], order: list[int], position: Mapping[int, int]) -> list[str]:
    """Reorder the steps; if they are numbered consecutively, "step k" gets the new numbers.

    Args:
        steps: The steps.
        order: Old index of each new step.
        position: New index of each old step.
    """
    if not steps:
        return steps
    leading = ((index, _STEP.match(step.lstrip())) for index, step in enumerate(steps))
    first = {int(match.group(2)) - index for index, match in leading if match}
    if len(first) != 1:
        return [steps[index] for index in order]
    offset = first.pop()

    def renumbered(match: re.Match[str]) -> str:
        index = int(match.group(2)) - offset
        return f"{match.group(1)}{position[index] + offset}" if index in position else match.group(0)

    return [_STEP.sub(renumbered, steps[index]) for index in order]


class LabelNode(msgspec.Struct):
    """A node of a label: its tool, and its arguments as their dependency type has them."""

    task: str
    arguments: list[Any]


Ends = tuple[str, str]


class Labeller:
    """Turns raw records into labels of one library; names are resolved as by `Spellings`.

    Args:
        library: The tools.
        dependency_type: How arguments are written.
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType) -> None:
        self._kind = dependency_type
        self._names = Spellings(library.ids)
        self._schemas = {tool.id: tool.input_schema for tool in library}

    def label(self, record: RawSample) -> tuple[Gold | None, list[str]]:
        """The label of a record and no problems, or None and the problems."""
        try:
            written = msgspec.convert(record.result, Instruction)
        except msgspec.ValidationError as error:
            return None, [f"the result is malformed: {error}"]
        problems = list[str]()
        steps = written.task_steps
        request = written.user_request
        links = [(self._names.read(source), self._names.read(target)) for source, target in written.links]
        nodes = self._nodes(written.invoking_graph.nodes, links, problems)
        tools = {node.task for node in nodes}
        names = (name for link in links for name in link)
        problems += [f"a link names '{name}', which is no node" for name in names if name not in tools]
        if steps and len(steps) != len(nodes):
            problems.append(f"{len(steps)} steps for {len(nodes)} nodes")
        if self._kind == "schema":
            problems += [
                f"node {index} refers to <node-{reference.node}>, which is no other node"
                for index, node in enumerate(nodes)
                for reference in references_in(node.arguments)
                if reference.node >= len(nodes) or reference.node == index
            ]
        if self._kind != "temporal" and not problems:
            nodes, steps = in_order(nodes, steps, problems)
        if problems:
            return None, problems
        line = record.to_json()
        label = {
            "id": record.id,
            "seed": record.seed,
            "type": _shape(nodes, links, record),
            "n_tools": len(nodes),
            "sampled_nodes": [{"task": tool.id} for tool in record.sampled_nodes],
            "sampled_links": line["sampled_links"],
            "user_request": request,
            "task_steps": steps,
            "task_nodes": msgspec.to_builtins(nodes),
            "task_links": [{"source": source, "target": target} for source, target in links],
            "check_by_teacher": written.check_by_teacher,
            **form_of(request),
            **({} if written.facts is None else {FACTS: msgspec.to_builtins(written.facts)}),
            **{key: line[key] for key in _KEPT if key in line},
        }
        return Gold.of(label), []

    def _nodes(
        self, written: Sequence[WrittenNode], links: Sequence[Ends], problems: list[str]
    ) -> list[LabelNode]:
        tools = [self._names.meant(node.tool) for node in written]
        problems += [
            f"unknown tool '{node.tool}'" for node, tool in zip(written, tools, strict=True) if tool is None
        ]
        references = References(tools, links)
        nodes: list[LabelNode] = []
        for index, node in enumerate(written):
            name = node.tool
            values = node.input or node.arguments
            if self._kind == "resource":
                arguments = references.resource_arguments(values, index, problems)
            else:
                arguments = temporal_arguments(name, values, problems, self._schemas.get(tools[index] or ""))
            nodes.append(LabelNode(tools[index] or name, arguments))
        return nodes


def _shape(nodes: Sequence[LabelNode], links: Sequence[Ends], record: RawSample) -> Shape:
    """The shape of a plan.

    A chain that lost a link stays a chain, so that the graph gate finds the error. Disjoint paths are a dag
    only if they were sampled as one, or if references in arguments connect them to a branch. A plan that only
    was inspired by its sample has the shape of its own links.
    """
    tools = [node.task for node in nodes]
    shape = shape_of(len(tools), links, tools=tools)
    if record.follow == "seed" or shape != "dag" or not is_paths(len(tools), links, tools=tools):
        return shape
    sampled = [(link.source, link.target) for link in record.sampled_links]
    if shape_of(len(record.sampled_nodes), sampled) == "dag":
        return "dag"
    if len(set(tools)) < len(tools):
        return "chain"
    fed = {
        (tools[reference.node], node.task)
        for node in nodes
        for reference in references_in(node.arguments)
        if reference.node < len(tools)
    }
    return "chain" if is_paths(len(tools), {*links, *fed}) else "dag"
