"""Whether two models differ on the same items.

Paired intervals, the randomisation test, McNemar's test, the smallest detectable difference, and Holm's
correction for several tests. What is swapped or drawn is a whole cluster, so items that share a sampled
subgraph count once as evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from toolassay.metrics.confidence_interval import NOTHING, Interval, Units, mean_intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Test = Literal["randomisation", "mcnemar"]

LEVEL = 0.05
"""Below it a p-value counts as a difference found."""

POWER = 0.8
"""How surely the smallest detectable difference would be found."""

_SIGNS_AT_ONCE = 2_000_000
_ROUNDING = 1e-9  # of the sum of all differences: sums of the same numbers in another order are equal


class PairedResult(NamedTuple):
    """One score of two models on the same items.

    Attributes:
        n: the items that both have a score for.
        n_clusters: the clusters these are in.
        baseline: the mean of the first model; None without items.
        other: the mean of the second.
        difference: other - baseline, with the bounds of a bootstrap; no bounds for a single cluster.
        p: how often chance alone gives a difference as large; None without items.
        test: what p comes from.
        smallest_detectable: the true difference that so many items like these would show, at 5 %, with a
            probability of 80 %; None where the differences do not vary.
    """

    n: int
    n_clusters: int
    baseline: float | None
    other: float | None
    difference: Interval
    p: float | None
    test: Test | None
    smallest_detectable: float | None


def compare_pairs(
    baseline: NDArray[np.float64],
    other: NDArray[np.float64],
    *,
    clusters: NDArray[np.int64] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[PairedResult]:
    """Compare two models, score by score.

    An item without one of the two scores (NaN) is left out of that column. The p-value is that of exact
    McNemar for scores of 0 and 1, unless a cluster holds several differences in one direction, which are no
    independent ones; else that of approximate randomisation.

    Args:
        baseline: scores of the first model, shape (items, columns).
        other: scores of the second, the same items in the same order.
        clusters: the cluster of each item, any numbers; None where each item is its own.
        resamples: how often to draw, for the intervals and for the p-values.
        seed: of the draws.

    >>> import numpy as np
    >>> same = np.array([[0.5], [1.0], [0.0]])
    >>> (result,) = compare_pairs(same, same, resamples=100)
    >>> result.difference, result.p
    (Interval(value=0.0, low=0.0, high=0.0), 1.0)
    """
    import numpy as np

    differences = other - baseline
    known = ~np.isnan(differences)
    n = known.sum(axis=0)
    units = Units(len(differences), clusters)
    sums = _summed(np.where(known, differences, 0.0), units)
    counts = _summed(known.astype(np.float64), units)
    n_clusters = (counts > 0).sum(axis=0)
    intervals = mean_intervals(differences.T, clusters=clusters, resamples=resamples, seed=seed)
    errors = _standard_errors(sums, counts)
    by_chance = randomisation_p(sums, resamples=resamples, seed=seed)
    results = []
    for column in range(len(intervals)):
        if not n[column]:
            results.append(PairedResult(0, 0, None, None, NOTHING, None, None, None))
            continue
        chosen = known[:, column]
        before, after = baseline[chosen, column], other[chosen, column]
        difference, p = intervals[column], by_chance[column]
        test: Test = "randomisation"
        if n_clusters[column] < 2:
            difference = Interval(difference.value, None, None)
        wins, losses = (sums[:, column] == 1).sum(), (sums[:, column] == -1).sum()
        if _are_binary(before, after) and np.abs(sums[:, column]).sum() == wins + losses:
            p, test = mcnemar_p(int(wins), int(losses)), "mcnemar"
        results.append(
            PairedResult(
                int(n[column]),
                int(n_clusters[column]),
                float(before.mean()),
                float(after.mean()),
                difference,
                p,
                test,
                _smallest_detectable(float(errors[column])),
            )
        )
    return results


def randomisation_p(sums: NDArray[np.float64], *, resamples: int = 10_000, seed: int = 0) -> list[float]:
    """Approximate randomisation (Noreen, 1989): how often swapping the models in each cluster, or not, by a
    coin gives a sum of differences as far from 0; one is added to both counts, so that p is never 0.

    Beyond 20,000 clusters, they are first put together at random and swapped together.

    Args:
        sums: the sum of the differences in each cluster, shape (clusters, columns).
        resamples: how often the coins are thrown.
        seed: of the coins.

    >>> import numpy as np
    >>> randomisation_p(np.full((12, 1), 0.5), resamples=999)[0] <= 0.01
    True
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    units = _summed(sums, Units(len(sums), None, generator))
    count = len(units)
    total = units.sum(axis=0)
    least = np.abs(total) - _ROUNDING * np.abs(units).sum(axis=0)
    as_far = np.zeros(units.shape[1], dtype=np.int64)
    at_once = max(1, _SIGNS_AT_ONCE // max(count, 1))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        coins = np.unpackbits(np.frombuffer(generator.bytes(size * (-(-count // 8))), dtype=np.uint8))
        kept = coins.reshape(size, -1)[:, :count].astype(np.float64) @ units
        as_far += (np.abs(2 * kept - total) >= least).sum(axis=0)
    return [(int(found) + 1) / (resamples + 1) for found in as_far]


def mcnemar_p(wins: int, losses: int) -> float:
    """Exact McNemar (1947), two-sided: whether more items went one way than a fair coin would send there.

    >>> mcnemar_p(5, 0), mcnemar_p(3, 3), mcnemar_p(0, 0)
    (0.0625, 1.0, 1.0)
    """
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def _summed(columns: NDArray[np.float64], units: Units) -> NDArray[np.float64]:
    import numpy as np

    return np.column_stack([units.sums(column) for column in columns.T])


def _are_binary(*scores: NDArray[np.float64]) -> bool:
    return all(bool(((values == 0) | (values == 1)).all()) for values in scores)


def _standard_errors(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the mean difference of each column, by cluster; NaN for fewer than two clusters."""
    import numpy as np

    n, clusters = counts.sum(axis=0), (counts > 0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = sums - counts * (sums.sum(axis=0) / n)
        return np.asarray(np.sqrt((off**2).sum(axis=0) * clusters / (clusters - 1)) / n)


def _smallest_detectable(error: float) -> float | None:
    from scipy.stats import norm

    if not error > _ROUNDING:
        return None
    return float((norm.ppf(1 - LEVEL / 2) + norm.ppf(POWER)) * error)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (1979): adjusted p-values, in the given order.

    Where none of the differences is real, the chance that any adjusted value lies below 0.05 is at most 5 %,
    however the tests hang together. None is no test, and stays None.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    tests = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for done, (p, place) in enumerate(tests):
        least = max(least, min(1.0, p * (len(tests) - done)))
        adjusted[place] = least
    return adjusted
