"""`stratified_share`: known values, and coverage of the interval over simulated audits."""

from __future__ import annotations

import numpy as np
import pytest

from toolassay.metrics.confidence_interval import NOTHING, AuditedStratum, stratified_share


def test_a_stratum_counts_by_its_share_of_all_items() -> None:
    share = stratified_share([AuditedStratum(80, 10, 9), AuditedStratum(20, 10, 1)])
    assert share.value == pytest.approx(0.8 * 0.9 + 0.2 * 0.1)
    assert share.low is not None and share.high is not None
    assert 0 < share.low < 0.74 < share.high < 1


def test_it_equals_the_mean_verdict_with_the_rectifier_of_each_stratum() -> None:
    right, wrong = AuditedStratum(70, 12, 9), AuditedStratum(30, 8, 2)
    rectifiers = 0.7 * (9 / 12 - 1) + 0.3 * (2 / 8 - 0)
    assert stratified_share([right, wrong]).value == pytest.approx(0.7 + rectifiers)


def test_one_stratum_judged_entirely_has_the_bounds_of_jeffreys() -> None:
    # Brown, Cai and DasGupta (2001), table 5: n = 10.
    assert stratified_share([AuditedStratum(10, 10, 3)])[1:] == pytest.approx((0.093, 0.606), abs=5e-4)
    assert stratified_share([AuditedStratum(10, 10, 0)])[:2] == (0.0, 0.0)
    assert stratified_share([AuditedStratum(10, 10, 10)])[::2] == (1.0, 1.0)


def test_strata_without_items_do_not_count_and_those_without_judgements_leave_it_unknown() -> None:
    some = AuditedStratum(10, 5, 3)
    assert stratified_share([some, AuditedStratum(0, 0, 0)]) == stratified_share([some])
    assert stratified_share([some, AuditedStratum(1, 0, 0)]) == NOTHING
    assert stratified_share([]) == NOTHING


def test_the_interval_is_wider_with_fewer_items_of_which_strata_are_drawn() -> None:
    few = stratified_share([AuditedStratum(10, 10, 10), AuditedStratum(10, 10, 0)])
    many = stratified_share([AuditedStratum(1000, 10, 10), AuditedStratum(1000, 10, 0)])
    assert few.value == many.value == 0.5
    assert few.low is not None and many.low is not None and few.low < many.low - 0.03


@pytest.mark.parametrize("items", [60, 400])
@pytest.mark.parametrize("agreement", [0.8, 0.9, 1.0])
@pytest.mark.parametrize("accuracy", [0.1, 0.5, 0.9])
def test_the_interval_covers_the_accuracy_in_93_percent_of_audits(
    accuracy: float, agreement: float, items: int
) -> None:
    """500 runs of a model, each with an audit of 30; a tenth of the verdicts is undecided."""
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(500):
        is_right = random.random(items) < accuracy
        verdicts = np.where(random.random(items) < agreement, is_right, ~is_right).astype(int)
        verdicts[random.random(items) < 0.1] = 2
        groups = [np.flatnonzero(verdicts == verdict) for verdict in range(3)]
        left = 30
        strata = []
        for number, group in enumerate(sorted(groups, key=len)):
            count = min(len(group), left // (3 - number))
            left -= count
            judged = random.choice(group, count, replace=False)
            strata.append(AuditedStratum(len(group), count, int(is_right[judged].sum())))
        _, low, high = stratified_share(strata)
        assert low is not None and high is not None and 0 <= low <= high <= 1
        covered += low <= accuracy <= high
    assert covered >= 0.93 * 500
