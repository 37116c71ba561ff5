"""The execute stage: gold or predicted plans -> what their calls returned and changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import EXECUTOR_OPTIONS, benchmark_executors, benchmark_of
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result, Table
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.items import items_path, read_items
from toolassay.evaluation.metrics_file import signature_text
from toolassay.evaluation.places import metrics_folder, prediction_file, recorded_model
from toolassay.executors import executor_named
from toolassay.executors.executor import CallLimits, ExecutionContext, Executor, OpenExecutor
from toolassay.executors.outcome import OutcomeLine, OutcomeSummary, OutcomeVerdict, judge
from toolassay.executors.plan_run import (
    ExecutionWork,
    PlannedItem,
    PlanSet,
    RunRules,
    compared_execution,
    recorded_execution,
    run_plans,
)
from toolassay.files.data_files import sha256_of, write_json, write_json_lines
from toolassay.metrics.pass_k import NO_RUN, stability_metrics
from toolassay.plans.execution_record import FILE, RUN, SIMULATOR, Execution, read_executions
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import RequestId
from toolassay.runs.event_loop import interruptible, run_coroutine
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL, changes, open_run, recorded_settings
from toolassay.runs.runner import Loop
from toolassay.runs.trials import Trial, fingerprint, same_settings, trials_of
from toolassay.stages.settings import ExecutionSettings
from toolassay.version import __version__

# Rows of the table of reasons; rarer ones are in the files of the executions.
_MOST_REASONS = 6
_CONFLICT_FIX = "use the settings it began with, or --force (keeps the earlier executions under a dated name)"
_MOST_NAMED = 5  # requests in a line of the screen


@dataclass(frozen=True, repr=False)
class Executed(Result):
    """The result of an execution.

    Attributes:
        path: File of the executions.
        counts: Number of plans by outcome.
        complete: Whether every plan has an outcome that is not the environment's fault.
        outcome: Verdicts on predictions; None for gold.
    """

    path: Path
    counts: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True
    outcome: OutcomeSummary | None = None


def execute(
    data_dir: str | Path,
    *,
    executor: str,
    options: Annotated[Any, EXECUTOR_OPTIONS] = None,
    settings: ExecutionSettings = ExecutionSettings(),
    predictions: str | None = None,
    prediction_dir: str | Path = "predictions",
    screen: Screen = DEFAULT,
) -> Executed:
    """Execute the gold plans of a folder, or a model's predictions, and record what happened.

    Plans whose end is recorded are not executed again. Those without a result through no fault of their own
    are tried again by the next start.

    Args:
        data_dir: Data folder.
        executor: Name of the executor: "mcp", "python", "simulate", or one that a benchmark or an installed
            package brings.
        options: Options object of the executor; None for the defaults.
        settings: Further options.
        predictions: Name of a model: execute its predictions and judge them by their outcome.
        prediction_dir: Folder of the predictions.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: The executor cannot be used as given, a file is missing or malformed, or the settings
            differ from those of earlier executions.
    """
    chosen = executor_named(executor, benchmark_executors())
    own = options if options is not None else chosen.options()
    folder = DataFolder(Path(data_dir)).require()
    benchmark = benchmark_of(folder)
    file: Path | None = None
    if predictions is None:
        targets = [_gold_target(folder, benchmark, settings, screen)]
    else:
        file = prediction_file(folder.path, Path(prediction_dir), predictions)
        targets = _predicted_targets(folder, benchmark, file, screen)
    gold = None if file is None else _gold(folder)
    limits = CallLimits(settings.max_seconds, settings.max_result, settings.max_memory * 2**20)
    context = ExecutionContext(folder, targets[0].plans.library, limits, settings.allow_tools, settings.seed)
    rules = RunRules(
        settings.allow_writes or chosen.is_harmless,
        settings.twice and gold is None,
        settings.wrong_calls if gold is None else 0.0,
        settings.ignore,
        settings.seed,
    )
    items = []
    for target in targets:
        judged = (item for item in target.plans.items() if gold is None or item.id in gold)
        items.append(list(islice(judged, settings.limit)))

    async def carry_out() -> tuple[str | None, int]:
        """Why it stopped early, if it did, and the number of plans that state of others may have affected."""
        stop = None
        affected = 0
        total = sum(map(len, items)) * rules.passes
        async with chosen.open(context, own) as opened:
            with screen.progress("executing plans", total) as advance:
                for target, chosen_items in zip(targets, items, strict=True):
                    _open_run(folder, target.run_folder, chosen, opened, settings, screen)
                    work = ExecutionWork(opened, chosen.name, target.plans.library, rules)
                    loop = Loop(settings.workers, advance, screen.interrupted)
                    with Journal(target.run_folder / JOURNAL) as journal:
                        try:
                            await run_plans(work, chosen_items, journal, loop)
                        finally:  # also after an interrupt: what was done is there to see
                            _write_executions(target.path, journal, chosen_items)
                    stop = stop or loop.summary.stop
                    affected = affected + len(work.affected)
                    if stop:
                        break
        return stop, affected

    stop, affected = run_coroutine(interruptible(carry_out()))
    if stop:
        screen.say(f"{WARNING}stopped: {stop}. The same command goes on")
    if affected:
        screen.say(
            f"{WARNING}{count_of(affected, 'plan')} ran on a server with state of earlier plans: "
            "results depend on the order. --fresh plan starts a new server for each plan"
        )
    executed = [target for target in targets if target.path.is_file()]
    counts = sum((_report(target.path, screen) for target in executed), Counter[str]())
    outcome = None
    if gold is not None and file is not None:
        metrics = metrics_folder(folder.path, file.parent) / file.name
        executions = {target.trial: list(read_executions(target.path)) for target in executed}
        outcome = _judged(folder, gold, executions, file, metrics, chosen.name, screen)
    return Executed(targets[0].path, counts, not stop and not counts["provider_error"], outcome)


class _Target(NamedTuple):
    """Plans that are executed together: those of the gold, or of one trial of a model.

    Attributes:
        plans: The plans.
        run_folder: Folder of journal and manifest.
        path: File of the executions.
        trial: Number of the trial.
    """

    plans: PlanSet
    run_folder: Path
    path: Path
    trial: int = 0


def _gold_target(
    folder: DataFolder, benchmark: Benchmark, settings: ExecutionSettings, screen: Screen
) -> _Target:
    """The gold plans of a folder.

    Raises:
        UsageError: It has none, or a file is missing or malformed.
    """
    if benchmark.items.gold_plans is None:
        title = benchmark.about.title
        raise UsageError(f"{title} has no plans to execute", file=folder.path, fix="use another folder")
    plans = benchmark.items.gold_plans(folder, settings.allow_tools, screen.say)
    return _Target(plans, folder.path / RUN, folder.path / FILE)


def _predicted_targets(folder: DataFolder, benchmark: Benchmark, file: Path, screen: Screen) -> list[_Target]:
    """The plans in a prediction file, by trial.

    Raises:
        UsageError: They are not executed with this command, or a file is missing or malformed.
    """
    if benchmark.items.predicted_plans is None:
        raise UsageError(
            f"{benchmark.about.title} judges predictions without this command",
            file=file,
            fix=f"use {as_called('evaluate')}",
        )
    if (own_calls := _own_calls(file)) and own_calls != SIMULATOR:
        fix = f"use {as_called('evaluate')}, which judges what they did"
        raise UsageError(f"the run itself made its calls ({own_calls})", file=file, fix=fix)
    targets = []
    for trial in _trials_of(file):
        plans = benchmark.items.predicted_plans(folder, trial.output, screen.say)
        targets.append(_Target(plans, trial.run_folder / RUN, _executions(trial), trial.number))
    return targets


def _write_executions(path: Path, journal: Journal, items: Sequence[PlannedItem]) -> None:
    """Write what the journal has of the plans."""
    recorded = (recorded_execution(journal, item) for item in items)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json_lines(
        path, (msgspec.to_builtins(execution) for execution in recorded if execution is not None)
    )


def _trials_of(predictions: Path) -> list[Trial]:
    """The trials of a prediction file with the settings of the first one."""
    model = recorded_model(predictions.parent, predictions.stem)
    return same_settings(trials_of(predictions.parent, model))[0]


def _executions(trial: Trial) -> Path:
    """The file of what a trial's calls did."""
    return trial.folder / "executions" / f"{trial.output.stem}.jsonl"


