"""Confidence intervals: a bootstrap for ratios of sums, Wilson's score interval for shares, audits.

The bootstrap is the percentile bootstrap (Efron, 1979) over clusters, vectorised and seeded.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Clusters = NDArray[np.int64] | Sequence[Hashable]


_DRAWS_AT_ONCE = 20_000  # numbers drawn in one step; their arrays fit into the CPU's cache
MOST_UNITS = 20_000
"""The most units that are drawn. More items or clusters than that are first grouped at random."""


class Interval(NamedTuple):
    """A number with the bounds of its confidence interval; None for what is unknown."""

    value: float | None
    low: float | None
    high: float | None

    def to_json(self) -> dict[str, float | None]:
        """The interval as an object of a metrics file.

        >>> Interval(0.5, 0.25, 0.75).to_json()
        {'value': 0.5, 'low': 0.25, 'high': 0.75}
        """
        return self._asdict()

    @classmethod
    def of(cls, numbers: Mapping[str, float | None]) -> Interval:
        """The interval in such an object; what it lacks is None."""
        return cls(*(numbers.get(name) for name in cls._fields))


NOTHING = Interval(None, None, None)


def mean_intervals(
    scores: Iterable[NDArray[np.float64]],
    *,
    clusters: Clusters | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> list[Interval]:
    """The means of scores, with bootstrap bounds.

    Args:
        scores: one array per score, each of shape (items,); NaN leaves an item out of that mean.
        clusters: as the other arguments, see `ratio_intervals`.
        resamples: the number of draws.
        seed: of the draws.
        level: of confidence.

    >>> import numpy as np
    >>> mean_intervals([np.array([0.5, 0.5])], resamples=10)
    [Interval(value=0.5, low=0.5, high=0.5)]
    """
    return ratio_intervals(
        (Ratio.mean(score) for score in scores),
        clusters=clusters,
        resamples=resamples,
        seed=seed,
        level=level,
    )


class Ratio(NamedTuple):
    """A ratio of two sums over items.

    Attributes:
        top: the summands of the upper sum, shape (items,).
        bottom: those of the lower sum, likewise.
        n_verdicts: the number of items, if each run of each item was right or wrong: the interval is then at
            least as wide as Wilson's for so many independent verdicts. 0 for any other ratio.
    """

    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    n_verdicts: int = 0

    @classmethod
    def mean(cls, scores: NDArray[np.float64], *, are_verdicts: bool = False) -> Ratio:
        """The mean of scores as a ratio; an item with NaN adds nothing to either sum.

        Args:
            scores: one for each item, shape (items,).
            are_verdicts: whether each is the share of an item's runs that were right (or harmful, etc.).

        >>> import numpy as np
        >>> Ratio.mean(np.array([0.5, np.nan])).bottom.tolist()
        [1.0, 0.0]
        """
        import numpy as np

        known = ~np.isnan(scores)
        n_verdicts = int(known.sum()) if are_verdicts else 0
        return cls(np.where(known, scores, 0.0), known.astype(np.float64), n_verdicts)

    @classmethod
    def share(cls, top: NDArray[np.float64], bottom: NDArray[np.float64]) -> Ratio:
        """A share of parts of items; where each item has all of its parts or none, these are verdicts.

        >>> import numpy as np
        >>> Ratio.share(np.array([2.0, 0.0]), np.array([2.0, 0.0])).n_verdicts
        1
        """
        are_verdicts = bool(((top == 0) | (top == bottom)).all())
        return cls(top, bottom, int((bottom > 0).sum()) if are_verdicts else 0)

    @classmethod
    def over_runs(cls, runs: NDArray[np.float64]) -> Ratio:
        """The mean over items of their means over runs: an item weighs one, however often it was run.

        Args:
            runs: scores of shape (trials, items); NaN where an item has no such run.

        >>> import numpy as np
        >>> ratio = Ratio.over_runs(np.array([[1.0, 0.0], [np.nan, 1.0]]))
        >>> ratio.top.tolist(), ratio.n_verdicts
        ([1.0, 0.5], 2)
        """
        import numpy as np

        unknown = np.isnan(runs)
        are_verdicts = bool((unknown | (runs == 0) | (runs == 1)).all())
        return cls.mean(means_over_runs(runs), are_verdicts=are_verdicts)


def run_table(items: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
    """The scores of items' runs as an array of shape (runs, items); NaN for None, and for fewer runs.

    >>> run_table([[1.0, 0.0], [None]]).tolist()
    [[1.0, nan], [0.0, nan]]
    """
    import numpy as np

    table = np.full((max(map(len, items), default=0), len(items)), np.nan)
    for column, runs in enumerate(items):
        table[: len(runs), column] = [np.nan if score is None else score for score in runs]
    return table


def means_over_runs(runs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each item's known runs; NaN without any.

    Args:
        runs: shape (trials, items), NaN where an item has no such run.

    >>> import numpy as np
    >>> means_over_runs(np.array([[1.0, np.nan], [0.0, np.nan]])).tolist()
    [0.5, nan]
    """
    import numpy as np

    known = ~np.isnan(runs)
    counts = known.sum(axis=0)
    means = np.full(len(counts), np.nan)
    np.divide(np.where(known, runs, 0.0).sum(axis=0), counts, out=means, where=counts > 0)
    return means


