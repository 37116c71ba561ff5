"""A link that runs otherwise than the plan."""

from __future__ import annotations

from collections.abc import Callable

from measurements.planted_defects.forms import Change, Form, Plant, World
from measurements.planted_defects.plans import links_of, put, reference, slots, tools_of
from measurements.planted_defects.samples import Record

KIND = "swapped link"
Links = list[tuple[str, str]]
Swap = Callable[[Links, list[str], World], Links | None]


def _turned(links: Links, tools: list[str], world: World) -> Links | None:
    places = [i for i, (a, b) in enumerate(links) if (b, a) not in links]
    if not places:
        return None
    place = world.chance.choice(places)
    return [(b, a) if i == place else (a, b) for i, (a, b) in enumerate(links)]


def _exchanged(links: Links, tools: list[str], world: World) -> Links | None:
    choices = []
    for i, (a, b) in enumerate(links):
        for j, (c, d) in enumerate(links[:i]):
            if len({a, c}) == len({b, d}) == 2 and a != d and c != b:
                choices.append((i, (a, d), j, (c, b)))
    if not choices:
        return None
    i, first, j, second = world.chance.choice(choices)
    new = list(links)
    new[i], new[j] = first, second
    return new


def _replaced(links: Links, tools: list[str], world: World) -> Links | None:
    choices = [
        (i, (x, b))
        for i, (a, b) in enumerate(links)
        for x in sorted(set(tools))
        if x not in (a, b) and (x, b) not in links and (b, x) not in links
    ]
    if not choices:
        return None
    place, link = world.chance.choice(choices)
    return [link if i == place else old for i, old in enumerate(links)]


def _plant(swap: Swap, *keys: str) -> Plant:
    def plant(record: Record, world: World) -> Change | None:
        before = list(links_of(record).elements())
        after = swap(before, tools_of(record), world)
        if after is None or sorted(after) == sorted(before):
            return None
        for key in keys:
            record[key] = [{"source": a, "target": b} for a, b in after]
        gone = set(before) - set(after)
        come = set(after) - set(before)
        return Change(", ".join(keys), str(sorted(gone)), str(sorted(come)))

    return plant


def _references(record: Record, world: World) -> Change | None:
    """Two nodes take each other's inputs, and the links stay."""
    found = [slot for slot in slots(record) if reference(slot.value) is not None]
    tools, names = world.data.tools, tools_of(record)

    def output(value: str) -> tuple[str, ...]:
        return tools[names[reference(value) or 0]].outputs

    choices = [
        (one, two)
        for i, one in enumerate(found)
        for two in found[:i]
        if one.node != two.node and one.value != two.value and output(one.value) == output(two.value)
        if (reference(one.value) or 0) < two.node and (reference(two.value) or 0) < one.node
    ]
    if not choices:
        return None
    one, two = world.chance.choice(choices)
    put(record, one, two.value)
    put(record, two, one.value)
    return Change(f"{one.where}, {two.where}", f"{one.value}, {two.value}", f"{two.value}, {one.value}")


FORMS = (
    Form(KIND, "direction turned", _plant(_turned, "task_links")),
    Form(KIND, "two targets exchanged", _plant(_exchanged, "task_links")),
    Form(KIND, "source replaced", _plant(_replaced, "task_links")),
    Form(KIND, "two references exchanged, links as they were", _references),
    Form(
        KIND,
        "direction turned, in the sampled links too",
        _plant(_turned, "task_links", "sampled_links"),
        True,
    ),
    Form(
        KIND,
        "two targets exchanged, in the sampled links too",
        _plant(_exchanged, "task_links", "sampled_links"),
        True,
    ),
    Form(
        KIND,
        "source replaced, in the sampled links too",
        _plant(_replaced, "task_links", "sampled_links"),
        True,
    ),
)
