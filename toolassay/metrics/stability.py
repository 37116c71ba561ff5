"""Whether repeats of the same items come out the same: agreement of answers, of correctness, pass^k."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from toolassay.metrics.intervals import mean_intervals
from toolassay.metrics.repeats import repeat_metrics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_RUN, UNANSWERED = -2, -1
"""In place of an answer: no run of the item in this trial; a run without an answer, which equals no other."""

AGREEMENTS = ("answer_agreement", "pairwise_agreement", "correctness_agreement")


def stability_metrics(
    answers: NDArray[np.int64], right: NDArray[np.bool_], clusters: Sequence[Hashable]
) -> dict[str, Any]:
    """What stays the same over the trials of a run.

    An item that was not run in a trial has a run less; one with fewer than two says nothing of agreement.

    Args:
        answers: shape (trials, items): numbers from 0, equal where the answers are; NO_RUN or UNANSWERED.
        right: likewise, whether the answer is right.
        clusters: of each item; drawn together for the 95 % intervals.

    Returns:
        `trials`, `repeated` (items with several runs), `answer_agreement` (the share of them whose answers
        are all the same), `pairwise_agreement` (of their pairs of runs), `correctness_agreement` (of them
        that are right always, or never), and what `repeat_metrics` gives: pass@k, pass^k, tasks, runs.

    >>> import numpy as np
    >>> answers = np.array([[7, 5, -1], [7, 6, -1]])
    >>> found = stability_metrics(answers, answers == 7, ["a", "b", "c"])
    >>> [round(found[name]["value"], 2) for name in AGREEMENTS], found["pass^k"]["2"]["value"]
    ([0.33, 0.33, 1.0], 0.3333333333333333)
    """
    import numpy as np

    ran = answers != NO_RUN
    runs, pairs, same = ran.sum(axis=0), np.zeros(answers.shape[1]), np.zeros(answers.shape[1])
    for one, other in combinations(range(len(answers)), 2):
        pairs += ran[one] & ran[other]
        same += (answers[one] == answers[other]) & (answers[one] >= 0)
    right = right & ran
    repeated = runs > 1
    pairwise = np.divide(same, pairs, out=np.full(len(pairs), np.nan), where=repeated)
    whole = np.where(repeated, same == pairs, np.nan)
    successes = right.sum(axis=0)
    steady = np.where(repeated, (successes == 0) | (successes == runs), np.nan)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    intervals = mean_intervals(
        (whole, pairwise, steady), clusters=np.array([numbers[name] for name in clusters], dtype=np.int64)
    )
    outcomes = [of_item[is_run].tolist() for of_item, is_run in zip(right.T, ran.T, strict=True)]
    return {
        "trials": len(answers),
        "repeated": int(repeated.sum()),
        **{name: found.to_json() for name, found in zip(AGREEMENTS, intervals, strict=True)},
        **{
            name: value
            for name, value in repeat_metrics(outcomes, clusters=clusters).items()
            if name != "trials"
        },
    }
