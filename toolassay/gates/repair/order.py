"""The order of nodes: one in which every reference points back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from toolassay.backinstruct.arguments import steps_in_order
from toolassay.dataset import reference_index
from toolassay.gates.gate import Background
from toolassay.gates.order import order_of_steps
from toolassay.gates.repair.changes import Record, Repair, gold_of, nodes_of, with_argument
from toolassay.gates.repair.pointers import pointers_of
from toolassay.gold import Gold

Wire = tuple[int, int]


def mend_order(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Nodes in the order of their steps, or another in which references point back, if they do not and can.

    Published nodes stand by name, their steps in order: then the steps stay. Steps that follow the nodes
    go along with them.
    """
    gold, nodes = gold_of(record), nodes_of(record)
    pointers = list(pointers_of(gold))
    if len(gold.nodes) != len(nodes) or any(
        p.reading.spelling not in ("published", "name") for p in pointers
    ):
        return record
    wires = [(index, p.node) for p in pointers if (index := reference_index(p.text)) is not None]
    if not any(source > target for source, target in wires) or not _agree(wires, gold):
        return record
    order = _order(wires, gold)
    if order is None:
        return record
    position = {place: number for number, place in enumerate(order)}
    repairs.append(Repair("order", "task_nodes", list(range(len(nodes))), order))
    mended: Record = {**record, "task_nodes": [_renumbered(nodes[place], position) for place in order]}
    tools = [node.tool for node in gold.nodes]
    if order_of_steps(gold.steps, tools) == {tool: place for place, tool in enumerate(tools)}:
        mended["task_steps"] = steps_in_order(list(gold.steps), order, position)
        repairs.append(Repair("order", "task_steps", list(gold.steps), mended["task_steps"]))
    return mended


def _agree(wires: Sequence[Wire], gold: Gold) -> bool:
    """Whether all references are to other nodes of the plan, along its links where it has any."""
    tools = [node.tool for node in gold.nodes]
    if any(source == target or source >= len(tools) for source, target in wires):
        return False
    ends = {(tools[source], tools[target]) for source, target in wires}
    return gold.record.get("task_links") is None or ends <= set(gold.links)


def _order(wires: Sequence[Wire], gold: Gold) -> list[int] | None:
    """The places in their new order; None where the references go in a circle."""
    steps = order_of_steps(gold.steps, [node.tool for node in gold.nodes])
    if steps is not None:
        by_steps = {place: steps[node.tool] for place, node in enumerate(gold.nodes)}
        if all(by_steps[source] < by_steps[target] for source, target in wires):
            return sorted(by_steps, key=by_steps.__getitem__)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(gold.nodes)))
    graph.add_edges_from(wires)
    try:
        return list(nx.lexicographical_topological_sort(graph))
    except nx.NetworkXUnfeasible:
        return None


def _renumbered(node: Any, position: Mapping[int, int]) -> Any:
    arguments = node.get("arguments")
    if not isinstance(arguments, list):
        return node
    mended = []
    for argument in arguments:
        value = argument.get("value") if isinstance(argument, Mapping) else argument
        index = reference_index(value)
        mended.append(argument if index is None else with_argument(argument, f"<node-{position[index]}>"))
    return {**node, "arguments": mended}