def _own_calls(predictions: Path) -> str:
    """The executor with which a run made the calls of its predictions itself; empty for plans."""
    settings = recorded_settings(predictions.parent / "runs" / predictions.stem) or {}
    return str(settings.get("executor", ""))


def judge_agent(
    folder: DataFolder, predictions: Path, metrics: Path, screen: Screen
) -> OutcomeSummary | None:
    """Judge an agent by what its calls did, in all trials; None if it made none, or gold was not executed so.

    Args:
        folder: Data folder, with the executions of its gold plans.
        predictions: Prediction file of the agent; `executions/` beside it has what its calls did.
        metrics: Metrics file of these predictions.
        screen: Receives the verdicts, or why there are none.
    """
    executor = _own_calls(predictions)
    trials = _trials_of(predictions)
    if not executor or not _executions(trials[0]).is_file():
        return None
    by_trial = {
        trial.number: list(read_executions(file))
        for trial in trials
        if (file := _executions(trial)).is_file()
    }
    # Otherwise its plans were executed later.
    if {execution.executor for execution in by_trial[trials[0].number]} != {executor}:
        return None
    gold = _gold(folder) if (folder.path / FILE).exists() else {}
    start = {execution.state_before.digest for execution in gold.values() if execution.state_before}
    begun = {
        execution.state_before.digest
        for every in by_trial.values()
        for execution in every
        if execution.state_before
    }
    ignore = (recorded_settings(folder.path / RUN) or {}).get("ignore", [])
    problem = ""
    is_like_gold = {execution.executor for execution in gold.values()} == {executor}
    if executor == SIMULATOR and not is_like_gold:
        return None
    if not is_like_gold:
        problem = (
            f"no gold plan was executed with '{executor}': run {as_called('execute')}, then evaluate again"
        )
    elif len(start) == 1 and not ignore and begun - start:
        problem = "the gold plans were executed on another workspace: execute them on that of the agent"
    if problem:
        screen.say(f"{WARNING}{predictions.stem}: its outcome is not judged; {problem}")
        return None
    judged = {
        number: [compared_execution(execution, ignore) for execution in every if execution.id in gold]
        for number, every in by_trial.items()
    }
    return _judged(folder, gold, judged, predictions, metrics, executor, screen)


