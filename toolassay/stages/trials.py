"""Several trials of one run, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from toolassay.benchmarks.taskbench.infer import Inference
from toolassay.errors import UsageError
from toolassay.runs import RunSummary
from toolassay.screen import WARNING, Screen

_LIMITS = ("at least", "at most")


def run_trials(run: Callable[[int], Inference], trials: int, screen: Screen) -> Inference:
    """Run every trial until the budget ends one; how they ended together.

    Args:
        run: does the trial of a number, from 0, or goes on with it.
        trials: how many; 1 is a run without repeats.
        screen: told which trial begins.

    Raises:
        UsageError: fewer than one trial.
    """
    if trials < 1:
        raise UsageError(f"{trials} trials", fix="give --trials 1 or more")
    ended: list[Inference] = []
    for number in range(trials):
        if trials > 1:
            screen.say(f"trial {number + 1} of {trials}")
        ended.append(run(number))
        left = trials - number - 1
        if ended[-1].summary.stop is not None and left:
            screen.say(f"{WARNING}the budget leaves nothing for {left} more of the {trials} trials")
            break
    if len(ended) > 1 and all(one.expected for one in ended):
        for limit, sums in zip(_LIMITS, zip(*(one.expected for one in ended), strict=True), strict=False):
            total = reduce(add, sums)
            many = " " + limit if len(ended[0].expected) > 1 else ""
            screen.show(f"all {trials} trials together{many}: {total.words}")
    return ended[0] if len(ended) == 1 else _together(ended)


def _together(ended: Sequence[Inference]) -> Inference:
    summary = RunSummary()
    for one in ended:
        summary.outcomes.update(one.summary.outcomes)
        summary.failed += one.summary.failed
        summary.failures += one.summary.failures
        summary.stop = summary.stop or one.summary.stop
    return Inference(
        sum(one.written for one in ended),
        sum(one.already for one in ended),
        summary,
        sum(one.adopted for one in ended),
    )
