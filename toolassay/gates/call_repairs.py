"""Repairs of single calls: names of tools and arguments, the form of arguments, and references.

The published spelling of a reference is `<node-0>`, counted from 0. Every change is recorded as a `Repair`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from toolassay.backinstruct.critics import Spellings, same_tool
from toolassay.dataset import renumbered
from toolassay.gates.fit import can_feed
from toolassay.gates.gate import Background, tool_spellings
from toolassay.gates.references import (
    ReferenceReader,
    ReferenceReading,
    arguments_of,
    text_of_number,
    texts_in,
)
from toolassay.gates.schema.argument_objects import (
    certain_value,
    path_text,
    reference_test,
    texts_of,
    validators_of,
    value_at,
    with_value,
)
from toolassay.gates.schema.declared_types import kinds_of_type
from toolassay.gates.wiring_gate import leads_to
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
        items = record.get(key)
        if isinstance(items, list):
            repaired = [
                _tool_names_of_item(item, f"{key}[{place}]", ends, names, repairs)
                for place, item in enumerate(items)
            ]
            if any(new is not old for new, old in zip(repaired, items, strict=True)):
                record = {**record, key: repaired}
    return record


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
    nodes = record.get("task_nodes")
    if not isinstance(nodes, list):
        return record
    repaired = [
        _argument_names_of_node(node, f"task_nodes[{place}]", background, repairs)
        for place, node in enumerate(nodes)
    ]
    changed = any(new is not old for new, old in zip(repaired, nodes, strict=True))
    return {**record, "task_nodes": repaired} if changed else record


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


# The kinds of values that tools take as text, so that a number is written as text for them.
_TEXT_KINDS = {"string", "date", "time", "date-time", "phone"}


def repair_forms(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Convert arguments to the form of the tool: a list of texts (resource) or of named values (temporal)."""
    nodes = nodes_of(record)
    repaired = [
        _form_of_node(node, f"task_nodes[{place}]", background, repairs) for place, node in enumerate(nodes)
    ]
    changed = any(new is not old for new, old in zip(repaired, nodes, strict=True))
    return {**record, "task_nodes": repaired} if changed else record


def _form_of_node(node: Any, where: str, background: Background, repairs: list[Repair]) -> Any:
    if not isinstance(node, Mapping) or node.get("arguments") is None:
        return node
    name = node.get("task", node.get("id"))
    tool = background.library[name] if isinstance(name, str) and name in background.library else None
    by_inputs = background.kind == "resource" if tool is None else background.takes_inputs(tool)
    before = arguments = node["arguments"]
    if not isinstance(arguments, list):
        arguments = _resource_list(arguments) if by_inputs else _named_list(arguments, tool)
        if arguments is None:
            return node
        repairs.append(Repair("form", f"{where}.arguments", before, arguments))
    repaired = [
        _text(item, f"{where}.arguments[{place}]", tool, repairs)
        if by_inputs
        else _named(item, f"{where}.arguments[{place}]", tool, len(arguments), repairs)
        for place, item in enumerate(arguments)
    ]
    if arguments is before and all(new is old for new, old in zip(repaired, before, strict=True)):
        return node
    return {**node, "arguments": repaired}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _resource_list(value: Any) -> list[Any] | None:
    """The list of texts that a text, a number or an object stands for; None if that is unclear."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        return decoded if isinstance(decoded, list) else [value]
    if _is_plain(value):
        return [value]
    if isinstance(value, Mapping):
        values = [value["value"]] if "value" in value else list(value.values())
        return values if values and all(isinstance(item, str) for item in values) else None
    return None


def _text(item: Any, where: str, tool: Tool | None, repairs: list[Repair]) -> Any:
    if isinstance(item, str) or not (_is_plain(item) or isinstance(item, Mapping)):
        return item
    if not isinstance(item, Mapping):
        text = text_of_number(item)
        repairs.append(Repair("number", where, item, text))
        return text
    inner = item.get("value")
    if "value" not in item and len(item) == 1 and _is_type(key := next(iter(item)), tool):
        inner = item[key]
    if isinstance(inner, bool) or not isinstance(inner, str | int | float):
        return item
    text = inner if isinstance(inner, str) else text_of_number(inner)
    repairs.append(Repair("form", where, item, text))
    return text


def _is_type(key: Any, tool: Tool | None) -> bool:
    """Whether a key is only the type of an input, as in {"image": "example.jpg"}."""
    types = {same_tool(kind) for kind in tool.inputs} if tool is not None else set()
    return isinstance(key, str) and same_tool(key) in types


def _named_list(value: Any, tool: Tool | None) -> list[Any] | None:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            decoded = None
        if isinstance(decoded, list):
            return decoded
    if isinstance(value, Mapping):
        if "name" in value and "value" in value:
            return [value]
        if tool is not None and value and all(_parameter(key, tool) for key in value):
            return [{"name": key, "value": item} for key, item in value.items()]
        return None
    if _is_plain(value) and tool is not None and len(tool.parameters) == 1:
        return [{"name": tool.parameters[0].name, "value": value}]
    return None


def _parameter(key: Any, tool: Tool) -> str | None:
    return Spellings(p.name for p in tool.parameters).meant(key) if isinstance(key, str) else None


def _named(item: Any, where: str, tool: Tool | None, count: int, repairs: list[Repair]) -> Any:
    if tool is None:
        return item
    if isinstance(item, Mapping):
        if "value" in item and isinstance(name := item.get("name"), str):
            return _as_text(item, name, where, tool, repairs)
        if len(item) != 1 or not _parameter(key := next(iter(item)), tool):
            return item
        after = {"name": key, "value": item[key]}
    elif _is_plain(item) and count == len(tool.parameters) == 1:
        after = {"name": tool.parameters[0].name, "value": item}
    else:
        return item
    repairs.append(Repair("form", where, item, after))
    return after


def _as_text(item: Mapping[str, Any], name: str, where: str, tool: Tool, repairs: list[Repair]) -> Any:
    """Write a number as text if the parameter takes only text."""
    value = item["value"]
    declared = next((p.type for p in tool.parameters if p.name == name), None)
    if tool.input_schema is not None:
        return item  # `repair_types` converts it where the schema requires that
    if declared is None or isinstance(value, str) or not _is_plain(value):
        return item
    kinds = kinds_of_type(declared)
    if not kinds or not kinds <= _TEXT_KINDS:
        return item
    text = text_of_number(value)
    repairs.append(Repair("number", f"{where}.value", value, text))
    return {**item, "value": text}


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
            where = f"{node.where}.arguments[{place}].value{path_text(problem.parts[1:])}"
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
            for text in texts_in(argument) if is_nested(argument.value) else [argument]:
                if isinstance(text.value, str) and (reading := reader.read(text.value, node.place)):
                    yield PlanReference(
                        node.place, argument.place, text.where, text.value, reading, argument.value
                    )


def is_nested(value: Any) -> bool:
    """Whether a value is a list or an object, whose texts may be references too."""
    return isinstance(value, list | Mapping)


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