def _gold(folder: DataFolder) -> dict[Any, Execution]:
    """The executions of gold plans that ran."""
    path = folder.path / FILE
    if not path.exists():
        raise UsageError(
            "predictions are judged against executed gold plans, and there are none",
            file=path,
            fix="first run the same command without --predictions",
        )
    return {execution.id: execution for execution in read_executions(path) if execution.outcome == "ran"}


def _open_run(
    folder: DataFolder,
    run_folder: Path,
    executor: Executor,
    opened: OpenExecutor,
    rules: ExecutionSettings,
    screen: Screen,
) -> None:
    """Create or continue a run in `run_folder`.

    Raises:
        UsageError: The settings differ from those of earlier executions, or from those of the gold plans.
    """
    identity = {
        "executor": executor.name,
        "journal_format": 2,
        **opened.identity,
        "ignore": list(rules.ignore),
        "allow_writes": rules.allow_writes,
    }
    settings = json.loads(json.dumps(identity))
    gold = folder.path / RUN
    if run_folder != gold:
        before = recorded_settings(gold) or {}
        if changed := changes({**before, "allow_writes": rules.allow_writes}, settings):
            raise UsageError(
                f"the gold plans were executed with other settings ({'; '.join(changed)})",
                file=gold,
                fix="use the same options, or execute the gold plans again",
            )
    kept = open_run(run_folder, settings, force=rules.force, conflict_fix=_CONFLICT_FIX)
    if kept is not None:
        screen.say(f"kept the earlier executions in {kept}")


def _report(path: Path, screen: Screen) -> Counter[str]:
    """Show how the plans ended; returns their number by outcome."""
    counts = Counter[str](execution.outcome for execution in read_executions(path))
    text = ", ".join(f"{counts[name]:,} {name.replace('_', ' ')}" for name in counts) or "nothing"
    screen.show(f"{path}: {count_of(counts.total(), 'plan')}: {text}")
    reasons = Counter(
        f"{execution.outcome}: {_kind(execution)}" for execution in read_executions(path) if execution.reason
    )
    if reasons:
        table = Table(("plans", "reason"), [(f"{n:,}", why) for why, n in reasons.most_common(_MOST_REASONS)])
        screen.table(table.markdown())
    if counts.get("not_allowed"):
        screen.say(f"{WARNING}--allow_writes permits tools that are not marked read-only")
    if counts.get("provider_error"):
        screen.say(
            f"{WARNING}{counts['provider_error']:,} without a result: the same command tries them again"
        )
    return counts


def _kind(execution: Execution) -> str:
    """The reason without what differs from plan to plan: the tool, and the first words of the message."""
    last = execution.calls[-1] if execution.calls and execution.calls[-1].error else None
    if last is not None:
        return f"{last.tool}: {(last.error or '')[:60]}"
    return execution.reason[:80]


