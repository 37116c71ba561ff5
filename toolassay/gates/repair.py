"""Repair a label: fix mechanical errors that have only one possible meaning, and record every change.

Repairs of single calls fix the names of tools and arguments, the form of arguments, and references, whose
published spelling is `<node-0>`, counted from 0. Repairs of the whole plan fix links, steps, size and shape,
and the order of nodes. All repairs run until none changes anything. Every change is recorded as a `Repair`.
"""

from __future__ import annotations

import contextlib
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import networkx as nx

from toolassay.backinstruct.critics import Spellings, rule_critic
from toolassay.backinstruct.labels import steps_in_order
from toolassay.dataset import SHAPES, renumbered, repository_form, shape_of
from toolassay.gates.gate import Background, tool_spellings
from toolassay.gates.graph_gate import leads_to, order_of_steps, sample_of
from toolassay.gates.references import (
    ReferenceReader,
    ReferenceReading,
    arguments_of,
    can_feed,
    place_text,
    text_of_number,
    texts_in,
    texts_of,
)
from toolassay.gates.schema_gate import (
    certain_value,
    reference_test,
    validators_of,
    value_at,
    with_value,
)
from toolassay.gold import Gold
from toolassay.graph.dependencies import fields_of
from toolassay.tools import Tool


class Repair(NamedTuple):
    """One change of a label.

    Attributes:
        kind: "tool name", "argument name", "form", "number", "type", "reference", "counted from 1", "order",
            "duplicate link", "steps", "size" or "shape".
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
"""Returns the repaired label and appends each change to the list. Unchanged parts stay the same objects."""


def gold_of(record: Mapping[str, Any]) -> Gold:
    """The gold plan of a label from which anything may be missing, even the id."""
    return Gold.of({"id": 0, **record})


def nodes_of(record: Mapping[str, Any]) -> list[Any]:
    """The raw nodes of a label; empty if `task_nodes` is not a list."""
    nodes = record.get("task_nodes")
    return nodes if isinstance(nodes, list) else []


def with_argument(argument: Any, value: Any) -> Any:
    """An argument with its value replaced: `value` of an object (temporal), otherwise all (resource)."""
    if isinstance(argument, Mapping) and "value" in argument:
        return {**argument, "value": value}
    return value


def with_arguments(record: Record, changed: Mapping[tuple[int, int], Any]) -> Record:
    """The label with new values for arguments, given by (index of the node, index of the argument)."""
    if not changed:
        return record
    nodes = list(nodes_of(record))
    for (place, item), value in changed.items():
        arguments = list(nodes[place]["arguments"])
        arguments[item] = with_argument(arguments[item], value)
        nodes[place] = {**nodes[place], "arguments": arguments}
    return {**record, "task_nodes": nodes}


_ENDS = {"task_nodes": ("task", "id"), "sampled_nodes": ("task", "id")} | dict.fromkeys(
    ("task_links", "sampled_links"), ("source", "target")
)


def repair_tool_names(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Correct tool names in nodes, links and the sample that are a near spelling of exactly one tool."""
    names = tool_spellings(background.library)
    for key, ends in _ENDS.items():
        repaired = partial(_tool_names_of_item, ends=ends, names=names, repairs=repairs)
        record = _with_items(record, key, repaired)
    return record


def _with_items(record: Record, key: str, repaired: Callable[[Any, str], Any]) -> Record:
    """The label with each item of a list repaired, by a function of the item and its path."""
    items = record.get(key)
    if not isinstance(items, list):
        return record
    new = [repaired(item, f"{key}[{place}]") for place, item in enumerate(items)]
    return {**record, key: new} if any(map(operator.is_not, new, items)) else record


