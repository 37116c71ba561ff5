from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from toolassay.metrics.f1 import f1, multiset_counts, set_counts, shared_count

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
