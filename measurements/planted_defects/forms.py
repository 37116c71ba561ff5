"""What a form of a defect is, and what it may look at."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from measurements.planted_defects.samples import DataSet, Record


class Change(NamedTuple):
    """What was changed in a sample: where, and what stands there instead of what."""

    where: str
    before: str
    after: str


@dataclass(frozen=True)
class World:
    """What a form may draw on: the data set, tools of other libraries, and chance."""

    data: DataSet
    strange_tools: Sequence[str]
    chance: random.Random


Plant = Callable[[Record, World], Change | None]


@dataclass(frozen=True)
class Form:
    """One surface form of a kind of defect.

    Attributes:
        kind: which of the nine.
        name: of the form.
        plant: changes the record (which is a copy), or gives None where it does not apply.
        hard: counted apart: a reader could only tell it by understanding the request.
    """

    kind: str
    name: str
    plant: Plant
    hard: bool = False


# The gates that one would expect to name a kind.
EXPECTED: dict[str, tuple[str, ...]] = {
    "unknown tool": ("schema",),
    "wrong type": ("schema", "wiring"),
    "dangling reference": ("wiring",),
    "value not in the request": ("grounding",),
    "tool name leaked": ("leak",),
    "missing required argument": ("schema",),
    "swapped link": ("graph", "wiring"),
    "duplicate request": ("duplicate", "duplicates", "variety", "near duplicates", "exact duplicates"),
    "value in the wrong slot": ("grounding",),
}
KINDS = tuple(EXPECTED)
