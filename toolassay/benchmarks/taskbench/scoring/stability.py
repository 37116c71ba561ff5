"""Whether a model gives the same plan when it is asked again."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.prediction_lines import entry_of_label
from toolassay.benchmarks.taskbench.scoring.job import Job
from toolassay.benchmarks.taskbench.scoring.line_index import LineIndex
from toolassay.benchmarks.taskbench.scoring.plan_digest import plan_digest
from toolassay.benchmarks.taskbench.scoring.strict import score_plan
from toolassay.benchmarks.taskbench.scoring.strict_plan import Plan, PlanReader
from toolassay.benchmarks.taskbench.scoring.strict_table import cluster_of
from toolassay.metrics.stability import NO_RUN, UNANSWERED, stability_metrics
from toolassay.runs.asked import MISSING, RunOutcomes, is_scored


@dataclass(frozen=True)
class PlanStability:
    """What stays the same over trials.

    Attributes:
        numbers: what `stability_metrics` gives; a right answer is an exact match.
        done: for each trial, how many requests have a line.
        right: for each trial, how many plans are exact matches.
    """

    numbers: dict[str, Any]
    done: Sequence[int]
    right: Sequence[int]


def plan_stability(job: Job, trials: Sequence[Path]) -> PlanStability:
    """Compare the plans of several prediction files, request by request, as the strict scores read them.

    Labels count as they do in the strict scores. Of a plan only a digest is held; one trial is read after the
    other.

    Args:
        job: whose labels, tools and choices count; its predictions are among the trials.
        trials: the prediction files.

    Raises:
        UsageError: a file is missing.
    """
    import numpy as np

    reader = PlanReader(job.library, job.dependency_type)
    clusters = array("q")
    answers, right = [], []
    with LineIndex(job.labels, fix="make it with format_data.py", keep=job.keep) as labels:
        for number, path in enumerate(trials):
            given, is_right = array("q"), array("b")
            run = RunOutcomes(path.parent / "runs" / path.stem, entry_of_label)
            with LineIndex(path, fix="make it with inference.py", keep=job.keep) as lines:
                for line in _expected(job, labels):
                    label = labels.read(line)
                    gold = reader.plan(label)
                    if gold is None:
                        continue
                    answer, plan = _answer(lines, label, reader, run)
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


def _expected(job: Job, labels: LineIndex) -> list[int]:
    """The lines of the labels that the strict scores count."""
    by_text = labels.by_text
    return [
        line
        for key, line in labels.by_id.items()
        if str(key) not in job.excluded and by_text[str(key)] == line and job.keeps(key)
    ]


def _answer(
    lines: LineIndex, label: dict[str, Any], reader: PlanReader, run: RunOutcomes
) -> tuple[int, Plan | None]:
    """The number of the plan that answers a label, and the plan."""
    line = lines.by_text.get(str(label["id"]))
    prediction = None if line is None else lines.prediction(line)
    if line is None or (prediction is not None and not prediction.answers(label.get("user_request"))):
        outcome = run.outcome(label)
        return (UNANSWERED if outcome != MISSING and is_scored(outcome) else NO_RUN), None
    plan = None if prediction is None else reader.plan(prediction.result)
    return (UNANSWERED, None) if plan is None else (plan_digest(plan), plan)
