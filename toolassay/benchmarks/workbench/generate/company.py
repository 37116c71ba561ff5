"""The generated company: seeded draws, its people and its tables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, TypeVar

from toolassay.files.data_files import package_data

Item = TypeVar("Item")


class SeededRandom:
    """A stream of choices, determined by a seed and a name.

    Only `Random.random` is used, because Python guarantees its sequence for a seed. The other methods of
    `random.Random` have changed between versions.

    >>> SeededRandom(7, "calendar").pick("abc") == SeededRandom(7, "calendar").pick("abc")
    True
    """

    def __init__(self, seed: int, name: str) -> None:
        self._random = Random(f"{seed}/{name}").random

    def below(self, count: int) -> int:
        """A uniform integer from 0 to `count` - 1."""
        return int(self._random() * count)

    def between(self, low: int, high: int) -> int:
        """A uniform integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, share: float) -> bool:
        """True with probability `share`."""
        return self._random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        """One item, all equally likely."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[Item], weights: Sequence[float]) -> Item:
        """One item, with probability proportional to its weight."""
        point = self._random() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            point -= weight
            if point < 0:
                return item
        return items[-1]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in random order."""
        rest = list(items)
        for last in range(len(rest) - 1, 0, -1):
            other = self.below(last + 1)
            rest[last], rest[other] = rest[other], rest[last]
        return rest

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """`count` different items, in random order."""
        return self.shuffled(items)[:count]

    def exponential(self, mean: float) -> float:
        """An exponentially distributed number with this mean."""
        return -mean * math.log(1.0 - self._random())


def texts(name: str) -> Any:
    """The content of `data/{name}.json`."""
    return package_data(__package__, f"data/{name}.json")


Row = Mapping[str, str | None]

NOW = datetime(2023, 11, 30)
"""The current time, a Thursday at midnight: nothing has happened today yet."""

TODAY = NOW.date()
YESTERDAY = date(2023, 11, 29)
"""The last day with visits and e-mails."""

TEAMS: Mapping[str, Sequence[str]] = texts("people")["teams"]
USER: str = texts("people")["user"]
SALES = tuple(name.split()[0] for name in TEAMS["Sales"])
BOARDS = {
    board: tuple(name.split()[0] for name in people) for board, people in TEAMS.items() if board != "Sales"
}
PROJECT = tuple(name for people in BOARDS.values() for name in people)
PEOPLE = SALES + PROJECT
_ADDRESSES = {
    name.split()[0]: f"{name.lower().replace(' ', '.')}@{texts('people')['domain']}"
    for people in TEAMS.values()
    for name in people
}


def address(person: str) -> str:
    """The e-mail address of a colleague, by first name.

    >>> address("Mei")
    'mei.fong@larkfield.example'
    """
    return _ADDRESSES[person]


def person_of(email: str) -> str:
    """The first name of a colleague, by e-mail address.

    >>> person_of("mei.fong@larkfield.example")
    'Mei'
    """
    return next(person for person, known in _ADDRESSES.items() if known == email)


# The working day, between whose ends requests ask for free time.
OPENS = time(9)
CLOSES = time(18)


def text(row: Row, column: str) -> str:
    """A cell that is never empty, as a string."""
    value = row[column]
    assert value is not None
    return value


def start(event: Row) -> datetime:
    """The start of a meeting."""
    return datetime.fromisoformat(text(event, "event_start"))


def end(event: Row) -> datetime:
    """The end of a meeting."""
    return start(event) + timedelta(minutes=int(text(event, "duration")))


def sent_day(mail: Row) -> date:
    """The day an e-mail was sent."""
    return datetime.fromisoformat(text(mail, "sent_datetime")).date()


