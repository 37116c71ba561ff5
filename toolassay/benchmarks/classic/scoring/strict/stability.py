"""Stability: whether a message gets the same answer in repeated trials, in other words, and with another
order of the candidates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from statistics import fmean
from typing import Any

from toolassay.benchmarks.classic.scoring.prediction_rows import PredictionRow
from toolassay.benchmarks.classic.scoring.strict.accuracy import phrasing_sensitivity
from toolassay.benchmarks.classic.scoring.strict.outcomes import MessageOutcome, by_message, means
from toolassay.metrics.pass_k import repeat_metrics
from toolassay.runs.outcomes import is_scored


def stability(
    judged: Sequence[MessageOutcome], others: Sequence[tuple[MessageOutcome, MessageOutcome]]
) -> dict[str, Any]:
    """The stability of answers.

    Args:
        judged: all messages in all trials.
        others: pairs of the same message and trial from two orders of the candidates.

    Returns:
        `trials`; with several trials also `answer_agreement` (messages whose answers are all equal),
        `pairwise_agreement` (pairs of trials with equal answers), `correctness_agreement` (messages that are
        always or never correct), with intervals, and pass@k and pass^k under `messages` and `conversations`
        as `repeat_metrics` gives them; `phrasing`; and `order`, None if only one order was used. A run
        without a choice agrees with no other. A run without an answer is left out, and so is its conversation
        in that trial.
    """
    trials = len({one.trial for one in judged})
    found: dict[str, Any] = {"trials": trials}
    if trials > 1:
        found |= _agreement(judged)
        found["messages"] = _repeats(by_message(_ran(judged)))
        found["conversations"] = _repeats(_conversations(judged))
    return {
        **found,
        "phrasing": phrasing_sensitivity([one for one in judged if is_scored(one.outcome)]),
        "order": _order(others) if others else None,
    }


def agreement_of(trials: Sequence[MessageOutcome]) -> float:
    """The share of a message's pairs of trials that gave the same answer."""
    return fmean(_agree(*pair) for pair in combinations(trials, 2))


def pairs_of_orders(
    main: Iterable[MessageOutcome], others: Iterable[Iterable[MessageOutcome]]
) -> list[tuple[MessageOutcome, MessageOutcome]]:
    """Pairs of the same message and trial from the main order and another one, if both were run.

    Orders are compared by the name in the rows.
    """
    first = {
        (one.example.id, one.trial): (one, one.row.order)
        for one in main
        if one.row is not None and _has_run(one)
    }
    pairs = []
    for one in chain.from_iterable(others):
        found = first.get((one.example.id, one.trial))
        if found is not None and one.row is not None and _has_run(one) and one.row.order != found[1]:
            pairs.append((found[0], one))
    return pairs


def by_order(rows: Iterable[PredictionRow]) -> dict[str, list[PredictionRow]]:
    """Rows by order of the candidates, sorted by its name; rows without one come first."""
    found: dict[str, list[PredictionRow]] = defaultdict(list)
    for row in rows:
        found[row.order].append(row)
    return dict(sorted(found.items()))


def _agree(one: MessageOutcome, other: MessageOutcome) -> bool:
    return one.answered and other.answered and one.choice == other.choice


def _ran(judged: Iterable[MessageOutcome]) -> list[MessageOutcome]:
    return [one for one in judged if _has_run(one)]


def _has_run(one: MessageOutcome) -> bool:
    return one.row is not None and is_scored(one.outcome)


def _agreement(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """Agreement over the messages that were run several times; no numbers if there are none."""
    repeated = {trials[0].example.id: trials for trials in by_message(_ran(judged)) if len(trials) > 1}

    def same(one: MessageOutcome) -> float | None:
        trials = repeated.get(one.example.id)
        return None if trials is None else agreement_of(trials)

    def always(one: MessageOutcome) -> float | None:
        share = same(one)
        return None if share is None else float(share == 1)

    def steady(one: MessageOutcome) -> float | None:
        trials = repeated.get(one.example.id)
        return None if trials is None else float(len({each.right for each in trials}) == 1)

    scores = {"answer_agreement": always, "pairwise_agreement": same, "correctness_agreement": steady}
    return means([trials[0] for trials in by_message(judged)], scores, {})


def _conversations(judged: Sequence[MessageOutcome]) -> list[list[MessageOutcome]]:
    """For each conversation and trial the first wrong message, or the last one if all are right. Trials in
    which a message was not run are left out.
    """
    found: dict[str, dict[int, MessageOutcome]] = defaultdict(dict)
    cut = {(one.example.conversation, one.trial) for one in judged if not _has_run(one)}
    for one in judged:
        if (one.example.conversation, one.trial) in cut:
            continue
        before = found[one.example.conversation].get(one.trial)
        if before is None or before.right:
            found[one.example.conversation][one.trial] = one
    return [list(trials.values()) for trials in found.values()]


def _repeats(units: Sequence[Sequence[MessageOutcome]]) -> dict[str, Any]:
    """pass@k and pass^k of messages or conversations; the bootstrap resamples conversations."""
    return repeat_metrics(
        [[one.right for one in unit] for unit in units],
        clusters=[unit[0].example.conversation for unit in units],
    )


def _order(pairs: Sequence[tuple[MessageOutcome, MessageOutcome]]) -> Mapping[str, Any]:
    orders = {one.row.order for pair in pairs for one in pair if one.row is not None}
    return {
        "orders": sorted(orders),
        "pairs": len(pairs),
        "answer_agreement": fmean(_agree(*pair) for pair in pairs),
        "correctness_agreement": fmean(one.right == other.right for one, other in pairs),
        "right_in_both": fmean(one.right and other.right for one, other in pairs),
    }
