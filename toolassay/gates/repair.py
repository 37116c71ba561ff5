"""Repair a label: fix mechanical errors that have only one possible meaning, and record every change.

Fixed are near spellings of tool names and of references, whose published spelling is `<node-0>`, counted from
0; objects and numbers where a text is due; repeated links; and the order of nodes. Every change is recorded
as a `Repair`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import networkx as nx

from toolassay.backinstruct.labels import steps_in_order
from toolassay.files.data_files import map_texts
from toolassay.gates.gate import Background, tool_spellings
from toolassay.gates.graph_gate import leads_to, order_of_steps
from toolassay.gates.references import (
    ReferenceReader,
    ReferenceReading,
    arguments_of,
    can_feed,
    text_of_number,
    texts_in,
)
from toolassay.plans.gold import Gold
from toolassay.records.dataset import renumbered, repository_form


class Repair(NamedTuple):
    """One change of a label.

    Attributes:
        kind: "tool name", "form", "reference", "order" or "duplicate link".
        where: the path in the label before the repair, such as `task_nodes[1].arguments[0]`.
        before: the value before.
        after: the value after; None if it was removed.
    """

    kind: str
    where: str
    before: Any
    after: Any


Record = dict[str, Any]
RepairStep = Callable[[Record, Background, list[Repair]], Record]
"""Returns the repaired label and appends each change to the list."""


def _gold_of(record: Mapping[str, Any]) -> Gold:
    """The gold plan of a label from which anything may be missing, even the id."""
    return Gold.of({"id": 0, **record})


def _items_of(record: Mapping[str, Any], key: str) -> list[Any]:
    items = record.get(key)
    return items if isinstance(items, list) else []


_NAMED_IN = {
    "task_nodes": ("task", "id"),
    "sampled_nodes": ("task", "id"),
    "task_links": ("source", "target"),
    "sampled_links": ("source", "target"),
}


def _repair_tool_names(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Correct tool names in nodes, links and the sample that are a near spelling of exactly one tool."""
    names = tool_spellings(background.library)

    def corrected(name: Any, where: str) -> Any:
        meant = names.meant(name) if isinstance(name, str) else None
        if meant is None or meant == name:
            return name
        repairs.append(Repair("tool name", where, name, meant))
        return meant

    for key, ends in _NAMED_IN.items():
        items = list(_items_of(record, key))
        for index, item in enumerate(items):
            where = f"{key}[{index}]"
            if not isinstance(item, Mapping):
                items[index] = corrected(item, where)
                continue
            present = [end for end in ends if isinstance(item.get(end), str)]
            if "task" in ends:
                present = present[:1]  # `id` names the tool only where there is no `task`
            items[index] = {**item, **{end: corrected(item[end], f"{where}.{end}") for end in present}}
        if items:
            record = {**record, key: items}
    return record