@dataclass(frozen=True, eq=False)
class Tables:
    """The five tables. A row maps the published column names to strings (None: no value).

    Two objects never compare equal, so that one can be the key of a cache.
    """

    calendar: Sequence[Row]
    email: Sequence[Row]
    analytics: Sequence[Row]
    project_management: Sequence[Row]
    customer_relationship_manager: Sequence[Row]

    def future_events(self, *, person: str | None = None, name: str | None = None) -> list[Row]:
        """Meetings from now on, in order; optionally only those with a person or of a name."""
        return [event for event in self.events(person=person, name=name) if start(event) >= NOW]

    def events(self, *, person: str | None = None, name: str | None = None) -> list[Row]:
        """All meetings, in order; optionally only those with a person or of a name."""
        return [
            event
            for event in sorted(self.calendar, key=start)
            if person is None or event["participant_email"] == address(person)
            if name is None or event["event_name"] == name
        ]

    def events_on(self, day: date) -> list[Row]:
        """The meetings of a day, in order."""
        return [event for event in self.events() if start(event).date() == day]

    def met(self, person: str, since: date) -> bool:
        """Whether a person had a meeting from a day to yesterday."""
        return any(since <= start(event).date() < TODAY for event in self.events(person=person))

    def future_days(self, least: int = 1) -> list[date]:
        """The days after today that have at least `least` meetings."""
        days = sorted({start(event).date() for event in self.future_events()} - {TODAY})
        return [day for day in days if len(self.events_on(day)) >= least]

    def is_free(self, moment: datetime, minutes: int, *, but: Row | None = None) -> bool:
        """Whether a period ends by 18:00 and overlaps no meeting other than `but`."""
        last = moment + timedelta(minutes=minutes)
        return last <= datetime.combine(moment.date(), CLOSES) and not any(
            start(event) < last and moment < end(event)
            for event in self.events_on(moment.date())
            if event is not but
        )

    def first_free(self, day: date, minutes: int) -> datetime | None:
        """The start of the first free period of `minutes` on a day between 9:00 and 18:00; None if there is
        none.
        """
        opens = datetime.combine(day, OPENS)
        closes = datetime.combine(day, CLOSES)
        busy = [(start(event), end(event)) for event in self.events_on(day)]
        length = timedelta(minutes=minutes)
        for (_, free), (taken, _) in pairwise([(opens, opens), *busy, (closes, closes)]):
            if taken - free >= length:
                return free
        return None

    def emails(self, *, sender: str | None = None, subject: str | None = None) -> list[Row]:
        """E-mails, newest first; optionally only those from a person or with a subject."""
        return [
            mail
            for mail in sorted(self.email, key=lambda mail: text(mail, "sent_datetime"), reverse=True)
            if sender is None or mail["sender/recipient"] == address(sender)
            if subject is None or mail["subject"] == subject
        ]

    def tasks(self, person: str, *lists: str, before: date | None = None) -> list[Row]:
        """A person's tasks in table order; optionally only those in some lists or due before a day."""
        return [
            task
            for task in self.project_management
            if task["assigned_to_email"] == address(person)
            if not lists or task["list_name"] in lists
            if before is None or text(task, "due_date") < str(before)
        ]

    def overdue(self, person: str) -> list[Row]:
        """A person's uncompleted tasks that were due before today."""
        return self.tasks(person, "Backlog", "In Progress", "In Review", before=TODAY)

    def customers(self, **columns: str) -> list[Row]:
        """Customers whose columns have the given values, in table order."""
        return [
            customer
            for customer in self.customer_relationship_manager
            if all(customer[column] == value for column, value in columns.items())
        ]

    def leads(self, person: str) -> list[Row]:
        """The customers in the stage Lead that are assigned to a person."""
        return self.customers(assigned_to_email=address(person), status="Lead")


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


