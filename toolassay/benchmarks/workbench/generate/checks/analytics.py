"""Checks of requests about visits."""

from __future__ import annotations

import sqlite3

from toolassay.benchmarks.workbench.generate.checks.expected import NOTHING, Check, ExpectedChanges, Gaps
from toolassay.benchmarks.workbench.generate.checks.expected import new as added
from toolassay.benchmarks.workbench.generate.checks.lookups import (
    YESTERDAY,
    column,
    crosses_threshold,
    daily_values,
    days_before_today,
    grew_faster,
    parse_day,
)

_FILES = {
    "the number of visits": "total_visits",
    "the number of engaged users": "user_engaged",
    "the average session duration": "session_duration_seconds",
}


def _plot(metric: str, kind: str, first: str, last: str = YESTERDAY) -> ExpectedChanges:
    value = _FILES.get(metric) or f"visits_{metric.replace(' ', '_')}"
    return added("plots", file_path=f"plots/{first}_{last}_{value}_{kind}.png")


def _plot_since(_: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _plot(gaps["metric"], gaps["kind"], parse_day(gaps["since"]))


def _one_day(_: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _plot(gaps["metric"], "histogram", parse_day(gaps["day"]), parse_day(gaps["day"]))


def _two_histograms(_: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    days = parse_day(gaps["first"]), parse_day(gaps["last"])
    return _plot(gaps["metric"], "histogram", *days) + _plot(gaps["other"], "histogram", *days)


def _two_bars(_: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    since = parse_day(gaps["since"])
    return _plot(gaps["metric"], "bar", since) + _plot(gaps["other"], "bar", since)


def _threshold(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _plot(gaps["metric"], "line", parse_day(gaps["since"])) if crosses_threshold(db, gaps) else NOTHING


def _recent_threshold(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    if parse_day(gaps["since"]) != days_before_today(int(gaps["days"])):
        raise ValueError("the two ways to name the period differ")
    return _threshold(db, gaps)


def _changed(db: sqlite3.Connection, gaps: Gaps, first: str, last: str) -> ExpectedChanges:
    values = daily_values(db, gaps["metric"], first, last)
    share = float(gaps["percent"].removesuffix("%")) / 100
    if gaps["direction"] == "higher":
        holds = values[-1] > values[0] * (1 + share)
    else:
        holds = values[-1] < values[0] * (1 - share)
    return _plot(gaps["metric"], "line", first, last) if holds else NOTHING


def _change_since(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _changed(db, gaps, parse_day(gaps["since"]), YESTERDAY)


def _week_on_week(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _changed(db, gaps, parse_day(gaps["first"]), parse_day(gaps["last"]))


def _faster_growth(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    since = parse_day(gaps["since"])
    if not grew_faster(db, gaps["metric"], gaps["other"], since):
        return NOTHING
    return _plot(gaps["metric"], "line", since) + _plot(gaps["other"], "line", since)


def _popular_source(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = (
        "SELECT traffic_source FROM visits WHERE date_of_visit BETWEEN ? AND ? GROUP BY 1 ORDER BY count(*)"
    )
    ranked = column(db, query, parse_day(gaps["since"]), YESTERDAY)
    return _plot(ranked[-1 if gaps["rank"] == "most" else 0], "line", parse_day(gaps["since"]))


def _source_against_source(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    since = parse_day(gaps["since"])
    if since != days_before_today(7 * int(gaps["weeks"])):
        raise ValueError("the two ways to name the period differ")
    query = "SELECT count(*) FROM visits WHERE traffic_source = ? AND date_of_visit >= ?"
    (first,), (second,) = (column(db, query, gaps[gap], since) for gap in ("first", "second"))
    return (
        _plot(gaps["first"], "bar", since) + _plot(gaps["second"], "bar", since)
        if first > second
        else NOTHING
    )


CHECKS: dict[str, Check] = {
    "plot_since": _plot_since,
    "one_day": _one_day,
    "two_histograms": _two_histograms,
    "threshold": _threshold,
    "two_bars": _two_bars,
    "recent_threshold": _recent_threshold,
    "change_since": _change_since,
    "change_since_weekday": _change_since,
    "week_on_week": _week_on_week,
    "faster_growth": _faster_growth,
    "popular_source": _popular_source,
    "source_against_source": _source_against_source,
}
