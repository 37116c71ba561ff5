"""Tests of whether two models differ on the same items.

Paired intervals, approximate randomisation, McNemar's test, the smallest detectable difference, and Holm's
correction for several tests. Whole clusters are resampled or swapped, so items that share a sampled subgraph
count as one piece of evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from toolassay.metrics.confidence_interval import NOTHING, Interval, Units, mean_intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Test = Literal["randomisation", "mcnemar"]

LEVEL = 0.05
"""The significance level: a difference with a smaller p-value is reported as found."""

POWER = 0.8
"""The probability with which the smallest detectable difference would be found."""

_SIGNS_AT_ONCE = 2_000_000  # coins held in memory at once, 8 bytes each
# A tolerance, as a share of the sum of all absolute differences: the same numbers summed in another order
# must count as equal.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PairedResult:
    """One score of two models on the same items.

    Attributes:
        n: the number of items that both models have a score for.
        n_clusters: the number of clusters of these items.
        baseline: the mean of the first model; None without items.
        value: the mean of the second.
        difference: value - baseline, with the bounds of a bootstrap; no bounds for a single cluster.
        p: the two-sided p-value; None without items.
        test: the test that gives p.
        smallest_detectable: the true difference that this number of such items would show at the level of
            5 % with a probability of 80 %; None if the differences do not vary.
    """

    n: int
    n_clusters: int
    baseline: float | None
    value: float | None
    difference: Interval
    p: float | None
    test: Test | None
    smallest_detectable: float | None


def compare_pairs(
    baseline: NDArray[np.float64],
    other: NDArray[np.float64],
    *,
    clusters: NDArray[np.int64] | None = None,
    is_one_run: bool = True,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[PairedResult]:
    """Compare two models, score by score.

    An item that lacks one of the two scores (NaN) is left out of that column. The p-value is of McNemar's
    exact test if all scores are verdicts on one run (0 or 1) and no cluster has more than one difference,
    since the test takes differences as independent. Otherwise it is of approximate randomisation.

    Args:
        baseline: scores of the first model, shape (items, columns).
        other: scores of the second, the same items in the same order.
        clusters: the cluster of each item, any numbers; None if each item is its own.
        is_one_run: whether each score is that of one run, not a mean over several.
        resamples: the number of draws, for the intervals and for the p-values.
        seed: of the draws.

    Returns:
        A result for each column.

    >>> import numpy as np
    >>> same = np.array([[0.5], [1.0], [0.0]])
    >>> (result,) = compare_pairs(same, same, resamples=100)
    >>> result.difference, result.p
    (Interval(value=0.0, low=0.0, high=0.0), 1.0)
    """
    import numpy as np

    differences = other - baseline
    known = ~np.isnan(differences)
    units = Units(len(differences), clusters)
    sums = _summed(np.where(known, differences, 0.0), units)
    counts = _summed(known.astype(np.float64), units)
    intervals = mean_intervals(differences.T, clusters=clusters, resamples=resamples, seed=seed)
    by_chance = randomisation_p(sums, resamples=resamples, seed=seed)
    results = []
    for column, (difference, p) in enumerate(zip(intervals, by_chance, strict=True)):
        chosen = known[:, column]
        own = sums[:, column]
        if not chosen.any():
            results.append(PairedResult(0, 0, None, None, NOTHING, None, None, None))
            continue
        before = baseline[chosen, column]
        after = other[chosen, column]
        clusters_of = int((counts[:, column] > 0).sum())
        if clusters_of < 2:
            difference = Interval(difference.value, None, None)
        test: Test = "randomisation"
        is_verdict = is_one_run and np.isin([before, after], (0, 1)).all()
        if is_verdict and np.isin(own, (-1, 0, 1)).all():
            p = mcnemar_p(int((own == 1).sum()), int((own == -1).sum()))
            test = "mcnemar"
        results.append(
            PairedResult(
                len(before),
                clusters_of,
                float(before.mean()),
                float(after.mean()),
                difference,
                p,
                test,
                _smallest_detectable(own, counts[:, column]),
            )
        )
    return results


def randomisation_p(sums: NDArray[np.float64], *, resamples: int = 10_000, seed: int = 0) -> list[float]:
    """Two-sided p-values by approximate randomisation (Noreen, 1989).

    In each resample, a coin per cluster decides whether the two models are swapped in it. p is the share of
    resamples whose sum of differences is at least as far from 0 as the observed one. One is added to both
    counts, so p is never 0. More than 20,000 clusters are first grouped at random and swapped by group.

    Args:
        sums: the sum of the differences in each cluster, shape (clusters, columns).
        resamples: the number of resamples.
        seed: of the coins.

    Returns:
        The p-value of each column.

    >>> import numpy as np
    >>> randomisation_p(np.full((12, 1), 0.5), resamples=999)[0] <= 0.01
    True
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    units = _summed(sums, Units(len(sums), None, generator))
    least = np.abs(units.sum(axis=0)) - _ROUNDING * np.abs(units).sum(axis=0)
    as_far = np.zeros(units.shape[1], dtype=np.int64)
    for swapped in _swapped_sums(units, resamples, generator):
        as_far += (np.abs(swapped) >= least).sum(axis=0)
    return [(int(count) + 1) / (resamples + 1) for count in as_far]


