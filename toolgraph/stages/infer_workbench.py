"""The infer stage of WorkBench: tasks and a sandbox -> what an agent called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from toolgraph.benchmarks.taskbench.infer import Inference
from toolgraph.benchmarks.workbench.agents.forms import form_of
from toolgraph.benchmarks.workbench.agents.inference import Agents, write_predictions
from toolgraph.benchmarks.workbench.agents.settings import AgentSettings
from toolgraph.benchmarks.workbench.sandbox import Sandbox
from toolgraph.benchmarks.workbench.tasks import FILE, Task, holds_tasks, read_tasks
from toolgraph.benchmarks.workbench.tools import tools_for
from toolgraph.dataset import RequestId
from toolgraph.errors import UsageError
from toolgraph.files import write_json
from toolgraph.folder import DataFolder
from toolgraph.models import ModelOptions, create_model
from toolgraph.runs import Budget, Journal, RunSummary, open_run
from toolgraph.runs.manifest import JOURNAL
from toolgraph.runs.recorded import SUMMARY
from toolgraph.runs.trials import Trial
from toolgraph.stages.record import RunRecord, hashes
from toolgraph.stages.screen import Screen
from toolgraph.stages.usage import Books, report_failures, report_stop, summary_facts

WAYS_ON = "use those settings, another --prediction_dir, or --force true (keeps the old run)"


def is_workbench(folder: DataFolder) -> bool:
    """Whether a folder holds tasks to act on: `benchmark.json` says so, or its layout does."""
    return folder.benchmark["benchmark"] == "workbench" or holds_tasks(folder.path)


def refuse_settings(**settings: Any) -> None:
    """Refuse what only plans have.

    Raises:
        UsageError: one of the settings is given.
    """
    for name, value in settings.items():
        if value:
            raise UsageError(f"--{name} is not for a folder of WorkBench", fix="leave it out")


def infer_workbench(
    folder: DataFolder,
    *,
    llm: str,
    options: ModelOptions,
    parameters: Mapping[str, Any],
    settings: AgentSettings,
    multiworker: int | None,
    prediction_dir: str | None,
    force: bool,
    budget: Budget | None,
    prices: Path | None,
    limit: int | None,
    ids: Collection[RequestId] | None,
    command: Sequence[str] | None,
    trial_number: int,
    screen: Screen,
) -> Inference:
    """Let an agent do every task of a folder once; what is done already is not done again.

    The parameters are those of `infer`, for one of its trials.

    Raises:
        UsageError: files missing or malformed, settings that contradict the run.
        ToolgraphError: the model cannot be reached.
    """
    sandbox, tasks = Sandbox.load(folder.path), read_tasks(folder.path)
    chosen = _chosen(tasks, ids, limit)
    place = folder.path / (prediction_dir or "predictions")
    trial = Trial(place, llm, trial_number)
    output, run_folder = trial.output, trial.run_folder
    books = Books([llm], budget, prices)
    shared = trial.settings(options)
    record = RunRecord(run_folder, trial.options(options), command=command, screen=screen)
    options = record.options_of(llm)
    model = create_model(llm, options, meter=books)
    run_settings = {
        "benchmark": "workbench",
        "llm": llm,
        **parameters,
        **asdict(settings),
        "prompt_sha256": _fingerprint(sandbox, settings),
        "sandbox_sha256": hashlib.sha256(sandbox.image()).hexdigest(),
        **shared,
    }
    kept = open_run(run_folder, run_settings, force=force, ways_on=WAYS_ON)
    if kept is not None:
        if output.exists():
            output.replace(kept / output.name)
        screen.say(f"the run before is kept as {kept}")
    facts = {"requests": len(tasks), "asked": len(chosen), "sha256": hashes(folder.path / FILE)}
    summary = RunSummary()
    with (
        Journal(run_folder / JOURNAL) as journal,
        books.open(run_folder, screen, trial.other_ledgers) as ledger,
        record.start([model], facts),
    ):
        agents = Agents(sandbox, model, settings, parameters)
        try:
            with screen.progress("infer", len(chosen), lambda: books.figures(summary)) as advance:
                already = agents.run(
                    chosen,
                    journal,
                    concurrency=multiworker,
                    done=advance,
                    interrupted=screen.interrupted,
                    summary=summary,
                )
        finally:
            written = write_predictions(output, tasks, journal)
        write_json(run_folder / SUMMARY, summary_facts(written, already, summary, ledger))
    _report(written, already, summary, output, screen)
    report_stop(summary, screen)
    return Inference(written, already, summary)


def _chosen(tasks: Sequence[Task], ids: Collection[RequestId] | None, limit: int | None) -> list[Task]:
    wanted = None if ids is None else {str(name) for name in ids}
    if wanted is not None and (unknown := wanted - {task.id for task in tasks}):
        raise UsageError(f"no task has the id {min(unknown)!r}", fix="check --ids: one id a line")
    return [task for task in tasks if wanted is None or task.id in wanted][:limit]


def _fingerprint(sandbox: Sandbox, settings: AgentSettings) -> str:
    """Of what agents are told: the situation and all tools."""
    form, tools = form_of(settings.agent), tools_for(None)
    told = [form.system(sandbox.user, sandbox.now, tools), form.parameters(tools)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _report(written: int, already: int, summary: RunSummary, output: Path, screen: Screen) -> None:
    if not summary.outcomes:
        screen.show(f"{output}: all {already} tasks are done already, nothing to do")
        return
    told = ", ".join(f"{count} {name}" for name, count in sorted(summary.outcomes.items()))
    screen.show(f"{output}: {written} lines ({told}; {already} done before)")
    report_failures(summary, screen)
