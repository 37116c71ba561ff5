"""What the tables of a world say: the look-ups that ground-truth calls rest on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import pairwise

from toolassay.benchmarks.workbench.generate.world import NOW, TODAY, YESTERDAY, Row, World, address

OPENS, CLOSES = time(9), time(18)
FIRST_VISIT = date(2023, 9, 1)


def text(row: Row, column: str) -> str:
    """A cell that is never empty."""
    value = row[column]
    assert value is not None
    return value


def start(event: Row) -> datetime:
    """When a meeting begins."""
    return datetime.fromisoformat(text(event, "event_start"))


def future_events(world: World, *, person: str | None = None, name: str | None = None) -> list[Row]:
    """Meetings from now on, in order; only those with a person, or of a name."""
    return [event for event in events(world, person=person, name=name) if start(event) >= NOW]


def events(world: World, *, person: str | None = None, name: str | None = None) -> list[Row]:
    """Meetings in order; only those with a person, or of a name."""
    return [
        event
        for event in sorted(world.calendar, key=start)
        if person is None or event["participant_email"] == address(person)
        if name is None or event["event_name"] == name
    ]


def events_on(world: World, day: date) -> list[Row]:
    """The meetings of a day, in order."""
    return [event for event in events(world) if start(event).date() == day]


def future_days(world: World, least: int = 1) -> list[date]:
    """The days after today with at least so many meetings."""
    days = sorted({start(event).date() for event in future_events(world)} - {TODAY})
    return [day for day in days if len(events_on(world, day)) >= least]


def working_days() -> list[date]:
    """The working days of the three weeks after today."""
    days = [TODAY + timedelta(days=n) for n in range(1, 22)]
    return [day for day in days if day.weekday() < 5]


def end(event: Row) -> datetime:
    """When a meeting ends."""
    return start(event) + timedelta(minutes=int(text(event, "duration")))


def is_free(world: World, moment: datetime, minutes: int, *, but: Row | None = None) -> bool:
    """Whether so many minutes lie within working hours and meet no meeting (other than `but`)."""
    last = moment + timedelta(minutes=minutes)
    return last <= datetime.combine(moment.date(), CLOSES) and not any(
        start(event) < last and moment < end(event)
        for event in events_on(world, moment.date())
        if event is not but
    )


def first_free(world: World, day: date, minutes: int) -> datetime | None:
    """The earliest time on a day, within working hours, with so many minutes before the next meeting."""
    opens, closes = datetime.combine(day, OPENS), datetime.combine(day, CLOSES)
    busy = [(start(event), end(event)) for event in events_on(world, day)]
    length = timedelta(minutes=minutes)
    for (_, free), (taken, _) in pairwise([(opens, opens), *busy, (closes, closes)]):
        if taken - free >= length:
            return free
    return None


def emails(world: World, *, sender: str | None = None, subject: str | None = None) -> list[Row]:
    """E-mails, newest first; only those from a person, or of a subject."""
    return [
        mail
        for mail in sorted(world.email, key=lambda mail: text(mail, "sent_datetime"), reverse=True)
        if sender is None or mail["sender/recipient"] == address(sender)
        if subject is None or mail["subject"] == subject
    ]


def sent_day(mail: Row) -> date:
    """The day of an e-mail."""
    return datetime.fromisoformat(text(mail, "sent_datetime")).date()


def tasks(world: World, person: str, *lists: str, before: date | None = None) -> list[Row]:
    """A person's tasks, in the table's order; only those in some lists, or due before a day."""
    return [
        task
        for task in world.project_management
        if task["assigned_to_email"] == address(person)
        if not lists or task["list_name"] in lists
        if before is None or text(task, "due_date") < str(before)
    ]


def overdue(world: World, person: str) -> list[Row]:
    """A person's unfinished tasks that were due before today."""
    return tasks(world, person, "Backlog", "In Progress", "In Review", before=TODAY)


def customers(world: World, **columns: str) -> list[Row]:
    """Customers whose columns have these values, in the table's order."""
    return [
        customer
        for customer in world.customer_relationship_manager
        if all(customer[column] == value for column, value in columns.items())
    ]


def leads(world: World, person: str) -> list[Row]:
    """A salesperson's customers in the stage Lead."""
    return customers(world, assigned_to_email=address(person), status="Lead")


@cache
def daily(world: World, metric: str) -> Mapping[date, float]:
    """A measure on every day; `metric` as requests call it, or a traffic source."""
    visits: defaultdict[date, list[Row]] = defaultdict(list)
    for visit in world.analytics:
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
