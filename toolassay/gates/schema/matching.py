"""Resource arguments against the inputs of a tool: which argument fills which, and what is left over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from toolassay.gates.fit import Fit
from toolassay.metrics.assignment import best_assignment

_MOST = 64


class Matching(NamedTuple):
    """How arguments fill inputs, the best way there is.

    Attributes:
        slot_of: the input that each argument fills; None for an argument too many.
        missing: the inputs that nothing fills.
    """

    slot_of: tuple[int | None, ...]
    missing: tuple[int, ...]


def match(fits: Sequence[Sequence[Fit]], slots: int) -> Matching:
    """Put arguments into inputs in whatever order fits best.

    Args:
        fits: fits[argument][input].
        slots: how many inputs there are.
    """
    arguments = min(len(fits), _MOST)
    size = max(arguments, slots)
    gains: list[list[float]] = [
        [-fits[row][column].cost if row < arguments and column < slots else 0 for column in range(size)]
        for row in range(size)
    ]
    # Without a reason to do otherwise, arguments stand in the order of the inputs.
    for place in range(min(arguments, slots)):
        gains[place][place] += 0.01
    row_of = best_assignment(gains)
    slot_of: list[int | None] = [None] * len(fits)
    for slot in range(slots):
        if row_of[slot] < arguments:
            slot_of[row_of[slot]] = slot
    filled = set(slot_of)
    return Matching(tuple(slot_of), tuple(slot for slot in range(slots) if slot not in filled))
