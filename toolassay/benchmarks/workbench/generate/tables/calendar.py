"""The calendar: 300 meetings from August to December 2023."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.ids import with_ids
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import PEOPLE, TODAY, address

COUNT = 300
FIRST, LAST = date(2023, 8, 1), date(2023, 12, 21)
DURATIONS = (30, 60, 90, 120)
_MOST_A_DAY = 6
_NEAR = timedelta(days=14)
_EARLY_SHARE = 0.7


def calendar(seed: int) -> list[dict[str, Any]]:
    """Meetings on working days, sorted by start.

    They start on the half hour from 9:00 to 15:30 and last 30 to 120 minutes; none overlap, and no name
    comes twice on a day. Most of the coming days begin with a meeting, so that the first free time is not
    simply the first hour.
    """
    dice = Dice(seed, "calendar")
    days = [FIRST + timedelta(days=n) for n in range((LAST - FIRST).days + 1)]
    days = [day for day in days if day.weekday() < 5]
    booked: dict[date, list[dict[str, Any]]] = {day: [] for day in days}
    for day in days:
        if TODAY < day <= TODAY + _NEAR and dice.chance(_EARLY_SHARE):
            _book(dice, booked[day], datetime.combine(day, time(9)))
    while sum(map(len, booked.values())) < COUNT:
        day = dice.pick(days)
        if len(booked[day]) < _MOST_A_DAY:
            start = datetime.combine(day, time(9)) + timedelta(minutes=30 * dice.below(14))
            _book(dice, booked[day], start)
    rows = sorted((row for day in days for row in booked[day]), key=lambda row: row["event_start"])
    return with_ids(
        dice,
        "event_id",
        ({**row, "event_start": str(row["event_start"]), "duration": str(row["duration"])} for row in rows),
    )


def _book(dice: Dice, day: list[dict[str, Any]], start: datetime) -> None:
    """Add a meeting to a day if the time is free and its name new on that day."""
    name, person, duration = dice.pick(texts("events")["held"]), dice.pick(PEOPLE), dice.pick(DURATIONS)
    end = start + timedelta(minutes=duration)
    for other in day:
        other_end = other["event_start"] + timedelta(minutes=other["duration"])
        if other["event_name"] == name or (start < other_end and other["event_start"] < end):
            return
    day.append(
        {"event_name": name, "participant_email": address(person), "event_start": start, "duration": duration}
    )