class PairTests(NamedTuple):
    """The tests of all pairs of models.

    Arrays have the shape (models, models), and NaN for pairs that share no item.

    Attributes:
        difference: mean of the first model (row) minus that of the second, on the items of both.
        p: two-sided p-values, each of one pair alone.
        adjusted: two-sided p-values over all pairs.
    """

    difference: NDArray[np.float64]
    p: NDArray[np.float64]
    adjusted: NDArray[np.float64]

    def leads(self, leader: int, rivals: Sequence[int]) -> bool:
        """Whether the model with the best score is the best (rank verification; Hung and Fithian, 2019).

        It is if it is better than each of the others in a test of that pair alone: although it was chosen by
        the same scores, this needs no correction for their number.
        """
        return all(self.difference[leader, rival] > 0 and self.p[leader, rival] < LEVEL for rival in rivals)

    def may_be_best(self, models: Sequence[int]) -> list[int]:
        """The positions in `models` of those that no other is significantly better than, over all pairs."""
        return [
            position
            for position, model in enumerate(models)
            if not any(
                self.difference[rival, model] > 0 and self.adjusted[rival, model] < LEVEL for rival in models
            )
        ]


def compare_all(
    scores: NDArray[np.float64],
    *,
    clusters: NDArray[np.int64] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> PairTests:
    """Compare every pair of models on the items that both have.

    Approximate randomisation as in `randomisation_p`, of studentised differences; one coin swaps the models
    of all pairs in a cluster, which keeps the dependence between pairs. `adjusted` is the step-down maxT
    procedure (Westfall and Young, 1993, algorithm 2.8): the probability of any false difference among all
    pairs is at most the level.

    Args:
        scores: shape (items, models); NaN for an item that a model lacks.
        clusters: the cluster of each item, any numbers; None if each item is its own.
        resamples: the number of resamples.
        seed: of the coins.

    >>> import numpy as np
    >>> good, poor = np.ones(30), np.zeros(30)
    >>> tests = compare_all(np.column_stack([good, good, poor]), resamples=999)
    >>> float(tests.p[0, 1]), bool(tests.adjusted[0, 2] < 0.05)
    (1.0, True)
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    models = scores.shape[1]
    first, second = np.triu_indices(models, 1)
    differences = scores[:, first] - scores[:, second]
    known = ~np.isnan(differences)
    units = _summed(np.where(known, differences, 0.0), Units(len(scores), clusters, generator))
    spread = np.sqrt((units**2).sum(axis=0))
    # The scale of a pair does not change by swaps, so that it studentises as well as a standard error.
    units = np.divide(units, spread, out=np.zeros_like(units), where=spread > 0)
    observed = np.abs(units.sum(axis=0))
    least = observed - _ROUNDING * np.abs(units).sum(axis=0)
    order = np.argsort(-observed, kind="stable")
    alone = np.zeros(len(observed), dtype=np.int64)
    together = np.zeros(len(observed), dtype=np.int64)
    for sums in _swapped_sums(units, resamples, generator):
        far = np.abs(sums)
        alone += (far >= least).sum(axis=0)
        largest = np.maximum.accumulate(far[:, order[::-1]], axis=1)[:, ::-1]
        together += (largest >= least[order]).sum(axis=0)
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate((together + 1) / (resamples + 1))
    counts = known.sum(axis=0)
    statistics = [
        np.where(known, differences, 0.0).sum(axis=0) / np.maximum(counts, 1),
        np.where(spread > 0, (alone + 1) / (resamples + 1), 1.0),
        np.where(spread > 0, adjusted, 1.0),
    ]
    tables = np.full((3, models, models), np.nan)
    tables[:, first, second] = np.where(counts > 0, statistics, np.nan)
    tables[:, second, first] = tables[:, first, second] * np.array([[-1.0], [1.0], [1.0]])
    return PairTests(*tables)


def _swapped_sums(
    units: NDArray[np.float64], resamples: int, generator: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """The sums over units with the signs of fair coins, some resamples at a time: (resamples, columns)."""
    import numpy as np

    count = len(units)
    total = units.sum(axis=0)
    at_once = max(1, _SIGNS_AT_ONCE // max(count, 1))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        coins = np.unpackbits(np.frombuffer(generator.bytes(size * (-(-count // 8))), dtype=np.uint8))
        kept = coins.reshape(size, -1)[:, :count].astype(np.float64) @ units
        yield 2 * kept - total


def mcnemar_p(wins: int, losses: int) -> float:
    """The two-sided p-value of McNemar's exact test (1947): a binomial test of wins against losses.

    Args:
        wins: the number of items that only the second model has right.
        losses: the number of items that only the first model has right.

    >>> mcnemar_p(5, 0), mcnemar_p(3, 3), mcnemar_p(0, 0)
    (0.0625, 1.0, 1.0)
    """
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def compare_shares(
    before: Interval, n_before: int, now: Interval, n_now: int
) -> tuple[Interval, float | None]:
    """Compare two shares of different items, each with Wilson's interval.

    Returns:
        now - before with Newcombe's interval (1998, method 10), and the p-value of Fisher's exact test;
        nothing if a share is unknown.

    >>> gap, p = compare_shares(Interval(0.5, 0.3, 0.7), 20, Interval(0.9, 0.7, 0.97), 20)
    >>> [round(one, 2) for one in gap], round(p, 3)
    ([0.4, 0.12, 0.61], 0.014)
    """
    known = [bound for bound in (*before, *now) if bound is not None]
    if len(known) < 6:
        return NOTHING, None
    import numpy as np
    from scipy.stats import fisher_exact

    first, first_low, first_high, second, second_low, second_high = known
    low = math.hypot(second - second_low, first_high - first)
    high = math.hypot(second_high - second, first - first_low)
    hits = round(first * n_before), round(second * n_now)
    table = np.array([[hits[0], n_before - hits[0]], [hits[1], n_now - hits[1]]])
    return Interval(second - first, second - first - low, second - first + high), float(
        fisher_exact(table).pvalue
    )


def _summed(columns: NDArray[np.float64], units: Units) -> NDArray[np.float64]:
    """The sums of each column over units, shape (units, columns)."""
    import numpy as np

    return np.column_stack([units.sums(column) for column in columns.T])


def _smallest_detectable(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> float | None:
    """(z of the level + z of the power) times the cluster-robust standard error of the mean difference.

    None without an error above 0, as for fewer than two clusters.
    """
    from scipy.special import ndtri  # `scipy.stats`, whose `norm.ppf` it is, takes seconds to import

    n = counts.sum()
    clusters = int((counts > 0).sum())
    off = sums - counts * (sums.sum() / n)
    error = math.sqrt((off**2).sum() * clusters / (clusters - 1)) / n if clusters > 1 else 0.0
    return float((ndtri(1 - LEVEL / 2) + ndtri(POWER)) * error) if error > _ROUNDING else None


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (1979) for several tests.

    If no difference is real, the probability that any adjusted value is below 0.05 is at most 5 %, whatever
    the dependence between the tests.

    Args:
        p_values: one per test; None stands for no test and is not counted.

    Returns:
        The adjusted p-values, in the given order.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    tests = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for done, (p, index) in enumerate(tests):
        least = max(least, min(1.0, p * (len(tests) - done)))
        adjusted[index] = least
    return adjusted
