"""Repeated confidence intervals: their bounds, error rates and what they need to decide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from toolassay.metrics.sequential import MeanDifference, critical_values, goals_needed, score_interval

TENTHS = tuple((number + 1) / 10 for number in range(10))
DIFFERENCES = some.lists(some.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 1.0]), min_size=1, max_size=60)


def test_the_bounds_of_five_looks_are_those_of_the_literature() -> None:
    """Those of Lan and DeMets' program for two-sided 5 %: 4.877, 3.357, 2.680, 2.290 and 2.031."""
    found = critical_values((0.2, 0.4, 0.6, 0.8, 1.0), level=0.05)
    assert found[1:] == pytest.approx([3.357, 2.680, 2.290, 2.031], abs=0.03)
    assert critical_values((1.0,), level=0.05) == pytest.approx([1.960], abs=0.001)


@given(DIFFERENCES, some.floats(0.5, 4))
def test_an_interval_has_its_mean_and_no_side(differences: list[float], critical: float) -> None:
    found = score_interval(differences, critical)
    assert -1 <= found.low <= found.value <= found.high <= 1
    turned = score_interval([-one for one in differences], critical)
    assert turned == pytest.approx((-found.value, -found.high, -found.low))


@pytest.mark.parametrize("count", [20, 74, 300])
def test_no_differences_prove_as_little_as_wilson_says(count: int) -> None:
    found = score_interval([0.0] * count, 1.96)
    assert found.high == pytest.approx(1.96**2 / (count + 1.96**2))
    assert found.decided(0.05) == ("no_difference" if count > 73 else "no_decision")


@pytest.mark.parametrize(
    ("gained", "lost", "wrong"),
    [(0.1, 0.1, ("better", "worse")), (0.02, 0.07, ("no_difference", "better"))],
)  # fmt: skip
def test_ten_looks_are_seldom_wrong(gained: float, lost: float, wrong: tuple[str, ...]) -> None:
    rng = np.random.default_rng(5)
    ends = range(20, 201, 20)
    criticals = critical_values(TENTHS)
    mistaken = 0
    for _ in range(600):
        drawn = rng.random(200)
        differences = np.where(drawn < gained, 1.0, np.where(drawn < gained + lost, -1.0, 0.0))
        for end, critical in zip(ends, criticals, strict=True):
            said = score_interval(differences[:end].tolist(), critical).decided(0.05)
            if said != "no_decision":
                mistaken += said in wrong
                break
    assert mistaken / 600 <= 0.06  # 5 % with the error of 600 draws


def test_what_is_needed_decides() -> None:
    differences = [0.5, 0.0, 0.0, -0.25] * 5
    needed = goals_needed(differences, 2.1, 0.05)
    assert needed is not None
    enough = differences + [0.5, 0.0, 0.0, -0.25] * (needed // 4 + 1)
    assert score_interval(differences, 2.1).decided(0.05) == "no_decision"
    assert score_interval(enough, 2.1).decided(0.05) == "better"
    assert score_interval(enough[: len(differences) + needed // 2], 2.1).decided(0.05) == "no_decision"
    assert goals_needed([0.05] * 20, 2.1, 0.05) is not None
    assert MeanDifference(0.03, 0.01, 0.04).decided(0.05) == "no_difference", "surely below the margin"