def _repair_forms(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Write the arguments of resource tools as texts: the value of an object with one, and a number."""
    nodes = list(_items_of(record, "task_nodes"))
    library = background.library
    for index, node in enumerate(nodes):
        name = node.get("task", node.get("id")) if isinstance(node, Mapping) else None
        if not isinstance(name, str) or not isinstance(node.get("arguments"), list):
            continue
        if not (background.takes_inputs(library[name]) if name in library else background.kind == "resource"):
            continue
        arguments = list(node["arguments"])
        for number, item in enumerate(arguments):
            value = item.get("value") if isinstance(item, Mapping) else item
            if isinstance(value, int | float) and not isinstance(value, bool):
                value = text_of_number(value)
            if isinstance(value, str) and value is not item:
                repairs.append(Repair("form", f"task_nodes[{index}].arguments[{number}]", item, value))
                arguments[number] = value
        nodes[index] = {**node, "arguments": arguments}
    return {**record, "task_nodes": nodes} if nodes else record


def _repair_links(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Remove repeated links, except in a plan that calls a tool twice: there they may be different links."""
    tools = [node.tool for node in _gold_of(record).nodes]
    if len(set(tools)) < len(tools):
        return record
    for key in ("task_links", "sampled_links"):
        links = _items_of(record, key)
        unique = list[Any]()
        for index, link in enumerate(links):
            if link in unique:
                repairs.append(Repair("duplicate link", f"{key}[{index}]", link, None))
            else:
                unique.append(link)
        if len(unique) < len(links):
            record = {**record, key: unique}
    return record


class _PlanReference(NamedTuple):
    """An argument of a node, or a text inside it, that refers to another node.

    Attributes:
        node: index of the node.
        where: path of the text in the label.
        text: the text as it is.
        reading: what it refers to.
    """

    node: int
    where: str
    text: str
    reading: ReferenceReading


def _references_of(gold: Gold) -> Iterator[_PlanReference]:
    reader = ReferenceReader.of(gold)
    for node in gold.nodes:
        for argument in arguments_of(node):
            for text in texts_in(argument):
                if reading := reader.read(text.value, node.place):
                    yield _PlanReference(node.place, text.where, text.value, reading)


def _repair_references(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Respell near references such as `<Node_1>`, and names of tools and steps used as references."""
    gold = _gold_of(record)
    respelled: dict[int, dict[str, str]] = {}
    for reference in _references_of(gold):
        after = _meant(reference, gold, background)
        if after is not None and after != reference.text:
            repairs.append(Repair("reference", reference.where, reference.text, after))
            respelled.setdefault(reference.node, {})[reference.text] = after
    if not respelled:
        return record
    nodes = list(_items_of(record, "task_nodes"))

    def respelling(texts: Mapping[str, str]) -> Callable[[str], str]:
        return lambda text: texts.get(text, text)

    for index, texts in respelled.items():
        nodes[index] = _with_texts(nodes[index], respelling(texts))
    return {**record, "task_nodes": nodes}


def _with_texts(node: Any, respell: Callable[[str], str]) -> Any:
    """A node with the texts in the values of its arguments replaced."""
    if not isinstance(node, Mapping) or not isinstance(node.get("arguments"), list):
        return node
    arguments = [
        {**argument, "value": map_texts(argument["value"], respell, key=str)}
        if isinstance(argument, Mapping) and "value" in argument
        else map_texts(argument, respell, key=str)
        for argument in node["arguments"]
    ]
    return {**node, "arguments": arguments}


def _meant(reference: _PlanReference, gold: Gold, background: Background) -> str | None:
    """The spelling of a reference that the links of the plan confirm; None if they do not."""
    reading = reference.reading
    target = reference.node
    if reading.spelling == "near":
        return f"<node-{reading.places[0]}>"
    if reading.spelling == "placeholder" and reading.step is not None and background.kind != "temporal":
        # "output of step 2" is node 1, unless it counts from 0.
        after = reading.step - 1
        is_sure = _flows(after, target, gold, background) and not _flows(after + 1, target, gold, background)
        return f"<node-{after}>" if is_sure else None
    if reading.spelling != "name":
        return None
    index = next(
        (candidate for candidate in reading.places if _flows(candidate, target, gold, background)), None
    )
    if index is None:
        return None
    if background.kind == "temporal":  # such a plan names the tool itself
        return next(node.tool for node in gold.nodes if node.place == index)
    return f"<node-{index}>"


def _flows(source: int, target: int, gold: Gold, background: Background) -> bool:
    """Whether the plan links two nodes, and an output of the first fits an input of the second."""
    tools = {node.place: node.tool for node in gold.nodes}
    library = background.library
    giver = tools.get(source)
    taker = tools.get(target)
    if (
        giver is None
        or taker is None
        or (giver, taker) not in gold.links
        or not {giver, taker} <= {*library.ids}
    ):
        return False
    return not library[taker].inputs or can_feed(library[giver], library[taker], background)


def _repair_order(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Sort nodes so that every reference points to an earlier node: by the steps, else topologically.

    Steps move with the nodes if they have the order of the nodes. Otherwise they stay, because published
    nodes are sorted by name and their steps by execution.
    """
    gold = _gold_of(record)
    nodes = _items_of(record, "task_nodes")
    references = list(_references_of(gold))
    if len(gold.nodes) != len(nodes) or any(
        reference.reading.spelling not in ("published", "name") for reference in references
    ):
        return record
    wires = [
        (reference.reading.places[0], reference.node)
        for reference in references
        if reference.reading.spelling == "published"
    ]
    if not any(source > target for source, target in wires) or not _agree(wires, gold, background):
        return record
    order = _order(wires, gold)
    if order is None:
        return record
    position = {index: number for number, index in enumerate(order)}
    repairs.append(Repair("order", "task_nodes", list(range(len(nodes))), order))
    moved = [_with_texts(nodes[index], lambda text: renumbered(text, position)) for index in order]
    repaired: Record = {**record, "task_nodes": moved}
    tools = [node.tool for node in gold.nodes]
    if order_of_steps(gold.steps, tools) == {tool: index for index, tool in enumerate(tools)}:
        repaired["task_steps"] = steps_in_order(list(gold.steps), order, position)
        repairs.append(Repair("order", "task_steps", list(gold.steps), repaired["task_steps"]))
    return repaired


def _agree(wires: Sequence[tuple[int, int]], gold: Gold, background: Background) -> bool:
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


def _order(wires: Sequence[tuple[int, int]], gold: Gold) -> list[int] | None:
    """The indices of the nodes in their new order; None if the references form a cycle."""
    steps = order_of_steps(gold.steps, [node.tool for node in gold.nodes])
    if steps is not None:
        by_steps = {index: steps[node.tool] for index, node in enumerate(gold.nodes)}
        if all(by_steps[source] < by_steps[target] for source, target in wires):
            return sorted(by_steps, key=by_steps.__getitem__)
    graph: nx.DiGraph[int] = nx.DiGraph(wires)
    graph.add_nodes_from(range(len(gold.nodes)))
    try:
        return list(nx.lexicographical_topological_sort(graph))
    except nx.NetworkXUnfeasible:
        return None


# Names first: references and links are resolved by names.
_REPAIR_STEPS: tuple[RepairStep, ...] = (
    _repair_tool_names,
    _repair_forms,
    _repair_links,
    _repair_references,
    _repair_order,
)


def repair(record: Mapping[str, Any], background: Background) -> tuple[Record, list[Repair]]:
    """Repair a label; the input stays unchanged.

    A repair needs exactly one possible meaning, and must not hide what a gate takes as a sign of a wrong
    plan. A label in the form of the hub is returned in the form of the repository, which is no repair.

    Args:
        record: a label with any content.
        background: the library and the graph of the label.

    Returns:
        The repaired label and its changes, in the order in which they were made.

    >>> from toolassay.tools.library import Tool, ToolLibrary
    >>> background = Background(ToolLibrary([Tool("Text Search", "", ("text",), ("text",))]), "resource")
    >>> repaired, repairs = repair({"task_nodes": [{"task": "text_search", "arguments": [7]}]}, background)
    >>> repaired["task_nodes"], [change.kind for change in repairs]
    ([{'task': 'Text Search', 'arguments': ['7']}], ['tool name', 'form'])
    """
    repaired = repository_form(record)
    repairs: list[Repair] = []
    for step in _REPAIR_STEPS:
        repaired = step(repaired, background, repairs)
    return repaired, repairs