def _judged(
    folder: DataFolder,
    gold: Mapping[Any, Execution],
    trials: Mapping[int, Sequence[Execution]],
    predictions: Path,
    metrics: Path,
    executor: str,
    screen: Screen,
) -> OutcomeSummary:
    """Judge executed predictions, write the verdicts and show them beside those on the plans."""
    benchmark = benchmark_of(folder)
    target = metrics.parent / "outcomes" / metrics.name
    made_from = {name: value for name, (_, value) in benchmark.data.made_from(folder).items()}
    made_from |= {
        "predictions": benchmark.scores.fingerprint(predictions),
        "gold": sha256_of(folder.path / FILE),
    }
    parts = {"executor": executor, **{name: value[:12] for name, value in made_from.items()}}
    parts["trials"] = fingerprint([trial.output for trial in _trials_of(predictions)])
    verdicts: dict[RequestId, dict[int, OutcomeVerdict]] = {}
    lines: list[OutcomeLine] = []
    by_id = {number: {execution.id: execution for execution in every} for number, every in trials.items()}
    for name in gold:
        runs = {
            number: (executions[name], verdict)
            for number, executions in by_id.items()
            if name in executions and (verdict := judge(gold[name], executions[name])) is not None
        }
        if runs:
            verdicts[name] = {number: verdict for number, (_, verdict) in runs.items()}
            lines.append(OutcomeLine.of(name, runs))
    stability = (
        {"stability": _stability(list(gold), verdicts, list(trials), metrics)} if len(trials) > 1 else {}
    )
    summary = OutcomeSummary.of((list(runs.values()) for runs in verdicts.values()), len(gold))
    counts = {"n": str(summary.judged), "of": str(summary.requests)}
    signature = f"outcome|{signature_text({'toolassay': __version__, **parts, **counts})}"
    unjudged = [name for name in gold if name not in verdicts]
    write_json(
        target, {"signature": signature, **msgspec.to_builtins(summary), "unjudged": unjudged, **stability}
    )
    write_json_lines(items_path(target), map(msgspec.to_builtins, lines))
    screen.table(_outcome_table(summary).markdown())
    screen.show(f"{target} ({signature})")
    if summary.judged < summary.requests:
        left = summary.requests - summary.judged
        screen.say(
            f"{WARNING}{left:,} of {summary.requests:,} requests are not judged: no prediction or no result"
        )
    for text in _disagreements(_plan_verdicts(items_path(metrics)), verdicts):
        screen.show(text)
    return summary


def _stability(
    ids: Sequence[RequestId],
    verdicts: Mapping[RequestId, Mapping[int, OutcomeVerdict]],
    trials: Sequence[int],
    metrics: Path,
) -> dict[str, Any]:
    """How often the outcome of each request is right over the trials; an answer is its verdict."""
    answers = [
        [int(runs[trial].correct) if trial in (runs := verdicts.get(name, {})) else NO_RUN for name in ids]
        for trial in trials
    ]
    right = [[answer == 1 for answer in row] for row in answers]
    items = items_path(metrics)
    clusters = {item.id: item.cluster for item in read_items(items)} if items.is_file() else {}
    return stability_metrics(answers, right, [clusters.get(str(name), str(name)) for name in ids])


def _outcome_table(summary: OutcomeSummary) -> Table:
    def share(count: float | None) -> str:
        if count is None:
            return ""
        return f"{count / summary.judged:.1%}" if summary.judged else "-"

    return Table(
        ("judged", "outcome right", "ran", "answer right", "state right", "unwanted changes"),
        [
            (
                f"{summary.judged:,}",
                *map(share, (summary.correct, summary.ran, summary.answer, summary.state)),
                share(None if summary.state is None else summary.unwanted),
            )
        ],
    )


def _plan_verdicts(path: Path) -> dict[tuple[str, int], bool]:
    """Whether the plan of each run is that of the gold, by id and trial; nothing before `evaluate`."""
    if not path.exists():
        return {}
    return {
        (item.id, run.trial): score == 1
        for item in read_items(path)
        for run in item.trials or ()
        if (score := run.scores.get("exact_match")) is not None
    }


def _disagreements(
    plans: Mapping[tuple[str, int], bool], verdicts: Mapping[RequestId, Mapping[int, OutcomeVerdict]]
) -> Iterator[str]:
    """How verdicts on plans and on outcomes differ, with some requests."""
    if not plans:
        yield f"for the verdicts on the plans beside these, run {as_called('evaluate')} first"
        return
    both = [
        (name, plans[str(name), number], verdict.correct)
        for name, runs in verdicts.items()
        for number, verdict in runs.items()
        if (str(name), number) in plans
    ]
    for is_plan, is_outcome, words in (
        (True, True, "plan and outcome right"),
        (False, True, "another plan, the right outcome"),
        (True, False, "the gold plan, another outcome"),
        (False, False, "neither right"),
    ):
        names = [str(name) for name, plan, outcome in both if plan == is_plan and outcome == is_outcome]
        first = list(dict.fromkeys(names))[:_MOST_NAMED]
        named = f": {', '.join(first)}" if names and is_plan != is_outcome else ""
        yield f"{len(names):,} {words}{named}"
