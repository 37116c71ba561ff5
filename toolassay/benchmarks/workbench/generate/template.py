"""A template of requests, and what templates look up in the tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    NOW,
    TODAY,
    YESTERDAY,
    Row,
    SeededRandom,
    Tables,
    address,
    texts,
)

TASKS = 10
"""Requests per template."""


class Mix(NamedTuple):
    """How many of a template's ten tasks need no call, one call or several calls."""

    none: int = 0
    one: int = 0
    many: int = 0


class FilledTemplate(NamedTuple):
    """The texts for the gaps of a template, and the ground-truth calls of the resulting request."""

    slots: Mapping[str, str]
    calls: tuple[WorkbenchCall, ...]


Fill = Callable[[Tables, SeededRandom], FilledTemplate | None]
"""Fills a template at random; None if the draw gives an ambiguous or impossible request."""


@dataclass(frozen=True)
class Template:
    """A kind of request.

    Args:
        name: unique among all templates.
        domains: the domains whose tools a solution may need, including those that only read.
        mix: the number of tasks that need no call, one call and several calls; ten in total.
        fill: fills the gaps.
    """

    name: str
    domains: tuple[str, ...]
    mix: Mix
    fill: Fill = field(repr=False)

    @property
    def wordings(self) -> Sequence[str]:
        """Alternative wordings (from `data/wordings.json`), each with the same gaps; the first is the base
        template.
        """
        group, name = self.name.split(".")
        wordings: Sequence[str] = texts("wordings")[group][name]
        return wordings


TEMPLATES: dict[str, list[Template]] = {}
"""The templates of each group (a domain, or `multi_domain`), in the order of their definition."""


_GROUP_NAMES = {"customer_relationship_manager": "customers"}  # in names of templates


def template(mix: Mix, *domains: str, name: str = "") -> Callable[[Fill], Fill]:
    """Decorator that makes a function the `fill` of a template, which has the function's name [default].

    The other arguments are those of `Template`.
    """

    def define(fill: Fill) -> Fill:
        group = domains[0] if len(domains) == 1 else "multi_domain"
        named = f"{_GROUP_NAMES.get(group, group)}.{name or fill.__name__.removeprefix('_')}"
        TEMPLATES.setdefault(group, []).append(Template(named, domains, mix, fill))
        return fill

    return define


def call(name: str, **arguments: str) -> WorkbenchCall:
    """A ground-truth call. All arguments are strings, as in the published ground truth.

    >>> str(call("calendar.delete_event", event_id="00000007"))
    'calendar.delete_event.func(event_id="00000007")'
    """
    return WorkbenchCall(name, arguments)


DURATIONS = {"30-minute": 30, "one-hour": 60, "90-minute": 90, "two-hour": 120}

METRICS = {
    "the number of visits": "total_visits",
    "the number of engaged users": "user_engaged",
    "the average session duration": "session_duration_seconds",
}
"""The values that `create_plot` accepts for daily metrics, by their name in requests."""

SOURCES = {
    "direct": "visits_direct",
    "referral": "visits_referral",
    "search engine": "visits_search_engine",
    "social media": "visits_social_media",
}
"""The values that `create_plot` accepts for the visits from a source."""


def day_text(day: date) -> str:
    """A day of 2023 as requests write it.

    >>> day_text(date(2023, 12, 4))
    'December 4'
    """
    return f"{day:%B} {day.day}"


def weekday_text(day: date) -> str:
    """A day of 2023 with its weekday, as requests write it.

    >>> weekday_text(date(2023, 12, 4))
    'Monday, December 4'
    """
    return f"{day:%A}, {day_text(day)}"


def clock_text(moment: datetime) -> str:
    """A time of day as requests write it.

    >>> clock_text(datetime(2023, 12, 4, 15, 30))
    '3:30 pm'
    """
    return f"{moment.hour % 12 or 12}:{moment:%M} {'am' if moment.hour < 12 else 'pm'}"


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


_PERCENT = (2, 5, 10, 15, 20, 30)
_CLEAR = 0.5
"""Minimum distance between a growth and its bound, in percentage points, so that rounding does not
change whether the condition holds."""


class Condition(NamedTuple):
    """The filled gaps of a condition, whether it holds, and the first day it refers to."""

    slots: dict[str, str]
    holds: bool
    since: date

    @property
    def metric(self) -> str:
        """The metric's name in requests."""
        return self.slots["metric"]


def any_day(rng: SeededRandom, *, least_days: int = 3) -> date:
    """A random day with visits, at least `least_days` before the last."""
    return FIRST_VISIT + timedelta(days=rng.below((YESTERDAY - FIRST_VISIT).days + 1 - least_days))


def threshold(
    tables: Tables, rng: SeededRandom, since: date | None = None, *, direction: str | None = None
) -> Condition:
    """Whether a metric went above (below) a number on any day from `since` to yesterday.

    The number is near the highest (lowest) value of the period, so that both results occur. Gaps: metric,
    direction, threshold, since.
    """
    since = since or any_day(rng)
    metric, direction = rng.pick(list(METRICS)), direction or rng.pick(["above", "below"])
    values = list(between(daily(tables, metric), since))
    extreme = max(values) if direction == "above" else min(values)
    number = max(1, round(extreme) + rng.between(-3, 3))
    holds = extreme > number if direction == "above" else extreme < number
    slots = {"metric": metric, "direction": direction, "threshold": str(number), "since": day_text(since)}
    return Condition(slots, holds, since)


def growth(values_since: float, value_yesterday: float) -> float | None:
    """The growth of a value in percent; None if it starts at zero.

    >>> growth(4, 5)
    25.0
    """
    return None if values_since == 0 else 100 * (value_yesterday - values_since) / values_since


def change(tables: Tables, rng: SeededRandom, first: date, last: date) -> Condition | None:
    """Whether a metric on `last` was more than some percent higher (lower) than on `first`.

    Gaps: metric, direction, percent.
    """
    metric, direction = rng.pick(list(METRICS)), rng.pick(["higher", "lower"])
    percent, values = rng.pick(_PERCENT), daily(tables, metric)
    grown = growth(values[first], values[last])
    if grown is None:
        return None
    grown = grown if direction == "higher" else -grown
    if abs(grown - percent) < _CLEAR:
        return None
    slots = {"metric": metric, "direction": direction, "percent": f"{percent}%"}
    return Condition(slots, grown > percent, first)


def race(tables: Tables, rng: SeededRandom) -> Condition | None:
    """Whether one metric grew by a greater percentage than another, from a recent day to yesterday.

    Gaps: metric, other, since.
    """
    since = YESTERDAY - timedelta(days=rng.between(1, 12))
    metric, other = rng.some(list(METRICS), 2)
    mine, theirs = (
        growth(daily(tables, name)[since], daily(tables, name)[YESTERDAY]) for name in (metric, other)
    )
    if mine is None or theirs is None or abs(mine - theirs) < _CLEAR:
        return None
    slots = {"metric": metric, "other": other, "since": weekday_text(since)}
    return Condition(slots, mine > theirs, since)
