"""The execute stage: gold or predicted plans -> what their calls returned and changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import EXECUTOR_OPTIONS, benchmark_executors, benchmark_of
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result, Table
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.places import metrics_folder, prediction_file
from toolassay.executors import executor_named
from toolassay.executors.executor import CallLimits, ExecutionContext, Executor, OpenExecutor
from toolassay.executors.outcome import OutcomeSummary, alternative_verdict
from toolassay.executors.plan_run import (
    ExecutionWork,
    PlannedItem,
    PlanSet,
    RunRules,
    recorded_execution,
    run_plans,
)
from toolassay.files.data_files import write_json_lines
from toolassay.plans.execution_record import FILE, RUN, SIMULATOR, WORLD, Execution, read_executions
from toolassay.records.data_folder import DataFolder, date_setting
from toolassay.runs.event_loop import interruptible, run_coroutine
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL, changes, open_run, recorded_settings
from toolassay.runs.runner import Loop
from toolassay.stages.outcomes import (
    executions_file,
    expected_items,
    gold_executions,
    judge_outcomes,
    own_executor,
    same_trials,
)
from toolassay.stages.settings import ExecutionSettings

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
        executor: Name of the executor: "mcp", "python", "world", or one that a benchmark or an installed
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
    gold = None if file is None else gold_executions(folder)
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
        alternatives = sum(len(item.alternatives) for chosen_items in items for item in chosen_items)
        total = sum(map(len, items)) * rules.passes + alternatives
        async with chosen.open(context, own) as opened:
            with screen.progress("executing plans", total) as advance:
                for target, chosen_items in zip(targets, items, strict=True):
                    _open_run(folder, target.run_folder, chosen, opened, settings, screen)
                    work = ExecutionWork(opened, chosen.name, target.plans.library, rules)
                    loop = Loop(settings.workers, advance, screen.interrupted)
                    with Journal(target.run_folder / JOURNAL) as journal:
                        try:
                            await run_plans(work, chosen_items, journal, loop)
                            if not loop.summary.stop:
                                await _run_alternatives(work, chosen_items, journal, loop)
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
        outcome = judge_outcomes(
            folder, expected_items(folder, gold), executions, file, metrics, chosen.name, screen
        )
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
    if (own_calls := own_executor(file)) and own_calls not in (SIMULATOR, WORLD):
        fix = f"use {as_called('evaluate')}, which judges what they did"
        raise UsageError(f"the run itself made its calls ({own_calls})", file=file, fix=fix)
    targets = []
    for trial in same_trials(file):
        plans = benchmark.items.predicted_plans(folder, trial.output, screen.say)
        targets.append(_Target(plans, trial.run_folder / RUN, executions_file(trial), trial.number))
    return targets


def _write_executions(path: Path, journal: Journal, items: Sequence[PlannedItem]) -> None:
    """Write what the journal has of the plans."""
    recorded = (_with_alternatives(journal, item) for item in items)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json_lines(
        path, (msgspec.to_builtins(execution) for execution in recorded if execution is not None)
    )


async def _run_alternatives(
    work: ExecutionWork, items: Sequence[PlannedItem], journal: Journal, loop: Loop
) -> None:
    """Run the alternatives of the gold plans that ran.

    Where changes last, those that change something are not run: the gold plan has made the changes already.
    """
    ran = [item for item in items if (gold := recorded_execution(journal, item)) and gold.outcome == "ran"]
    await run_plans(
        work.for_alternatives(), [other for item in ran for other in item.alternatives], journal, loop
    )


def _with_alternatives(journal: Journal, item: PlannedItem) -> Execution | None:
    """The execution of a plan, with the verdicts on the alternatives of its label."""
    execution = recorded_execution(journal, item)
    if execution is None or item.gold is None:
        return execution
    others = (recorded_execution(journal, other) for other in item.alternatives)
    verdicts = [alternative_verdict(item.gold, execution, other) for other in others if other is not None]
    return msgspec.structs.replace(execution, alternatives=tuple(verdicts) or UNSET)


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
        **date_setting(folder.benchmark.today),
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
    verdicts = [verdict for execution in read_executions(path) for verdict in execution.alternatives or ()]
    if verdicts:
        same = sum(verdict.outcome == "same" for verdict in verdicts)
        screen.show(f"{count_of(len(verdicts), 'alternative')}: {same:,} do the same as the gold plan")
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
