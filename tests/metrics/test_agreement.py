"""Agreement against published figures, repeats and stability."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.metrics.agreement import Votes, agreement_of, agreement_on
from toolassay.metrics.pass_k import NO_RUN, UNANSWERED, repeat_metrics, stability_metrics

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


def test_what_was_not_run_has_a_run_less_and_what_was_not_answered_equals_nothing() -> None:
    answers = np.array([[1, UNANSWERED, 3, 4], [1, UNANSWERED, NO_RUN, 4], [2, UNANSWERED, NO_RUN, 4]])
    found = stability_metrics(answers, answers == 4, ["a", "a", "b", "c"])
    assert (found["trials"], found["repeated"]) == (3, 3)
    assert found["answer_agreement"]["value"] == 1 / 3
    assert round(found["pairwise_agreement"]["value"], 6) == round((1 / 3 + 0 + 1) / 3, 6)
    assert found["correctness_agreement"]["value"] == 1.0
    assert found["tasks"] == {"1": 4, "2": 3, "3": 3}
    assert found["pass^k"]["3"]["value"] == 1 / 3
    low, high = (found["answer_agreement"][name] for name in ("low", "high"))
    assert low == 0.0 and high == 1.0


def test_one_trial_says_nothing_of_agreement() -> None:
    found = stability_metrics(np.array([[1, 2]]), np.array([[True, False]]), [0, 1])
    assert found["repeated"] == 0 and found["answer_agreement"]["value"] is None
    assert found["pass^k"]["1"]["value"] == 0.5


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_chances_are_those_of_runs_drawn_without_replacement(outcomes: list[list[bool]]) -> None:
    found = repeat_metrics(outcomes)
    most = max(map(len, outcomes))
    assert found["trials"] == most and found["runs"].keys() == {str(len(task)) for task in outcomes}
    for k in range(1, most + 1):
        enough = [task for task in outcomes if len(task) >= k]
        draws = [[*combinations(task, k)] for task in enough]
        any_of = sum(sum(map(any, some)) / len(some) for some in draws) / len(enough)
        all_of = sum(sum(map(all, some)) / len(some) for some in draws) / len(enough)
        assert found["tasks"][str(k)] == len(enough)
        assert found["pass@k"][str(k)]["value"] == pytest.approx(any_of)
        assert found["pass^k"][str(k)]["value"] == pytest.approx(all_of)


def test_no_tasks_have_no_chances() -> None:
    empty = {"trials": 0, "pass@k": {}, "pass^k": {}, "tasks": {}, "runs": {}}
    assert repeat_metrics([]) == empty
    assert repeat_metrics([[], []], trials=3) == {**empty, "trials": 3, "runs": {"0": 2}}


def test_tasks_of_a_cluster_are_drawn_together() -> None:
    outcomes = [[True, True]] * 20 + [[False, False]] * 20
    alone = repeat_metrics(outcomes)["pass^k"]["2"]
    together = repeat_metrics(outcomes, clusters=["a"] * 20 + ["b"] * 20)["pass^k"]["2"]
    assert together["value"] == alone["value"] == 0.5
    assert together["high"] - together["low"] == 1.0 > alone["high"] - alone["low"]
