"""The work of a run, by its way of asking."""

from __future__ import annotations

from dataclasses import replace

from toolassay.benchmarks.taskbench.options import AGENTS, ASKS, PlanOptions
from toolassay.benchmarks.taskbench.work import CallWork, PlanSource, PlanWork
from toolassay.data_folder import DataFolder
from toolassay.evaluation.places import default_predictions
from toolassay.models.registry import is_served
from toolassay.runs import recorded_settings
from toolassay.runs.settings import PREDICTIONS, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Work
from toolassay.screen import SILENT


def with_way(folder: DataFolder, run: RunSettings, own: PlanOptions) -> PlanOptions:
    """The options with a way of asking: the given one, else "tools" where nothing asks for plans.

    Raises:
        UsageError: An option does not fit the way.
    """
    kind = own.dependency_type or folder.benchmark.dependency_type
    if own.ask is not None or kind != "schema" or not is_served(run.model.llm):
        return replace(own, ask=own.ask or "plan")
    asks_plans = own.given() or run.model.structured or run.endpoint.batch
    has_plans = default_predictions(folder.path) == PREDICTIONS
    if place := run.choices.prediction_dir:
        recorded = recorded_settings(Trial(folder.path / place, run.model.llm).run_folder)
        has_plans = recorded is not None and "ask" not in recorded
    way = "plan" if asks_plans or has_plans else "tools"
    meaning = "native calls with results" if way == "tools" else "plans"
    run.screen.say(f"--ask {way}: the model is asked for {meaning}; choose with --ask {'|'.join(ASKS)}")
    return replace(own, ask=way)


def work_of(folder: DataFolder, run: RunSettings, own: PlanOptions, trial: int = 0) -> Work:
    """The work of a run with its way of asking.

    Raises:
        UsageError: files missing or malformed, or options that do not fit.
    """
    screen = SILENT if trial else run.screen  # notices are shown once
    source = PlanSource.read(folder, own, screen)
    if own.ask == AGENTS:
        from toolassay.benchmarks.taskbench.agents import AgentWork

        return AgentWork(folder, source, run, own)
    if own.ask == "plan":
        return PlanWork(folder, source, run, own)
    work = CallWork(folder, source, run, own)
    work.fit_size(screen)
    return work
