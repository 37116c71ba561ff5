"""What a metrics file contains besides scores: cost, latency, stability over trials, and security."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from toolassay.benchmarks.security import FOLDER
from toolassay.benchmarks.taskbench.prediction_lines import entry_of_label
from toolassay.benchmarks.taskbench.scoring.scored_rows import cluster_of
from toolassay.benchmarks.taskbench.scoring.scorer import ScoringJob
from toolassay.benchmarks.taskbench.scoring.strict import score_plan
from toolassay.data_folder import Say
from toolassay.dataset import RequestId
from toolassay.evaluation.evaluation import Evaluation
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.line_index import LineIndex
from toolassay.evaluation.metrics_file import RUN_KEYS, SECURITY, STABILITY
from toolassay.metrics.pass_k import NO_RUN, UNANSWERED, stability_metrics
from toolassay.normalised_plan import Plan, PlanReader, plan_digest
from toolassay.requests import key_of
from toolassay.runs.outcomes import MISSING, RunOutcomes, is_scored
from toolassay.runs.trials import Trial, fingerprint, same_settings, trials_of


@dataclass(frozen=True)
class PlanStability:
    """The stability over trials.

    Attributes:
        numbers: the result of `stability_metrics`; a correct answer is an exact match.
        done: for each trial, the number of requests with a prediction.
        right: for each trial, the number of exact matches.
    """

    numbers: dict[str, Any]
    done: Sequence[int]
    right: Sequence[int]


def plan_stability(job: ScoringJob, trials: Sequence[Path]) -> PlanStability:
    """Compare the plans of several prediction files, request by request, as the strict scores parse them.

    The same labels count as in the strict scores. Trials are read one after the other, and of each plan only
    a digest is kept in memory.

    Args:
        job: gives the labels, tools and settings; its predictions are one of the trials.
        trials: the prediction files.

    Raises:
        UsageError: a file does not exist.
    """
    import numpy as np

    reader = PlanReader(job.library, job.dependency_type)
    clusters = array("q")
    answers, right = [], []
    with LineIndex(job.labels, fix="write it with format_data.py", keep=job.keep) as labels:
        for number, path in enumerate(trials):
            given, is_right = array("q"), array("b")
            run = RunOutcomes(path.parent / "runs" / path.stem, entry_of_label)
            with LineIndex(path, fix="write it with inference.py", keep=job.keep) as lines:
                for line in _counted_lines(job, labels):
                    label = labels.read(line)
                    gold = reader.plan(label)
                    if gold is None:
                        continue
                    answer, plan = _plan_number(lines, label, reader, run)
                    given.append(answer)
                    is_right.append(plan is not None and score_plan(gold, plan).is_exact)
                    if not number:
                        clusters.append(cluster_of(label))
            answers.append(np.asarray(given))
            right.append(np.asarray(is_right, dtype=np.bool_))
    table = np.array(answers, dtype=np.int64).reshape(len(trials), -1)
    rights = np.array(right, dtype=np.bool_).reshape(len(trials), -1)
    return PlanStability(
        stability_metrics(table, rights, clusters),
        done=[int((row != NO_RUN).sum()) for row in table],
        right=[int(row.sum()) for row in rights],
    )


def _counted_lines(job: ScoringJob, labels: LineIndex) -> list[int]:
    """The lines of the labels that the strict scores count."""
    by_text = labels.by_text
    return [
        line
        for key, line in labels.by_id.items()
        if str(key) not in job.excluded and by_text[str(key)] == line and job.keeps(key)
    ]


def _plan_number(
    lines: LineIndex, label: dict[str, Any], reader: PlanReader, run: RunOutcomes
) -> tuple[int, Plan | None]:
    """A number that is equal for equal plans, and the plan that answers a label."""
    line = lines.by_text.get(str(label["id"]))
    prediction = None if line is None else lines.prediction(lines.place(line))
    if line is None or (prediction is not None and not prediction.answers(label.get("user_request"))):
        outcome = run.outcome(label)
        return (UNANSWERED if outcome != MISSING and is_scored(outcome) else NO_RUN), None
    plan = None if prediction is None else reader.plan(prediction.result)
    return (UNANSWERED, None) if plan is None else (plan_digest(plan), plan)


def add_axes(evaluation: Evaluation, job: ScoringJob, predictions: Path, llm: str, say: Say) -> bool:
    """Add `cost`, `latency`, `notes`, `stability` and `security` to the scores of the group of all labels.

    Each is added only if the run has it: `cost` and `latency` need a ledger, `stability` further trials,
    `security` a security run. Nothing is added if the group of all labels is not scored.

    Args:
        evaluation: of the first trial; changed in place.
        job: what was scored.
        predictions: the folder of the prediction files.
        llm: the model.
        say: receives a warning for each trial that is left out.

    Returns:
        Whether `evaluation` changed.

    Raises:
        UsageError: a ledger, a manifest or the results file of a security run is malformed.
    """
    whole = evaluation.groups.get(OVERALL_GROUP)
    if whole is None:
        return False
    trials, others = same_settings(trials_of(predictions, llm))
    for trial in others:
        say(f"warning: {trial.output} was made with other settings than the first run: left out")
    found = _stability_and_usage(whole, job, trials)
    if (predictions / FOLDER).is_dir():
        from toolassay.benchmarks.security import figures_beside

        if (security := figures_beside(predictions, llm)) is not None:
            found[SECURITY] = security
    before = {name: whole.pop(name) for name in RUN_KEYS if name in whole}
    whole.update(found)
    return found != before


def _ledger_items(job: ScoringJob) -> frozenset[str] | None:
    """The scored labels, as a ledger names them; None for all."""
    if job.keeps_all:
        return None
    with LineIndex(job.labels, fix="write it with format_data.py", keep=job.keep) as labels:
        return frozenset(key_of(cast("RequestId", key)) for key in labels.by_id if job.keeps(key))


def _stability_and_usage(whole: Mapping[str, Any], job: ScoringJob, trials: list[Trial]) -> dict[str, Any]:
    strict = whole["strict"]
    done = [strict["n_scored"]]
    right = [round((strict["exact_match"]["value"] or 0) * strict["n_expected"])]
    stability: dict[str, Any] = {}
    if len(trials) > 1:
        name = fingerprint(trials)
        before = whole.get(STABILITY, {})
        if before.get("predictions") == name:  # the prediction files have not changed since
            stability, done, right = before, before["requests_done"], before["requests_right"]
        else:
            found = plan_stability(job, [trial.output for trial in trials])
            done, right = list(found.done), list(found.right)
            stability = {
                "predictions": name,
                "requests_done": done,
                "requests_right": right,
                **found.numbers,
            }
    ledgers = [trial.ledger for trial in trials]
    used = {}
    if any(ledger.is_file() for ledger in ledgers):
        from toolassay.runs.recorded_usage import usage

        used = usage(ledgers, tasks=done, correct=right, only=_ledger_items(job))
    return {**used, **({STABILITY: stability} if stability else {})}
