"""The best one-to-one assignment of columns to rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

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
