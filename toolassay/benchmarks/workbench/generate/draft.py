"""A template of requests, the texts of its gaps, and the conditions that it may draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    PRODUCTS,
    TODAY,
    YESTERDAY,
    Row,
    SeededRandom,
    Tables,
    daily,
    text,
    texts,
)

TASKS = 10
"""Requests per template."""


class Mix(NamedTuple):
    """How many of a template's ten tasks need no call, one call or several calls."""

    none: int = 0
    one: int = 0
    many: int = 0


class Unusable(Exception):
    """A draw gives an ambiguous or impossible request."""


Calls = Iterable[WorkbenchCall]
Fill = Callable[["Draft"], Calls]
"""Fills the gaps of a draft at random, and returns the ground-truth calls.

Raises:
    Unusable: the draw must be repeated.
"""


@dataclass(frozen=True)
class Template:
    """A kind of request.

    Attributes:
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


def template(name: str) -> Callable[[Fill], Fill]:
    """Decorator that makes a function the `fill` of a template, whose domains and mix are in
    `data/templates.json`.
    """

    def define(fill: Fill) -> Fill:
        declared = texts("templates")[name]
        domains = tuple(declared["domains"])
        group = domains[0] if len(domains) == 1 else "multi_domain"
        TEMPLATES.setdefault(group, []).append(Template(name, domains, Mix(**declared["mix"]), fill))
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


# The first day with visits: plots and totals of earlier days would be empty.
FIRST_VISIT = date(2023, 9, 1)


def working_days() -> list[date]:
    """The working days of the three weeks after today."""
    days = [TODAY + timedelta(days=n) for n in range(1, 22)]
    return [day for day in days if day.weekday() < 5]


def between(values: Mapping[date, float], first: date, last: date = YESTERDAY) -> Iterable[float]:
    """The values of the days from `first` to `last`, both included."""
    return [value for day, value in values.items() if first <= day <= last]


# Round numbers, as people name them.
_PERCENT = (2, 5, 10, 15, 20, 30)
_CLEAR = 0.5
"""Minimum distance between a growth and its bound, in percentage points, so that rounding does not
change whether the condition holds."""


class Condition(NamedTuple):
    """Whether a condition holds, its metric's name in requests, and the first day it refers to."""

    holds: bool
    metric: str
    since: date


def growth(values_since: float, value_yesterday: float) -> float | None:
    """The growth of a value in percent; None if it starts at zero.

    >>> growth(4, 5)
    25.0
    """
    return None if values_since == 0 else 100 * (value_yesterday - values_since) / values_since


