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
from toolgraph.benchmarks.workbench.tasks import FILE, holds_tasks, read_tasks
from toolgraph.benchmarks.workbench.tools import tools_for
from toolgraph.dataset import RequestId
from toolgraph.folder import DataFolder
from toolgraph.models import ModelOptions
from toolgraph.runs import Budget
from toolgraph.runs.trials import Trial
from toolgraph.stages.agent_run import AgentRun, chosen_items
from toolgraph.stages.record import hashes
from toolgraph.stages.screen import Screen
from toolgraph.stages.usage import Books


def is_workbench(folder: DataFolder) -> bool:
    """Whether a folder holds tasks to act on: `benchmark.json` says so, or its layout does."""
    return folder.benchmark["benchmark"] == "workbench" or holds_tasks(folder.path)


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
    chosen = chosen_items(tasks, ids, limit, what="task")
    run = AgentRun(
        Trial(folder.path / (prediction_dir or "predictions"), llm, trial_number),
        options=options,
        books=Books([llm], budget, prices),
        multiworker=multiworker,
        force=force,
        command=command,
        screen=screen,
    )
    return run.carry_out(
        Agents(chosen, sandbox, settings, parameters),
        lambda output, journal: write_predictions(output, tasks, journal),
        settings={
            "benchmark": "workbench",
            **parameters,
            **asdict(settings),
            "prompt_sha256": told_fingerprint(sandbox, settings),
            "sandbox_sha256": hashlib.sha256(sandbox.image()).hexdigest(),
        },
        facts={"requests": len(tasks), "asked": len(chosen), "sha256": hashes(folder.path / FILE)},
        asked=len(chosen),
        what="tasks",
    )


def told_fingerprint(sandbox: Sandbox, settings: AgentSettings) -> str:
    """Of what agents are told: the situation and all tools."""
    form, tools = form_of(settings.agent), tools_for(None)
    told = [form.system(sandbox.user, sandbox.now, tools), form.parameters(tools)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
