"""The infer stage of WorkBench: tasks and a sandbox -> what an agent called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.infer import Inference
from toolassay.benchmarks.workbench.agents.episode import WorkbenchAgentSettings
from toolassay.benchmarks.workbench.agents.inference import (
    WorkbenchAgents,
    limit_notice,
    preview_requests,
    write_predictions,
)
from toolassay.benchmarks.workbench.agents.native_and_react import call_format
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import FILE, holds_tasks
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.benchmarks.workbench.workplace_stages import load_workplace, tools_hash
from toolassay.data_folder import DataFolder
from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.runs import Budget, RunSummary, recorded_settings
from toolassay.runs.books import Books
from toolassay.runs.dry_run import agent_lines, expected_of_agent
from toolassay.runs.record import hashes
from toolassay.runs.retry_malformed import MAX_TOKENS
from toolassay.runs.trials import Trial
from toolassay.screen import Screen
from toolassay.stages.agent_run import AgentRun, chosen_items

OFFLINE = "offline"
DEFAULT_TOKENS = 2000


def is_workbench(folder: DataFolder) -> bool:
    """Whether a folder holds tasks to act on: `benchmark.json` says so, or its layout does."""
    return folder.benchmark["benchmark"] == "workbench" or holds_tasks(folder.path)


def infer_workbench(
    folder: DataFolder,
    *,
    llm: str,
    options: ModelOptions,
    parameters: Mapping[str, Any],
    settings: WorkbenchAgentSettings,
    multiworker: int | None,
    prediction_dir: str | None,
    force: bool,
    budget: Budget | None,
    prices: Path | None,
    limit: int | None,
    ids: Collection[RequestId] | None,
    dry_run: bool,
    command: Sequence[str] | None,
    trial_number: int,
    max_tokens: int | None = None,
    retry_malformed: bool = False,
    allow_tools: bool = False,
    screen: Screen,
) -> Inference:
    """Let an agent do every task of a folder once; what is done already is not done again.

    The parameters are those of `infer`, for one of its trials.

    Raises:
        UsageError: files missing or malformed, settings that contradict the run.
        ToolassayError: the model cannot be reached.
    """
    sandbox, tasks = load_workplace(folder.path, allow_tools=allow_tools, screen=screen)
    if sandbox.toolset is not None and llm == OFFLINE:
        raise UsageError(
            f"--llm {OFFLINE} knows the published tools only",
            file=folder.path,
            fix="name a served model (--api_base URL)",
        )
    chosen = chosen_items(tasks, ids, limit, what="task")
    run = AgentRun(
        Trial(folder.path / (prediction_dir or "predictions"), llm, trial_number),
        options=options,
        books=Books([llm], budget, prices, options),
        multiworker=multiworker,
        force=force,
        command=command,
        screen=screen,
        retry_malformed=retry_malformed,
    )
    first = replace(run.trial, number=0)
    parameters = {**parameters, **token_limit(max_tokens, run.trial.run_folder, first.run_folder)}
    run_settings = {
        "benchmark": "workbench",
        **parameters,
        **settings.facts,
        "prompt_sha256": told_fingerprint(sandbox, settings),
        "sandbox_sha256": hashlib.sha256(sandbox.image()).hexdigest(),
        **{f"{name}_sha256": code for name, code in tools_hash(folder.path).items()},
    }
    if dry_run:
        with run.foreseen(run_settings, parameters) as (journal, estimate, again):
            foresight = preview_requests(chosen, sandbox, settings, parameters, journal, estimate, again)
        for line in agent_lines(estimate, foresight, settings, llm, run.options, run.books.prices):
            screen.show(line)
        foreseen = expected_of_agent(estimate, settings, llm, run.books.prices)
        return Inference(0, foresight.already, RunSummary(), expected=foreseen)
    return run.carry_out(
        WorkbenchAgents(chosen, sandbox, settings, parameters),
        lambda output, journal: write_predictions(output, tasks, journal),
        settings=run_settings,
        facts={"requests": len(tasks), "asked": len(chosen), "sha256": hashes(folder.path / FILE)},
        asked=len(chosen),
        what="tasks",
        notice=lambda journal: limit_notice(chosen, journal, settings),
    )


def token_limit(max_tokens: int | None, *run_folders: Path) -> dict[str, int]:
    """The limit of an answer, as a parameter of requests.

    Without `max_tokens` it is 2,000; a run that began when no limit was sent goes on without one, and so do
    further trials of it.

    Args:
        max_tokens: what is asked for.
        run_folders: where the manifest of the run is; the first that is there counts.

    Raises:
        UsageError: a manifest cannot be read.
    """
    recorded = next(
        (found for folder in run_folders if (found := recorded_settings(folder)) is not None), None
    )
    if max_tokens is None and recorded is not None and MAX_TOKENS not in recorded:
        return {}
    return {MAX_TOKENS: max_tokens or DEFAULT_TOKENS}


def told_fingerprint(sandbox: Sandbox, settings: WorkbenchAgentSettings) -> str:
    """Of what agents are told: the situation and all tools."""
    form = call_format(settings.agent, structured=settings.is_structured)
    tools = toolset_of(sandbox).of_domains(None)
    told = [form.system(sandbox, tools), form.parameters(tools)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
