"""Variance between items and runs, what a set can find, and rankings on fewer items."""

from __future__ import annotations

import numpy as np
import pytest

from toolassay.metrics.noise import Noise, PairNoise, items_needed, rankings


def drawn(rates: list[float], runs: int, seed: int) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [rng.binomial(1, rate, runs).astype(float).tolist() for rate in rates]


def test_the_two_variances_are_found_again() -> None:
    rates = [0.2, 0.8] * 2000
    found = Noise.of(drawn(rates, 4, 1))
    assert found.within == pytest.approx(0.16, abs=0.01)
    assert found.between == pytest.approx(0.09, abs=0.01)
    assert found.of_runs == pytest.approx(0.04 / 0.13, abs=0.03)
    assert found.standard_error == pytest.approx((0.13 / 4000) ** 0.5, rel=0.03)
    once = Noise.of(drawn(rates, 1, 1))
    assert once.within is None and once.of_runs is None and once.between == pytest.approx(0.25, abs=0.01)


def test_the_smallest_difference_is_found_four_times_in_five() -> None:
    rates = [0.3, 0.6] * 100
    pair = PairNoise.of(("a", "b"), drawn(rates, 3, 1), drawn(rates, 3, 2))
    assert pair.spread == pytest.approx(0, abs=0.02)
    within = Noise.of(drawn(rates, 3, 1)).within
    assert within is not None
    assert items_needed(pair.smallest, 0.0, within, 3) == pytest.approx(200, rel=0.15)
    better = [rate + pair.smallest for rate in rates]
    found = 0
    for seed in range(200):
        seen = PairNoise.of(("a", "b"), drawn(rates, 3, seed), drawn(better, 3, seed + 1000))
        found += seen.difference > 1.96 * seen.smallest / 2.8016
    assert 0.7 < found / 200 < 0.9


def test_more_items_hold_a_ranking_better() -> None:
    scores = {name: [value for (value,) in drawn([rate] * 300, 1, 5)] for name, rate in
              {"weak": 0.4, "middle": 0.5, "strong": 0.6}.items()}  # fmt: skip
    few, many = rankings(scores, [10, 200])
    assert few.same_leader < many.same_leader and few.same_order < many.same_order
    assert many.same_leader > 0.95 and rankings(scores, [10]) == [few], "seeded"
