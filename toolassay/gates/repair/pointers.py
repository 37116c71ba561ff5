"""References: spelt as published, and counted from 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from toolassay.dataset import reference_index
from toolassay.gates.compatibility import can_feed
from toolassay.gates.gate import Background
from toolassay.gates.literals import arguments_of
from toolassay.gates.references import Reader, Reading
from toolassay.gates.repair.changes import Record, Repair, gold_of, with_arguments
from toolassay.gates.tool_names import names_of
from toolassay.gold import Gold


class Pointer(NamedTuple):
    """An argument that speaks of another node: where it stands, its text, and how it is read."""

    node: int
    argument: int
    where: str
    text: str
    reading: Reading


def pointers_of(gold: Gold) -> Iterator[Pointer]:
    """The arguments of a plan that speak of another node."""
    reader = Reader.of(gold)
    for node in gold.nodes:
        for argument in arguments_of(node):
            if isinstance(argument.value, str) and (reading := reader.read(argument.value, node.place)):
                yield Pointer(node.place, argument.place, argument.where, argument.value, reading)


def mend_spelling(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """`<Node_1>` and its like, and tools named in place of a reference where a link says so."""
    gold = gold_of(record)
    changed: dict[tuple[int, int], str] = {}
    for pointer in pointers_of(gold):
        after = _respelt(pointer, gold, background)
        if after is not None and after != pointer.text:
            repairs.append(Repair("reference", pointer.where, pointer.text, after))
            changed[pointer.node, pointer.argument] = after
    return with_arguments(record, changed)


def _respelt(pointer: Pointer, gold: Gold, background: Background) -> str | None:
    reading = pointer.reading
    if reading.spelling == "near":
        return f"<node-{reading.places[0]}>"
    if reading.spelling == "placeholder" and background.kind == "resource":
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


def _step_meant(pointer: Pointer, gold: Gold, background: Background) -> str | None:
    """The reference for "output of step 2", if the links bear node 1 out, and not node 2."""
    step = pointer.reading.step
    if step is None or _flows(step, pointer.node, gold, background):
        return None
    return f"<node-{step - 1}>" if _flows(step - 1, pointer.node, gold, background) else None


def _flows(source: int, target: int, gold: Gold, background: Background) -> bool:
    """Whether a link says that one node comes before the other, and what it gives fits."""
    tools = {node.place: node.tool for node in gold.nodes}
    if source == target or (tools.get(source), tools.get(target)) not in gold.links:
        return False
    return _fits(tools[source], tools[target], background)


def _fits(source: str, target: str, background: Background) -> bool:
    names = names_of(background.library)
    first, second = names.meant(source), names.meant(target)
    if first is None or second is None:
        return False
    library = background.library
    return not library[second].inputs or can_feed(library[first], library[second], background)


def mend_counting(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """References counted from 1: read so they are the links exactly, and counted from 0 they are not.

    Temporal plans are left alone: their links say the order, which is no witness of what refers to what.
    """
    gold = gold_of(record)
    pointers = list(pointers_of(gold))
    if (
        background.kind == "temporal"
        or not gold.links
        or any(pointer.reading.spelling != "published" for pointer in pointers)
    ):
        return record
    wires = [
        (index, pointer.node) for pointer in pointers if (index := reference_index(pointer.text)) is not None
    ]
    if not wires or _agrees(wires, gold, background):
        return record
    if not _agrees([(source - 1, target) for source, target in wires], gold, background):
        return record
    changed = {}
    for (source, _), pointer in zip(wires, pointers, strict=True):
        after = f"<node-{source - 1}>"
        repairs.append(Repair("counted from 1", pointer.where, pointer.text, after))
        changed[pointer.node, pointer.argument] = after
    return with_arguments(record, changed)


def _agrees(wires: list[tuple[int, int]], gold: Gold, background: Background) -> bool:
    """Whether wires between nodes are what the links say, and fit."""
    tools = {node.place: node.tool for node in gold.nodes}
    if any(source == target or source not in tools for source, target in wires):
        return False
    ends = {(tools[source], tools[target]) for source, target in wires}
    return ends == set(gold.links) and all(_fits(source, target, background) for source, target in ends)
