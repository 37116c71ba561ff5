"""Runs a model on every item of a data folder; serves the offline model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from toolassay.benchmarks.registry import RUN_OPTIONS, benchmark_of, benchmarks, has_plans
from toolassay.benchmarks.security.probe import refuse_beside_security
from toolassay.benchmarks.security.probe_results import probe
from toolassay.benchmarks.work_folder import graph_of
from toolassay.console.screen import DEFAULT, Screen
from toolassay.errors import UsageError
from toolassay.records.data_folder import DataFolder
from toolassay.records.requests import read_ids
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.run import run_trials
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.runs.work import Inference
from toolassay.serving.faults import FaultPlan
from toolassay.stages.settings import FaultSettings

Security = bool | int | str
"""False: no probes; True: the default number of attacks; a number of attacks; or a mode of the benchmark."""


def infer(
    data_dir: str | Path,
    *,
    model: ModelSettings = ModelSettings(),
    limits: Limits = Limits(),
    choices: RunChoices = RunChoices(),
    own: Annotated[Any, RUN_OPTIONS] = None,
    security: Security = False,
    judge: str | None = None,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> Inference:
    """Run a model on every item of a data folder; items that have an answer are not sent again.

    Args:
        data_dir: Data folder of any benchmark.
        model: The model and its sampling parameters.
        limits: Limits of all trials together.
        choices: Which items to run, how often, and where to write.
        own: Options of the folder's benchmark, an instance of its `options.run`; None for the defaults.
        security: Send prompt-injection probes instead of the items, in a separate run. A string is a mode of
            the benchmark (`BenchmarkOptions.security_modes`).
        judge: With `security`, a model on the same server that judges whether the agent complied.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, or the settings differ from those of the run.
        ToolassayError: The model cannot be reached.
    """
    folder = DataFolder(Path(data_dir)).require()
    run = RunSettings(model, limits, choices, command, screen)
    model.require_name()
    benchmark = benchmark_of(folder)
    own = benchmark.options.run() if own is None else own
    if getattr(own, "agent_version", None) and not own.agent_command:
        raise UsageError("--agent_version is of --agent_command", fix="omit it, or name the agent")
    if isinstance(choices.ids, Path):
        run = replace(run, choices=replace(choices, ids=read_ids(choices.ids)))
    own = benchmark.settled(folder, run, own)
    if security:
        return _probe(folder, run, own, security, judge)
    if judge:
        raise UsageError("--judge needs --security", fix="add --security true, or omit --judge")
    predictions = folder.path / benchmark.place(run, own)
    return run_trials(lambda number: benchmark.work(folder, run, own, number), predictions, run)


def _probe(
    folder: DataFolder, run: RunSettings, own: Any, security: Security, judge: str | None
) -> Inference:
    """Send the probes of a folder; the run and its results are in `security/` of the prediction folder."""
    choices, benchmark = run.choices, benchmark_of(folder)
    refuse_beside_security(
        limit=choices.limit,
        ids=choices.ids,
        dry_run=choices.dry_run,
        trials=choices.trials > 1,
        retry_malformed=choices.retry_malformed,
        engine=choices.engine,
    )
    if isinstance(security, str):
        if security not in benchmark.options.security_modes:
            having = [other.about.title for other in benchmarks() if security in other.options.security_modes]
            raise UsageError(
                f"--security {security} is for a folder of {' or '.join(having) or 'another benchmark'}",
                fix="write --security true",
            )
        probed: Inference = benchmark.options.security_modes[security].load()(folder, run, own, judge)
        return probed
    if security < 0:
        raise UsageError(f"--security {security} is negative", fix="write the number of attacks, or true")
    prober = benchmark.prober(folder, run, own, None if security is True else int(security))
    return probe(run, prober, folder.path / benchmark.place(run, own), judge)


def serve(
    *,
    port: int = 4000,
    data_dirs: Sequence[str | Path] = (),
    settings: FaultSettings = FaultSettings(),
    seed: int = 0,
    screen: Screen = DEFAULT,
) -> None:
    """Answer chat completions on 127.0.0.1 until interrupted.

    Args:
        port: Port; 0 selects a free one.
        data_dirs: Data folders of the requests; tool types and links that a prompt omits are read from them.
        settings: Faults, in the syntax of `toolassay.serving.faults.FaultPlan`, and delays.
        seed: Random seed of the faults.
        screen: Receives the base URL once the server listens.

    Raises:
        UsageError: A fault is unknown, a folder has no tools, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """
    plan = FaultPlan(settings.faults, seed)
    folders = [DataFolder(Path(name)).require() for name in data_dirs]
    # Prompts of benchmarks without plans contain everything that the answers depend on.
    planned = [folder for folder in folders if has_plans(folder)]
    known = [graph_of(folder, None, say=screen.say) for folder in planned]

    async def run() -> None:
        from toolassay.serving.chat_server import ChatServer
        from toolassay.serving.offline_answers import OfflineAnswers

        server = ChatServer(OfflineAnswers(known), plan)
        server.delay = settings.delay
        server.capacity = settings.capacity
        server.retry_after = settings.retry_after
        server.pause = 0.1
        await server.open(port, listen=not plan.never_listens)
        folder = data_dirs[0] if data_dirs else "data_multimedia"
        screen.show(
            f"{server.base} answers; try: python -m toolassay infer --llm offline-served"
            f" --api_base {server.base} --data_dir {folder}{' --ask plan' if planned else ''}"
        )
        try:
            await asyncio.Event().wait()
        finally:
            await server.close()
            screen.say(f"stopped after {server.count} requests, {server.faulty} of them with a fault")

    run_coroutine(run())
