"""A value that the request states, in the wrong slot, or a slot that contradicts the request."""

from __future__ import annotations

from measurements.planted_defects.forms import Change, Form, World
from measurements.planted_defects.plans import Slot, put_also_in_steps, reference, slots
from measurements.planted_defects.samples import Record

KIND = "value in the wrong slot"
# What a pair of parameters is called whose values must not be exchanged.
PAIRS = (
    ("from", "to"),
    ("start", "end"),
    ("origin", "destination"),
    ("source", "target"),
    ("check_in", "check_out"),
    ("arrival", "departure"),
    ("depart", "return"),
    ("min", "max"),
    ("old", "new"),
)


def _exchange(record: Record, one: Slot, two: Slot) -> Change:
    put_also_in_steps(record, one, two.value)
    put_also_in_steps(record, two, one.value)
    return Change(f"{one.where}, {two.where}", f"{one.value}, {two.value}", f"{two.value}, {one.value}")


def _literals(record: Record, kind: type) -> list[Slot]:
    return [
        slot
        for slot in slots(record)
        if slot.name and type(slot.value) is kind and slot.value != "" and reference(slot.value) is None
    ]


def _is_pair(one: Slot, two: Slot) -> bool:
    names = (one.name or "").lower(), (two.name or "").lower()
    return any(names[0].replace(start, end, 1) == names[1] != names[0] for start, end in PAIRS)


def _pair(record: Record, world: World) -> Change | None:
    texts = _literals(record, str)
    choices = [
        (one, two)
        for one in texts
        for two in texts
        if one.node == two.node and one.value != two.value and _is_pair(one, two)
    ]
    return _exchange(record, *world.chance.choice(choices)) if choices else None


def _numbers(record: Record, world: World) -> Change | None:
    numbers = [slot for kind in (int, float) for slot in _literals(record, kind)]
    choices = [
        (one, two)
        for place, one in enumerate(numbers)
        for two in numbers[:place]
        if one.node == two.node and one.value != two.value
    ]
    return _exchange(record, *world.chance.choice(choices)) if choices else None


def _item(record: Record, world: World) -> Change | None:
    lists = [slot for slot in _literals(record, list) if len(slot.value) > 2]
    if not lists:
        return None
    slot = world.chance.choice(lists)
    left = list(slot.value)
    gone = left.pop(world.chance.randrange(len(left)))
    put_also_in_steps(record, slot, left)
    return Change(slot.where, str(gone), "left out")


def _switch(record: Record, world: World) -> Change | None:
    switches = _literals(record, bool)
    if not switches:
        return None
    slot = world.chance.choice(switches)
    put_also_in_steps(record, slot, not slot.value)
    return Change(slot.where, str(slot.value), str(not slot.value))


def _other_slot(record: Record, world: World) -> Change | None:
    texts = [slot for slot in _literals(record, str) if not any(map(str.isdigit, slot.value))]
    choices = [
        (one, two)
        for one in texts
        for two in texts
        if one.name != two.name and one.value.casefold() != two.value.casefold() and not _is_pair(one, two)
    ]
    if not choices:
        return None
    slot, other = world.chance.choice(choices)
    put_also_in_steps(record, slot, other.value)
    return Change(slot.where, slot.value, other.value)


# What the gates can tell at best without understanding: the two last forms are counted apart.
FORMS = (
    Form(KIND, "two values of a pair exchanged", _pair),
    Form(KIND, "an item of a list left out", _item),
    Form(KIND, "two numbers of a call exchanged", _numbers),
    Form(KIND, "a switch turned", _switch, True),
    Form(KIND, "the value of another slot", _other_slot, True),
)
