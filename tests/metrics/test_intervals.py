from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from toolgraph.metrics.intervals import bootstrap_intervals


def test_bounds_agree_with_scipy() -> None:
    scores = np.random.default_rng(1).beta(2, 3, size=(400, 1))
    values, lows, highs = bootstrap_intervals(scores, resamples=4000, seed=3)
    known = stats.bootstrap((scores[:, 0],), np.mean, n_resamples=4000, method="percentile", rng=5)
    assert values[0] == pytest.approx(scores.mean())
    assert lows[0] == pytest.approx(known.confidence_interval.low, abs=0.004)
    assert highs[0] == pytest.approx(known.confidence_interval.high, abs=0.004)


def test_same_seed_same_bounds() -> None:
    scores = np.random.default_rng(1).random((50, 3))
    assert bootstrap_intervals(scores, seed=7) == bootstrap_intervals(scores, seed=7)
    assert bootstrap_intervals(scores, seed=7) != bootstrap_intervals(scores, seed=8)


def test_items_without_a_score_are_left_out_of_that_column() -> None:
    scores = np.array([[1.0, np.nan], [0.0, 0.25], [1.0, 0.25]])
    values, lows, highs = bootstrap_intervals(scores, resamples=200)
    assert values == [pytest.approx(2 / 3), 0.25]
    assert (lows[1], highs[1]) == (0.25, 0.25)
    assert lows[0] is not None
    assert lows[0] < 2 / 3


def test_nothing_known_gives_nothing() -> None:
    assert bootstrap_intervals(np.empty((0, 1))) == ([None], [None], [None])
    assert bootstrap_intervals(np.full((3, 1), np.nan), resamples=5) == ([None], [None], [None])
    assert bootstrap_intervals(np.ones((3, 1)), resamples=0) == ([1.0], [None], [None])
