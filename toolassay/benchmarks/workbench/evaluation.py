"""Evaluates WorkBench folders: recorded calls of agents -> metrics."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any

from toolassay.benchmarks.security.probe_results import security_beside
from toolassay.benchmarks.workbench.agents.episode import entry_of, read_predictions
from toolassay.benchmarks.workbench.benchmark import WorkplaceScoring
from toolassay.benchmarks.workbench.generate.generated_tasks import has_our_wordings
from toolassay.benchmarks.workbench.judge.error_classes import NOT_RUN, error_rules
from toolassay.benchmarks.workbench.judge.evaluation import (
    MODES,
    JudgingTask,
    RunVerdict,
    TaskResult,
    counts_by,
    metrics_of,
    strict_metrics,
)
from toolassay.benchmarks.workbench.tasks import Task, fingerprint
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.benchmarks.workbench.workplace_stages import load_workplace, tools_hash
from toolassay.data_folder import DataFolder
from toolassay.engines import Engine, OneProcess
from toolassay.evaluation.evaluation import FolderEvaluation, ScoringPlace, ScoringSettings, run_signature
from toolassay.evaluation.items import NAMED, ScoredItem
from toolassay.metrics.pass_k import NO_RUN, UNANSWERED, repeat_metrics, stability_metrics
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.outcomes import (
    MISSING,
    OUR_WORDINGS,
    WORDINGS,
    AskedCounts,
    RunOutcomes,
    is_scored,
)
from toolassay.runs.recorded_usage import usage
from toolassay.runs.work import chosen_items
from toolassay.screen import WARNING
from toolassay.text_formatting import count_of, some_of

RanTask = tuple[str, TaskResult] | None
"""The outcome and the result of a task in a trial; None if the task was not run, or is not scored."""
_SCORES = (
    *("correct", "no_side_effects", "exact_match"),
    *("wanted_changes_made", "made_changes_wanted", "compat_correct"),
)


def evaluate_agents(
    folder: DataFolder, scoring: ScoringSettings, own: WorkplaceScoring
) -> list[FolderEvaluation]:
    """Judge what agents called, as published and strictly; further trials of a model say how sure that is.

    Tasks that were never sent to the model, or that ended with a provider error, are left out of all metrics.

    Raises:
        UsageError: files missing or malformed, or predictions for other tasks.
    """
    screen, place = scoring.screen, ScoringPlace(folder.require(), scoring)
    names = place.models
    sandbox, tasks = load_workplace(folder.path, allow_tools=own.allow_tools, screen=screen)
    # A worker opens the workplace itself, and has another working directory.
    opened = partial(open_workplace, folder.path.absolute(), allow_tools=own.allow_tools)
    judging = JudgingTask(
        (lambda: sandbox) if scoring.engine is None else opened,
        MODES if sandbox.toolset is None else ("strict",),
        error_rules(folder.path, sandbox),
    )
    chosen = chosen_items(tasks, scoring.ids, scoring.limit, noun="task")
    is_whole = len(chosen) == len(tasks)
    data = {
        "sandbox": hashlib.sha256(sandbox.image()).hexdigest()[:12],
        **sandbox.edition.facts,
        **{name: code[:12] for name, code in tools_hash(folder.path).items()},
        "tasks": fingerprint(tasks)[:12],
        **({} if is_whole else {"chosen": fingerprint(chosen)[:12]}),
        **({WORDINGS: OUR_WORDINGS} if has_our_wordings(tasks) else {}),
    }
    evaluations = []
    for name in names:
        trials = place.trials(name)
        unknown: list[str] = []
        found = [read_predictions(trial.output, tasks, unknown=unknown) for trial in trials]
        if unknown:
            screen.say(
                f"{WARNING}{trials[0].output}: {count_of(len(unknown), 'prediction')} with an id that no task"
                f" has, not scored: {some_of(unknown, NAMED)}"
            )
        run = RunOutcomes(trials[0].run_folder, lambda journal, one: entry_of(journal, one).outcome)
        ended = [found[0][one.id][0] if one.id in found[0] else run.outcome(one) for one in chosen]
        scored = [task for task, outcome in zip(chosen, ended, strict=True) if is_scored(outcome)]
        runs = [
            [ran if (ran := one.get(task.id)) and is_scored(ran[0]) else None for task in scored]
            for one in found
        ]
        verdicts = _judged(judging, scored, runs, scoring.engine or OneProcess())
        toolkit = (recorded_settings(trials[0].run_folder) or {}).get("toolkit")
        metrics = {mode: _metrics(judged, runs, name, toolkit) for mode, judged in verdicts.items()}
        strict, compat = verdicts["strict"], verdicts.get("compat")
        if compat is not None:
            metrics["compat"]["compat_intervals"] = strict_metrics(compat[0])["intervals"]
        done = [sum(result is not None for result in of_trial) for of_trial in runs]
        used = usage(
            [trial.ledger for trial in trials],
            tasks=done,
            correct=[sum(verdict.correct for verdict in judged) for judged in strict],
            only=None if is_whole else {task.id for task in chosen},
        )
        if compat is None:
            used["notes"]["compat"] = "there are such verdicts of the published tables only"
        outcomes = Counter(ended)
        numbers = {
            "n": len(chosen),
            "outcomes": dict(outcomes),
            **used,
            **({"stability": _stability(strict, runs)} if len(runs) > 1 else {}),
            "compat": metrics.get("compat"),
            "strict": {
                **AskedCounts.of(outcomes).to_json(),
                **metrics["strict"],
                **strict_metrics(strict[0]),
                **({"dropped": {"unknown_ids": len(unknown)}} if unknown else {}),
            },
            **security_beside(place.predictions, name, screen),
        }
        items = _items(chosen, ended, strict[0], None if compat is None else compat[0])
        signature = run_signature("workbench", data, trials)
        evaluations.append(place.write(name, trials, items, numbers, signature, "task", done))
    return evaluations


_TASKS = 20  # per shard; fewer where there are few for each worker


def _judged(
    judging: JudgingTask, tasks: Sequence[Task], runs: Sequence[Sequence[RanTask]], engine: Engine
) -> dict[str, list[list[RunVerdict]]]:
    """The verdicts by mode and trial, in the order of the tasks."""
    rows = [
        (task, [ran[1] if ran else TaskResult(task.query, (), NOT_RUN) for ran in of_task])
        for task, *of_task in zip(tasks, *runs, strict=True)
    ]
    size = max(1, min(_TASKS, len(rows) // (4 * engine.workers)))
    shards = (rows[start : start + size] for start in range(0, len(rows), size))
    judged = list(chain.from_iterable(engine.map(judging, shards)))
    return {
        mode: [[of_task[place][trial] for of_task in judged] for trial in range(len(runs))]
        for place, mode in enumerate(judging.modes)
    }


def _metrics(
    judged: Sequence[Sequence[RunVerdict]],
    runs: Sequence[Sequence[RanTask]],
    llm: str,
    toolkit: str | None,
) -> dict[str, Any]:
    """The published metrics of the first trial, and with further ones pass@k and pass^k over all."""
    first = judged[0]
    metrics = {
        **metrics_of(first, llm, toolkit),
        "by_group": counts_by(first, lambda verdict: verdict.task.group),
    }
    if len(runs) > 1:
        by_task = zip(zip(*judged, strict=True), zip(*runs, strict=True), strict=True)
        metrics["repeats"] = repeat_metrics(
            [[one.correct for one, ran in zip(*of_task, strict=True) if ran] for of_task in by_task],
            clusters=[verdict.task.base_template for verdict in first],
            trials=len(runs),
        )
    return metrics


def _stability(judged: Sequence[Sequence[RunVerdict]], runs: Sequence[Sequence[RanTask]]) -> dict[str, Any]:
    """The stability over trials, by strict verdicts. An answer is the set of changes that a run left.

    Only runs with the outcome "answered" can agree with each other.
    """
    answers = [
        [
            NO_RUN if ran is None else _changes_left(verdict) if ran[0] == "answered" else UNANSWERED
            for verdict, ran in zip(*of_trial, strict=True)
        ]
        for of_trial in zip(judged, runs, strict=True)
    ]
    right = [[verdict.correct for verdict in verdicts] for verdicts in judged]
    return stability_metrics(answers, right, [verdict.task.base_template for verdict in judged[0]])


def _changes_left(verdict: RunVerdict) -> Hashable:
    """A key that is equal for runs of a task that made the same changes.

    Unwanted and missing changes determine the changes made, because the wanted ones are the same.
    """
    strict = verdict.strict
    assert strict is not None
    return tuple(frozenset(Counter(changes).items()) for changes in (strict.unwanted, strict.missing))


def _items(
    tasks: Sequence[Task],
    ended: Sequence[str],
    strict: Sequence[RunVerdict],
    compat: Sequence[RunVerdict] | None,
) -> Iterator[ScoredItem]:
    """One line per task; the verdicts are those on the scored tasks, in the same order.

    A missing task scores 0, but nothing was done that could do harm.
    """
    verdicts = zip(strict, repeat(None) if compat is None else compat, strict=False)
    for task, outcome in zip(tasks, ended, strict=True):
        scores = dict[str, float | None].fromkeys(_SCORES)
        if is_scored(outcome):
            verdict, published = next(verdicts)
            judged = verdict.strict
            assert judged is not None
            scores = {
                "correct": float(verdict.correct),
                "no_side_effects": None if outcome == MISSING else float(not verdict.side_effects),
                "exact_match": float(verdict.classes.exact_match),
                "wanted_changes_made": judged.wanted_made,
                "made_changes_wanted": judged.made_wanted,
                "compat_correct": float(published.correct) if published else None,
            }
        yield ScoredItem(task.id, task.base_template, outcome, scores, task.group, len(task.answer))
