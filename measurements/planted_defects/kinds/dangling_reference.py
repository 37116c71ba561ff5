"""A reference that no earlier node answers."""

from __future__ import annotations

from collections.abc import Callable

from measurements.planted_defects.forms import Change, Form, Plant, World
from measurements.planted_defects.plans import Slot, file_type, put, reference, slots, tools_of
from measurements.planted_defects.samples import Record

KIND = "dangling reference"


def _slots(record: Record, world: World) -> list[Slot]:
    """Where a reference stands, or could stand: references first; else texts."""
    found = slots(record)
    referring = [slot for slot in found if reference(slot.value) is not None]
    if referring:
        return referring
    texts = []
    for slot in found:
        tool = world.data.tools.get(record["task_nodes"][slot.node]["task"])
        parameter = tool.parameter(slot.name) if tool and slot.name else None
        if isinstance(slot.value, str) and (
            slot.name is None or (parameter and parameter.type == "string" and not parameter.values)
        ):
            texts.append(slot)
    return texts


def _to(target: Callable[[Slot, int], int]) -> Plant:
    def plant(record: Record, world: World) -> Change | None:
        return _put(record, world, lambda slot: f"<node-{target(slot, len(record['task_nodes']))}>")

    return plant


def _put(record: Record, world: World, value: Callable[[Slot], str]) -> Change | None:
    found = _slots(record, world)
    if not found:
        return None
    slot = world.chance.choice(found)
    new = value(slot)
    put(record, slot, new)
    return Change(slot.where, repr(slot.value), repr(new))


def _forward(record: Record, world: World) -> Change | None:
    """A node that waits for one which waits for it."""
    choices = []
    for slot in slots(record):
        tool = world.data.tools.get(record["task_nodes"][slot.node]["task"])
        parameter = tool.parameter(slot.name) if tool and slot.name else None
        if slot.name is not None and not (parameter and parameter.type == "string" and not parameter.values):
            continue
        if slot.name is None and not (reference(slot.value) is not None or file_type(slot.value) is None):
            continue
        followers = {slot.node}
        for other in slots(record):
            if reference(other.value) in followers:
                followers.add(other.node)
        choices += [(slot, j) for j in followers if j > slot.node]
    if not choices:
        return None
    slot, j = world.chance.choice(choices)
    put(record, slot, f"<node-{j}>")
    return Change(slot.where, repr(slot.value), f"'<node-{j}>'")


def _absent_tool(record: Record, world: World) -> Change | None:
    """The name of a tool that the library has and the plan has not."""
    absent = sorted(set(world.data.tools) - set(tools_of(record)))
    if not absent:
        return None
    name = world.chance.choice(absent)
    return _put(record, world, lambda _: name)


FORMS = (
    Form(KIND, "<node-99>", _to(lambda slot, count: 99)),
    Form(KIND, "one past the last node", _to(lambda slot, count: count)),
    Form(KIND, "the node itself", _to(lambda slot, count: slot.node)),
    Form(KIND, "a later node that needs this one", _forward),
    Form(KIND, "<node--1>", _to(lambda slot, count: -1)),
    Form(KIND, "the name of a tool that is not in the plan", _absent_tool),
)
