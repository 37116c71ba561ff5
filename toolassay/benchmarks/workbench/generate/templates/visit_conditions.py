"""Conditions on web-site metrics that several templates share."""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple

from toolassay.benchmarks.workbench.generate.company import YESTERDAY, Tables
from toolassay.benchmarks.workbench.generate.seeded_random import SeededRandom
from toolassay.benchmarks.workbench.generate.templates.lookups import FIRST_VISIT, between, daily
from toolassay.benchmarks.workbench.generate.templates.template import METRICS, day_text, weekday_text

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
