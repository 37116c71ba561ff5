"""`toolassay execute`: runs gold or predicted plans on a server, functions, a workplace or a simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.executor_options import HELP, NAMES, executor_section, taken_options
from toolassay.cli.screen import SCREEN


@click.command("execute")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder.")
@options.option(
    "executor",
    type=click.Choice(NAMES),
    required=True,
    help=f"Where calls run. {HELP}.",
)
@options.option(
    "predictions",
    default=None,
    metavar="LLM",
    help="Execute this model's predictions instead of the gold plans and judge them by their outcome.",
)
@options.option("prediction_dir", default="predictions", help="Folder of the predictions.")
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
@executor_section()
def command(data_dir: Path, executor: str, **settings: Any) -> int:
    """Execute the gold plans of a data folder: DATA_DIR/executions.jsonl says what each call returned.

    Each plan runs in an environment of its own. A call that a tool refuses rejects the plan (gate "execution"
    of `check`); a hang, a crash or a lost connection does not, and is tried again. The same command continues
    an interrupted execution. Exit code 3: plans have no result.
    """
    from toolassay.stages.execute import execute

    own = taken_options(settings, executor)
    result = execute(data_dir, executor=executor, options=own, screen=SCREEN, **settings)
    return 0 if result.complete else 3
