"""`toolassay execute`: runs gold or predicted plans on a server, functions, a workplace or a simulator."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.benchmark_options import option_of
from toolassay.cli.screen import SCREEN
from toolassay.executors.registry import executors, flags_of
from toolassay.stages.execute import every_executor

_EVERY = (*executors(), *every_executor())
_DEFAULTS = {one.name: getattr(executor.options(), one.name) for executor in _EVERY for one in executor.flags}


class _Defaults:
    """The defaults of all executors' options, as one object."""

    def __getattr__(self, name: str) -> Any:
        return _DEFAULTS[name]


@click.command("execute")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder.")
@options.option(
    "executor",
    type=click.Choice([one.name for one in _EVERY]),
    required=True,
    help=f"Where calls run. {'; '.join(f'{one.name}: {one.help}' for one in _EVERY)}.",
)
@options.option(
    "predictions",
    default=None,
    metavar="LLM",
    help="Execute this model's predictions instead of the gold plans and judge them by their outcome.",
)
@options.option("prediction_dir", default="predictions", help="Folder of the predictions.")
@options.flag("allow_writes", "Permit tools that the server does not mark as read-only.")
@options.flag("allow_tools", "Run Python code of the data folder, or that --functions names.")
@options.option("workers", type=click.IntRange(1), default=2, help="Plans executed at the same time.")
@options.option(
    "max_seconds", type=options.FloatRange(0, min_open=True), default=30.0, help="Seconds for one call."
)
@options.option("max_result", type=click.IntRange(1), default=2**20, help="Bytes of one result.")
@options.option(
    "max_memory", type=click.IntRange(16), default=1024, help="MiB of memory of a server or a function."
)
@options.flag("twice", "Execute each plan twice and record which results vary, such as the time.")
@options.option(
    "wrong_calls",
    type=options.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Share of the plans for which a call with a mistake is executed too, for `export --recoveries`.",
)
@options.option(
    "ignore",
    multiple=True,
    metavar="PATTERN",
    help="Places of the state that are not compared, e.g. '*.log'; may be repeated.",
)
@options.option("limit", type=click.IntRange(1), default=None, help="Only the first N plans.")
@options.option("seed", type=int, default=0, help="Random seed of the simulator and of wrong calls.")
@options.flag("force", "Start again with other settings; earlier executions are kept under a dated name.")
@options.section("Executors", *(option_of(_Defaults(), flag) for flag in flags_of(_EVERY)))
def command(data_dir: Path, executor: str, **settings: Any) -> int:
    """Execute the gold plans of a data folder: DATA_DIR/executions.jsonl says what each call returned.

    Each plan runs in an environment of its own. A call that a tool refuses rejects the plan (gate "execution"
    of `check`); a hang, a crash or a lost connection does not, and is tried again. The same command continues
    an interrupted execution. Exit code 3: plans have no result.
    """
    from toolassay.stages.execute import execute

    chosen = next(one for one in _EVERY if one.name == executor)
    known = {one.name for one in fields(chosen.options)}
    for flag in flags_of(_EVERY):
        value = settings.pop(flag.name)
        if flag.name in known:
            settings[flag.name] = value if value is not None else _DEFAULTS[flag.name]
        elif value and value != _DEFAULTS[flag.name]:
            raise click.UsageError(f"--{flag.name} is not for the executor {executor}")
    result = execute(data_dir, executor=executor, screen=SCREEN, **settings)
    return 0 if result.complete else 3
