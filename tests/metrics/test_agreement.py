"""Agreement against figures that others have published."""

from __future__ import annotations

import pytest

from toolassay.metrics.agreement import Votes, agreement_of, agreement_on

# The table that is commonly printed with Fleiss' kappa: 14 raters, 10 subjects, 5 labels.
FLEISS = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]
# 50 proposals, two readers: both yes, yes and no, no and yes, both no.
COHEN = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15


def message(counts: list[int]) -> Votes:
    labels = [str(label) for label, count in enumerate(counts) for _ in range(count)]
    return {f"rater {number}": label for number, label in enumerate(labels)}


def test_fleiss() -> None:
    found = agreement_of([message(counts) for counts in FLEISS])
    assert (found.kind, found.items) == ("fleiss", 10)
    assert found.raw == pytest.approx(0.378, abs=5e-4)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)


def test_cohen() -> None:
    found = agreement_of([{"a": one, "b": other} for one, other in COHEN])
    assert (found.kind, found.raw) == ("cohen", 0.7)
    assert found.kappa == pytest.approx(0.4)


def test_messages_with_one_vote_say_nothing() -> None:
    found = agreement_of([{"a": "x"}, {}, {"a": "x", "b": "x"}, {"a": "y", "b": "y"}])
    assert (found.items, found.raw) == (2, 1.0)
    assert found.kappa == pytest.approx(1.0)
    assert agreement_of([{"a": "x"}]).to_json("messages") == {
        "messages": 0,
        "raw": None,
        "kappa": None,
        "kind": "cohen",
    }


def test_one_label_for_everything_leaves_nothing_beyond_chance() -> None:
    for names in ("ab", "abc"):
        found = agreement_of([dict.fromkeys(names, "x")] * 3)
        assert (found.raw, found.kappa) == (1.0, None)


def test_messages_may_have_different_numbers_of_votes() -> None:
    found = agreement_of([{"a": "x", "b": "x", "c": "y"}, {"a": "y", "c": "y"}])
    # Pairs that agree: 1 of 3, and 1 of 1. Votes: two x, three y.
    assert found.raw == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx((2 / 3 - 13 / 25) / (1 - 13 / 25))


def test_by_label() -> None:
    both = [{"a": one, "b": other} for one, other in COHEN]
    found = agreement_on("yes", both)
    assert found.items == 35
    assert found.kappa == pytest.approx(0.4)
    assert found.raw == pytest.approx(40 / 55)  # twice the common ones over all that chose it
