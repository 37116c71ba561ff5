from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from toolassay.metrics import confidence_interval
from toolassay.metrics.confidence_interval import (
    NOTHING,
    Interval,
    Ratio,
    bootstrapped_means,
    mean_intervals,
    ratio_intervals,
)


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


@pytest.mark.parametrize("resamples", [1, 2, 40, 999])
def test_bounds_are_quantiles_of_the_resampled_means(resamples: int) -> None:
    scores = np.random.default_rng(resamples).random((3, 30))
    drawn = bootstrapped_means(scores.T, resamples=resamples, seed=5)
    wanted = np.quantile(drawn, [0.05, 0.95], axis=0).T.tolist()
    got = mean_intervals(scores, resamples=resamples, seed=5, level=0.9)
    for one, mean, (low, high) in zip(got, scores.mean(axis=1), wanted, strict=True):
        # One draw may leave the mean outside of its bounds, which then hold it.
        assert (one.low, one.high) == pytest.approx((min(low, mean), max(high, mean)), rel=1e-12)


def test_items_without_a_score_are_left_out_of_that_column() -> None:
    first, second = mean_intervals(np.array([[1.0, 0.0, 1.0], [np.nan, 0.25, 0.25]]), resamples=200)
    assert first.value == pytest.approx(2 / 3)
    assert second == Interval(0.25, 0.25, 0.25)
    assert first.low is not None
    assert first.low < 2 / 3


def test_a_score_that_some_resamples_lack_changes_no_other() -> None:
    common, rare = np.random.default_rng(1).random(20), np.full(20, np.nan)
    rare[:2] = 0.25, 0.75
    first, second, third = mean_intervals([common, rare, np.full(20, np.nan)], resamples=200)
    assert [first] == mean_intervals([common], resamples=200)
    assert second == Interval(0.5, 0.25, 0.75)
    assert third == NOTHING


@pytest.mark.parametrize("items", [3, 7, 20, 1000])
def test_bounds_are_equal_to_the_last_bit_in_any_company(items: int) -> None:
    # BLAS multiplies matrices of other shapes, and on other processors, with other kernels.
    scores = np.random.default_rng(items).random((33, items)) / 3
    together = mean_intervals(scores, resamples=200)
    assert together == [mean_intervals([one], resamples=200)[0] for one in scores]
    assert together[4:6] == mean_intervals(scores[4:6], resamples=200)


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
    monkeypatch.setattr(confidence_interval, "MOST_UNITS", 400)
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


def test_means_over_items_drawn_again_and_again() -> None:
    scores = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    means = bootstrapped_means(scores, resamples=4000, seed=1)
    assert means.shape == (4000, 2)
    assert set(means[:, 1]) == {5.0}
    assert set(means[:, 0]) == {number / 4 for number in range(13)}
    assert means[:, 0].mean() == pytest.approx(1.5, abs=0.03)
    assert means[:, 0].std() == pytest.approx(scores[:, 0].std() / 2, abs=0.03)
    assert (bootstrapped_means(scores, seed=1) == means[:1000]).all()
    assert (bootstrapped_means(scores, seed=2) != means[:1000]).any()
    assert len(bootstrapped_means(scores)) == 1000


def test_the_bounds_are_those_of_the_level_that_is_wanted() -> None:
    scores = np.random.default_rng(1).random((1, 400))
    (wide,), (narrow,) = (mean_intervals(scores, resamples=4000, level=level) for level in (0.95, 0.5))
    assert _width(wide) == pytest.approx(2 * 1.96 * scores.std() / 20, rel=0.06)
    assert _width(narrow) == pytest.approx(2 * 0.6745 * scores.std() / 20, rel=0.06)
    assert mean_intervals(scores) == mean_intervals(scores, resamples=1000, seed=0, level=0.95)


def test_a_ratio_of_nothing_has_no_value_and_the_others_keep_theirs() -> None:
    ones, nothing = np.ones(4), np.zeros(4)
    found = ratio_intervals(
        [Ratio(ones, nothing), Ratio(ones, 2 * ones), Ratio(3 * ones, ones), Ratio(nothing, 2 * ones)],
        resamples=20,
    )
    assert found == [NOTHING, Interval(0.5, 0.5, 0.5), Interval(3.0, 3.0, 3.0), Interval(0.0, 0.0, 0.0)]


def test_draws_without_an_item_that_counts_are_left_out() -> None:
    (got,) = ratio_intervals([Ratio(np.array([3.0, 0.0]), np.array([4.0, 0.0]))], resamples=200)
    assert got == Interval(0.75, 0.75, 0.75)
