from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from toolassay.metrics.f1 import best_assignment, f1, multiset_counts, set_counts, shared_count

letters = st.lists(st.sampled_from("abcd"), max_size=20)


@given(letters, letters)
def test_shared_is_the_multiset_intersection(gold: list[str], predicted: list[str]) -> None:
    assert shared_count(gold, predicted) == (Counter(gold) & Counter(predicted)).total()


@given(letters, letters)
def test_counts_add_up_to_both_sizes(gold: list[str], predicted: list[str]) -> None:
    counts = multiset_counts(gold, predicted)
    assert counts.true_positives + counts.false_negatives == len(gold)
    assert counts.true_positives + counts.false_positives == len(predicted)
    of_sets = set_counts(gold, predicted)
    assert of_sets.true_positives + of_sets.false_negatives == len(set(gold))


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    precision, recall = 3 / 5, 3 / 4
    assert abs(f1(3, 2, 1) - 2 * precision * recall / (precision + recall)) < 1e-15


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


def test_nothing_is_assigned_where_nothing_is_gained() -> None:
    assert best_assignment([]) == best_assignment([[], []]) == []
