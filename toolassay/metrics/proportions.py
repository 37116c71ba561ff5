"""Shares of few trials, with their intervals."""

from __future__ import annotations

from toolassay.metrics.intervals import NOTHING, Interval


def proportion_interval(hits: int, trials: int, *, level: float = 0.95) -> Interval:
    """A share with its Wilson score interval (Wilson, 1927); nothing where there is no trial.

    Unlike a bootstrap it has a width where all trials ended alike.

    Args:
        hits: how many trials ended so.
        trials: how many there were.
        level: of confidence.

    >>> proportion_interval(10, 10)
    Interval(value=1.0, low=0.7225, high=1.0)
    """
    if not trials:
        return NOTHING
    from scipy.stats import binomtest

    bounds = binomtest(hits, trials).proportion_ci(level, method="wilson")
    return Interval(hits / trials, round(float(bounds.low), 4), round(float(bounds.high), 4))
