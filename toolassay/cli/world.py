"""`world`: records and operations for tools without a server."""

from __future__ import annotations

from typing import Annotated

from toolassay.cli.command import command
from toolassay.cli.options import DataDir, connected, typed
from toolassay.cli.screen import SCREEN
from toolassay.declarations import Option
from toolassay.models.options import ModelOptions
from toolassay.runs.settings import Limits
from toolassay.stages.settings import Seed
from toolassay.worlds.world import OFFLINE


@command("world")
def world_command(
    data_dir: DataDir,
    llm: Annotated[str, Option("Model that writes; offline: rules.", metavar="LLM", common=True)] = OFFLINE,
    endpoint: ModelOptions | None = None,
    limits: Limits = Limits(),
    seed: Seed = 0,
    force: Annotated[bool, Option("Write a new world; a dated copy of the old one is kept.")] = False,
    dry_run: Annotated[
        bool, Option("Show what would be sent and its estimated cost. Sends and writes nothing.", common=True)
    ] = False,
) -> int:
    """Give tools without a server a world: records, and what each tool does with them (world.json).

    --llm names the model that writes; without it rules do. The world is checked by calls of every tool, and
    the model corrects what is wrong. The same command checks a world that is there, adds tools that it lacks,
    and keeps records of your own. Exit code 3: something is wrong with it, or no usable answer came.
    """
    from toolassay.stages.world import world

    written = world(
        data_dir,
        llm=llm,
        options=connected(endpoint),
        limits=limits,
        seed=seed,
        force=force,
        dry_run=dry_run,
        command=typed(),
        screen=SCREEN,
    )
    return 0 if dry_run or (written.world is not None and not written.flaws) else 3
