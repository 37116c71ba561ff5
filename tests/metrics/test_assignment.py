from __future__ import annotations

import random

import pytest
from scipy.optimize import linear_sum_assignment

from toolassay.metrics.f1 import best_assignment


@pytest.mark.parametrize("size", range(1, 7))
def test_gain_is_that_of_scipy(size: int) -> None:
    generator = random.Random(size)
    for _ in range(30):
        columns = generator.randint(1, size)
        gains = [[float(generator.randint(0, 9)) for _ in range(columns)] for _ in range(size)]
        rows = best_assignment(gains)
        assert len(set(rows)) == columns
        chosen, ordered = linear_sum_assignment(gains, maximize=True)
        best = sum(gains[row][column] for row, column in zip(chosen, ordered, strict=True))
        assert sum(gains[row][column] for column, row in enumerate(rows)) == best
