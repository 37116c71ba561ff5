"""`infer`, `execute`, `serve`: the commands that run models and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from toolassay.benchmarks.registry import (
    EXECUTOR_OPTIONS,
    RUN_OPTIONS,
    all_executors,
    benchmarks,
    default_benchmark,
    executor_names,
)
from toolassay.cli.command import command
from toolassay.cli.options import DataDir, GivenDataDir, Predictions, served, typed
from toolassay.cli.screen import SCREEN
from toolassay.declarations import Option
from toolassay.plans.execution_record import WORLD
from toolassay.runs.settings import Limits, ModelSettings, RunChoices
from toolassay.serving.faults import KINDS
from toolassay.stages.settings import (
    EXECUTORS,
    AllowTools,
    AllowWrites,
    ExecutionSettings,
    FaultSettings,
)


def _by_benchmark() -> Mapping[str, str]:
    """What benchmarks add to the help of `infer`."""
    notes = {
        f"--{option}": "; ".join(
            note if benchmark is default_benchmark() else f"{benchmark.about.title} {note}"
            for benchmark in benchmarks()
            if (note := benchmark.options.help_notes.get(option))
        )
        for option in ("max_tokens", "structured")
    }
    notes["--security"] = " ".join(
        f"{benchmark.about.title}: {mode} is {entry.help}."
        for benchmark in benchmarks()
        for mode, entry in benchmark.options.security_modes.items()
    )
    return {"Defaults by benchmark": "\n\n".join(f"{flag}: {note}" for flag, note in notes.items())}


@command("infer", listing=_by_benchmark)
def infer_command(
    data_dir: DataDir,
    model: ModelSettings = ModelSettings(),
    choices: RunChoices = RunChoices(),
    limits: Limits = Limits(),
    security: Annotated[
        bool | int | Literal["published"],
        Option(
            "Send N prompt-injection attacks and their harmless twins instead of the items; true sends the "
            "default number.",
            metavar="N|true|published",
            minimum=1,
            section="Security",
            common=True,
        ),
    ] = False,
    judge: Annotated[
        str | None,
        Option(
            "With --security: a second model that judges whether the agent complied.",
            metavar="MODEL",
            section="Security",
        ),
    ] = None,
    own: Annotated[Any, RUN_OPTIONS] = None,
) -> int:
    """Run a model on every item of a data folder and write its predictions.

    The same command continues an interrupted run; items that have an answer are not sent again.
    """
    from toolassay.stages.infer import infer

    inference = infer(
        data_dir,
        model=served(model),
        limits=limits,
        choices=choices,
        own=own,
        security=security,
        judge=judge,
        command=typed(),
        screen=SCREEN,
    )
    return 0 if inference.summary.complete else 3


def _executors() -> Mapping[str, str]:
    return {EXECUTORS: "; ".join(f"{executor.name}: {executor.help}" for executor in all_executors())}


_Executor = Option("Where calls run, see below.", choices=executor_names, common=True)


@command("execute", listing=_executors)
def execute_command(
    data_dir: GivenDataDir,
    executor: Annotated[str, _Executor],
    predictions: Annotated[
        str | None,
        Option(
            "Execute this model's predictions instead of the gold plans and judge them by their outcome.",
            metavar="LLM",
            common=True,
        ),
    ] = None,
    prediction_dir: Predictions = "predictions",
    settings: ExecutionSettings = ExecutionSettings(),
    options: Annotated[Any, EXECUTOR_OPTIONS] = None,
) -> int:
    """Execute the gold plans of a data folder: DATA_DIR/executions.jsonl says what each call returned.

    Each plan runs in an environment of its own. A call that a tool refuses rejects the plan (gate "execution"
    of `check`); a hang, a crash or a lost connection does not, and is tried again. The same command continues
    an interrupted execution. Exit code 3: plans have no result.
    """
    from toolassay.stages.execute import execute

    result = execute(
        data_dir,
        executor=executor,
        options=options,
        settings=settings,
        predictions=predictions,
        prediction_dir=prediction_dir,
        screen=SCREEN,
    )
    return 0 if result.complete else 3


_LIST = "\n".join(f"  {name:<15}{fault.what}" for name, fault in KINDS.items())


@command("serve", listing=_executors, epilog=f"\b\nFaults:\n{_LIST}")
def serve_command(
    data_dir: Annotated[
        Sequence[Path],
        Option(
            "Data folder that requests will be about. Plans are then those of --llm offline.", common=True
        ),
    ] = (),
    port: Annotated[
        int,
        Option("Port on 127.0.0.1; 0: any free port.", minimum=0, maximum=65535, common=True),
    ] = 4000,
    seed: Annotated[int, Option("Random seed of the faults, or of a world by rules.")] = 0,
    settings: FaultSettings = FaultSettings(),
    mcp: Annotated[
        bool,
        Option(
            "Offer the tools and requests of --data_dir to agents over MCP instead of a model.",
            common=True,
        ),
    ] = False,
    agents: Annotated[
        Sequence[str],
        Option(
            "With --mcp: name of an agent, which gets an address of its own.",
            "agent_name",
            old=("--agent",),
            metavar="NAME",
            section=EXECUTORS,
        ),
    ] = ("agent",),
    executor: Annotated[
        str, Option("With --mcp: where calls run, see below.", choices=executor_names, section=EXECUTORS)
    ] = WORLD,
    options: Annotated[Any, EXECUTOR_OPTIONS] = None,
    allow_writes: AllowWrites = False,
    allow_tools: AllowTools = False,
) -> None:
    """Run a local server that answers with the offline models, with faults on request.

    It has OpenAI's Chat Completions and Responses, and Anthropic's Messages, for any model name. With --mcp:
    offer the tools of a data folder to agents; DATA_DIR/predictions_agents has what they did. Ctrl-C stops
    the server.
    """
    given = {"fault": settings != FaultSettings()}
    if not mcp:
        given = {
            "agent_name": tuple(agents) != ("agent",),
            "executor": executor != WORLD or options is not None,
            "allow_writes": allow_writes,
            "allow_tools": allow_tools,
        }
    for name in (name for name, is_given in given.items() if is_given):
        raise click.UsageError(f"--{name} is {'not' if mcp else 'only'} for --mcp")
    if mcp and len(data_dir) != 1:
        raise click.UsageError("--mcp needs one --data_dir")
    try:
        if mcp:
            from toolassay.serving.mcp_server import serve_mcp

            serve_mcp(
                data_dir[0],
                executor=executor,
                options=options,
                agents=agents,
                port=port,
                allow_writes=allow_writes,
                allow_tools=allow_tools,
                seed=seed,
                screen=SCREEN,
            )
        else:
            from toolassay.stages.infer import serve

            serve(data_dirs=data_dir, settings=settings, seed=seed, port=port, screen=SCREEN)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt("interrupted") from stop