@dataclass
class Draft:
    """A request in the making. Each method that names a gap draws a value and writes its text there.

    Attributes:
        tables: of the company.
        rng: makes the choices. Their order is part of the generated folder.
        gaps: the texts so far.
    """

    tables: Tables
    rng: SeededRandom
    gaps: dict[str, str] = field(default_factory=dict)

    def require(self, condition: bool) -> None:
        """Give up this draw unless the condition holds.

        Raises:
            Unusable: it does not.
        """
        if not condition:
            raise Unusable

    def pick(self, gap: str, items: Iterable[str]) -> str:
        """One of the texts."""
        self.gaps[gap] = self.rng.pick(list(items))
        return self.gaps[gap]

    def two(self, gap: str, other: str, items: Iterable[str]) -> list[str]:
        """Two different ones of the texts."""
        pair = self.rng.some(list(items), 2)
        self.gaps |= zip((gap, other), pair, strict=True)
        return pair

    def customer(self) -> Row:
        """A customer."""
        customer = self.rng.pick(self.tables.customer_relationship_manager)
        self.gaps["customer"] = text(customer, "customer_name")
        return customer

    def product(self) -> str:
        """A product, which requests write in lower case."""
        product = self.pick("product", PRODUCTS)
        self.gaps["product"] = product.lower()
        return product

    def letter(self, kind: str) -> dict[str, str]:
        """Subject and body of a message, or of two, with gaps of those names."""
        message = self.rng.pick(list[dict[str, str]](texts("emails")["messages"][kind]))
        self.gaps |= message
        return message

    def day(self, gap: str, day: date) -> date:
        """Write a day."""
        self.gaps[gap] = day_text(day)
        return day

    def weekday(self, gap: str, day: date) -> date:
        """Write a day with its weekday."""
        self.gaps[gap] = weekday_text(day)
        return day

    def working_day(self) -> date:
        """A working day of the next three weeks, in the gap `day`."""
        return self.weekday("day", self.rng.pick(working_days()))

    def days_ago(self, low: int, high: int, gap: str = "since") -> date:
        """A day from `low` to `high` days before today, with the number in the gap `days`."""
        days = self.rng.between(low, high)
        self.gaps["days"] = str(days)
        return self.day(gap, TODAY - timedelta(days=days))

    def any_day(self, gap: str = "since") -> date:
        """A day with visits, at least three before the last."""
        days = (YESTERDAY - FIRST_VISIT).days - 2
        return self.day(gap, FIRST_VISIT + timedelta(days=self.rng.below(days)))

    def moment(self, day: date, last_hour: int) -> datetime:
        """A full or half hour of a day, from 9:00 to half past `last_hour`, in the gap `time`."""
        hour = self.rng.between(9, last_hour)
        minute = self.rng.pick([0, 30])
        moment = datetime(day.year, day.month, day.day, hour, minute)
        self.gaps["time"] = clock_text(moment)
        return moment

    def first_free(self, day: date) -> datetime:
        """The start of the first free half an hour of a day.

        Raises:
            Unusable: there is none.
        """
        free = self.tables.first_free(day, 30)
        if free is None:
            raise Unusable
        return free

    def threshold(self, since: date | None = None, *, direction: str | None = None) -> Condition:
        """Whether a metric went above (below) a number on any day from `since` to yesterday.

        The number is near the highest (lowest) value of the period, so that both results occur. Gaps: metric,
        direction, threshold, since.
        """
        since = self.day("since", since) if since else self.any_day()
        metric = self.pick("metric", METRICS)
        direction = direction or self.pick("direction", ["above", "below"])
        values = list(between(daily(self.tables, metric), since))
        extreme = max(values) if direction == "above" else min(values)
        number = max(1, round(extreme) + self.rng.between(-3, 3))
        self.gaps["threshold"] = str(number)
        return Condition(extreme > number if direction == "above" else extreme < number, metric, since)

    def change(self, first: date, last: date) -> Condition:
        """Whether a metric on `last` was more than some percent higher (lower) than on `first`.

        Gaps: metric, direction, percent.

        Raises:
            Unusable: the values are too close to say so.
        """
        metric = self.pick("metric", METRICS)
        direction = self.pick("direction", ["higher", "lower"])
        percent = self.rng.pick(_PERCENT)
        values = daily(self.tables, metric)
        self.gaps["percent"] = f"{percent}%"
        grown = growth(values[first], values[last])
        if grown is None:
            raise Unusable
        grown = grown if direction == "higher" else -grown
        self.require(abs(grown - percent) >= _CLEAR)
        return Condition(grown > percent, metric, first)

    def race(self) -> Condition:
        """Whether one metric grew by a greater percentage than another, from a recent day to yesterday.

        Gaps: metric, other, since.

        Raises:
            Unusable: the growths are too close to say so.
        """
        since = self.weekday("since", YESTERDAY - timedelta(days=self.rng.between(1, 12)))
        metric, other = self.two("metric", "other", METRICS)
        mine, theirs = (
            growth(daily(self.tables, name)[since], daily(self.tables, name)[YESTERDAY])
            for name in (metric, other)
        )
        if mine is None or theirs is None or abs(mine - theirs) < _CLEAR:
            raise Unusable
        return Condition(mine > theirs, metric, since)
