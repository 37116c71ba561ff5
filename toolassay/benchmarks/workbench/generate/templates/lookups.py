"""Look-ups in the generated tables, from which ground-truth calls are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import pairwise

from toolassay.benchmarks.workbench.generate.company import NOW, TODAY, YESTERDAY, Row, Tables, address

OPENS, CLOSES = time(9), time(18)
FIRST_VISIT = date(2023, 9, 1)


def text(row: Row, column: str) -> str:
    """A cell that is never empty, as a string."""
    value = row[column]
    assert value is not None
    return value


def start(event: Row) -> datetime:
    """The start of a meeting."""
    return datetime.fromisoformat(text(event, "event_start"))


def future_events(tables: Tables, *, person: str | None = None, name: str | None = None) -> list[Row]:
    """Meetings from now on, in order; optionally only those with a person or of a name."""
    return [event for event in events(tables, person=person, name=name) if start(event) >= NOW]


def events(tables: Tables, *, person: str | None = None, name: str | None = None) -> list[Row]:
    """All meetings, in order; optionally only those with a person or of a name."""
    return [
        event
        for event in sorted(tables.calendar, key=start)
        if person is None or event["participant_email"] == address(person)
        if name is None or event["event_name"] == name
    ]


def events_on(tables: Tables, day: date) -> list[Row]:
    """The meetings of a day, in order."""
    return [event for event in events(tables) if start(event).date() == day]


def future_days(tables: Tables, least: int = 1) -> list[date]:
    """The days after today that have at least `least` meetings."""
    days = sorted({start(event).date() for event in future_events(tables)} - {TODAY})
    return [day for day in days if len(events_on(tables, day)) >= least]


def working_days() -> list[date]:
    """The working days of the three weeks after today."""
    days = [TODAY + timedelta(days=n) for n in range(1, 22)]
    return [day for day in days if day.weekday() < 5]


def end(event: Row) -> datetime:
    """The end of a meeting."""
    return start(event) + timedelta(minutes=int(text(event, "duration")))


def is_free(tables: Tables, moment: datetime, minutes: int, *, but: Row | None = None) -> bool:
    """Whether a period ends by 18:00 and overlaps no meeting other than `but`."""
    last = moment + timedelta(minutes=minutes)
    return last <= datetime.combine(moment.date(), CLOSES) and not any(
        start(event) < last and moment < end(event)
        for event in events_on(tables, moment.date())
        if event is not but
    )


def first_free(tables: Tables, day: date, minutes: int) -> datetime | None:
    """The start of the first free period of `minutes` on a day between 9:00 and 18:00; None if there is
    none.
    """
    opens, closes = datetime.combine(day, OPENS), datetime.combine(day, CLOSES)
    busy = [(start(event), end(event)) for event in events_on(tables, day)]
    length = timedelta(minutes=minutes)
    for (_, free), (taken, _) in pairwise([(opens, opens), *busy, (closes, closes)]):
        if taken - free >= length:
            return free
    return None


def emails(tables: Tables, *, sender: str | None = None, subject: str | None = None) -> list[Row]:
    """E-mails, newest first; optionally only those from a person or with a subject."""
    return [
        mail
        for mail in sorted(tables.email, key=lambda mail: text(mail, "sent_datetime"), reverse=True)
        if sender is None or mail["sender/recipient"] == address(sender)
        if subject is None or mail["subject"] == subject
    ]


def sent_day(mail: Row) -> date:
    """The day an e-mail was sent."""
    return datetime.fromisoformat(text(mail, "sent_datetime")).date()


def tasks(tables: Tables, person: str, *lists: str, before: date | None = None) -> list[Row]:
    """A person's tasks in table order; optionally only those in some lists or due before a day."""
    return [
        task
        for task in tables.project_management
        if task["assigned_to_email"] == address(person)
        if not lists or task["list_name"] in lists
        if before is None or text(task, "due_date") < str(before)
    ]


def overdue(tables: Tables, person: str) -> list[Row]:
    """A person's uncompleted tasks that were due before today."""
    return tasks(tables, person, "Backlog", "In Progress", "In Review", before=TODAY)


def customers(tables: Tables, **columns: str) -> list[Row]:
    """Customers whose columns have the given values, in table order."""
    return [
        customer
        for customer in tables.customer_relationship_manager
        if all(customer[column] == value for column, value in columns.items())
    ]


def leads(tables: Tables, person: str) -> list[Row]:
    """The customers in the stage Lead that are assigned to a person."""
    return customers(tables, assigned_to_email=address(person), status="Lead")


@cache
def daily(tables: Tables, metric: str) -> Mapping[date, float]:
    """The value of a metric, or the number of visits from a traffic source, by day."""
    visits: defaultdict[date, list[Row]] = defaultdict(list)
    for visit in tables.analytics:
        visits[date.fromisoformat(text(visit, "date_of_visit"))].append(visit)
    return {day: _measure(metric, visits[day]) for day in sorted(visits)}


def _measure(metric: str, visits: Sequence[Row]) -> float:
    if metric == "the number of visits":
        return len(visits)
    if metric == "the number of engaged users":
        return sum(visit["user_engaged"] == "True" for visit in visits)
    if metric == "the average session duration":
        return sum(int(text(visit, "session_duration_seconds")) for visit in visits) / len(visits)
    return sum(visit["traffic_source"] == metric for visit in visits)


def between(values: Mapping[date, float], first: date, last: date = YESTERDAY) -> Iterable[float]:
    """The values of the days from `first` to `last`, both included."""
    return [value for day, value in values.items() if first <= day <= last]
