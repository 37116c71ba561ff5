from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from toolassay.metrics import intervals
from toolassay.metrics.intervals import NOTHING, Interval, Ratio, mean_intervals, ratio_intervals


def test_bounds_agree_with_scipy() -> None:
    scores = np.random.default_rng(1).beta(2, 3, size=(400, 1))
    (got,) = mean_intervals(scores.T, resamples=4000, seed=3)
    known = stats.bootstrap((scores[:, 0],), np.mean, n_resamples=4000, method="percentile", rng=5)
    assert got.value == pytest.approx(scores.mean())
    assert got.low == pytest.approx(known.confidence_interval.low, abs=0.004)
    assert got.high == pytest.approx(known.confidence_interval.high, abs=0.004)


def test_a_ratio_agrees_with_scipy() -> None:
    generator = np.random.default_rng(2)
    bottoms = generator.integers(1, 9, size=300).astype(float)
    tops = generator.binomial(bottoms.astype(int), 0.4).astype(float)
    (got,) = ratio_intervals([Ratio(tops, bottoms)], resamples=4000, seed=3)

    def ratio(top: np.ndarray, bottom: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(top.sum(axis) / bottom.sum(axis))

    known = stats.bootstrap(
        (tops, bottoms), ratio, paired=True, n_resamples=4000, method="percentile", vectorized=True, rng=5
    )
    assert got.value == pytest.approx(tops.sum() / bottoms.sum())
    assert got.low == pytest.approx(known.confidence_interval.low, abs=0.005)
    assert got.high == pytest.approx(known.confidence_interval.high, abs=0.005)


def test_same_seed_same_bounds() -> None:
    scores = np.random.default_rng(1).random((3, 50))
    assert mean_intervals(scores, seed=7) == mean_intervals(scores, seed=7)
    assert mean_intervals(scores, seed=7) != mean_intervals(scores, seed=8)


def test_items_without_a_score_are_left_out_of_that_column() -> None:
    first, second = mean_intervals(np.array([[1.0, 0.0, 1.0], [np.nan, 0.25, 0.25]]), resamples=200)
    assert first.value == pytest.approx(2 / 3)
    assert second == Interval(0.25, 0.25, 0.25)
    assert first.low is not None
    assert first.low < 2 / 3


def test_nothing_known_gives_nothing() -> None:
    assert mean_intervals(np.empty((1, 0))) == [NOTHING]
    assert mean_intervals(np.full((1, 3), np.nan), resamples=5) == [NOTHING]
    assert mean_intervals(np.ones((1, 3)), resamples=0) == [Interval(1.0, None, None)]


def test_clusters_of_one_are_no_clusters() -> None:
    scores = np.random.default_rng(1).random((2, 50))
    assert mean_intervals(scores, clusters=np.arange(50)) == mean_intervals(scores)


def test_clusters_that_hang_together_make_wider_intervals() -> None:
    of_clusters = np.random.default_rng(1).random(40)
    scores, clusters = np.repeat(of_clusters, 10)[None], np.repeat(np.arange(40), 10)
    (plain,), (clustered,) = mean_intervals(scores), mean_intervals(scores, clusters=clusters)
    (alone,) = mean_intervals([of_clusters])
    assert clustered.value == pytest.approx(plain.value)
    assert _width(clustered) == pytest.approx(_width(alone), rel=1e-9)
    assert _width(clustered) > 2 * _width(plain)


def test_many_items_are_put_together_without_changing_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(1).random((1, 4000))
    (exact,) = mean_intervals(scores, resamples=2000)
    monkeypatch.setattr(intervals, "MOST_UNITS", 400)
    (together,) = mean_intervals(scores, resamples=2000)
    assert together.value == exact.value
    assert _width(together) == pytest.approx(_width(exact), rel=0.15)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 5))
def test_a_value_lies_within_its_bounds(scores: list[float], seed: int) -> None:
    (got,) = mean_intervals([np.array(scores)], resamples=20, seed=seed)
    assert got.value is not None
    assert got.low is not None
    assert got.high is not None
    assert got.low <= got.value <= got.high


def _width(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low
