"""Look-ups in the tables of a made world, on tables small enough to be read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import pytest

from toolassay.benchmarks.workbench.generate.company import TODAY, Row, Tables, address
from toolassay.benchmarks.workbench.generate.templates import lookups


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
    assert ids(lookups.events(made)) == ["1", "2", "4", "3", "5"]
    assert ids(lookups.events(made, person="Hana")) == ["3", "5"]
    assert ids(lookups.events(made, name="Review")) == ["3"]
    assert ids(lookups.events(made, person="Mei", name="Review")) == []
    assert ids(lookups.future_events(made)) == ["2", "4", "3", "5"]  # now is a moment of the future
    assert ids(lookups.future_events(made, person="Mei")) == ["2", "4"]
    assert ids(lookups.future_events(made, name="Sync")) == ["2", "4", "5"]
    assert ids(lookups.events_on(made, FRIDAY)) == ["4", "3"]
    assert lookups.future_days(made) == [FRIDAY, date(2023, 12, 4)]
    assert lookups.future_days(made, 2) == [FRIDAY]
    assert lookups.future_days(made, 3) == []


def test_working_days_are_those_of_the_three_weeks_after_today() -> None:
    days = lookups.working_days()
    assert (days[0], days[1], days[-1], len(days)) == (FRIDAY, date(2023, 12, 4), date(2023, 12, 21), 15)
    assert {f"{day:%a}" for day in days} == {"Mon", "Tue", "Wed", "Thu", "Fri"}


def test_when_a_meeting_begins_and_ends() -> None:
    (meeting,) = [row for row in CALENDAR if row["event_id"] == "3"]
    assert lookups.start(meeting) == datetime(2023, 12, 1, 13)
    assert lookups.end(meeting) == datetime(2023, 12, 1, 14)


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
    assert lookups.is_free(made, datetime(2023, 12, 1, *clock), minutes) is free
    assert lookups.is_free(made, datetime(2023, 12, 2, *clock), minutes) is (minutes < 241)


def test_a_meeting_is_not_in_its_own_way() -> None:
    made = world(calendar=CALENDAR)
    assert lookups.is_free(made, datetime(2023, 12, 1, 13, 15), 60, but=CALENDAR[0])
    assert not lookups.is_free(made, datetime(2023, 12, 1, 13, 15), 60, but=CALENDAR[3])


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
    found = lookups.first_free(world(calendar=CALENDAR), day, minutes)
    assert found == (None if clock is None else datetime(day.year, day.month, day.day, *clock))


def test_mail_is_newest_first_by_sender_and_subject() -> None:
    mails = [
        {
            "email_id": str(number),
            "sender/recipient": address(person),
            "sent_datetime": sent,
            "subject": subject,
        }
        for number, person, sent, subject in (
            (1, "Mei", "2023-11-02 10:00:00", "b"),
            (9, "Hana", "2023-11-01 10:00:00", "a"),
            (3, "Mei", "2023-11-28 23:59:59", "a"),
        )
    ]
    made = world(email=mails)
    assert ids(lookups.emails(made), "email_id") == ["3", "1", "9"]
    assert ids(lookups.emails(made, sender="Mei"), "email_id") == ["3", "1"]
    assert ids(lookups.emails(made, subject="a"), "email_id") == ["3", "9"]
    assert ids(lookups.emails(made, sender="Mei", subject="b"), "email_id") == ["1"]
    assert lookups.sent_day(mails[2]) == date(2023, 11, 28)


def test_tasks_are_those_of_a_person_by_list_and_day() -> None:
    lists = ("Backlog", "In Progress", "In Review", "Completed", "Backlog", "In Review")
    days = ("2023-11-29", "2023-11-28", "2023-11-27", "2023-11-26", "2023-11-30", "2023-12-01")
    rows = [
        {"task_id": str(number), "assigned_to_email": address("Hana"), "list_name": name, "due_date": day}
        for number, (name, day) in enumerate(zip(lists, days, strict=True))
    ]
    other = {"task_id": "x", "assigned_to_email": address("Mei"), "list_name": "Backlog", "due_date": days[0]}
    made = world(project_management=[*rows, other])
    assert ids(lookups.tasks(made, "Hana"), "task_id") == list("012345")
    assert ids(lookups.tasks(made, "Hana", "Backlog", "Completed"), "task_id") == list("034")
    assert ids(lookups.tasks(made, "Hana", before=date(2023, 11, 28)), "task_id") == list("23")
    assert ids(lookups.tasks(made, "Hana", "Backlog", before=date(2023, 11, 30)), "task_id") == ["0"]
    assert ids(lookups.overdue(made, "Hana"), "task_id") == list("012")
    assert ids(lookups.overdue(made, "Mei"), "task_id") == ["x"]


def test_customers_are_found_by_their_columns() -> None:
    rows = [
        {"customer_id": str(number), "assigned_to_email": address(person), "status": status}
        for number, (person, status) in enumerate((("Zanele", "Lead"), ("Zanele", "Won"), ("Oliver", "Lead")))
    ]
    made = world(customer_relationship_manager=rows)
    assert ids(lookups.customers(made), "customer_id") == ["0", "1", "2"]
    assert ids(lookups.customers(made, status="Lead"), "customer_id") == ["0", "2"]
    assert ids(lookups.leads(made, "Zanele"), "customer_id") == ["0"]


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
    assert lookups.daily(made, "the number of visits") == {first: 3, second: 1}
    assert list(lookups.daily(made, "the number of visits")) == [first, second]
    assert lookups.daily(made, "the number of engaged users") == {first: 2, second: 1}
    assert lookups.daily(made, "the average session duration") == {first: 15, second: 10}
    assert lookups.daily(made, "referral") == {first: 1, second: 0}
    values = {TODAY - timedelta(days=ago): float(ago) for ago in (4, 3, 2, 1, 0)}
    assert lookups.between(values, first) == [3, 2, 1]
    assert lookups.between(values, first, second) == [3, 2]
