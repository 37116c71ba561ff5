"""Templates of requests about visits to the web site: plots, some under a condition."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import TODAY, YESTERDAY, Tables
from toolassay.benchmarks.workbench.generate.seeded_random import SeededRandom
from toolassay.benchmarks.workbench.generate.templates.lookups import FIRST_VISIT, between, daily
from toolassay.benchmarks.workbench.generate.templates.template import (
    METRICS,
    SOURCES,
    FilledTemplate,
    Mix,
    Template,
    call,
    day_text,
    weekday_text,
)
from toolassay.benchmarks.workbench.generate.templates.visit_conditions import (
    Condition,
    any_day,
    change,
    race,
    threshold,
)

_ANALYTICS = ("analytics",)
_CHARTS = ("bar", "line", "scatter")


def _plot(first: date, last: date, metric: str, kind: str) -> WorkbenchCall:
    value = METRICS.get(metric) or SOURCES[metric]
    return call(
        "analytics.create_plot", time_min=str(first), time_max=str(last), value_to_plot=value, plot_type=kind
    )


def _plot_since(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    since, metric, kind = any_day(rng), rng.pick(list(METRICS)), rng.pick(_CHARTS)
    slots = {"kind": kind, "metric": metric, "since": day_text(since)}
    return FilledTemplate(slots, (_plot(since, YESTERDAY, metric, kind),))


def _one_day(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day, metric = any_day(rng), rng.pick(list(METRICS))
    return FilledTemplate({"metric": metric, "day": day_text(day)}, (_plot(day, day, metric, "histogram"),))


def _two_histograms(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    first = any_day(rng)
    last = first + timedelta(days=rng.between(2, (YESTERDAY - first).days))
    metric, other = rng.some(list(METRICS), 2)
    slots = {"metric": metric, "other": other, "first": day_text(first), "last": day_text(last)}
    return FilledTemplate(slots, tuple(_plot(first, last, each, "histogram") for each in (metric, other)))


def _line_if(
    condition: Condition | None, slots: Mapping[str, str], last: date = YESTERDAY
) -> FilledTemplate | None:
    if condition is None:
        return None
    plot = _plot(condition.since, last, condition.metric, "line")
    return FilledTemplate({**condition.slots, **slots}, (plot,) if condition.holds else ())


def _threshold(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    return _line_if(threshold(tables, rng), {})


def _two_bars(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    since = any_day(rng)
    metric, other = rng.some(list(METRICS), 2)
    slots = {"metric": metric, "other": other, "since": day_text(since)}
    return FilledTemplate(slots, tuple(_plot(since, YESTERDAY, each, "bar") for each in (metric, other)))


def _recent_threshold(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    days = rng.pick([7, 14, 21, 28, 35, 42])
    return _line_if(threshold(tables, rng, TODAY - timedelta(days=days)), {"days": str(days)})


def _change_since(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    since = any_day(rng)
    return _line_if(change(tables, rng, since, YESTERDAY), {"since": day_text(since)})


def _change_since_weekday(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    since = YESTERDAY - timedelta(days=rng.between(1, 6))
    return _line_if(change(tables, rng, since, YESTERDAY), {"since": weekday_text(since)})


def _week_on_week(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    last = YESTERDAY - timedelta(days=rng.between(0, 13))
    first = last - timedelta(days=7)
    slots = {"first": weekday_text(first), "last": weekday_text(last)}
    return _line_if(change(tables, rng, first, last), slots, last)


def _faster_growth(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found = race(tables, rng)
    if found is None:
        return None
    plots = tuple(_plot(found.since, YESTERDAY, found.slots[gap], "line") for gap in ("metric", "other"))
    return FilledTemplate(found.slots, plots if found.holds else ())


def _popular_source(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    since, rank = any_day(rng), rng.pick(["most", "fewest"])
    totals = {source: sum(between(daily(tables, source), since)) for source in SOURCES}
    wanted = (max if rank == "most" else min)(totals.values())
    winners = [source for source, total in totals.items() if total == wanted]
    # Whether a source without a visit has the fewest, or is not compared, is a matter of opinion.
    if len(winners) > 1 or not wanted:
        return None
    return FilledTemplate(
        {"rank": rank, "since": day_text(since)}, (_plot(since, YESTERDAY, winners[0], "line"),)
    )


def _source_against_source(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    weeks = rng.between(2, 12)
    since = TODAY - timedelta(weeks=weeks)
    first, second = rng.some(list(SOURCES), 2)
    totals = [sum(between(daily(tables, source), since)) for source in (first, second)]
    if since < FIRST_VISIT or totals[0] == totals[1]:
        return None
    slots = {"first": first, "second": second, "weeks": str(weeks), "since": day_text(since)}
    plots = tuple(_plot(since, YESTERDAY, source, "bar") for source in (first, second))
    return FilledTemplate(slots, plots if totals[0] > totals[1] else ())


TEMPLATES = (
    Template("analytics.plot_since", _ANALYTICS, Mix(one=10), _plot_since),
    Template("analytics.one_day", _ANALYTICS, Mix(one=10), _one_day),
    Template("analytics.two_histograms", _ANALYTICS, Mix(many=10), _two_histograms),
    Template("analytics.threshold", _ANALYTICS, Mix(2, 8), _threshold),
    Template("analytics.two_bars", _ANALYTICS, Mix(many=10), _two_bars),
    Template("analytics.recent_threshold", _ANALYTICS, Mix(6, 4), _recent_threshold),
    Template("analytics.change_since", _ANALYTICS, Mix(5, 5), _change_since),
    Template("analytics.change_since_weekday", _ANALYTICS, Mix(8, 2), _change_since_weekday),
    Template("analytics.week_on_week", _ANALYTICS, Mix(5, 5), _week_on_week),
    Template("analytics.faster_growth", _ANALYTICS, Mix(none=8, many=2), _faster_growth),
    Template("analytics.popular_source", _ANALYTICS, Mix(one=10), _popular_source),
    Template("analytics.source_against_source", _ANALYTICS, Mix(none=6, many=4), _source_against_source),
)
