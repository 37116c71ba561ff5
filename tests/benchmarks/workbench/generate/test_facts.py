"""Look-ups in the tables of a made world, on tables small enough to be read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import pytest

from toolassay.benchmarks.workbench.generate import template
from toolassay.benchmarks.workbench.generate.company import TODAY, Row, Tables, address


def event(number: int, start: str, minutes: int = 30, person: str = "Mei", name: str = "Sync") -> Row:
    return {
        "event_id": str(number),
        "event_start": start,
        "duration": str(minutes),
        "participant_email": address(person),
        "event_name": name,
    }


def world(**tables: Sequence[Row]) -> Tables:
    names = ("calendar", "email", "analytics", "project_management", "customer_relationship_manager")
    return Tables(**{name: tables.get(name, ()) for name in names})


CALENDAR = (
    event(3, "2023-12-01 13:00:00", 60, "Hana", "Review"),
    event(1, "2023-11-29 09:00:00"),
    event(2, "2023-11-30 00:00:00", 15),
    event(4, "2023-12-01 09:00:00", 30),
    event(5, "2023-12-04 17:30:00", 30, "Hana"),
)
FRIDAY = date(2023, 12, 1)


def ids(rows: Sequence[Row], column: str = "event_id") -> list[str | None]:
    return [row[column] for row in rows]


def test_meetings_are_found_by_time_person_and_name() -> None:
    made = world(calendar=CALENDAR)
    assert ids(template.events(made)) == ["1", "2", "4", "3", "5"]
    assert ids(template.events(made, person="Hana")) == ["3", "5"]
    assert ids(template.events(made, name="Review")) == ["3"]
    assert ids(template.events(made, person="Mei", name="Review")) == []
    assert ids(template.future_events(made)) == ["2", "4", "3", "5"]  # now is a moment of the future
    assert ids(template.future_events(made, person="Mei")) == ["2", "4"]
    assert ids(template.future_events(made, name="Sync")) == ["2", "4", "5"]
    assert ids(template.events_on(made, FRIDAY)) == ["4", "3"]
    assert template.future_days(made) == [FRIDAY, date(2023, 12, 4)]
    assert template.future_days(made, 2) == [FRIDAY]
    assert template.future_days(made, 3) == []


@pytest.mark.parametrize(
    ("clock", "minutes", "free"),
    [
        ((8, 30), 30, True),
        ((8, 30), 31, False),
        ((9, 0), 5, False),
        ((9, 29), 5, False),
        ((9, 30), 210, True),
        ((9, 30), 211, False),
        ((12, 30), 120, False),
        ((13, 15), 15, False),
        ((14, 0), 240, True),
        ((14, 0), 241, False),
    ],
)
def test_free_time_meets_no_meeting_and_ends_with_the_day(
    clock: tuple[int, int], minutes: int, free: bool
) -> None:
    made = world(calendar=CALENDAR)
    assert template.is_free(made, datetime(2023, 12, 1, *clock), minutes) is free
    assert template.is_free(made, datetime(2023, 12, 2, *clock), minutes) is (minutes < 241)


@pytest.mark.parametrize(
    ("day", "minutes", "clock"),
    [
        (FRIDAY, 30, (9, 30)),
        (FRIDAY, 210, (9, 30)),
        (FRIDAY, 240, (14, 0)),
        (FRIDAY, 241, None),
        (date(2023, 12, 4), 510, (9, 0)),
        (date(2023, 12, 4), 511, None),
        (date(2023, 12, 5), 540, (9, 0)),
    ],
)
def test_the_first_free_time_of_a_day(day: date, minutes: int, clock: tuple[int, int] | None) -> None:
    found = template.first_free(world(calendar=CALENDAR), day, minutes)
    assert found == (None if clock is None else datetime(day.year, day.month, day.day, *clock))


def test_measures_of_a_day() -> None:
    first, second = TODAY - timedelta(days=3), TODAY - timedelta(days=2)
    visits = [
        {
            "date_of_visit": str(day),
            "user_engaged": engaged,
            "session_duration_seconds": seconds,
            "traffic_source": source,
        }
        for day, engaged, seconds, source in (
            (second, "True", "10", "direct"),
            (first, "True", "20", "direct"),
            (first, "False", "5", "referral"),
            (first, "True", "20", "direct"),
        )
    ]
    made = world(analytics=visits)
    assert template.daily(made, "the number of visits") == {first: 3, second: 1}
    assert list(template.daily(made, "the number of visits")) == [first, second]
    assert template.daily(made, "the number of engaged users") == {first: 2, second: 1}
    assert template.daily(made, "the average session duration") == {first: 15, second: 10}
    assert template.daily(made, "referral") == {first: 1, second: 0}
    values = {TODAY - timedelta(days=ago): float(ago) for ago in (4, 3, 2, 1, 0)}
    assert template.between(values, first) == [3, 2, 1]
    assert template.between(values, first, second) == [3, 2]