def ratio_intervals(
    ratios: Iterable[Ratio],
    *,
    clusters: Clusters | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> list[Interval]:
    """Ratios of sums over items, with the bounds of a cluster bootstrap.

    Whole clusters are drawn with replacement (Field and Welsh, 2007); without clusters, items are. More than
    20,000 of them are first grouped at random, which does not change the variance of a sum.

    Args:
        ratios: the ratios; only one at a time is held in memory. One whose bottom adds up to 0 has no value.
            One of verdicts gets bounds at least as wide as Wilson's: a bootstrap of items that all end alike
            has no width, so that 0 harmful of 20 tasks would prove that a model does no harm. Wilson's does
            not know that items depend on each other, which the clusters do.
        clusters: the cluster of each item, by any number or name; None if each item is its own.
        resamples: the number of draws; 0 gives no bounds.
        seed: of the draws.
        level: the share of resampled ratios between the bounds.

    Returns:
        An interval for each ratio.

    >>> import numpy as np
    >>> ratio_intervals([Ratio(np.array([1.0, 3.0]), np.array([2.0, 6.0]))], resamples=10)
    [Interval(value=0.5, low=0.5, high=0.5)]
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    units: Units | None = None
    values: list[float | None] = []
    verdicts: list[int] = []
    columns: list[NDArray[np.float64]] = []
    for top, bottom, n_verdicts in ratios:
        total = bottom.sum()
        values.append(float(top.sum() / total) if total else None)
        verdicts.append(n_verdicts)
        if resamples and len(top):
            units = units or Units(len(top), clusters, generator)
            columns += [units.sums(top), units.sums(bottom)]
    if not columns:
        return [Interval(value, None, None) for value in values]
    sums = _resampled_sums(np.column_stack(columns), resamples, generator)
    tops = sums.T[::2]
    bottoms = sums.T[1::2]
    drawn = bottoms > 0
    resampled = np.divide(tops, bottoms, out=np.full(tops.shape, np.nan), where=drawn)
    resampled.sort()  # NaN last
    tail = (1 - level) / 2
    last = np.maximum(drawn.sum(axis=1) - 1, 0)
    lows, highs = (_quantiles(resampled, last, share) for share in (tail, 1 - tail))
    intervals: list[Interval] = []
    for value, low, high, n_verdicts in zip(values, lows, highs, verdicts, strict=True):
        if value is None or math.isnan(low):
            intervals.append(Interval(value, None, None))
            continue
        # If all items have one value, rounding could put it outside of its own bounds.
        bounds: list[float | None] = [value, low, high]
        if n_verdicts:
            bounds += proportion_interval(value * n_verdicts, n_verdicts, level=level)[1:]
        known = [bound for bound in bounds if bound is not None]
        intervals.append(Interval(value, min(known), max(known)))
    return intervals


def _quantiles(rows: NDArray[np.float64], last: NDArray[np.int64], share: float) -> list[float]:
    """The quantile of each sorted row up to its last place: `np.quantile` of many rows, in less time."""
    import numpy as np

    position = share * last
    every = np.arange(len(rows))
    below = position.astype(np.int64)
    rest = position - below
    lower = rows[every, below]
    upper = rows[every, np.minimum(below + 1, last)]
    step = upper - lower
    quantiles: list[float] = np.where(rest >= 0.5, upper - step * (1 - rest), lower + step * rest).tolist()
    return quantiles


def bootstrapped_means(
    scores: NDArray[np.float64], *, resamples: int = 1000, seed: int = 0
) -> NDArray[np.float64]:
    """The mean of each column over items drawn with replacement.

    Args:
        scores: shape (items, columns), at least one item.
        resamples: the number of draws.
        seed: of the draws.

    Returns:
        The means, shape (resamples, columns).
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    units = Units(len(scores), None, generator)
    columns = [units.sums(column) for column in (*scores.T, np.ones(len(scores)))]
    sums = _resampled_sums(np.column_stack(columns), resamples, generator)
    return np.asarray(sums[:, :-1] / sums[:, -1:])


class Units:
    """The units that a bootstrap draws: items, clusters, or random groups of either.

    Args:
        items: the number of items.
        clusters: the cluster of each item, by any number or name; None if each item is its own.
        generator: groups the units if there are more than `MOST_UNITS`; None never groups.

    >>> import numpy as np
    >>> Units(3, np.array([7, 9, 7])).sums(np.array([1.0, 2.0, 4.0])).tolist()
    [5.0, 2.0]
    """

    def __init__(
        self,
        items: int,
        clusters: Clusters | None = None,
        generator: np.random.Generator | None = None,
    ) -> None:
        import numpy as np

        self._numbers: NDArray[np.int64] | None = None
        self._count = items
        if clusters is not None:
            if not isinstance(clusters, np.ndarray):
                number_of = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
                clusters = np.array([number_of[name] for name in clusters], dtype=np.int64)
            known, numbers = np.unique(clusters, return_inverse=True)
            if len(known) < items:
                self._numbers, self._count = numbers, len(known)
        if generator is not None and self._count > MOST_UNITS:
            together = generator.permutation(self._count) % MOST_UNITS
            self._numbers = together if self._numbers is None else together[self._numbers]
            self._count = MOST_UNITS

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums of the items' values over each unit, shape (units,)."""
        import numpy as np

        if self._numbers is None:
            return values
        return np.bincount(self._numbers, values, minlength=self._count).astype(np.float64, copy=False)


def _resampled_sums(
    rows: NDArray[np.float64], resamples: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """For each draw of `len(rows)` rows with replacement, their column sums: shape (resamples, columns).

    BLAS adds in an order of its own on each processor. Values are therefore rounded, in each column to
    multiples of one power of two, such that every sum is exact: the same bits in any order. This changes
    a mean by less than 1e-11 of the largest value.
    """
    import numpy as np

    units = len(rows)
    exponents = np.frexp(np.abs(rows).max(axis=0))[1]
    shift = 52 - math.ceil(math.log2(units)) - exponents
    rows = np.ldexp(np.rint(np.ldexp(rows, shift)), -shift)
    sums = np.empty((resamples, rows.shape[1]))
    at_once = max(1, _DRAWS_AT_ONCE // units)
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        draws = generator.integers(units, size=(size, units), dtype=np.int64)
        draws += np.arange(size)[:, None] * units
        weights = np.bincount(draws.ravel(), minlength=size * units).reshape(size, units)
        sums[start : start + size] = weights.astype(np.float64) @ rows
    return sums


def proportion_interval(hits: float, trials: int, *, level: float = 0.95) -> Interval:
    """A share with its Wilson score interval (Wilson, 1927).

    Unlike a bootstrap interval, it is wider than 0 if all trials end alike.

    Args:
        hits: the number of trials that count; a fraction if a trial is a mean of several.
        trials: the number of all trials; 0 gives `NOTHING`.
        level: of confidence.

    Returns:
        The share, and its bounds rounded to four decimals.

    >>> proportion_interval(10, 10)
    Interval(value=1.0, low=0.7225, high=1.0)
    """
    if not trials:
        return NOTHING
    # scipy.stats takes a second to import
    share = hits / trials
    from statistics import NormalDist  # late: with it come random and fractions

    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = share + z * z / (2 * trials)
    width = z * sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    low, high = ((middle + side * width) / (1 + z * z / trials) for side in (-1, 1))
    return Interval(share, abs(round(low, 4)), round(high, 4))


class AuditedStratum(NamedTuple):
    """Items of which some were drawn at random and judged.

    Attributes:
        items: the number of items.
        judged: the number of those that were judged.
        right: the number of judged items that are right.
    """

    items: int
    judged: int
    right: int


def stratified_share(strata: Iterable[AuditedStratum]) -> Interval:
    """The share of right items by judgements on items drawn within strata, with its 95 % interval.

    Where the strata are an automatic verdict, this is prediction-powered inference (Angelopoulos et al.,
    Science 382, 2023) with its rectifier weighted by stratum: the mean verdict plus the mean difference of
    judgement and verdict. The verdict of a stratum is constant and cancels, which leaves the stratified mean.

    The variance is that of two-phase sampling (Cochran, Sampling Techniques, 1977, chapter 12): within the
    strata that of their samples, and between them that of all items, which count as independent. So the
    interval compares with that of a share without judgements. A sample whose items all end alike has no
    variance, so the distances to Jeffreys' bounds stand for standard errors (Brown, Cai and DasGupta,
    Statistical Science 16, 2001; combined as by Zou and Donner, Statistics in Medicine 27, 2008).

    Args:
        strata: those without items do not count.

    Returns:
        `NOTHING` without items, or if no item of a stratum was judged.

    >>> stratified_share([AuditedStratum(80, 10, 10), AuditedStratum(20, 10, 5)]).value
    0.9
    """
    import numpy as np
    from scipy.special import betaincinv  # late: it takes 0.1 s to import

    items, judged, right = np.array([stratum for stratum in strata if stratum.items]).reshape(-1, 3).T
    if not len(items) or not judged.all():
        return NOTHING
    weights = items / items.sum()
    shares = right / judged
    value = float((weights * shares).sum())
    low, high = (betaincinv(right + 0.5, judged - right + 0.5, tail) for tail in (0.025, 0.975))
    between = 1.96**2 * (weights * (shares - value) ** 2).sum() / items.sum()
    below = between + ((weights * (shares - low)) ** 2).sum()
    above = between + ((weights * (high - shares)) ** 2).sum()
    return Interval(value, max(0.0, value - sqrt(below)), min(1.0, value + sqrt(above)))
