"""Repeated runs of the same items (stability): pass@k, pass^k, and agreement of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from math import comb, nan
from typing import TYPE_CHECKING, Any

from toolassay.metrics.confidence_interval import mean_intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k runs of a task succeeds (Chen et al., 2021).

    Unbiased: k runs are drawn without replacement from those there are, 1 - C(n-c, k) / C(n, k).

    Args:
        n: runs of the task.
        c: those that succeeded.
        k: runs drawn; at most n.

    >>> pass_at_k(4, 1, 2), pass_at_k(4, 0, 2), pass_at_k(4, 3, 2)
    (0.5, 0.0, 1.0)
    """
    return 1 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The chance that all of k runs of a task succeed (Yao et al., 2024), C(c, k) / C(n, k).

    The arguments are those of `pass_at_k`.

    >>> pass_hat_k(4, 3, 2), pass_hat_k(4, 1, 2), pass_hat_k(4, 4, 2)
    (0.5, 0.0, 1.0)
    """
    return comb(c, k) / comb(n, k)


def repeat_metrics(
    outcomes: Sequence[Sequence[bool]],
    *,
    clusters: Sequence[Hashable] | None = None,
    trials: int | None = None,
) -> dict[str, Any]:
    """pass@k and pass^k averaged over tasks, with the 95 % intervals of a cluster bootstrap.

    Args:
        outcomes: for each task, whether each of its runs was correct; a task counts for k if it has at
            least k runs.
        clusters: of each task; None where each is its own.
        trials: runs that were asked for; default the most that a task has.

    Returns:
        `trials`; `pass@k` and `pass^k`, each with `value`, `low` and `high` by k (as text, from 1 on);
        `tasks` that count, by k; `runs`: how many tasks have so many of them.

    >>> found = repeat_metrics([[True, False], [True, True], [True]])
    >>> [found[name]["2"]["value"] for name in ("pass@k", "pass^k")], found["tasks"]
    ([1.0, 0.5], {'1': 3, '2': 2})
    >>> found["runs"]
    {'1': 1, '2': 2}
    """
    import numpy as np

    runs = [len(task) for task in outcomes]
    most = max(runs, default=0)
    names = ("pass@k", pass_at_k), ("pass^k", pass_hat_k)
    columns = [
        np.array([of(len(task), sum(task), k) if len(task) >= k else nan for task in outcomes])
        for _, of in names
        for k in range(1, most + 1)
    ]
    numbers = (
        None if clusters is None else {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    )
    found = mean_intervals(
        columns,
        clusters=None
        if numbers is None or clusters is None
        else np.array([numbers[name] for name in clusters], dtype=np.int64),
    )
    values = iter(interval.to_json() for interval in found)
    by_k = [str(k) for k in range(1, most + 1)]
    return {
        "trials": most if trials is None else trials,
        **{name: {k: next(values) for k in by_k} for name, _ in names},
        "tasks": {k: sum(count >= int(k) for count in runs) for k in by_k},
        "runs": {str(count): tasks for count, tasks in sorted(Counter(runs).items())},
    }


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
