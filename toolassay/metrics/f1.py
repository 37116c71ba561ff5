"""F1, the counts of positives of two collections, and the best one-to-one assignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import permutations
from typing import NamedTuple

_FEW = 8  # elements; up to here a scan of a list is faster than a `Counter`


class MatchCounts(NamedTuple):
    """The numbers of true positives, false positives and false negatives."""

    true_positives: int
    false_positives: int
    false_negatives: int


def f1(true_positives: float, false_positives: float, false_negatives: float, *, empty: float = 0.0) -> float:
    """F1, 2 TP / (2 TP + FP + FN): the harmonic mean of precision and recall.

    Args:
        true_positives: TP.
        false_positives: FP.
        false_negatives: FN.
        empty: the value if gold and prediction are both empty.

    >>> f1(1, 1, 1), f1(0, 0, 0), f1(0, 0, 0, empty=1.0)
    (0.5, 0.0, 1.0)
    """
    total = 2 * true_positives + false_positives + false_negatives
    return 2 * true_positives / total if total else empty


def set_counts(gold: Collection[Hashable], predicted: Collection[Hashable]) -> MatchCounts:
    """Compare two collections as sets: repeated elements count once.

    >>> set_counts(["a", "a", "b"], ["a"])
    MatchCounts(true_positives=1, false_positives=0, false_negatives=1)
    """
    gold_set = set(gold)
    if gold == predicted:
        return MatchCounts(len(gold_set), 0, 0)
    predicted_set = set(predicted)
    shared = len(gold_set & predicted_set)
    return MatchCounts(shared, len(predicted_set) - shared, len(gold_set) - shared)


def shared_count(gold: Collection[Hashable], predicted: Collection[Hashable]) -> int:
    """The size of the multiset intersection: an element counts as often as both collections have it.

    >>> shared_count("aab", "aaac")
    2
    """
    shared = 0
    if not gold or not predicted:
        return 0
    if len(gold) <= _FEW:
        remaining = list(gold)
        for element in predicted:
            if element in remaining:
                remaining.remove(element)
                shared += 1
        return shared
    left: dict[Hashable, int] = Counter(gold)
    for element in predicted:
        count = left.get(element, 0)
        if count:
            left[element] = count - 1
            shared += 1
    return shared


def multiset_counts(gold: Collection[Hashable], predicted: Collection[Hashable]) -> MatchCounts:
    """Compare two collections as multisets: repeated elements count each time.

    >>> multiset_counts(["a", "a", "b"], ["a", "a", "a"])
    MatchCounts(true_positives=2, false_positives=1, false_negatives=1)
    """
    if gold == predicted:
        return MatchCounts(len(gold), 0, 0)
    shared = shared_count(gold, predicted)
    return MatchCounts(shared, len(predicted) - shared, len(gold) - shared)


_TRY_ALL = 4  # rows, so 24 orders at most; equal sums then go to the first order, and scipy is not imported


def best_assignment(gains: Sequence[Sequence[float]]) -> list[int]:
    """Assign a row to each column so that the sum of the gains is maximal.

    Up to four rows, all orders are tried, and the first of the best is taken. Beyond, it is the
    Jonker-Volgenant algorithm (`scipy.optimize.linear_sum_assignment`).

    Args:
        gains: gains[row][column], with at least as many rows as columns.

    Returns:
        The row of each column; no row twice.

    >>> best_assignment([[1, 5], [4, 5]])
    [1, 0]
    """
    columns = len(gains[0]) if gains else 0
    if len(gains) <= _TRY_ALL:
        orders = permutations(range(len(gains)), columns)
        return list(max(orders, key=lambda order: sum(gains[row][c] for c, row in enumerate(order))))
    from scipy.optimize import linear_sum_assignment

    chosen, ordered = linear_sum_assignment(gains, maximize=True)
    rows = dict(zip(ordered.tolist(), chosen.tolist(), strict=True))
    return [rows[column] for column in range(columns)]
