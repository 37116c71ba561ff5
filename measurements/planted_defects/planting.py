"""Planting: a seeded choice of samples and forms, each planted sample shown to be really defective."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from measurements.planted_defects.forms import KINDS, Form, World
from measurements.planted_defects.kinds import FORMS
from measurements.planted_defects.kinds.duplicate_request import KIND as DUPLICATE
from measurements.planted_defects.samples import DataSet, Record
from measurements.planted_defects.verifying import is_defective


class Planted(NamedTuple):
    """A line of the key: which sample was given which defect, and what was changed."""

    id: Any
    kind: str
    form: str
    hard: bool
    where: str
    before: str
    after: str


class PlantedSet(NamedTuple):
    """The records with the defects in them, and the key."""

    records: list[Record]
    key: list[Planted]


def plant(
    data: DataSet,
    seed: int,
    *,
    share: float = 0.25,
    strange_tools: Sequence[str] = (),
    leave: Sequence[Any] = (),
) -> PlantedSet:
    """Give at most `share` of the set one defect each, kinds and forms in turn.

    Args:
        data: the clean set.
        seed: of every choice; another seed begins with other forms.
        share: of the resulting set, duplicates counted.
        strange_tools: names of tools of other libraries.
        leave: ids of samples that are not to be touched.
    """
    chance = random.Random(f"{data.name} {seed}")
    world = World(data, strange_tools, chance)
    turns = _turns(data, seed, share)
    untouched = [i for i, record in enumerate(data.records) if record["id"] not in set(leave)]
    records = [copy.deepcopy(record) for record in data.records]
    key: list[Planted] = []
    copies: list[tuple[int, Record]] = []
    kinds = list(KINDS)
    chance.shuffle(kinds)
    barren = 0
    while barren < len(kinds):
        kind = kinds[0]
        kinds.append(kinds.pop(0))
        total = len(records) + len(copies) + (kind == DUPLICATE)
        if len(key) + 1 > share * total:
            break
        found = _next(turns[kind], untouched, records, world)
        if found is None:
            barren += 1
            continue
        barren = 0
        place, record, line = found
        untouched.remove(place)
        key.append(line)
        if kind == DUPLICATE:
            copies.append((place, record))
        else:
            records[place] = record
    return PlantedSet(_with_copies(records, copies, chance), key)


def _turns(data: DataSet, seed: int, share: float) -> dict[str, list[Form]]:
    """The forms of each kind in an order of the set's own, from where the seed before will have ended."""
    turns = {}
    for kind in KINDS:
        forms = [form for form in FORMS if form.kind == kind]
        random.Random(data.name).shuffle(forms)
        start = seed * max(1, round(share * len(data.records) / len(KINDS))) % len(forms)
        turns[kind] = forms[start:] + forms[:start]
    return turns


def _next(
    forms: list[Form], untouched: Sequence[int], records: Sequence[Record], world: World
) -> tuple[int, Record, Planted] | None:
    """The next form of a kind that some sample can be given; forms that were used go to the end."""
    for form in list(forms):
        forms.append(forms.pop(0))
        for place in world.chance.sample(list(untouched), len(untouched)):
            original = records[place]
            record = copy.deepcopy(original)
            change = form.plant(record, world)
            if change is None or not is_defective(form, original, record, world.data):
                continue
            if form.kind == DUPLICATE:
                record |= {"id": _another_id(original["id"], world.chance), "copy_of": original["id"]}
            return place, record, Planted(record["id"], form.kind, form.name, form.hard, *change)
    return None


def _another_id(original: Any, chance: random.Random) -> str | int:
    """An id of the same look."""
    new = 40_000_000 + chance.randrange(10_000_000)
    return new if isinstance(original, int) else str(new)


def _with_copies(
    records: list[Record], copies: Sequence[tuple[int, Record]], chance: random.Random
) -> list[Record]:
    """The records, each copy somewhere behind its original."""
    after: dict[int, list[Record]] = {}
    for place, record in copies:
        after.setdefault(chance.randint(place, len(records) - 1), []).append(record)
    return [line for i, record in enumerate(records) for line in (record, *after.get(i, ()))]
