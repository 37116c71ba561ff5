"""`infer`, `execute`, `serve`: the commands that run models and plans."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from toolassay.cli import options
from toolassay.cli.benchmark_options import by_field, infer_sections, notes, security_modes
from toolassay.cli.executor_options import (
    EVERY,
    HELP,
    NAMES,
    executor_flags,
    executor_section,
    taken_options,
    without_options,
)
from toolassay.cli.options import SectionedCommand
from toolassay.cli.screen import SCREEN
from toolassay.serving.faults import KINDS


class Attacks(click.ParamType[bool | int | str]):
    """The value of `--security`: a number of attacks, true, false or "published"."""

    name = "attacks"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> bool | int | str:
        """Parse a number of at least 1, "published", or a boolean."""
        text = str(value)
        if text.lstrip("-").isdecimal():
            if int(text) > 0:
                return int(text)
        elif text == "published":
            return text
        else:
            with suppress(click.BadParameter):
                return bool(click.BOOL.convert(value, param, ctx))
        return self.fail(f"{text!r} is not a valid number of attacks: write 1 or more, or true", param, ctx)


@click.command("infer", cls=SectionedCommand)
@options.section(
    "Data",
    options.data_dir,
    options.count("limit", "Run only the first N items.", metavar="N"),
    options.path(
        "ids", "Run only the ids in this file: one per line, a JSON list, or split_ids.json:test for a split."
    ),
    options.option(
        "prediction_dir",
        "Output folder, below the data folder [default: predictions, with a suffix if --tag].",
    ),
    options.count(
        "trials", "Number of complete runs of all items. Limits apply to all trials together.", default=1
    ),
    options.flag("force", "Start a new run if the settings differ from the existing run, which is kept."),
    options.flag(
        "retry_malformed",
        "Retry items with a malformed or truncated answer; other answers are kept. --max_tokens may differ "
        "from the first run.",
    ),
)
@options.section(
    "Model",
    options.model(temperature=0.2, top_p=0.1),
    options.max_tokens(notes("max_tokens")),
    options.structured(
        None,
        "Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop if "
        "it does not "
        f"[default: {notes('structured')}].",
    ),
)
@options.section(
    "Limits and cost",
    options.multiworker(),
    options.engine,
    options.budget(),
    options.dry_run,
    options.batch,
)
@options.section(
    "Security",
    options.option(
        "security",
        "Send N prompt-injection attacks and their harmless twins instead of the items; true sends the "
        "default number. "
        f"{security_modes()}",
        type=Attacks(),
        is_flag=False,
        flag_value=True,
        default=False,
        show_default=False,
        metavar="N|true|published",
    ),
    options.option(
        "judge", "With --security: a second model that judges whether the agent complied.", metavar="MODEL"
    ),
)
@infer_sections()
@options.section(
    "Executors (--ask tools, --ask react, --agent_command)",
    options.choice("executor", NAMES, "Where calls run.", default="simulate"),
    *executor_flags(EVERY),
)
def infer_command(data_dir: Path, **settings: Any) -> int:
    """Run a model on every item of a data folder and write its predictions.

    The same command continues an interrupted run; items that have an answer are not sent again.
    """
    from toolassay.stages.infer import infer

    if settings["agent_command"] or settings["ask"] in (None, "tools", "react"):
        taken = taken_options(settings, settings["executor"])
        settings["executor_options"] = None if taken == type(taken)() else taken
    else:
        without_options(settings, "--ask tools")
    settings = options.with_budget(options.with_model_options(settings))
    inference = infer(data_dir, command=options.typed(), screen=SCREEN, **by_field(settings))
    return 0 if inference.summary.complete else 3


@click.command("execute")
@options.path("data_dir", "The data folder.", required=True)
@options.choice("executor", NAMES, f"Where calls run. {HELP}.", required=True)
@options.option(
    "predictions",
    "Execute this model's predictions instead of the gold plans and judge them by their outcome.",
    metavar="LLM",
)
@options.option("prediction_dir", "Folder of the predictions.", default="predictions")
@options.count("workers", "Plans executed at the same time.", default=2)
@options.option(
    "max_seconds", "Seconds for one call.", type=options.FloatRange(0, min_open=True), default=30.0
)
@options.count("max_result", "Bytes of one result.", default=2**20)
@options.option(
    "max_memory", "MiB of memory of a server or a function.", type=click.IntRange(16), default=1024
)
@options.flag("twice", "Execute each plan twice and record which results vary, such as the time.")
@options.option(
    "wrong_calls",
    "Share of the plans for which a call with a mistake is executed too, for `export --recoveries`.",
    type=options.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
)
@options.option(
    "ignore",
    "Places of the state that are not compared, e.g. '*.log'; may be repeated.",
    multiple=True,
    metavar="PATTERN",
)
@options.count("limit", "Only the first N plans.")
@options.option("seed", "Random seed of the simulator and of wrong calls.", type=int, default=0)
@options.flag("force", "Start again with other settings; earlier executions are kept under a dated name.")
@executor_section()
def execute_command(data_dir: Path, executor: str, **settings: Any) -> int:
    """Execute the gold plans of a data folder: DATA_DIR/executions.jsonl says what each call returned.

    Each plan runs in an environment of its own. A call that a tool refuses rejects the plan (gate "execution"
    of `check`); a hang, a crash or a lost connection does not, and is tried again. The same command continues
    an interrupted execution. Exit code 3: plans have no result.
    """
    from toolassay.stages.execute import execute

    own = taken_options(settings, executor)
    result = execute(data_dir, executor=executor, options=own, screen=SCREEN, **settings)
    return 0 if result.complete else 3


_LIST = "\n".join(f"  {name:<15}{fault.what}" for name, fault in KINDS.items())


@click.command("serve", cls=SectionedCommand, epilog=f"\b\nFaults:\n{_LIST}")
@options.option("port", "Port on 127.0.0.1; 0: any free port.", type=click.IntRange(0, 65535), default=4000)
@options.path(
    "data_dir",
    "Data folder that requests will be about; may be repeated. Plans are then those of --llm offline.",
    multiple=True,
)
@options.option(
    "fault",
    "Fault to inject; may be repeated. WHEN is a share of the requests (0.05), first:K, once (the first "
    "time of each prompt) or always.",
    multiple=True,
    metavar="NAME=WHEN",
)
@options.option("seed", "Random seed of the faults, or of the simulator.", type=int, default=0)
@options.option("delay", "Seconds before each answer.", type=click.FloatRange(0), default=0.0)
@options.count("capacity", "Maximum concurrent requests; further ones get a 429.")
@options.option(
    "retry_after",
    "Seconds in the Retry-After header of the faults 429 and 500.",
    type=click.FloatRange(0),
    default=1.0,
)
@options.flag("mcp", "Offer the tools and requests of --data_dir to agents over MCP instead of a model.")
@options.option(
    "agent",
    "With --mcp: name of an agent, which gets an address of its own; may be repeated.",
    multiple=True,
    default=("agent",),
    metavar="NAME",
)
@options.choice("executor", NAMES, f"With --mcp: where calls run. {HELP}.", default="simulate")
@executor_section()
@click.pass_context
def serve_command(
    context: click.Context, /, data_dir: tuple[Path, ...], seed: int, port: int, mcp: bool, **settings: Any
) -> None:
    """Run a local server that answers with the offline models, with faults on request.

    It has OpenAI's Chat Completions and Responses, and Anthropic's Messages, for any model name. With --mcp:
    offer the tools of a data folder to agents; DATA_DIR/predictions_agents has what they did. Ctrl-C stops
    the server.
    """
    shared: dict[str, Any] = {"seed": seed, "port": port, "screen": SCREEN}
    model = {name: settings.pop(name) for name in ("fault", "delay", "capacity", "retry_after")}
    for name in model if mcp else settings:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} is {'not' if mcp else 'only'} for --mcp")
    if mcp and len(data_dir) != 1:
        raise click.UsageError("--mcp needs one --data_dir")
    try:
        if mcp:
            from toolassay.serving.mcp_server import serve_mcp

            own = taken_options(settings, settings["executor"])
            serve_mcp(data_dir[0], options=own, agents=settings.pop("agent"), **shared, **settings)
        else:
            from toolassay.stages.infer import serve

            serve(data_dirs=data_dir, faults=model.pop("fault"), **shared, **model)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt("interrupted") from stop
