from __future__ import annotations

import numpy as np

from toolassay.metrics.pass_k import NO_RUN, UNANSWERED, stability_metrics


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
