"""Values of one call that have to agree: what begins before what ends, the least below the most, nights.

Dates and times are laid out before anything is drawn, each later than those that come before it by its name.
Numbers are put in order after they were drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, time, timedelta
from typing import Any, NamedTuple

from toolassay.offline.own_tools.value_pools import World
from toolassay.offline.own_tools.value_sources import Moment, Slot
from toolassay.text_values.vocabulary import word_set

_STARTS = word_set(
    "start starts started starting begin begins beginning from since after min minimum lower low "
    "lowest least open opened opens opening first earliest gte gt oldest checkin in pickup issue "
    "issued created valid sent former old outbound embark available effective base"
)
_ENDS = word_set(
    "end ends ended ending to until till before max maximum upper high highest most close closed "
    "closes closing finish finished last latest lte lt newest checkout out dropoff due expiry "
    "expiration expires expire return returns returned deadline stop completed complete back "
    "resolved new inbound updated modified delivered delivery renewal target"
)
# Words with a meaning of their own beside another one: "check in date", "created after".
_STRONG_STARTS = word_set("after since from gte gt min start begin")
_STRONG_ENDS = word_set("before until till to lte lt max end due")
_JOURNEY = word_set(
    "flight flights train trains bus ferry journey trip leg segment route fly travel ticket "
    "tickets shipment shipping delivery ride voyage cruise"
)
_OF_MOMENTS = word_set("date dates day time at on datetime timestamp moment hour")


def rank(slot: Slot) -> int:
    """-1 for what begins, 1 for what ends, 0 for neither, by the name.

    An arrival begins a stay and ends a journey; the tool says which.
    """
    words = slot.subject.words
    for word in words:
        if word in _STRONG_STARTS:
            return -1
        if word in _STRONG_ENDS:
            return 1
    for word in words:
        if word in ("arrival", "arrive", "arrives", "departure", "depart", "departs"):
            begins = word.startswith("depart") == _is_journey(slot)
            return -1 if begins else 1
        if word in _STARTS:
            return -1
        if word in _ENDS:
            return 1
    return 0


def _is_journey(slot: Slot) -> bool:
    around = {*slot.subject.tool, *slot.about, *slot.subject.parents, *slot.subject.words}
    return not around.isdisjoint(_JOURNEY)


def stem(slot: Slot) -> str:
    """What two related values have in common: "price" of `min_price` and `price_max`."""
    dropped = _STARTS | _ENDS | _OF_MOMENTS | {"check", "arrival", "departure", "value", "val", "number"}
    return " ".join((*slot.subject.parents, *(word for word in slot.subject.words if word not in dropped)))


class Placed(NamedTuple):
    """A slot with the day and time that its value gets if it is one."""

    slot: Slot
    moment: Moment


def lay_out(slots: Sequence[Slot], world: World) -> list[Placed]:
    """The slots with days and times in the order of their names, near each other and in one year.

    With a number of nights or days among the slots, the last day is so much later than the first.
    """
    moments = [Moment(world.day, _clock(world)) for _ in slots]
    days = sorted(
        (number for number, slot in enumerate(slots) if slot.temporal and slot.temporal[0] != "time"),
        key=lambda number: (rank(slots[number]), number),
    )
    day = world.day
    for place, number in enumerate(days):
        if place:
            day += timedelta(days=world.between(1, 4))
        moments[number] = Moment(day, moments[number].clock)
    times = sorted(
        (number for number, slot in enumerate(slots) if slot.temporal and slot.temporal[0] == "time"),
        key=lambda number: (rank(slots[number]), number),
    )
    minutes = 60 * world.between(8, 13) + 15 * world.below(4)
    for number in times:
        moments[number] = Moment(moments[number].day, time(minutes // 60 % 24, minutes % 60))
        minutes += min(15 * world.between(2, 10), (23 * 60 + 45 - minutes) // 2)
    return [Placed(slot, moment) for slot, moment in zip(slots, moments, strict=True)]


def _clock(world: World) -> time:
    return time(world.between(8, 20), world.pick((0, 15, 30, 45)))


def nights_between(slots: Sequence[Slot]) -> tuple[int, int, int] | None:
    """The places of the first day, the last day and the number of nights or days from one to the other.

    None unless there is one of each.
    """
    days = [n for n, slot in enumerate(slots) if slot.temporal is not None and slot.temporal[0] == "date"]
    counts = [
        n
        for n, slot in enumerate(slots)
        if slot.keywords.type == "integer" and slot.key in ("nights", "days")
    ]
    starts = [n for n in days if rank(slots[n]) < 0]
    ends = [n for n in days if rank(slots[n]) > 0]
    return (starts[0], ends[0], counts[0]) if len(starts) == len(ends) == len(counts) == 1 else None


def with_length(placed: list[Placed], count: int, start: int, end: int) -> list[Placed]:
    """The slots with the last day `count` days after the first."""
    day: date = placed[start].moment.day + timedelta(days=count)
    last = placed[end]
    return [
        one if number != end else last._replace(moment=last.moment._replace(day=day))
        for number, one in enumerate(placed)
    ]


class Pair(NamedTuple):
    """The places of two slots, of which the first has the smaller value."""

    low: int
    high: int


def pairs(slots: Sequence[Slot], values: Sequence[Any]) -> list[Pair]:
    """The pairs of numbers of which one bounds the other: `min_price` and `max_price`."""
    numbers = [
        n
        for n, value in enumerate(values)
        if isinstance(value, int | float) and not isinstance(value, bool) and slots[n].keywords.enum is None
    ]
    found = []
    for low in numbers:
        for high in numbers:
            same = stem(slots[low]) == stem(slots[high]) and slots[low].names[:-1] == slots[high].names[:-1]
            if same and rank(slots[low]) < 0 < rank(slots[high]):
                found.append(Pair(low, high))
    return found


def disordered(
    found: Iterable[Pair], values: Sequence[Any], allows: Callable[[int, Any], bool]
) -> tuple[list[Any], bool]:
    """The values with pairs put in order, and whether a pair remains that cannot be.

    Args:
        found: The pairs.
        values: The values of all slots.
        allows: Whether the slot at a place allows a value.
    """
    ordered = list(values)
    for pair in found:
        low, high = ordered[pair.low], ordered[pair.high]
        if low > high and allows(pair.low, high) and allows(pair.high, low):
            ordered[pair.low], ordered[pair.high] = high, low
    return ordered, any(ordered[pair.low] >= ordered[pair.high] for pair in found)
