"""Repair a label: fix mechanical errors that have only one possible meaning, and record every change.

This module repairs the plan as a whole (links, steps, size and shape, the order of nodes), and runs all
repairs until none changes anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from toolassay.backinstruct.critics import rule_critic
from toolassay.backinstruct.labels import steps_in_order
from toolassay.dataset import SHAPES, renumbered, repository_form, shape_of
from toolassay.gates.call_repairs import (
    Record,
    Repair,
    RepairStep,
    gold_of,
    nodes_of,
    references_of,
    repair_argument_names,
    repair_forms,
    repair_reference_counting,
    repair_reference_spelling,
    repair_tool_names,
    repair_types,
    respelt_references,
    with_argument,
)
from toolassay.gates.gate import Background
from toolassay.gates.graph_gate import sample_of
from toolassay.gates.wiring_gate import leads_to, order_of_steps
from toolassay.gold import Gold

__all__ = ["Repair", "repair"]


# The place before each further step of "Step 1: crop it. Step 2: pay"; not before "the next step 2 times".
_STEP = re.compile(r"(?<!^)(?=\bstep\s*\d+\s*[:.)])", re.IGNORECASE)


def repair_links(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Remove repeated links, except in a plan that calls a tool twice: there they may be different links."""
    for key in ("task_links", "sampled_links"):
        links, gold = record.get(key), gold_of(record)
        tools = [node.tool for node in gold.nodes]
        if not isinstance(links, list) or len(set(tools)) < len(tools):
            continue
        kept: list[Any] = []
        seen: set[tuple[str, str]] = set()
        for place, link in enumerate(links):
            plain = isinstance(link, dict) and set(link) == {"source", "target"}
            if not plain or not all(isinstance(end, str) for end in link.values()):
                kept.append(link)
            elif (link["source"], link["target"]) in seen:
                repairs.append(Repair("duplicate link", f"{key}[{place}]", link, None))
            else:
                seen.add((link["source"], link["target"]))
                kept.append(link)
        if len(kept) < len(links):
            record = {**record, key: kept}
    return record


