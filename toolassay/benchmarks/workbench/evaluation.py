"""Evaluates WorkBench folders: recorded calls of agents -> metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from toolassay.benchmarks.security.probe_results import security_beside
from toolassay.benchmarks.workbench.agents.episode import entry_of, read_predictions
from toolassay.benchmarks.workbench.benchmark import WorkplaceScoring
from toolassay.benchmarks.workbench.generate.generated_tasks import has_our_wordings
from toolassay.benchmarks.workbench.judge.error_classes import NOT_RUN, error_rules
from toolassay.benchmarks.workbench.judge.result_verdicts import (
    MODES,
    JudgingTask,
    RunVerdict,
    TaskResult,
    counts_by,
    metrics_of,
    scored_run,
    scored_task,
    strict_metrics,
    unscored_run,
)
from toolassay.benchmarks.workbench.tasks import Task, fingerprint
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.benchmarks.workbench.workplace_stages import load_workplace, tools_hash
from toolassay.console.screen import WARNING
from toolassay.console.text_formatting import count_of, some_of
from toolassay.engines import Engine, OneProcess
from toolassay.evaluation.evaluation import FolderEvaluation, ScoringPlace, ScoringSettings, run_signature
from toolassay.evaluation.items import NAMED, ScoredItem
from toolassay.metrics.pass_k import NO_RUN, UNANSWERED, repeat_metrics, stability_metrics
from toolassay.records.data_folder import DataFolder
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
from toolassay.runs.trials import Trial
from toolassay.runs.work import chosen_items


class TaskRun(NamedTuple):
    """A task in one trial.

    Attributes:
        outcome: of the request.
        result: what the agent did; nothing if it was not run, or is not scored.
    """

    outcome: str
    result: TaskResult

    @property
    def has_run(self) -> bool:
        """Whether the agent was asked, and the run is scored."""
        return is_scored(self.outcome) and self.outcome != MISSING


class JudgedTask(NamedTuple):
    """A task that some trial scores, with what its runs did and the verdicts on them, by trial.

    Attributes:
        task: the task.
        runs: its runs.
        strict: the strict verdicts.
        compat: the published ones; None each for a user-defined workplace.
    """

    task: Task
    runs: Sequence[TaskRun]
    strict: Sequence[RunVerdict]
    compat: Sequence[RunVerdict | None]

    def item(self, trials: Sequence[Trial]) -> ScoredItem:
        """Its line in the file of items."""
        by_trial = zip(trials, self.runs, self.strict, self.compat, strict=True)
        return scored_task(
            self.task,
            [
                scored_run(trial.number, run.outcome, strict, compat)
                for trial, run, strict, compat in by_trial
            ],
        )


def evaluate_agents(
    folder: DataFolder, scoring: ScoringSettings, own: WorkplaceScoring
) -> list[FolderEvaluation]:
    """Judge what agents called, as published and strictly; further trials of a model say how sure that is.

    Tasks that were never sent to the model, or that ended with a provider error, are left out of all metrics.

    Raises:
        UsageError: files missing or malformed, or predictions for other tasks.
    """
    screen = scoring.screen
    scoring_place = ScoringPlace(folder.require(), scoring)
    names = scoring_place.models
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
        "sandbox": sandbox.sha256[:12],
        **sandbox.edition.facts,
        **{name: code[:12] for name, code in tools_hash(folder.path).items()},
        "tasks": fingerprint(tasks)[:12],
        **({} if is_whole else {"chosen": fingerprint(chosen)[:12]}),
        **({WORDINGS: OUR_WORDINGS} if has_our_wordings(tasks) else {}),
    }
    evaluations = []
    for name in names:
        trials = scoring_place.trials(name)
        unknown: list[str] = []
        of_trials = [_runs_of(trial, chosen, tasks, unknown) for trial in trials]
        if unknown:
            screen.say(
                f"{WARNING}{trials[0].output}: {count_of(len(unknown), 'prediction')} with an id that no task"
                f" has, not scored: {some_of(unknown, NAMED)}"
            )
        by_task = zip(chosen, *of_trials, strict=True)
        judged = _judged(judging, by_task, scoring.engine or OneProcess())
        items = [
            judged[task.id].item(trials)
            if task.id in judged
            else scored_task(task, [unscored_run(of_task[0].outcome)])
            for task, *of_task in zip(chosen, *of_trials, strict=True)
        ]
        verdicts = _verdict_numbers(name, trials, list(judged.values()), items, judging.modes)
        done = [sum(run.has_run for run in of_trial) for of_trial in of_trials]
        only = None if is_whole else {task.id for task in chosen}
        right = [sum(task.strict[at].correct for task in judged.values()) for at in range(len(trials))]
        used = usage([trial.ledger for trial in trials], tasks=done, correct=right, only=only)
        if verdicts["compat"] is None:
            used["notes"]["compat"] = "there are such verdicts of the published tables only"
        if unknown:
            verdicts["strict"]["dropped"] = {"unknown_ids": len(unknown)}
        numbers = {
            "n": len(chosen),
            "outcomes": dict(Counter(item.outcome for item in items)),
            **used,
            **verdicts,
            **security_beside(scoring_place.predictions, name, screen),
        }
        signature = run_signature("workbench", data, trials)
        evaluations.append(scoring_place.write(name, trials, items, numbers, signature, "task", done))
    return evaluations


def _verdict_numbers(
    llm: str,
    trials: Sequence[Trial],
    judged: Sequence[JudgedTask],
    items: Sequence[ScoredItem],
    modes: Sequence[str],
) -> dict[str, Any]:
    """The metrics of a model's verdicts: stability, compat, strict.

    Args:
        llm: The model.
        trials: Its trials.
        judged: The tasks that some trial scores.
        items: All chosen tasks, as the file of items has them.
        modes: The ways of judging; without "compat", its metrics are None.
    """
    toolkit = (recorded_settings(trials[0].run_folder) or {}).get("toolkit")
    first = [task for task in judged if is_scored(task.runs[0].outcome)]
    strict = _metrics([task.strict[0] for task in first], llm, toolkit)
    compat: dict[str, Any] | None = None
    if "compat" in modes:
        published = [verdict for task in first if (verdict := task.compat[0])]
        alone = [scored_task(verdict.task, [scored_run(0, "answered", verdict)]) for verdict in published]
        compat = _metrics(published, llm, toolkit)
        compat["compat_intervals"] = strict_metrics(alone)["intervals"]
    stability: dict[str, Any] = {}
    if len(trials) > 1:
        stability["stability"] = _stability(judged)
        strict["repeats"] = _repeats(judged, [task.strict for task in judged])
        if compat is not None:
            compat["repeats"] = _repeats(judged, [task.compat for task in judged])
    return {
        **stability,
        "compat": compat,
        "strict": {
            **AskedCounts.of(Counter(item.outcome for item in items)).to_json(),
            **strict,
            **strict_metrics(items),
            "intervals_by_group": _by_group(items),
        },
    }


_TASKS = 20  # per shard; fewer where there are few for each worker


def _runs_of(
    trial: Trial, chosen: Sequence[Task], tasks: Sequence[Task], unknown: list[str]
) -> list[TaskRun]:
    """The chosen tasks in a trial; `unknown` receives the ids that no task has."""
    predictions = read_predictions(trial.output, tasks, unknown=unknown)
    others = RunOutcomes(trial.run_folder, lambda journal, task: entry_of(journal, task).outcome)
    runs = []
    for task in chosen:
        outcome, result = predictions.get(task.id) or (others.outcome(task), None)
        if result is None or not is_scored(outcome):
            result = TaskResult(task.query, (), NOT_RUN)
        runs.append(TaskRun(outcome, result))
    return runs


def _judged(
    judging: JudgingTask, runs: Iterable[tuple[Task, *tuple[TaskRun, ...]]], engine: Engine
) -> dict[str, JudgedTask]:
    """The tasks that some trial scores, by id, in the given order."""
    scored = [(task, of_task) for task, *of_task in runs if any(is_scored(run.outcome) for run in of_task)]
    rows = [(task, [run.result for run in of_task]) for task, of_task in scored]
    size = max(1, min(_TASKS, len(rows) // (4 * engine.workers)))
    shards = (rows[start : start + size] for start in range(0, len(rows), size))
    verdicts = chain.from_iterable(engine.map(judging, shards))
    judged_tasks = {}
    for (task, of_task), by_mode in zip(scored, verdicts, strict=True):
        modes = dict(zip(judging.modes, by_mode, strict=True))
        compat: Sequence[RunVerdict | None] = modes.get("compat") or [None] * len(of_task)
        judged_tasks[task.id] = JudgedTask(task, of_task, modes["strict"], compat)
    return judged_tasks


def _metrics(verdicts: Sequence[RunVerdict], llm: str, toolkit: str | None) -> dict[str, Any]:
    """The published metrics of one trial."""
    by_group = counts_by(verdicts, lambda verdict: verdict.task.group)
    return {**metrics_of(verdicts, llm, toolkit), "by_group": by_group}


def _by_group(items: Sequence[ScoredItem]) -> dict[str, Any]:
    """The strict accuracy and side effects of each group of tasks that has scored ones, over all trials."""
    groups: dict[str, list[ScoredItem]] = {}
    for item in items:
        if item.trials:
            groups.setdefault(item.type, []).append(item)
    return {
        name: {"n": len(group_items), **strict_metrics(group_items)["intervals"]}
        for name, group_items in groups.items()
    }


def _repeats(tasks: Sequence[JudgedTask], verdicts: Sequence[Sequence[RunVerdict | None]]) -> dict[str, Any]:
    """pass@k and pass^k over the requested runs of the agent."""
    right = [
        [verdict.correct for run, verdict in zip(task.runs, own, strict=True) if verdict and run.has_run]
        for task, own in zip(tasks, verdicts, strict=True)
    ]
    trials = max((len(task.runs) for task in tasks), default=0)
    return repeat_metrics(right, clusters=[task.task.base_template for task in tasks], trials=trials)


def _stability(tasks: Sequence[JudgedTask]) -> dict[str, Any]:
    """The stability over trials, by strict verdicts. An answer is the set of changes that a run left.

    Only runs with the outcome "answered" can agree with each other.
    """

    def answer(run: TaskRun, verdict: RunVerdict) -> Hashable:
        if not run.has_run:
            return NO_RUN
        return _changes_left(verdict) if run.outcome == "answered" else UNANSWERED

    by_task = [list(map(answer, task.runs, task.strict)) for task in tasks]
    right = [[verdict.correct for verdict in task.strict] for task in tasks]
    return stability_metrics(
        list(zip(*by_task, strict=True)),
        list(zip(*right, strict=True)),
        [task.task.base_template for task in tasks],
    )


def _changes_left(verdict: RunVerdict) -> Hashable:
    """A key that is equal for runs of a task that made the same changes.

    Unwanted and missing changes determine the changes made, because the wanted ones are the same.
    """
    strict = verdict.strict
    assert strict is not None
    return tuple(frozenset(Counter(changes).items()) for changes in (strict.unwanted, strict.missing))
