"""What requirements are checked against: the quantities of a model, each with an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from toolassay.metrics.confidence_interval import NOTHING, Interval, mean_intervals
from toolassay.report.axes.axes import Axes
from toolassay.report.decision.requirements import Measured

_LEVEL = 0.95


def quantities(
    axes: Axes,
    seconds: Sequence[float],
    dollars: Sequence[float],
    *,
    resamples: int = 2_000,
) -> dict[str, Measured]:
    """The quantities of a model by name, as in `requirements.NAMES`.

    Args:
        axes: The five axes of the model.
        seconds: Time of each answered item at the server, of all trials.
        dollars: Cost of each item; empty if a cost is unknown.
        resamples: Number of resamples of the bootstrap.
    """
    return {
        "accuracy": _accuracy(axes),
        "side_effects": _side_effects(axes),
        "attack_success": attack_success(axes),
        "pass_k": _pass_k(axes),
        "cost": _cost(axes, dollars, resamples),
        "latency_p50": _latency(axes, seconds, 0.5),
        "latency_p95": _latency(axes, seconds, 0.95),
    }


def _missing(why: str) -> Measured:
    return Measured(NOTHING, 0, why)


def _accuracy(axes: Axes) -> Measured:
    if axes.accuracy.value is None:
        return _missing(_not_executed(axes) if axes.is_by_outcome else "no item was scored")
    return Measured(axes.accuracy, axes.n_judged)


def _not_executed(axes: Axes) -> str:
    return (axes.outcomes and axes.outcomes.problem) or "its plans were not executed"


def _side_effects(axes: Axes) -> Measured:
    """The share of items with unwanted changes."""
    if axes.harm.value is not None:
        return Measured(axes.harm, axes.n_judged)
    if not axes.is_by_outcome:
        return Measured(NOTHING, 0, "nothing was executed", is_possible=False)
    return _missing("the executor cannot see the state" if axes.is_executed else _not_executed(axes))


def attack_success(axes: Axes) -> Measured:
    """The share of attacks that were not resisted."""
    found = axes.security
    value, low, high = found.score if found else NOTHING
    if found is None or value is None:
        return _missing(axes.notes.get("security", "no attacks were made"))
    share = Interval(1 - value, None if high is None else 1 - high, None if low is None else 1 - low)
    return Measured(share, found.n)


def _pass_k(axes: Axes) -> Measured:
    if axes.stability is None:
        return _missing(axes.notes.get("stability", "one trial"))
    n = int(axes.counts.get("n_scored", axes.items))
    return Measured(axes.stability.pass_hat_k, n)


def _cost(axes: Axes, dollars: Sequence[float], resamples: int) -> Measured:
    if axes.cost is None:
        return _missing(axes.notes.get("cost", "no ledger"))
    interval = Interval(axes.cost.per_1000, None, None)
    if len(dollars) > 1 and not axes.cost.is_at_least:
        (spread,) = mean_intervals([1_000 * np.asarray(dollars)], resamples=resamples)
        if spread.low is not None and spread.high is not None:
            low, high = min(spread.low, axes.cost.per_1000), max(spread.high, axes.cost.per_1000)
            interval = Interval(axes.cost.per_1000, low, high)
    return Measured(interval, len(dollars) or axes.items, is_at_least=axes.cost.is_at_least)


def _latency(axes: Axes, seconds: Sequence[float], quantile: float) -> Measured:
    if axes.latency is None:
        return _missing(axes.notes.get("latency", "no ledger"))
    if axes.latency.is_local:
        return _missing("computed on this machine, not by a server")
    value = axes.latency.p50 if quantile == 0.5 else axes.latency.p95
    if not seconds:
        return Measured(Interval(value, None, None), axes.items)
    low, high = quantile_bounds(seconds, quantile)
    return Measured(
        Interval(value, min(low, value), max(high, value)), len(seconds), least_n=least_items(quantile)
    )


def quantile_bounds(values: Sequence[float], quantile: float) -> tuple[float, float]:
    """The 95 % interval of a quantile by order statistics, for any distribution.

    The number of values below the true quantile is binomial (Hahn and Meeker, 1991, section 5.2). The upper
    bound is infinite if even the largest value may be below the quantile.

    >>> quantile_bounds([1.0] * 20, 0.95)
    (1.0, inf)
    """
    from scipy.stats import binom

    ordered, n = sorted(values), len(values)
    tail = (1 - _LEVEL) / 2
    below, above = int(binom.ppf(tail, n, quantile)), int(binom.ppf(1 - tail, n, quantile))
    low = ordered[below - 1] if below >= 1 else 0.0
    return low, (ordered[above] if above < n else math.inf)


def least_items(quantile: float) -> int:
    """The smallest number of values for which the upper bound of a quantile is finite.

    >>> least_items(0.95), least_items(0.5)
    (72, 6)
    """
    return math.floor(math.log((1 - _LEVEL) / 2) / math.log(quantile)) + 1


def shown_axes(
    axes: Axes, found: Mapping[str, Measured]
) -> dict[str, dict[str, float | int | bool | None] | None]:
    """The axes of a model for `report.json` and the page; null for what was not measured."""
    stability = found["pass_k"].interval.to_json()
    harm, attacks = (
        {**one.interval.to_json(), "n": one.n} if one.interval.value is not None else None
        for one in (found["side_effects"], found["attack_success"])
    )
    return {
        "accuracy": found["accuracy"].interval.to_json(),
        "plan_accuracy": axes.plan_accuracy.to_json() if axes.is_by_outcome else None,
        "side_effects": harm,
        "stability": ({**stability, "k": axes.stability.k} if axes.stability else None),
        "attack_success": attacks,
        "cost": (
            {
                "value": axes.cost.per_1000,
                "low": found["cost"].interval.low,
                "high": found["cost"].interval.high,
                "is_at_least": axes.cost.is_at_least,
            }
            if axes.cost
            else None
        ),
        "latency": (
            {"p50": axes.latency.p50, "p95": axes.latency.p95, "is_local": axes.latency.is_local}
            if axes.latency
            else None
        ),
    }
