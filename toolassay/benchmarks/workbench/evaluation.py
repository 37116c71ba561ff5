"""Evaluates WorkBench folders: recorded calls of agents -> metrics."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from toolassay.benchmarks.security.probe_results import security_beside
from toolassay.benchmarks.workbench.agents.episode import entry_of, read_predictions
from toolassay.benchmarks.workbench.benchmark import WorkplaceScoring
from toolassay.benchmarks.workbench.generate.generated_tasks import has_our_wordings
from toolassay.benchmarks.workbench.judge.error_classes import NOT_RUN, error_rules
from toolassay.benchmarks.workbench.judge.evaluation import (
    MODES,
    JudgedTask,
    JudgingTask,
    ResultFile,
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
from toolassay.evaluation.items import ScoredItem
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
from toolassay.text_formatting import count_of


def agent_stability(
    judged: Sequence[Sequence[RunVerdict]], outcomes: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """The stability over trials. An answer is the set of changes that a run left.

    Args:
        judged: for each trial, the strict verdict on every task.
        outcomes: for each trial, the outcome of every task that was run, by task id. Only runs with the
            outcome "answered" can agree with each other.

    Returns:
        The result of `stability_metrics`.
    """
    answers = [
        [
            NO_RUN if outcome is None else _changes_left(verdict) if outcome == "answered" else UNANSWERED
            for verdict in verdicts
            for outcome in [ended.get(verdict.task.id)]
        ]
        for verdicts, ended in zip(judged, outcomes, strict=True)
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


Found = Mapping[str, tuple[str, TaskResult]]
"""The outcome and the result of each task of one run, by task id."""


_SCORES = (
    *("correct", "no_side_effects", "exact_match"),
    *("wanted_changes_made", "made_changes_wanted", "compat_correct"),
)
OVERALL = "overall_overall"
"""The name of the only group in the metrics file; `toolassay compare` looks it up."""


@dataclass(frozen=True)
class AgentScores:
    """The scores of one model.

    Attributes:
        n: number of tasks, of the folder or of the selection.
        outcomes: number of tasks by outcome; "missing" tasks have no prediction and count as wrong.
        asked: counts of the outcomes.
        compat: the published metrics by compat verdicts; None for a user-defined workplace.
        strict: the same metrics by strict verdicts, with intervals.
        tasks_done: for trial 0 and each further trial, the number of tasks with a prediction.
        tasks_correct: likewise, the number of strictly correct tasks.
        stability: with several trials, how stable the changes are and whether they are right, by strict
            verdicts.
    """

    n: int
    outcomes: Mapping[str, int]
    asked: AskedCounts
    compat: Mapping[str, Any] | None
    strict: Mapping[str, Any]
    tasks_done: Sequence[int]
    tasks_correct: Sequence[int]
    stability: Mapping[str, Any] | None = None


def score_agents(
    judging: JudgingTask,
    tasks: Iterable[Task],
    found: Found,
    *,
    toolkit: str | None = None,
    trials: Sequence[Found] = (),
    ended: Callable[[Task], str] = lambda task: MISSING,
    engine: Engine | None = None,
) -> tuple[AgentScores, Iterator[ScoredItem]]:
    """Score the predictions of one model.

    Tasks that were never sent to the model, or that ended with a provider error, are left out of all metrics.

    Args:
        judging: who judges, in strict mode and perhaps in compat; its `file` is the model.
        tasks: all tasks to score.
        found: the outcome and the result of each task, by task id.
        toolkit: which tools it had (`all` or `domains`), if known.
        trials: the further trials, in the form of `found`. With them, both modes get `repeats` over all
            trials.
        ended: the outcome of a task without a result in `found`. A "missing" task counts as wrong.
        engine: where the tasks are judged; None for this process.

    Returns:
        The scores, and one line per task in the form that `toolassay compare` reads. Lines are made when they
        are asked for: those of a million tasks fill a gigabyte.
    """
    labelled = list(tasks)
    outcome_of = {task.id: found[task.id][0] if task.id in found else ended(task) for task in labelled}
    tasks = [task for task in labelled if is_scored(outcome_of[task.id])]
    scored = {task.id for task in tasks}
    every = [
        {name: run for name, run in one.items() if name in scored and is_scored(run[0])}
        for one in (found, *trials)
    ]
    verdicts = _judged(judging, tasks, every, engine or OneProcess())
    llm = judging.file
    file = ResultFile(Path(llm), llm)

    def repeats(judged: Sequence[Sequence[RunVerdict]]) -> dict[str, Any]:
        """pass@k and pass^k. A trial without a prediction for a task is not counted for that task."""
        outcomes = [
            [verdicts[row].correct for verdicts, one in zip(judged, every, strict=True) if task.id in one]
            for row, task in enumerate(tasks)
        ]
        return repeat_metrics(outcomes, clusters=[task.base_template for task in tasks], trials=len(every))

    metrics = {
        mode: {
            **metrics_of(file, judged[0]),
            "model": llm,
            "tool_selection": toolkit,
            "by_group": counts_by(judged[0], lambda verdict: verdict.task.group),
            **({"repeats": repeats(judged)} if trials else {}),
        }
        for mode, judged in verdicts.items()
    }
    strict, compat = verdicts["strict"], verdicts.get("compat")
    metrics["strict"] |= strict_metrics(strict[0])
    if compat is not None:
        metrics["compat"]["compat_intervals"] = strict_metrics(compat[0])["intervals"]
    outcomes = Counter(outcome_of.values())
    scores = AgentScores(
        len(labelled),
        dict(outcomes),
        AskedCounts.of(outcomes),
        metrics.get("compat"),
        metrics["strict"],
        tasks_done=[len(one) for one in every],
        tasks_correct=[sum(v.correct for v in judged) for judged in strict],
        stability=agent_stability(
            strict, [{name: outcome for name, (outcome, _) in one.items()} for one in every]
        )
        if trials
        else None,
    )
    return scores, _items(labelled, outcome_of, strict[0], None if compat is None else compat[0])


def _items(
    labelled: Iterable[Task],
    outcome_of: Mapping[str, str],
    strict: Iterable[RunVerdict],
    compat: Iterable[RunVerdict] | None,
) -> Iterator[ScoredItem]:
    """One line per task; the verdicts are those on the scored tasks, in the same order.

    A missing task scores 0, but nothing was done that could do harm.
    """
    verdicts = zip(strict, repeat(None) if compat is None else compat, strict=False)
    for task in labelled:
        outcome, scores = outcome_of[task.id], dict[str, float | None].fromkeys(_SCORES)
        if is_scored(outcome):
            verdict, published = next(verdicts)
            judged, ran = verdict.strict, outcome != MISSING
            assert judged is not None
            scores = {
                "correct": float(verdict.correct),
                "no_side_effects": float(not verdict.side_effects) if ran else None,
                "exact_match": float(ran and verdict.classes.exact_match),
                "wanted_changes_made": judged.wanted_made,
                "made_changes_wanted": judged.made_wanted,
                "compat_correct": float(published.correct) if published else None,
            }
        yield ScoredItem(task.id, task.base_template, outcome, scores, task.group, len(task.answer))


_TASKS = 20  # per shard; fewer where there are few for each worker


def _judged(
    judging: JudgingTask, tasks: Sequence[Task], every: Sequence[Found], engine: Engine
) -> dict[str, list[list[RunVerdict]]]:
    """The verdicts by mode and trial, in the order of the tasks."""
    runs = [
        [one.get(task.id, (MISSING, TaskResult(task.query, (), NOT_RUN))) for one in every] for task in tasks
    ]
    rows = [
        JudgedTask(row, task, tuple(result for _, result in found))
        for row, (task, found) in enumerate(zip(tasks, runs, strict=True))
    ]
    size = max(1, min(_TASKS, len(rows) // (4 * engine.workers)))
    shards = (rows[start : start + size] for start in range(0, len(rows), size))
    verdicts: dict[str, list[list[RunVerdict]]] = {mode: [[] for _ in every] for mode in judging.modes}
    judged = chain.from_iterable(engine.map(judging, shards))
    for found, by_mode in zip(runs, judged, strict=True):
        for mode, by_trial in zip(judging.modes, by_mode, strict=True):
            for of_trial, (outcome, _), verdict in zip(verdicts[mode], found, by_trial, strict=True):
                if outcome == MISSING:  # never an exact match, even if the task wants no call
                    verdict = replace(verdict, classes=replace(verdict.classes, exact_match=False))
                of_trial.append(verdict)
    return verdicts


_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class AgentEvaluation(FolderEvaluation):
    """The scores of one model of WorkBench, and the files they are in.

    Attributes:
        scores: of its first run; with further trials, also how sure a success is.
    """

    scores: AgentScores

    @property
    def runs_done(self) -> Sequence[int]:
        """Number of tasks of each trial."""
        return self.scores.tasks_done


def evaluate_agents(
    folder: DataFolder, scoring: ScoringSettings, own: WorkplaceScoring
) -> list[AgentEvaluation]:
    """Judge what agents called, as published and strictly; further trials of a model say how sure that is.

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
        "",
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
        first, *further = (read_predictions(trial.output, tasks, unknown=unknown) for trial in trials)
        if unknown:
            more = ", …" if len(unknown) > _NAMED else ""
            screen.say(
                f"{WARNING}{trials[0].output}: {count_of(len(unknown), 'prediction')} with an id that no task"
                f" has, not scored: {', '.join(unknown[:_NAMED])}{more}"
            )
        scores, items = score_agents(
            replace(judging, file=name),
            chosen,
            first,
            toolkit=(recorded_settings(trials[0].run_folder) or {}).get("toolkit"),
            trials=further,
            ended=RunOutcomes(
                trials[0].run_folder, lambda journal, one: entry_of(journal, one).outcome
            ).outcome,
            engine=scoring.engine,
        )
        used = usage(
            [trial.ledger for trial in trials],
            tasks=scores.tasks_done,
            correct=scores.tasks_correct,
            only=None if is_whole else {task.id for task in chosen},
        )
        if scores.compat is None:
            used["notes"]["compat"] = "there are such verdicts of the published tables only"
        numbers = {
            "n": scores.n,
            "outcomes": scores.outcomes,
            **used,
            **({"stability": scores.stability} if scores.stability else {}),
            "compat": scores.compat,
            "strict": {
                **scores.asked.to_json(),
                **scores.strict,
                **({"dropped": {"unknown_ids": len(unknown)}} if unknown else {}),
            },
            **security_beside(place.predictions, name, screen),
        }
        signature = run_signature("workbench", data, trials)
        evaluation, path = place.write(name, trials, items, numbers, signature, "task")
        evaluations.append(AgentEvaluation(name, evaluation, path, scores=scores, **used))
    return evaluations
