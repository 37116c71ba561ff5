"""Repeated confidence intervals of a paired difference, so that looking early keeps the error rate.

Group-sequential (Jennison and Turnbull, Group Sequential Methods, 1999): the bounds of each look are of a
Brownian motion that crosses none of them in 96 % of cases, by the spending function of Lan and DeMets (1983)
of O'Brien and Fleming's type. The interval of a look is a score interval: the variance is that under the
difference in question, never below that of differences of 0 and 1 with this mean, so that few or no
differences prove as little as they should (Tango, 1998, for pairs of verdicts).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import Literal, NamedTuple

LEVEL = 0.04
"""Probability that the interval of any look misses the difference; 5 % leave room for skewed differences."""
METHOD = "repeated score intervals, Lan and DeMets' spending of O'Brien and Fleming's type, 96 %"
_PATHS = 200_000  # of simulated Brownian motions; the error of a bound's level is below 0.0005
_MOST = 1_000_000  # goals; no set is larger

Decision = Literal["better", "worse", "no_difference", "no_decision"]


class MeanDifference(NamedTuple):
    """A mean difference with the bounds of its interval, from -1 to 1."""

    value: float
    low: float
    high: float

    def decided(self, margin: float) -> Decision:
        """What the interval says; an interval within the margin says no difference, also without 0.

        >>> MeanDifference(0.1, 0.02, 0.18).decided(0.05), MeanDifference(0.01, -0.02, 0.04).decided(0.05)
        ('better', 'no_difference')
        """
        if -margin < self.low and self.high < margin:
            return "no_difference"
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no_decision"


@cache
def critical_values(fractions: tuple[float, ...], level: float = LEVEL) -> tuple[float, ...]:
    """The number of standard errors of each look's interval; infinite before a look can decide anything.

    Args:
        fractions: The share of all goals at each look, rising, the last 1.
        level: Probability that any interval misses the difference.

    >>> [round(value, 2) for value in critical_values((1.0,))]
    [2.05]
    """
    import numpy as np

    if len(fractions) == 1:
        return (NormalDist().inv_cdf(1 - level / 2),)
    shares = np.asarray(fractions)
    steps = np.random.default_rng(0).standard_normal((_PATHS, len(shares))) * np.sqrt(
        np.diff(shares, prepend=0)
    )
    inside = np.abs(np.cumsum(steps, axis=1)) / np.sqrt(shares)
    values: list[float] = []
    crossed = 0
    for look, share in enumerate(fractions):
        spent = 4 * NormalDist().cdf(-NormalDist().inv_cdf(1 - level / 4) / math.sqrt(share))
        may_cross = int(_PATHS * spent) - crossed
        ordered = np.sort(inside[:, look])[::-1]
        values.append(float(ordered[may_cross - 1]) if may_cross else math.inf)
        inside = inside[inside[:, look] < values[-1]]
        crossed += may_cross
    return tuple(values)


def score_interval(differences: Sequence[float], critical: float) -> MeanDifference:
    """The mean of paired differences with a score interval.

    Args:
        differences: One of each goal, from -1 to 1.
        critical: Number of standard errors.

    >>> score_interval([0.0] * 74, 1.96)
    MeanDifference(value=0.0, low=-0.0493..., high=0.0493...)
    """
    count = len(differences)
    value = sum(differences) / count
    return _interval(count, value, sum((one - value) ** 2 for one in differences) / count, critical)


def _interval(count: int, value: float, variance: float, critical: float) -> MeanDifference:
    square = critical**2
    if square >= count:
        return MeanDifference(value, -1.0, 1.0)
    reach = critical * math.sqrt(variance / (count - square))
    # Wilson's interval is that of the smallest variance that differences with this mean can have.
    centre = square / (2 * (count + square))
    shrunk = count * value / (count + square)
    lows, highs = [value - reach], [value + reach]
    for sign in (-1, 1):
        radicand = square * (square / 4 + sign * count * value * (1 - sign * value))
        if radicand >= 0:
            wide = math.sqrt(radicand) / (count + square)
            lows.append(shrunk + sign * centre - wide)
            highs.append(shrunk + sign * centre + wide)
    return MeanDifference(value, max(-1.0, min(lows)), min(1.0, max(highs)))


def goals_needed(differences: Sequence[float], critical: float, margin: float) -> int | None:
    """How many goals more would decide, if they are like these; None if no number that anyone collects.

    Args:
        differences: One of each goal.
        critical: Number of standard errors of the last look.
        margin: The difference that matters.
    """
    count = len(differences)
    value = sum(differences) / count
    variance = sum((one - value) ** 2 for one in differences) / count

    def decides(size: int) -> bool:
        return _interval(size, value, variance, critical).decided(margin) != "no_decision"

    if not decides(_MOST):
        return None
    few, many = count, _MOST
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if decides(middle) else (middle, many)
    return many - count
