"""Numbers that a text does not say and somebody may reckon from it: the sum of two, the nights of a stay."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from itertools import combinations, islice

from toolassay.gates.knowability.dates import Day

_MOST = 12
_HIGHEST = 1_000_000


def worked_numbers(numbers: Iterable[Decimal], days: Iterable[Day], times: Iterable[float]) -> set[Decimal]:
    """The sums, differences and products of two numbers; what lies between two days or two times.

    >>> sorted(map(int, worked_numbers([Decimal(2), Decimal(15)], [Day(2027, 6, 2), Day(2027, 6, 9)], [])))
    [7, 8, 13, 17, 30]
    """
    found: set[Decimal] = set()
    some = [number for number in islice(numbers, _MOST) if 0 < number < _HIGHEST]
    for one, two in combinations(some, 2):
        found |= {one + two, abs(one - two), one * two}
    whole = [one for one in map(_date, islice(days, _MOST)) if one]
    for first, last in combinations(whole, 2):
        between = abs((last - first).days)
        found |= {Decimal(between), Decimal(between + 1)}
    for start, end in combinations(islice(times, _MOST), 2):
        minutes = Decimal(str(abs(end - start)))
        found |= {minutes, minutes / 60}
    return found


def _date(day: Day) -> date | None:
    try:
        return date(day.year or 2027, day.month, day.day or 0)
    except ValueError:
        return None
