from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from toolassay.metrics import confidence_interval
from toolassay.metrics.confidence_interval import NOTHING, Interval, proportion_interval
from toolassay.metrics.significance import (
    PairedResult,
    compare_pairs,
    compare_shares,
    holm,
    mcnemar_p,
    randomisation_p,
)

Array = NDArray[np.float64]


def two_models(n: int, better: float = 0.0, seed: int = 1) -> tuple[Array, Array]:
    """Scores of two models that agree on much."""
    generator = np.random.default_rng(seed)
    easy = generator.beta(2, 2, size=n)
    before, after = (np.clip(easy + generator.normal(shift, 0.1, n), 0, 1) for shift in (0, better))
    return before[:, None], after[:, None]


def test_randomisation_agrees_with_scipy() -> None:
    before, after = two_models(200, better=0.025)
    (result,) = compare_pairs(before, after, resamples=20_000)

    def mean_difference(x: Array, y: Array, axis: int) -> Any:
        return np.mean(y - x, axis=axis)

    known = stats.permutation_test(
        (before[:, 0], after[:, 0]),
        mean_difference,
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=3,
    )
    assert result.test == "randomisation"
    assert result.p is not None
    assert 0.02 < result.p < 0.3
    assert result.p == pytest.approx(known.pvalue, abs=0.01)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_a_binomial_test(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses, 0.5).pvalue if wins + losses else 1.0
    assert mcnemar_p(wins, losses) == pytest.approx(expected)
    before = np.array([0.0] * wins + [1.0] * losses + [1.0, 0.0])[:, None]
    after = np.array([1.0] * wins + [0.0] * losses + [1.0, 0.0])[:, None]
    (result,) = compare_pairs(before, after, resamples=10)
    assert result.test == "mcnemar"
    assert result.p == pytest.approx(expected)


def test_items_of_one_cluster_that_go_one_way_are_no_independent_wins() -> None:
    before, after = np.zeros((12, 1)), np.ones((12, 1))
    (alone,) = compare_pairs(before, after)
    (together,) = compare_pairs(before, after, clusters=np.repeat(np.arange(3), 4))
    assert (alone.test, together.test) == ("mcnemar", "randomisation")
    assert alone.p == pytest.approx(2 / 2**12)
    assert together.p == pytest.approx(2 / 2**3, abs=0.02)
    undecided = np.zeros((12, 1))
    undecided[::4] = 1
    (spread,) = compare_pairs(before, undecided, clusters=np.repeat(np.arange(3), 4))
    assert (spread.test, spread.p) == ("mcnemar", 0.25)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=25), st.integers(0, 3))
def test_exchanging_the_models_turns_the_difference_round(
    scores: list[tuple[float, float]], seed: int
) -> None:
    before, after = np.array(scores).T[:, :, None]
    (there,) = compare_pairs(before, after, resamples=200, seed=seed)
    (back,) = compare_pairs(after, before, resamples=200, seed=seed)
    assert there.p is not None
    assert 0 < there.p <= 1
    assert (there.p, there.smallest_detectable) == (back.p, back.smallest_detectable)
    assert (there.baseline, there.value) == (back.value, back.baseline)
    if there.n > 1:
        assert all(bound is not None for bound in (*there.difference, *back.difference))
        turned = (back.difference.value, back.difference.high, back.difference.low)
        assert there.difference == pytest.approx([-bound for bound in turned if bound is not None], abs=1e-12)


