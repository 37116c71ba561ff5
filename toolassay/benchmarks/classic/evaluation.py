"""Evaluates CLASSic folders: choices of an agent -> metrics."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.classic.agents.inference import entry_of
from toolassay.benchmarks.classic.benchmark import ChatScoring
from toolassay.benchmarks.classic.data import ClassicData, data_fingerprint, read_data
from toolassay.benchmarks.classic.published_attacks import FOLDER as PUBLISHED_ATTACKS
from toolassay.benchmarks.classic.published_attacks import published_score
from toolassay.benchmarks.classic.scoring.compat import compat_metrics, passes
from toolassay.benchmarks.classic.scoring.prediction_rows import PredictionRow, read_rows, rows_fingerprint
from toolassay.benchmarks.classic.scoring.strict import (
    MessageOutcome,
    MissingOutcome,
    agreement_of,
    by_message,
    by_order,
    message_outcomes,
    strict_metrics,
)
from toolassay.benchmarks.security.probe_results import security_beside
from toolassay.console.screen import DEFAULT, SILENT, WARNING, Screen
from toolassay.errors import UsageError
from toolassay.evaluation.evaluation import FolderEvaluation, ScoringPlace, ScoringSettings, run_parts
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.items import ItemTrial, ScoredItem
from toolassay.evaluation.metrics_file import SECURITY, STRICT_MODE, signature_text
from toolassay.evaluation.places import prediction_folder
from toolassay.files.data_files import refuse_to_replace, write_json
from toolassay.metrics.confidence_interval import Interval, mean_intervals
from toolassay.records.data_folder import DataFolder
from toolassay.runs.outcomes import MISSING, RunOutcomes, is_scored
from toolassay.runs.recorded_usage import usage
from toolassay.runs.trials import Trial
from toolassay.runs.work import chosen_items
from toolassay.version import __version__


@dataclass(frozen=True)
class ClassicScores:
    """The scores of one agent.

    Attributes:
        compat: the published metrics of the existing rows.
        strict: metrics over every message of the data in every trial.
        items: one line per message, in the form that `toolassay compare` reads.
        done_by_trial: number of scored answers by trial.
        right_by_trial: number of correct answers by trial.
    """

    compat: dict[str, Any]
    strict: dict[str, Any]
    items: Sequence[ScoredItem]
    done_by_trial: Mapping[int, int]
    right_by_trial: Mapping[int, int]


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
    strict = strict_metrics(judged, [message_outcomes(order, data) for order in (*orders[1:], *more)], data)
    compat = compat_metrics(
        next(iter(by_order(rows).values())) if as_given else [row for row in first if is_scored(row.outcome)]
    )
    if not as_given:
        compat["compat_intervals"] = {"row_pass@1": _row_pass(first).to_json()}
    if changed:
        note = f"{changed} rows have other labels than the data have by now: those of the {{}} count"
        strict["notes"]["labels"] = note.format("data")
        compat["notes"]["labels"] = note.format("rows" if as_given else "data")
    items = [_item(runs) for runs in by_message(judged)]
    done = Counter(
        message_outcome.trial
        for message_outcome in judged
        if message_outcome.row is not None and is_scored(message_outcome.outcome)
    )
    right = Counter(message_outcome.trial for message_outcome in judged if message_outcome.right)
    return ClassicScores(compat, strict, items, done, right)


def _row_pass(rows: Sequence[PredictionRow]) -> Interval:
    """The published share of correct rows with an interval that resamples conversations."""
    import numpy as np

    scored = [row for row in rows if is_scored(row.outcome)]
    right = np.array([float(passes(row)) for row in scored])
    (interval,) = mean_intervals([right], clusters=[row.conversation for row in scored])
    return interval


def _with_labels(rows: Sequence[PredictionRow], data: ClassicData) -> tuple[list[PredictionRow], int]:
    """Rows with the labels of the data, and the number of rows whose labels differed. Rows of unknown
    messages keep theirs.
    """
    labels = {(example.conversation, example.request_idx): example.labels for example in data.examples}
    relabelled = [msgspec.structs.replace(row, labels=labels.get(row.input, row.labels)) for row in rows]
    return relabelled, sum(row.labels != other.labels for row, other in zip(rows, relabelled, strict=True))


def _item(runs: Sequence[MessageOutcome]) -> ScoredItem:
    """The line of a message in the file of items, from its runs."""
    example = runs[0].example
    trials = [
        ItemTrial(
            run.trial,
            run.outcome,
            {
                "correct": float(run.right),
                "answered": float(run.answered),
                "start_decision": float(run.answered and (run.choice is None) == (run.wanted is None)),
                "compat_correct": float(run.row is not None and passes(run.row)),
            },
        )
        for run in runs
    ]
    item = ScoredItem.of_trials(example.id, example.conversation, trials, example.domain, len(example.labels))
    if len(runs) == 1:
        return item
    scored = [run for run in runs if is_scored(run.outcome)]
    agreement = agreement_of(scored) if len(scored) > 1 else None
    return msgspec.structs.replace(item, scores={**item.scores, "agreement": agreement})


MODES = ("compat", "strict")
METRICS = "metrics.json"


def evaluate_chats(
    folder: DataFolder, scoring: ScoringSettings, own: ChatScoring, *, shows_security: bool = True
) -> list[FolderEvaluation]:
    """Score what agents chose, as published and strictly.

    Args:
        folder: the tables.
        scoring: which models and messages.
        own: prediction folders with another order.
        shows_security: show the figures of a security run; they are in the metrics file in any case.

    Raises:
        UsageError: files missing or malformed, or answers to other data.
    """
    screen = scoring.screen
    scoring_place = ScoringPlace(folder.require(), scoring)
    names = scoring_place.models
    whole = read_data(folder.path)
    chosen = chosen_items(whole.examples, scoring.ids, scoring.limit, noun="message")
    data = replace(whole, examples=tuple(chosen))
    only = None if len(data.examples) == len(whole.examples) else {example.id for example in data.examples}
    other_folders = [prediction_folder(folder.path, Path(other)) for other in own.orders]
    evaluations = []
    for name in names:
        trials = scoring_place.trials(name)
        more = [trial for other in other_folders for trial in scoring_place.trials(name, other)]
        answered = [_answered(trial, whole) for trial in trials]
        rows = _joined(answered)
        others = _joined(_answered(trial, whole) for trial in more)
        if only is not None:
            known = {(example.conversation, example.request_idx) for example in data.examples}
            rows, others = (
                [row for row in unfiltered if row.input in known] for unfiltered in (rows, others)
            )
        scores = score_rows(rows, data, others=others, ended=_ended(trials))
        strict = scores.strict
        compat = scores.compat
        attacks = Trial(scoring_place.predictions / PUBLISHED_ATTACKS, name).output
        if attacks.is_file():
            compat[SECURITY] = published_score(attacks).to_json()
        used = usage(
            [trial.ledger for trial in trials],
            tasks=[scores.done_by_trial.get(trial.number, 0) for trial in trials],
            only=only,
            correct=[scores.right_by_trial.get(trial.number, 0) for trial in trials],
        )
        if used["latency"] is not None:  # the ledger says what the rows do not
            strict["notes"].pop("latency", None)
        numbers = {
            "n": strict["n_messages"],
            "outcomes": strict["outcomes"],
            **used,
            "compat": compat,
            "strict": strict,
            **security_beside(scoring_place.predictions, name, screen if shows_security else SILENT),
        }
        signature = _signature(folder.path, answered[0][1], only, run_parts(trials), rows, others)
        done = [count for _, count in sorted(scores.done_by_trial.items())]
        evaluations.append(
            scoring_place.write(name, trials, scores.items, numbers, signature, "message", done)
        )
    return evaluations


def evaluate_rows(
    data_dir: str | Path,
    predictions: Sequence[str | Path],
    *,
    out: str | Path,
    mode: str = "compat",
    screen: Screen = DEFAULT,
) -> ClassicScores:
    """Score files of prediction rows from any source.

    Compat counts what the rows say, their labels too, as the published evaluator does; it scores rows of
    other data as well, with a warning. Strict counts the messages and labels of the data.

    Args:
        data_dir: the tables.
        predictions: JSON arrays or JSON lines; together the rows of one agent, with all trials, and of other
            orders of the candidates if their rows say so (`order`).
        out: the folder for `metrics.json`.
        mode: which metrics are written, `compat` or `strict`.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: a file is missing or malformed, or holds answers to other data; an unknown mode.
    """
    if mode not in MODES:
        raise UsageError(f"unknown mode '{mode}'", fix=f"choose from {', '.join(MODES)}")
    folder = DataFolder(Path(data_dir)).require().path
    data = read_data(folder)
    files = [Path(path) for path in predictions]
    as_given = mode == "compat"
    rows = _joined((file, read_rows(file, None if as_given else data)) for file in files)
    scores = score_rows(rows, data, as_given=as_given)
    known = {(example.conversation, example.request_idx) for example in data.examples}
    if foreign := sum(row.input not in known for row in rows):
        note = f"{foreign} rows answer messages that the data do not have: they count with their own labels"
        scores.compat["notes"]["data"] = note
        screen.say(f"{WARNING}{note}")
    metrics: Mapping[str, Any] = scores.compat
    if mode == "strict":
        n = scores.strict["n_messages"]
        signature = signature_text(_signature(folder, rows, None, {}, rows, ()), group=OVERALL_GROUP, n=n)
        metrics = {"signature": signature, **scores.strict}
    metrics = {"mode": mode, **metrics}
    what = "the metrics would replace the predictions"
    refuse_to_replace(Path(out) / METRICS, files, what=what, flag="--out")
    write_json(Path(out) / METRICS, metrics)
    screen.say(f"scored {scores.compat['n_rows']} rows")
    return scores


def _ended(trials: Sequence[Trial]) -> MissingOutcome:
    """Outcomes of the messages without a row, from the journal of each trial."""
    runs = {
        trial.number: RunOutcomes(
            trial.run_folder, lambda journal, example: entry_of(journal, example.question).outcome
        )
        for trial in trials
    }
    return lambda example, trial: runs[trial].outcome(example) if trial in runs else MISSING


def _answered(trial: Trial, data: ClassicData) -> tuple[Path, list[PredictionRow]]:
    """The prediction file and rows of a trial; the number of a further trial is that of its folder."""
    rows = read_rows(trial.output, data)
    return trial.output, [msgspec.structs.replace(row, trial=trial.number or row.trial) for row in rows]


def _joined(files: Iterable[tuple[Path, list[PredictionRow]]]) -> list[PredictionRow]:
    """The rows of several files.

    Raises:
        UsageError: two of them answer the same message in the same trial and order.
    """
    joined: dict[Any, PredictionRow] = {}
    for file, rows in files:
        for row in rows:
            if row.sorting in joined:
                raise UsageError(
                    f"answers message {row.request} of {row.conversation!r} in trial {row.trial}, as another "
                    "file does",
                    file=file,
                    fix="leave one of them out, or number the trials (trial_idx)",
                )
            joined[row.sorting] = row
    return list(joined.values())


def _signature(
    folder: Path,
    predictions: Sequence[PredictionRow],
    only: Collection[str] | None,
    tools: Mapping[str, str],
    rows: Sequence[PredictionRow],
    others: Sequence[PredictionRow],
) -> dict[str, str]:
    """What the scores were made with.

    Args:
        folder: the tables.
        predictions: the rows of the prediction file.
        only: ids of the chosen messages; None for all.
        tools: what did not reach the model.
        rows: the rows of all trials.
        others: rows of other orders of the candidates.
    """
    parts = {
        "toolassay": __version__,
        "benchmark": "classic",
        "mode": STRICT_MODE,
        "data": data_fingerprint(folder)[:12],
        **tools,
        "predictions": rows_fingerprint(predictions)[:12],
        "trials": f"{len({row.trial for row in rows})}-{rows_fingerprint(rows)[:12]}",
    }
    if only is not None:
        parts["chosen"] = hashlib.sha256("\n".join(sorted(only)).encode()).hexdigest()[:12]
    if others:
        parts["orders"] = rows_fingerprint(others)[:12]
    return parts
