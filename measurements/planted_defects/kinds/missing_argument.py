"""A required argument is missing."""

from __future__ import annotations

from typing import Any

from measurements.planted_defects.forms import Change, Form, Plant, World
from measurements.planted_defects.plans import Slot, put, reference, slots
from measurements.planted_defects.samples import Record

KIND = "missing required argument"


def _required(record: Record, world: World) -> list[Slot]:
    """The slots that must be filled: those with literals, where there are any."""
    found = []
    for slot in slots(record):
        tool = world.data.tools.get(record["task_nodes"][slot.node]["task"])
        parameter = tool.parameter(slot.name) if tool and slot.name else None
        if slot.name is None or (parameter and parameter.required):
            found.append(slot)
    literal = [slot for slot in found if reference(slot.value) is None]
    return literal or found


def _dropped(record: Record, world: World) -> Change | None:
    found = _required(record, world)
    if not found:
        return None
    slot = world.chance.choice(found)
    del record["task_nodes"][slot.node]["arguments"][slot.place]
    return Change(slot.where, repr(slot.value), "nothing")


def _emptied(value: Any) -> Plant:
    def plant(record: Record, world: World) -> Change | None:
        found = _required(record, world)
        if not found:
            return None
        slot = world.chance.choice(found)
        put(record, slot, value)
        return Change(slot.where, repr(slot.value), repr(value))

    return plant


def _all_dropped(record: Record, world: World) -> Change | None:
    found = _required(record, world)
    if not found:
        return None
    node = world.chance.choice(found).node
    record["task_nodes"][node]["arguments"] = []
    return Change(f"task_nodes[{node}].arguments", "all", "[]")


def _no_key(record: Record, world: World) -> Change | None:
    """A node without `arguments` among others that have them."""
    found = _required(record, world)
    if not found or len(record["task_nodes"]) < 2:
        return None
    node = world.chance.choice(found).node
    del record["task_nodes"][node]["arguments"]
    return Change(f"task_nodes[{node}].arguments", "all", "no such key")


FORMS = (
    Form(KIND, "left out", _dropped),
    Form(KIND, "empty text", _emptied("")),
    Form(KIND, "null", _emptied(None)),
    Form(KIND, "blanks", _emptied("  ")),
    Form(KIND, "all arguments of a node left out", _all_dropped),
    Form(KIND, "a node without the key", _no_key),
)