def _tool_names_of_item(
    item: Any, where: str, ends: tuple[str, str], names: Spellings, repairs: list[Repair]
) -> Any:
    if isinstance(item, str):
        return _name(item, where, names, repairs)
    if not isinstance(item, Mapping):
        return item
    present = [end for end in ends if isinstance(item.get(end), str)]
    if "task" in ends:
        present = present[:1]  # `id` names the tool only where there is no `task`
    repaired = {end: _name(item[end], f"{where}.{end}", names, repairs) for end in present}
    return {**item, **repaired} if any(repaired[end] is not item[end] for end in repaired) else item


def _name(name: str, where: str, names: Spellings, repairs: list[Repair]) -> str:
    meant = names.meant(name)
    if meant is None or meant == name:
        return name
    repairs.append(Repair("tool name", where, name, meant))
    return meant


def repair_argument_names(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Correct argument names that are a near spelling of exactly one parameter of the tool."""
    repaired = partial(_argument_names_of_node, background=background, repairs=repairs)
    return _with_items(record, "task_nodes", repaired)


def _argument_names_of_node(node: Any, where: str, background: Background, repairs: list[Repair]) -> Any:
    tool = node.get("task", node.get("id")) if isinstance(node, Mapping) else None
    arguments = node.get("arguments") if isinstance(node, Mapping) else None
    if not isinstance(tool, str) or tool not in background.library or not isinstance(arguments, list):
        return node
    names = Spellings(parameter.name for parameter in background.library[tool].parameters)
    given = [item.get("name") if isinstance(item, Mapping) else None for item in arguments]
    taken = {name for name in given if isinstance(name, str)}
    repaired = list(arguments)
    for place, name in enumerate(given):
        meant = names.meant(name) if isinstance(name, str) else None
        if meant is not None and meant != name and meant not in taken:
            repairs.append(Repair("argument name", f"{where}.arguments[{place}].name", name, meant))
            repaired[place] = {**arguments[place], "name": meant}
            taken.add(meant)
    changed = any(new is not old for new, old in zip(repaired, arguments, strict=True))
    return {**node, "arguments": repaired} if changed else node


def repair_forms(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Convert arguments to the form of the tool: a list of texts (resource) or of named values (temporal)."""
    repaired = partial(_form_of_node, background=background, repairs=repairs)
    return _with_items(record, "task_nodes", repaired)


def _form_of_node(node: Any, where: str, background: Background, repairs: list[Repair]) -> Any:
    if not isinstance(node, Mapping) or node.get("arguments") is None:
        return node
    name = node.get("task", node.get("id"))
    tool = background.library[name] if isinstance(name, str) and name in background.library else None
    by_inputs = background.kind == "resource" if tool is None else background.takes_inputs(tool)
    before = arguments = node["arguments"]
    if not isinstance(arguments, list):
        arguments = _list_of(arguments, by_inputs, tool)
        if arguments is None:
            return node
        repairs.append(Repair("form", f"{where}.arguments", before, arguments))
    repaired = []
    for place, item in enumerate(arguments):
        after = _text(item) if by_inputs else _named(item, tool, len(arguments))
        if after is not item:
            kind = "number" if by_inputs and _is_plain(item) else "form"
            repairs.append(Repair(kind, f"{where}.arguments[{place}]", item, after))
        repaired.append(after)
    if arguments is before and all(new is old for new, old in zip(repaired, before, strict=True)):
        return node
    return {**node, "arguments": repaired}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _list_of(value: Any, by_inputs: bool, tool: Tool | None) -> list[Any] | None:
    """The list of arguments that a text, a number or an object stands for; None if that is unclear."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            decoded = json.loads(value)
            return decoded if isinstance(decoded, list) else None
    if isinstance(value, Mapping) and "value" in value:
        return [value["value"] if by_inputs else value]
    if by_inputs:
        if isinstance(value, Mapping):
            values = list(value.values())
            return values if values and all(isinstance(one, str) for one in values) else None
        return [value] if _is_plain(value) else None
    if isinstance(value, Mapping) and tool is not None and all(_is_parameter(key, tool) for key in value):
        return [{"name": key, "value": item} for key, item in value.items()] or None
    return [value] if _is_plain(value) and tool is not None and len(tool.parameters) == 1 else None


def _text(item: Any) -> Any:
    """The text that a number or an object with a value stands for; else the item."""
    inner = item.get("value") if isinstance(item, Mapping) else item
    if isinstance(inner, str):
        return inner
    return text_of_number(inner) if isinstance(inner, int | float) and _is_plain(inner) else item


def _is_parameter(key: Any, tool: Tool) -> bool:
    names = Spellings(parameter.name for parameter in tool.parameters)
    return isinstance(key, str) and names.meant(key) is not None


def _named(item: Any, tool: Tool | None, count: int) -> Any:
    """The named value that an object of one key or the only value of a tool stands for; else the item."""
    if tool is None:
        return item
    if isinstance(item, Mapping) and len(item) == 1 and _is_parameter(key := next(iter(item)), tool):
        return {"name": key, "value": item[key]}
    if _is_plain(item) and count == len(tool.parameters) == 1:
        return {"name": tool.parameters[0].name, "value": item}
    return item


def repair_types(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Convert values that the `input_schema` of their tool forbids and that can mean only one valid value.

    "4" becomes 4 for an integer, "true" becomes true, and a text for a list of texts a list of one.
    """
    gold = gold_of(record)
    reader, changed = ReferenceReader.of(gold), dict[tuple[int, int], Any]()
    for node in gold.nodes:
        validator = validators_of(background.library).get(node.tool)
        if validator is None:
            continue
        places = {
            item["name"]: place
            for place, item in enumerate(node.arguments or ())
            if isinstance(item, Mapping) and isinstance(item.get("name"), str) and "value" in item
        }
        arguments = {name: (node.arguments or ())[place]["value"] for name, place in places.items()}
        is_reference = reference_test(reader, node.place)
        for problem in validator.problems(arguments, is_reference):
            if (meant := certain_value(validator, arguments, problem, is_reference)) is None:
                continue
            name, place = str(problem.parts[0]), places[str(problem.parts[0])]
            where = f"{node.where}.arguments[{place}].value{place_text(problem.parts[1:])}"
            repairs.append(Repair("type", where, value_at(arguments, problem.parts), meant.value))
            arguments = with_value(arguments, problem.parts, meant.value)
            changed[node.place, place] = arguments[name]
    return with_arguments(record, changed)


class PlanReference(NamedTuple):
    """An argument that refers to another node.

    Attributes:
        node: index of the node that has the argument.
        argument: index of the argument in it.
        where: path of the text in the label.
        text: the argument, or a text in it, as written.
        reading: how it is parsed.
        whole: the value of the argument.
    """

    node: int
    argument: int
    where: str
    text: str
    reading: ReferenceReading
    whole: Any


def references_of(gold: Gold) -> Iterator[PlanReference]:
    """The arguments of a plan that refer to another node."""
    reader = ReferenceReader.of(gold)
    for node in gold.nodes:
        for argument in arguments_of(node):
            for text in texts_in(argument):
                if reading := reader.read(text.value, node.place):
                    yield PlanReference(
                        node.place, argument.place, text.where, text.value, reading, argument.value
                    )


def respelt_references(value: Any, respelt: Callable[[str], str]) -> Any:
    """A value with its texts replaced, at any depth."""
    for place, text in texts_of(value):
        if (new := respelt(text)) != text:
            value = with_value(value, place, new)
    return value


def repair_reference_spelling(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Respell near references such as `<Node_1>`, and tool names used as references along a link."""
    gold = gold_of(record)
    changed: dict[tuple[int, int], Any] = {}
    for pointer in references_of(gold):
        after = _respelt(pointer, gold, background)
        if after is not None and after != pointer.text:
            repairs.append(Repair("reference", pointer.where, pointer.text, after))
            _respell(changed, pointer, after)
    return with_arguments(record, changed)


def _respell(changed: dict[tuple[int, int], Any], pointer: PlanReference, after: str) -> None:
    """Replace a reference in the new value of its argument."""
    key = pointer.node, pointer.argument
    whole = changed.get(key, pointer.whole)
    changed[key] = respelt_references(whole, lambda text: after if text == pointer.text else text)


def _respelt(pointer: PlanReference, gold: Gold, background: Background) -> str | None:
    reading = pointer.reading
    if reading.spelling == "near":
        return f"<node-{reading.places[0]}>"
    if reading.spelling == "placeholder" and background.kind != "temporal":
        return _step_meant(pointer, gold, background)
    if reading.spelling != "name":
        return None
    fitting = [place for place in reading.places if _flows(place, pointer.node, gold, background)]
    tools = {node.place: node.tool for node in gold.nodes}
    if not fitting:
        return None
    if background.kind == "temporal":
        # A temporal plan names the tool itself.
        return tools[fitting[0]]
    return f"<node-{fitting[0]}>"


def _step_meant(pointer: PlanReference, gold: Gold, background: Background) -> str | None:
    """The reference for "output of step 2", if the links confirm node 1 and not node 2."""
    step = pointer.reading.step
    if step is None or _flows(step, pointer.node, gold, background):
        return None
    return f"<node-{step - 1}>" if _flows(step - 1, pointer.node, gold, background) else None


def _flows(source: int, target: int, gold: Gold, background: Background) -> bool:
    """Whether the plan links two nodes, and an output of the first fits an input of the second."""
    tools = {node.place: node.tool for node in gold.nodes}
    if source == target or (tools.get(source), tools.get(target)) not in gold.links:
        return False
    return _fits(tools[source], tools[target], background)


def _fits(source: str, target: str, background: Background) -> bool:
    names = tool_spellings(background.library)
    first, second = names.meant(source), names.meant(target)
    if first is None or second is None:
        return False
    library = background.library
    return not library[second].inputs or can_feed(library[first], library[second], background)


def repair_reference_counting(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Renumber references that count from 1: minus 1 they equal the links exactly, as written they do not.

    Temporal plans stay unchanged: their links give an order, which does not show what refers to what.
    """
    gold = gold_of(record)
    pointers = list(references_of(gold))
    if (
        background.kind == "temporal"
        or not gold.links
        or any(pointer.reading.spelling != "published" for pointer in pointers)
    ):
        return record
    wires = [(pointer.reading.places[0], pointer.node) for pointer in pointers]
    if not wires or _agrees(wires, gold, background):
        return record
    if not _agrees([(source - 1, target) for source, target in wires], gold, background):
        return record
    numbers = {source: source - 1 for source, _ in wires}
    changed: dict[tuple[int, int], Any] = {}
    for pointer in pointers:
        after = renumbered(pointer.text, numbers)
        repairs.append(Repair("counted from 1", pointer.where, pointer.text, after))
        changed[pointer.node, pointer.argument] = respelt_references(
            pointer.whole, lambda text: renumbered(text, numbers)
        )
    return with_arguments(record, changed)


def _agrees(wires: list[tuple[int, int]], gold: Gold, background: Background) -> bool:
    """Whether references (source, target) equal the links of the plan, and the types of their tools fit."""
    tools = {node.place: node.tool for node in gold.nodes}
    if any(source == target or source not in tools for source, target in wires):
        return False
    ends = {(tools[source], tools[target]) for source, target in wires}
    links = set(gold.links)
    if background.kind == "schema":  # links without fields need no reference
        graph = background.graph
        links -= {
            link
            for link in links - ends
            if graph is None or (found := graph.dependency(*link)) is None or not fields_of(found)
        }
        # A step may repeat an argument of the step before it, which is a reference.
        ends = {wire for wire in ends if wire in links or not leads_to(*wire, gold.links)}
    return ends == links and all(_fits(source, target, background) for source, target in ends)


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
