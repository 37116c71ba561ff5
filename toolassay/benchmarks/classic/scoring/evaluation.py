"""All scores of one agent: compat, strict, and one line per message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.scoring.compat import compat_metrics, passes
from toolassay.benchmarks.classic.scoring.prediction_rows import PredictionRow
from toolassay.benchmarks.classic.scoring.strict import MessageOutcome, message_outcomes, strict_metrics
from toolassay.benchmarks.classic.scoring.strict.outcomes import MissingOutcome, by_message
from toolassay.benchmarks.classic.scoring.strict.stability import agreement_of, by_order
from toolassay.metrics.confidence_interval import Interval, mean_intervals
from toolassay.runs.outcomes import MISSING, is_scored


@dataclass(frozen=True)
class ClassicScores:
    """The scores of one agent.

    Attributes:
        compat: the published metrics of the existing rows.
        strict: metrics over every message of the data in every trial.
        items: one line per message, in the form that `toolassay compare` reads.
        right_by_trial: number of correct answers by trial.
    """

    compat: Mapping[str, Any]
    strict: Mapping[str, Any]
    items: Sequence[Mapping[str, Any]]
    right_by_trial: Mapping[int, int]

    @property
    def coverage(self) -> float:
        """The share of messages that the scores are computed on."""
        return float(self.strict["coverage"] or 0)


def score_rows(
    rows: Iterable[PredictionRow],
    data: ClassicData,
    *,
    others: Iterable[PredictionRow] = (),
    as_given: bool = False,
    ended: MissingOutcome = lambda example, trial: MISSING,
) -> ClassicScores:
    """Score prediction rows.

    Messages that were never sent, or that ended with a provider error, are left out of all accuracies.

    Args:
        rows: answers to these data, in any order. If they have several orders of the candidates, the first
            order by name is scored, and the others measure the influence of the order.
        data: its labels are used, not those in the rows.
        others: more rows, from other orders of the candidates.
        as_given: compat uses all rows with their own labels, as the published evaluator does.
        ended: the outcome of a message without a row in a trial.
    """
    rows = list(rows)
    relabelled, changed = _with_labels(rows, data)
    orders = list(by_order(relabelled).values())
    more = by_order(_with_labels(list(others), data)[0]).values()
    first = orders[0] if orders else []
    judged = message_outcomes(first, data, ended)
    strict = strict_metrics(judged, [message_outcomes(found, data) for found in (*orders[1:], *more)], data)
    compat = compat_metrics(
        next(iter(by_order(rows).values())) if as_given else [row for row in first if is_scored(row.outcome)]
    )
    if not as_given:
        compat["compat_intervals"] = {"row_pass@1": _row_pass(first).to_json()}
    if changed:
        note = f"{changed} rows have other labels than the data have by now: those of the {{}} count"
        strict["notes"]["labels"] = note.format("data")
        compat["notes"]["labels"] = note.format("rows" if as_given else "data")
    items = [_item(found) for found in by_message(judged)]
    return ClassicScores(compat, strict, items, Counter(one.trial for one in judged if one.right))


def _row_pass(rows: Sequence[PredictionRow]) -> Interval:
    """The published share of correct rows with an interval that resamples conversations."""
    import numpy as np

    scored = [row for row in rows if is_scored(row.outcome)]
    numbers = {name: place for place, name in enumerate(dict.fromkeys(row.conversation for row in scored))}
    (found,) = mean_intervals(
        [np.array([float(passes(row)) for row in scored])],
        clusters=np.array([numbers[row.conversation] for row in scored], dtype=np.int64),
    )
    return found


def _with_labels(rows: Sequence[PredictionRow], data: ClassicData) -> tuple[list[PredictionRow], int]:
    """Rows with the labels of the data, and the number of rows whose labels differed. Rows of unknown
    messages keep theirs.
    """
    labels = {(example.conversation, example.request_idx): example.labels for example in data.examples}
    relabelled = [replace(row, labels=labels.get(row.input, row.labels)) for row in rows]
    return relabelled, sum(one.labels != other.labels for one, other in zip(rows, relabelled, strict=True))


def _item(trials: Sequence[MessageOutcome]) -> dict[str, Any]:
    """One line of the items file; each score is the mean over the trials of a message."""
    trials = [one for one in trials if is_scored(one.outcome)] or trials
    first = trials[0]
    scores: dict[str, float | None] = {
        "correct": fmean(one.right for one in trials),
        "answered": fmean(one.answered for one in trials),
        "start_decision": fmean(_decides(one) for one in trials),
        "compat_correct": fmean(one.row is not None and passes(one.row) for one in trials),
    }
    if len(trials) > 1:
        scores["agreement"] = agreement_of(trials)
    return {
        "id": first.example.id,
        "cluster": first.example.conversation,
        "outcome": first.outcome,
        "scores": scores if is_scored(first.outcome) else dict.fromkeys(scores),
        "type": first.example.domain,
        "n_tools": len(first.example.labels),
        "counts": dict.fromkeys(("nodes", "edges", "argument_names", "argument_values")),
    }


def _decides(one: MessageOutcome) -> bool:
    """Whether the agent started a workflow if and only if one is wanted."""
    return one.answered and (one.choice is None) == (one.wanted is None)