def test_the_same_scores_are_no_difference() -> None:
    scores = np.random.default_rng(1).random((40, 3))
    for result in compare_pairs(scores, scores, clusters=np.arange(40) // 2):
        assert result.difference == (0.0, 0.0, 0.0)
        assert result.p == 1.0
        assert result.smallest_detectable is None


def test_items_without_one_of_the_scores_are_left_out_of_that_column() -> None:
    before = np.array([[1.0, 0.5], [np.nan, 0.5], [0.0, 0.5]])
    after = np.array([[0.5, np.nan], [1.0, np.nan], [0.5, np.nan]])
    first, second = compare_pairs(before, after)
    assert (first.n, first.n_clusters, first.baseline, first.value) == (2, 2, 0.5, 0.5)
    assert second == PairedResult(0, 0, None, None, NOTHING, None, None, None)
    (alone,) = compare_pairs(before[[0, 2], :1], after[[0, 2], :1])
    assert alone.difference == pytest.approx(first.difference)


def test_a_single_cluster_says_nothing_about_chance() -> None:
    (result,) = compare_pairs(np.zeros((5, 1)), np.full((5, 1), 0.5), clusters=np.zeros(5, dtype=np.int64))
    assert result.difference == (0.5, None, None)
    assert (result.p, result.smallest_detectable) == (1.0, None)


def test_many_clusters_are_put_together_without_changing_much(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = two_models(4_000, better=0.003)
    (exact,) = compare_pairs(before, after)
    monkeypatch.setattr(confidence_interval, "MOST_UNITS", 400)
    (together,) = compare_pairs(before, after)
    assert together.smallest_detectable == exact.smallest_detectable
    assert together.p == pytest.approx(exact.p, abs=0.03)


def test_the_smallest_detectable_difference_is_found_in_four_of_five_cases() -> None:
    found = []
    for seed in range(400):
        noise = np.random.default_rng(seed).normal(0, 0.2, (100, 1))
        (nothing,) = compare_pairs(np.zeros((100, 1)), noise, resamples=1)
        assert nothing.smallest_detectable is not None
        (p,) = randomisation_p(noise + nothing.smallest_detectable, resamples=400, seed=seed)
        found.append(p < 0.05)
    assert sum(found) / len(found) == pytest.approx(0.8, abs=0.07)


def test_the_figures_of_a_pair_by_hand() -> None:
    before = np.array([0.0, 0.5, 0.5, 1.0])[:, None]
    after = np.array([0.5, 0.5, 1.0, 0.5])[:, None]
    (result,) = compare_pairs(before, after, resamples=4000)
    assert (result.n, result.n_clusters, result.baseline, result.value) == (4, 4, 0.5, 0.625)
    assert result.difference.value == 0.125
    # Off the mean: 0.375, -0.125, 0.375, -0.625; their squares add up to 0.6875.
    error = (0.6875 * 4 / 3) ** 0.5 / 4
    assert result.smallest_detectable == pytest.approx((1.959964 + 0.841621) * error, rel=1e-6)
    # Of the eight sums of ±0.5 three times, two are ±1.5 and the others ±0.5: all as far as 0.5.
    assert result.p == 1.0


def test_clusters_count_once_in_every_figure() -> None:
    before = np.array([0.0, 0.5, 0.5, 1.0])[:, None]
    after = np.array([0.5, 0.5, 1.0, 0.5])[:, None]
    (result,) = compare_pairs(before, after, clusters=np.array([1, 1, 2, 2]), resamples=400)
    assert (result.n, result.n_clusters) == (4, 2)
    # Sums of the clusters are 0.5 and 0; off what their two items are expected to have: ±0.25.
    error = (2 * 0.25**2 * 2 / 1) ** 0.5 / 4
    assert result.smallest_detectable == pytest.approx(2.801585 * error, rel=1e-6)
    assert result.difference == (0.125, 0.0, 0.25)


P_VALUES = st.lists(st.none() | st.floats(0.0001, 1), max_size=12)


def test_the_textbook_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([None, 0.2]) == [None, 0.2]


@given(P_VALUES)
def test_adjusted_values_keep_the_order_and_are_never_smaller(p_values: list[float | None]) -> None:
    adjusted = holm(p_values)
    assert [p is None for p in adjusted] == [p is None for p in p_values]
    pairs = [(p, q) for p, q in zip(p_values, adjusted, strict=True) if p is not None and q is not None]
    assert all(p <= q <= 1 for p, q in pairs)
    in_order = [q for _, q in sorted(pairs)]
    assert in_order == sorted(in_order)


@given(P_VALUES)
def test_it_lies_between_no_correction_and_that_of_bonferroni(p_values: list[float | None]) -> None:
    known = [p for p in p_values if p is not None]
    for p, q in zip(p_values, holm(p_values), strict=True):
        if p is not None and q is not None:
            assert q <= min(1, p * len(known)) + 1e-12


def test_the_interval_of_two_shares_is_that_of_newcombe() -> None:
    # Newcombe 1998 (Statistics in Medicine 17, 873-890), method 10, case (a).
    gap, p = compare_shares(proportion_interval(48, 80), 80, proportion_interval(56, 70), 70)
    assert gap == pytest.approx((0.2, 0.0524, 0.3339), abs=2e-4)
    assert p == pytest.approx(stats.fisher_exact(np.array([[56, 14], [48, 32]])).pvalue)


def test_an_unknown_share_has_no_difference() -> None:
    known = Interval(0.5, 0.3, 0.7)
    assert compare_shares(known, 20, NOTHING, 0) == compare_shares(NOTHING, 0, known, 20) == (NOTHING, None)
