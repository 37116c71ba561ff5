"""What a metrics file says of the whole beside the scores: cost, latency, stability, security."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from toolassay.benchmarks.security import figures_beside
from toolassay.benchmarks.taskbench.requests import key_of
from toolassay.benchmarks.taskbench.scoring.evaluation import Evaluation
from toolassay.benchmarks.taskbench.scoring.groups import OVERALL
from toolassay.benchmarks.taskbench.scoring.job import Job
from toolassay.benchmarks.taskbench.scoring.line_index import LineIndex
from toolassay.benchmarks.taskbench.scoring.stability import plan_stability
from toolassay.dataset import RequestId
from toolassay.folder import Say
from toolassay.runs.spending import usage
from toolassay.runs.trials import Trial, fingerprint, same_settings, trials_of

WHOLE = f"{OVERALL}_{OVERALL}"
SECURITY, STABILITY = "security", "stability"
KEYS = ("cost", "latency", "notes", STABILITY, SECURITY)


def add_axes(evaluation: Evaluation, job: Job, predictions: Path, llm: str, say: Say) -> bool:
    """Put `cost`, `latency`, `notes`, `stability` and `security` beside the scores of the whole.

    Those that a run has: `cost` and `latency` where there is a ledger, `stability` with further trials,
    `security` with a security run. Nothing where the whole is not scored.

    Args:
        evaluation: of the first trial; changed.
        job: what was scored.
        predictions: the folder of the prediction files.
        llm: the model.
        say: told which trials are left out.

    Returns:
        Whether anything is otherwise than before.

    Raises:
        UsageError: a ledger, a manifest or the file of a security run is malformed.
    """
    whole = evaluation.groups.get(WHOLE)
    if whole is None:
        return False
    trials, others = same_settings(trials_of(predictions, llm))
    for trial in others:
        say(f"warning: {trial.output} was made with other settings than the first run: left out")
    found = _stability_and_usage(whole, job, trials)
    if (security := figures_beside(predictions, llm)) is not None:
        found[SECURITY] = security
    before = {name: whole.pop(name) for name in KEYS if name in whole}
    whole.update(found)
    return found != before


def _ledger_items(job: Job) -> frozenset[str] | None:
    """The labels that are scored, as a ledger names them; None for all."""
    if job.keeps_all:
        return None
    with LineIndex(job.labels, fix="make it with format_data.py", keep=job.keep) as labels:
        return frozenset(key_of(cast("RequestId", key)) for key in labels.by_id if job.keeps(key))


def _stability_and_usage(whole: Mapping[str, Any], job: Job, trials: list[Trial]) -> dict[str, Any]:
    strict = whole["strict"]
    done = [strict["n_scored"]]
    right = [round((strict["exact_match"]["value"] or 0) * strict["n_expected"])]
    stability: dict[str, Any] = {}
    if len(trials) > 1:
        name = fingerprint(trials)
        before = whole.get(STABILITY, {})
        if before.get("predictions") == name:  # of scores that are up to date
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
        used = usage(ledgers, tasks=done, correct=right, only=_ledger_items(job))
    return {**used, **({STABILITY: stability} if stability else {})}
