"""The work of a run, by its way of asking."""

from __future__ import annotations

from toolassay.benchmarks.taskbench.options import AGENTS, PlanOptions
from toolassay.benchmarks.taskbench.work import CallWork, PlanSource, PlanWork
from toolassay.data_folder import DataFolder
from toolassay.runs.settings import RunSettings
from toolassay.runs.work import Work
from toolassay.screen import SILENT


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
    work.check_size(screen)
    return work
