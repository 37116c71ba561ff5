"""The type of a template (wordings with gaps, and a function that fills them), and how requests write
dates, durations and metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import Tables, texts
from toolassay.benchmarks.workbench.generate.seeded_random import SeededRandom

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
