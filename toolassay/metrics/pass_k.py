"""Stability over repeated runs of the same items: pass@k, pass^k, and the agreement of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from math import comb, nan
from typing import TYPE_CHECKING, Any

from toolassay.metrics.confidence_interval import Ratio, ratio_intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pass_at_k(n: int, c: int, k: int) -> float:
    """The probability that at least one of k runs of a task succeeds: 1 - C(n-c, k) / C(n, k).

    The unbiased estimator of Chen et al. (Evaluating large language models trained on code, 2021): k runs are
    drawn without replacement from the n there are.

    Args:
        n: the number of runs of the task.
        c: the number of those that succeeded.
        k: the number of runs drawn; for more than n the result is 0, as the published evaluator has it.

    >>> pass_at_k(4, 1, 2), pass_at_k(4, 0, 2), pass_at_k(4, 3, 2)
    (0.5, 0.0, 1.0)
    """
    return 1 - comb(n - c, k) / comb(n, k) if k <= n else 0.0


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The probability that all of k runs of a task succeed: C(c, k) / C(n, k) (Yao et al., tau-bench, 2024).

    The arguments are those of `pass_at_k`.

    >>> pass_hat_k(4, 3, 2), pass_hat_k(4, 1, 2), pass_hat_k(4, 4, 2)
    (0.5, 0.0, 1.0)
    """
    return comb(c, k) / comb(n, k) if k <= n else 0.0


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
        clusters: the cluster of each task; None if each task is its own.
        trials: the number of runs requested per task; default the most that a task has.

    Returns:
        `trials`; `pass@k` and `pass^k`, each with `value`, `low` and `high` by k (as text, from 1 on);
        `tasks`: the number of tasks that count, by k; `runs`: the number of tasks, by their number of runs.

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
    ratios = (Ratio.over_runs(column[None]) for column in columns)
    values = iter(interval.to_json() for interval in ratio_intervals(ratios, clusters=clusters))
    by_k = [str(k) for k in range(1, most + 1)]
    return {
        "trials": most if trials is None else trials,
        **{name: {k: next(values) for k in by_k} for name, _ in names},
        "tasks": {k: sum(count >= int(k) for count in runs) for k in by_k},
        "runs": {str(count): tasks for count, tasks in sorted(Counter(runs).items())},
    }


NO_RUN = -2
UNANSWERED = -1
"""In place of an answer: the item was not run in the trial, or was run without an answer (equal to none)."""

AGREEMENTS = ("answer_agreement", "pairwise_agreement", "correctness_agreement")


def stability_metrics(
    answers: NDArray[np.int64] | Sequence[Sequence[Hashable]],
    right: NDArray[np.bool_] | Sequence[Sequence[bool]],
    clusters: Sequence[Hashable],
) -> dict[str, Any]:
    """The agreement of answers and of verdicts over the trials of a run, and `repeat_metrics`.

    An item that was not run in a trial has one run fewer. Items with fewer than two runs are left out of the
    agreements.

    Args:
        answers: by trial and item: a key (in an array, a number from 0) that is equal for equal answers, or
            NO_RUN or UNANSWERED.
        right: by trial and item: whether the answer is right.
        clusters: the cluster of each item; a cluster is resampled as one for the 95 % intervals.

    Returns:
        `trials`; `repeated`, the number of items with several runs; `answer_agreement`, the share of them
        whose answers are all the same; `pairwise_agreement`, the mean share of their pairs of runs with the
        same answer; `correctness_agreement`, the share of them that are always or never right; and `pass@k`,
        `pass^k`, `tasks` and `runs` of `repeat_metrics`.

    >>> answers = [["x", "y", UNANSWERED], ["x", "z", UNANSWERED]]
    >>> right = [[one == "x" for one in row] for row in answers]
    >>> found = stability_metrics(answers, right, ["a", "b", "c"])
    >>> [round(found[name]["value"], 2) for name in AGREEMENTS], found["pass^k"]["2"]["value"]
    ([0.33, 0.33, 1.0], 0.3333333333333333)
    """
    import numpy as np

    known: dict[Hashable, int] = {NO_RUN: NO_RUN, UNANSWERED: UNANSWERED}
    if isinstance(answers, np.ndarray):
        coded = answers
    else:
        coded = np.array(
            [[known.setdefault(answer, len(known)) for answer in row] for row in answers], np.int64
        )
    ran = coded != NO_RUN
    runs = ran.sum(axis=0)
    pairs = np.zeros(coded.shape[1])
    same = np.zeros(coded.shape[1])
    for first, second in combinations(range(len(coded)), 2):
        pairs += ran[first] & ran[second]
        same += (coded[first] == coded[second]) & (coded[first] >= 0)
    correct = np.array(right, dtype=np.bool_) & ran
    repeated = runs > 1
    pairwise = np.divide(same, pairs, out=np.full(len(pairs), np.nan), where=repeated)
    whole = np.where(repeated, same == pairs, np.nan)
    successes = correct.sum(axis=0)
    steady = np.where(repeated, (successes == 0) | (successes == runs), np.nan)
    ratios = (Ratio.over_runs(column[None]) for column in (whole, pairwise, steady))
    intervals = ratio_intervals(ratios, clusters=clusters)
    outcomes = [of_item[is_run].tolist() for of_item, is_run in zip(correct.T, ran.T, strict=True)]
    return {
        "trials": len(answers),
        "repeated": int(repeated.sum()),
        **{name: interval.to_json() for name, interval in zip(AGREEMENTS, intervals, strict=True)},
        **repeat_metrics(outcomes, clusters=clusters, trials=len(answers)),
    }
