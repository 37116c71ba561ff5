"""A template of requests, the texts of its gaps, and the conditions that it may draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    TODAY,
    YESTERDAY,
    SeededRandom,
    Tables,
    daily,
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


FIRST_VISIT = date(2023, 9, 1)


def working_days() -> list[date]:
    """The working days of the three weeks after today."""
    days = [TODAY + timedelta(days=n) for n in range(1, 22)]
    return [day for day in days if day.weekday() < 5]


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
