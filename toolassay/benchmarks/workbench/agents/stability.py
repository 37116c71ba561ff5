"""Whether an agent leaves the same state when it does a task again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from toolassay.benchmarks.workbench.judge.verdict import Verdict
from toolassay.metrics.stability import NO_RUN, UNANSWERED, stability_metrics

_ANSWERED = "answered"


def agent_stability(
    judged: Sequence[Sequence[Verdict]], outcomes: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """What stays the same over the trials of each task: an answer is the set of changes that a run left.

    Args:
        judged: for each trial, the strict verdict on every task of the folder.
        outcomes: for each trial, how the tasks that were run ended, by their ids; only an answered one
            agrees with another.

    Returns:
        What `stability_metrics` gives.
    """
    import numpy as np

    answers = np.full((len(judged), len(judged[0])), NO_RUN, dtype=np.int64)
    numbers: dict[Hashable, int] = {}
    for trial, (verdicts, ended) in enumerate(zip(judged, outcomes, strict=True)):
        for row, verdict in enumerate(verdicts):
            if (outcome := ended.get(verdict.task.id)) is not None:
                number = numbers.setdefault(_state(verdict), len(numbers))
                answers[trial, row] = number if outcome == _ANSWERED else UNANSWERED
    right = np.array([[verdict.correct for verdict in verdicts] for verdicts in judged])
    return stability_metrics(answers, right, [verdict.task.base_template for verdict in judged[0]])


def _state(verdict: Verdict) -> Hashable:
    """The changes a run made, told by what is too much and too little in them; equal for equal ones."""
    strict = verdict.strict
    assert strict is not None
    return tuple(frozenset(Counter(changes).items()) for changes in (strict.unwanted, strict.missing))