def repair_steps(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Split steps that are written as one text, at line breaks or before each "Step 1:"."""
    steps = record.get("task_steps")
    if not isinstance(steps, str) or not steps.strip():
        return record
    lines = [line.strip() for line in steps.splitlines() if line.strip()]
    if len(lines) == 1:
        lines = [part.strip() for part in _STEP.split(lines[0]) if part.strip()]
    repairs.append(Repair("steps", "task_steps", steps, lines))
    return {**record, "task_steps": lines}


def repair_size(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Correct `n_tools` and `type` that contradict the plan, if the plan equals its sample.

    A "chain" whose links form no chain stays for the gate "graph", because a link or a node may be wrong. A
    path with the type "dag" stays, because the published sampler calls some paths so.
    """
    gold = gold_of(record)
    size = len(gold.nodes)
    if size != len(nodes_of(record)) or not size or not _is_sample(gold):
        return record
    if "n_tools" in record and not (record["n_tools"] is not True and record["n_tools"] == size):
        repairs.append(Repair("size", "n_tools", record["n_tools"], size))
        record = {**record, "n_tools": size}
    declared = record.get("type")
    if "type" not in record or record.get("task_links") is None:
        return record
    known = isinstance(declared, str) and declared in SHAPES
    if (
        not known
        or (size == 1 and declared != "single")
        or (size > 1 and declared == "single" and gold.sampled_nodes)
    ):
        shape = shape_of(size, gold.links, tools=[node.tool for node in gold.nodes])
        repairs.append(Repair("shape", "type", declared, shape))
        record = {**record, "type": shape}
    return record


def _is_sample(gold: Gold) -> bool:
    """Whether the plan equals its sampled nodes and links; true without any."""
    nodes, links = sample_of(gold)
    tools = [node.tool for node in gold.nodes]
    if any(fault.where.startswith(("sampled_", "task_links")) for fault in gold.faults):
        return False
    verdict = rule_critic(nodes or (), links or (), tools, gold.links)
    return (nodes is None or verdict.node) and (links is None or verdict.link)


Wire = tuple[int, int]


def repair_order(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Sort nodes so that every reference points to an earlier node: by the steps, else topologically.

    Steps move with the nodes if they have the order of the nodes. Otherwise they stay, because published
    nodes are sorted by name and their steps by execution.
    """
    gold, nodes = gold_of(record), nodes_of(record)
    pointers = list(references_of(gold))
    if len(gold.nodes) != len(nodes) or any(
        p.reading.spelling not in ("published", "name") for p in pointers
    ):
        return record
    wires = [(p.reading.places[0], p.node) for p in pointers if p.reading.spelling == "published"]
    if not any(source > target for source, target in wires) or not _agree(wires, gold, background):
        return record
    order = _order(wires, gold)
    if order is None:
        return record
    position = {place: number for number, place in enumerate(order)}
    repairs.append(Repair("order", "task_nodes", list(range(len(nodes))), order))
    repaired: Record = {**record, "task_nodes": [_renumbered(nodes[place], position) for place in order]}
    tools = [node.tool for node in gold.nodes]
    if order_of_steps(gold.steps, tools) == {tool: place for place, tool in enumerate(tools)}:
        repaired["task_steps"] = steps_in_order(list(gold.steps), order, position)
        repairs.append(Repair("order", "task_steps", list(gold.steps), repaired["task_steps"]))
    return repaired


def _agree(wires: Sequence[Wire], gold: Gold, background: Background) -> bool:
    """Whether all references point to other nodes of the plan, and follow its links if it lists any.

    In a schema graph a step may repeat an argument of the step before it, which is a reference.
    """
    tools = [node.tool for node in gold.nodes]
    if any(source == target or source >= len(tools) for source, target in wires):
        return False
    ends = {(tools[source], tools[target]) for source, target in wires}
    links = set(gold.links)
    if background.kind == "schema":
        ends = {end for end in ends if end in links or not leads_to(*end, links)}
    return gold.record.get("task_links") is None or ends <= links


def _order(wires: Sequence[Wire], gold: Gold) -> list[int] | None:
    """The indices of the nodes in their new order; None if the references form a cycle."""
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

    repaired = []
    for argument in arguments:
        value = argument.get("value") if isinstance(argument, Mapping) else argument
        after = respelt_references(value, lambda text: renumbered(text, position))
        repaired.append(argument if after is value else with_argument(argument, after))
    return {**node, "arguments": repaired}


# Names before references and links, which are resolved by names; the size last, because it counts nodes.
_REPAIR_STEPS: tuple[RepairStep, ...] = (
    repair_steps,
    repair_tool_names,
    repair_forms,
    repair_argument_names,
    repair_types,
    repair_links,
    repair_reference_spelling,
    repair_reference_counting,
    repair_order,
    repair_size,
)
# A repair can enable an earlier one: a corrected tool name makes a reference readable. So all run again.
_ROUNDS = 5


def repair(record: Mapping[str, Any], background: Background) -> tuple[Record, list[Repair]]:
    """Repair a label; the input stays unchanged.

    A repair needs exactly one possible meaning, and must not hide what a gate takes as a sign of a wrong
    plan. A label in the form of the hub is returned in the form of the repository, which is no repair.

    Args:
        record: a label with any content.
        background: the library and the graph of the label.

    Returns:
        The repaired label and its changes, in the order in which they were made.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> background = Background(ToolLibrary([Tool("Text Search", "", ("text",), ("text",))]), "resource")
    >>> repaired, repairs = repair({"task_nodes": [{"task": "text_search", "arguments": "tea"}]}, background)
    >>> repaired["task_nodes"], [change.kind for change in repairs]
    ([{'task': 'Text Search', 'arguments': ['tea']}], ['tool name', 'form'])
    """
    repaired = repository_form(record)
    repairs: list[Repair] = []
    for _ in range(_ROUNDS):
        found: list[Repair] = []
        for step in _REPAIR_STEPS:
            repaired = step(repaired, background, found)
        repairs += found
        if not found:
            break
    return repaired, repairs
