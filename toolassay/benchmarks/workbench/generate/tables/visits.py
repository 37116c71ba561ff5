"""Visits to the web site: 1000 in the 90 days before today."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from toolassay.benchmarks.workbench.generate.dice import Dice

COUNT = 1000
FIRST_DAY, DAYS = date(2023, 9, 1), 90
_LEAST_A_DAY = 2
_SOURCES = {"direct": 0.45, "social media": 0.25, "search engine": 0.18, "referral": 0.12}
_VIEWS, _SECONDS = 5.5, 19.5  # means


def visits(seed: int) -> list[dict[str, Any]]:
    """Visits in no order, at least two on every day.

    Page views and durations fall off exponentially; a visitor is engaged after more than ten seconds and
    more than one page.
    """
    dice = Dice(seed, "analytics")
    busy = [0.5 + dice.chance(0.3) + dice.exponential(0.4) for _ in range(DAYS)]
    days = [day for day in range(DAYS) for _ in range(_LEAST_A_DAY)]
    days += [dice.weighted(range(DAYS), busy) for _ in range(COUNT - len(days))]
    return [_visit(dice, FIRST_DAY + timedelta(days=day)) for day in dice.shuffled(days)]


def _visit(dice: Dice, day: date) -> dict[str, Any]:
    views, seconds = 1 + int(dice.exponential(_VIEWS - 0.5)), 1 + int(dice.exponential(_SECONDS - 0.5))
    return {
        "date_of_visit": str(day),
        "visitor_id": f"{dice.below(10_000):04}",
        "page_views": str(views),
        "session_duration_seconds": str(seconds),
        "traffic_source": dice.weighted(list(_SOURCES), list(_SOURCES.values())),
        "user_engaged": str(seconds > 10 and views > 1),
    }