def with_ids(rng: SeededRandom, column: str, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Prepend an id of eight digits to each row. The ids are in random order."""
    rows = list(rows)
    numbers = rng.shuffled(range(len(rows)))
    return [{column: f"{number:08}", **row} for number, row in zip(numbers, rows, strict=True)]


# Number, days and lengths (minutes) of meetings, and the most on a day, as in the published calendar.
_MEETINGS = 300
_FIRST_MEETING_DAY = date(2023, 8, 1)
_LAST_MEETING_DAY = date(2023, 12, 21)
_DURATIONS = (30, 60, 90, 120)
_MOST_MEETINGS_A_DAY = 6
# Two of the three weeks in which requests ask for a free time.
_NEAR = timedelta(days=14)
_EARLY_SHARE = 0.7  # of the next 14 days' mornings start with a meeting


def draw_calendar(seed: int) -> list[dict[str, Any]]:
    """Meetings on working days, sorted by start.

    They start on the half hour from 9:00 to 15:30 and last 30 to 120 minutes. None overlap, and no name
    occurs twice on a day. Most of the next 14 days start with a meeting, so that the first free time is not
    always 9:00.
    """
    rng = SeededRandom(seed, "calendar")
    days = [
        _FIRST_MEETING_DAY + timedelta(days=n)
        for n in range((_LAST_MEETING_DAY - _FIRST_MEETING_DAY).days + 1)
    ]
    days = [day for day in days if day.weekday() < 5]
    booked: dict[date, list[dict[str, Any]]] = {day: [] for day in days}
    for day in days:
        if TODAY < day <= TODAY + _NEAR and rng.chance(_EARLY_SHARE):
            _book(rng, booked[day], datetime.combine(day, time(9)))
    while sum(map(len, booked.values())) < _MEETINGS:
        day = rng.pick(days)
        if len(booked[day]) < _MOST_MEETINGS_A_DAY:
            start = datetime.combine(day, time(9)) + timedelta(minutes=30 * rng.below(14))
            _book(rng, booked[day], start)
    rows = sorted((row for day in days for row in booked[day]), key=lambda row: row["event_start"])
    return with_ids(
        rng,
        "event_id",
        ({**row, "event_start": str(row["event_start"]), "duration": str(row["duration"])} for row in rows),
    )


def _book(rng: SeededRandom, day: list[dict[str, Any]], start: datetime) -> None:
    """Add a meeting to a day if the time is free and the name is not used that day."""
    name = rng.pick(texts("events")["held"])
    person = rng.pick(PEOPLE)
    duration = rng.pick(_DURATIONS)
    end = start + timedelta(minutes=duration)
    for other in day:
        other_end = other["event_start"] + timedelta(minutes=other["duration"])
        if other["event_name"] == name or (start < other_end and other["event_start"] < end):
            return
    day.append(
        {"event_name": name, "participant_email": address(person), "event_start": start, "duration": duration}
    )


# Number and first day as in the published mailbox; the last e-mail is of yesterday.
_EMAILS = 500
FIRST_EMAIL_DAY = date(2023, 10, 1)
_EMAIL_DAYS = 60
_MIDNIGHT = datetime.combine(FIRST_EMAIL_DAY, time())
# Topics of e-mails: about as many as the published mailbox has (80), so that each has several e-mails.
_EVENT_SUBJECTS = 40
_TASK_SUBJECTS = 44
# Seconds of a day between which e-mails arrive.
_OPENS = 9 * 3600
_CLOSES = 17 * 3600
_LINE_BREAK = "\\n"
"""A line break is the two characters backslash and n, as in the published mailbox."""


def draw_emails(seed: int, task_names: Sequence[str]) -> list[dict[str, Any]]:
    """E-mails between 9:00 and 17:00, sorted by time. A subject occurs at most once a day.

    Args:
        seed: of the random stream.
        task_names: topics of the e-mails about work.
    """
    rng = SeededRandom(seed, "email")
    subjects = [
        ("event", event, rng.pick(texts("emails")["event"]["subjects"]))
        for event in rng.some(texts("events")["held"], _EVENT_SUBJECTS)
    ] + [
        ("task", task, rng.pick(texts("emails")["task"]["subjects"]))
        for task in rng.some(task_names, _TASK_SUBJECTS)
    ]
    rows: list[dict[str, Any]] = []
    times: set[datetime] = set()
    days: set[tuple[int, str]] = set()
    bodies: set[str] = set()
    while len(rows) < _EMAILS:
        person = rng.pick(PEOPLE)
        kind, topic, form = rng.pick(subjects)
        day = rng.below(_EMAIL_DAYS)
        second = rng.between(_OPENS, _CLOSES)
        sent = _MIDNIGHT + timedelta(days=day, seconds=second)
        body = _body(rng, kind, topic, person)
        if (day, topic) in days or sent in times or body in bodies:
            continue
        days.add((day, topic))
        times.add(sent)
        bodies.add(body)
        rows.append(
            {
                "inbox/outbox": "inbox",
                "sender/recipient": address(person),
                "subject": form.format(topic),
                "sent_datetime": str(sent),
                "body": body,
            }
        )
    return with_ids(rng, "email_id", sorted(rows, key=lambda row: row["sent_datetime"]))


def _body(rng: SeededRandom, kind: str, topic: str, person: str) -> str:
    """The text of an e-mail: greeting, two to four sentences, closing, name."""
    words = texts("emails")
    sentences = [
        rng.pick(words[kind]["openings"]).format(topic),
        *rng.some(words[kind]["details"], rng.between(0, 2)),
        rng.pick(words[kind]["asks"]),
    ]
    greeting = rng.pick(words["greetings"])
    closing = rng.pick(words["closings"])
    return _LINE_BREAK.join([greeting, "", " ".join(sentences), "", closing, person])


# Number and days of visits as published; at least two a day, so that no day lacks a value.
_VISITS = 1000
_FIRST_VISIT_DAY = date(2023, 9, 1)
_VISIT_DAYS = 90
_LEAST_VISITS_A_DAY = 2
# Shares of visits. The order of sources is the published one.
_SOURCES = {"direct": 0.45, "social media": 0.25, "search engine": 0.18, "referral": 0.12}
# Means of a visit: pages and seconds.
_VIEWS = 5.5
_SECONDS = 19.5


def draw_visits(seed: int) -> list[dict[str, Any]]:
    """Visits in random order, at least two on every day.

    Page views and durations are exponentially distributed. A visitor is engaged after more than ten seconds
    and more than one page.
    """
    rng = SeededRandom(seed, "analytics")
    busy = [0.5 + rng.chance(0.3) + rng.exponential(0.4) for _ in range(_VISIT_DAYS)]
    days = [day for day in range(_VISIT_DAYS) for _ in range(_LEAST_VISITS_A_DAY)]
    days += [rng.weighted(range(_VISIT_DAYS), busy) for _ in range(_VISITS - len(days))]
    rows = []
    for day in rng.shuffled(days):
        views = 1 + int(rng.exponential(_VIEWS - 0.5))
        seconds = 1 + int(rng.exponential(_SECONDS - 0.5))
        row = {
            "date_of_visit": str(_FIRST_VISIT_DAY + timedelta(days=day)),
            "visitor_id": f"{rng.below(10_000):04}",
            "page_views": str(views),
            "session_duration_seconds": str(seconds),
            "traffic_source": rng.weighted(list(_SOURCES), list(_SOURCES.values())),
            "user_engaged": str(seconds > 10 and views > 1),
        }
        rows.append(row)
    return rows


# As published.
_TASKS_PER_BOARD = 100
# Due days of tasks, in days from today.
_EARLIEST = -3
_LATEST = 13
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
# Chances of `LISTS`. The backlog is the largest, as in the published table.
_WEIGHTS = (0.5, 0.12, 0.18, 0.2)


def draw_project_tasks(seed: int) -> list[dict[str, Any]]:
    """Tasks with distinct names, sorted by due date (from 3 days ago to 13 days ahead).

    Each board belongs to one team; a third of all people have no overdue task.
    """
    rng = SeededRandom(seed, "project_management")
    punctual = rng.some(PROJECT, len(PROJECT) // 3)
    rows = []
    for board, people in BOARDS.items():
        words = texts("tasks")["boards"][board]
        names = [work.format(thing) for work in words["work"] for thing in words["things"]]
        for name in rng.some(names, _TASKS_PER_BOARD):
            person = rng.pick(people)
            offset = rng.between(_EARLIEST, _LATEST)
            state = rng.weighted(LISTS, _WEIGHTS)
            row = {
                "task_name": name,
                "assigned_to_email": address(person),
                "list_name": "Completed" if offset < 0 and person in punctual else state,
                "due_date": str(TODAY + timedelta(days=offset)),
                "board": board,
            }
            rows.append(row)
    return with_ids(rng, "task_id", sorted(rng.shuffled(rows), key=lambda row: row["due_date"]))


# As published, as are the first day of contact and the customers without a telephone number or notes.
_CUSTOMERS = 200
STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")
_FIRST_CONTACT_DAY = date(2023, 10, 1)
_WITHOUT_PHONE = 100
_WITHOUT_NOTES = 44


def draw_customers(seed: int) -> list[dict[str, Any]]:
    """Customers with distinct names, sorted by last contact, latest first. Half have no phone number, 44 have
    no notes.
    """
    rng = SeededRandom(seed, "customer_relationship_manager")
    words = texts("customers")
    names = rng.some([f"{a} {b}" for a in words["first_names"] for b in words["last_names"]], _CUSTOMERS)
    rows = [_customer(rng, name) for name in names]
    for row in rng.some(rows, _WITHOUT_PHONE):
        row["customer_phone"] = None
    for row in rng.some(rows, _WITHOUT_NOTES):
        row["notes"] = None
    rows.sort(key=lambda row: row["last_contact_date"], reverse=True)
    return with_ids(rng, "customer_id", rows)


def _customer(rng: SeededRandom, name: str) -> dict[str, Any]:
    contact = _FIRST_CONTACT_DAY + timedelta(days=rng.below((YESTERDAY - _FIRST_CONTACT_DAY).days + 1))
    company = rng.pick(texts("customers")["companies"])
    return {
        "assigned_to_email": address(rng.pick(SALES)),
        "customer_name": name,
        "customer_email": f"{name.lower().replace(' ', '.')}@{company}.example",
        "customer_phone": f"{rng.between(201, 989)}-555-01{rng.below(100):02}",
        "last_contact_date": str(contact),
        "product_interest": rng.pick(PRODUCTS),
        "status": rng.pick(STATUSES),
        "follow_up_by": str(contact + timedelta(days=rng.between(7, 30))),
        "notes": _notes(rng, contact),
    }


def _notes(rng: SeededRandom, contact: date) -> str:
    """One to three dated sentences; the last has the date of the last contact."""
    days = sorted({contact - timedelta(days=rng.between(1, 40)) for _ in range(rng.between(0, 2))})
    sentences = rng.some(texts("customers")["notes"], len(days) + 1)
    return " ".join(f"{day}: {text}" for day, text in zip([*days, contact], sentences, strict=True))


def draw_tables(seed: int) -> Tables:
    """The tables of a seed. Each table has its own random stream.

    >>> [len(table) for table in (draw_tables(1).calendar, draw_tables(1).email, draw_tables(1).analytics)]
    [300, 500, 1000]
    """
    project_tasks = draw_project_tasks(seed)
    return Tables(
        calendar=draw_calendar(seed),
        email=draw_emails(seed, [str(task["task_name"]) for task in project_tasks]),
        analytics=draw_visits(seed),
        project_management=project_tasks,
        customer_relationship_manager=draw_customers(seed),
    )
