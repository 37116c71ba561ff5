"""How much of a score is chance: variance between items and between runs, and what a set can find.

One-way random effects (Searle, Casella and McCulloch, Variance Components, 1992): a run of an item differs
from the item's own rate, and items differ from each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist, fmean, variance

import msgspec

_LEVEL, _POWER = 0.05, 0.8
# Standard errors by which a true difference must exceed 0 to be found with this power.
_ERRORS = NormalDist().inv_cdf(1 - _LEVEL / 2) + NormalDist().inv_cdf(_POWER)
_DRAWS = 1000

Scores = Sequence[Sequence[float]]
"""The scores of the runs of each item."""


class Noise(msgspec.Struct, frozen=True):
    """What is chance in a score.

    Attributes:
        items: Number of items.
        runs: Mean number of runs of an item.
        score: Mean over items of the means over their runs.
        between: Variance of the items' own rates.
        within: Variance of a run of an item; None if no item has several runs.
        standard_error: Of the score.
        of_runs: The share of its square that further runs of the same items remove; None if unknown.
    """

    items: int
    runs: float
    score: float
    between: float
    within: float | None
    standard_error: float
    of_runs: float | None

    @classmethod
    def of(cls, scores: Scores) -> Noise:
        """The noise of the scores of at least two items.

        >>> found = Noise.of([[1, 0], [1, 1], [0, 0], [0, 1]])
        >>> found.score, found.within, round(found.between, 3)
        (0.5, 0.25, 0.042)
        """
        means = [fmean(runs) for runs in scores]
        repeated = [runs for runs in scores if len(runs) > 1]
        degrees = sum(len(runs) - 1 for runs in repeated)
        within = sum(variance(runs) * (len(runs) - 1) for runs in repeated) / degrees if degrees else None
        chance = (within or 0.0) * fmean(1 / len(runs) for runs in scores)
        observed = variance(means)
        return cls(
            len(scores),
            fmean(map(len, scores)),
            fmean(means),
            max(0.0, observed - chance),
            within,
            math.sqrt(observed / len(scores)),
            None if within is None else min(1.0, chance / observed) if observed else 0.0,
        )


class PairNoise(msgspec.Struct, frozen=True):
    """What a set can find between two models.

    Attributes:
        models: Their names.
        difference: Of the scores.
        spread: Variance over items of the true difference.
        smallest: The true difference that is found with a power of 80 %, at the 5 % level.
    """

    models: tuple[str, str]
    difference: float
    spread: float
    smallest: float

    @classmethod
    def of(cls, models: tuple[str, str], first: Scores, second: Scores) -> PairNoise:
        """The noise of the difference of two models on the same items."""
        differences = [fmean(new) - fmean(old) for old, new in zip(first, second, strict=True)]
        chance = sum(noise.within / noise.runs for noise in map(Noise.of, (first, second)) if noise.within)
        observed = variance(differences)
        smallest = _ERRORS * math.sqrt(observed / len(differences))
        return cls(models, fmean(differences), max(0.0, observed - chance), smallest)


def items_needed(difference: float, spread: float, within: float, runs: int) -> int:
    """The number of items on which a difference between two models is found with a power of 80 %.

    Args:
        difference: The true difference.
        spread: Variance over items of the true difference.
        within: Variance of a run of an item.
        runs: Of each item and model.

    >>> items_needed(0.05, 0.1, 0.1, 1), items_needed(0.05, 0.1, 0.1, 5)
    (942, 440)
    """
    return math.ceil(_ERRORS**2 * (spread + 2 * within / runs) / difference**2)


class Ranking(msgspec.Struct, frozen=True):
    """How a ranking holds on fewer items.

    Attributes:
        items: Number of items.
        same_leader: Share of the draws in which the same model leads.
        same_order: Share of the pairs of models in the same order.
    """

    items: int
    same_leader: float
    same_order: float


def rankings(scores: Mapping[str, Sequence[float]], sizes: Sequence[int], seed: int = 0) -> list[Ranking]:
    """How the ranking of models by their mean holds on fewer items, by 1,000 draws without replacement.

    Args:
        scores: Of each model on the same items.
        sizes: Numbers of items.
        seed: Of the draws.
    """
    import numpy as np

    table = np.array(list(scores.values()))
    whole = table.mean(axis=1)
    rows, columns = np.triu_indices(len(table), 1)
    order = np.sign(whole[rows] - whole[columns])
    rng = np.random.default_rng(seed)
    found = []
    for size in sizes:
        drawn = np.array([rng.choice(table.shape[1], size, replace=False) for _ in range(_DRAWS)])
        means = table[:, drawn].mean(axis=2)
        same = np.sign(means[rows] - means[columns]) == order[:, None]
        leads = means.argmax(axis=0) == whole.argmax()
        found.append(Ranking(size, float(leads.mean()), float(same.mean())))
    return found
