"""Writes the world of a data folder, or checks the one that is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Table
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError
from toolassay.files.data_files import keep_dated_copy
from toolassay.live_values.results import read_results
from toolassay.models.options import ModelOptions
from toolassay.models.registry import refuse_baseline
from toolassay.records.data_folder import DataFolder, date_setting
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.tools.library import ToolLibrary
from toolassay.worlds.checks import world_flaws
from toolassay.worlds.rules import time_on, world_by_rules
from toolassay.worlds.world import FILE, OFFLINE, Flaw, World, read_world
from toolassay.worlds.writer import WorldWriter
from toolassay.writing.shown import shown_samples, shown_service


class WrittenWorld(NamedTuple):
    """A world that was written or checked.

    Attributes:
        path: Its file.
        world: The world; None after a dry run, or without a usable answer.
        flaws: What is wrong with it.
    """

    path: Path
    world: World | None
    flaws: Sequence[Flaw] = ()


def world(
    data_dir: str | Path,
    *,
    llm: str = OFFLINE,
    options: ModelOptions | None = None,
    limits: Limits = Limits(),
    seed: int = 0,
    force: bool = False,
    dry_run: bool = False,
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> WrittenWorld:
    """Write `world.json`: records for the things of a library without a server, and what each tool does.

    A world that is there is kept and checked; tools that it neither covers nor names as uncovered are added.
    So records of one's own get their operations from a model.

    Args:
        data_dir: Data folder with imported tools.
        llm: The model that writes; "offline": rules.
        options: Its server.
        limits: Limits of the writing.
        seed: Random seed of the rules' records and of the calls that check.
        force: Write a new world; a dated copy of the old one is kept.
        dry_run: Show what would be sent and its cost; the number of corrections is not known before.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: The folder has no imported tools, or `world.json` is malformed.
        ToolassayError: The model gave no answer.
    """
    folder = DataFolder(Path(data_dir)).require()
    library = folder.library(say=screen.say)
    if all(tool.input_schema is None for tool in library):
        raise UsageError(
            "its tools have no schemas", file=folder.path, fix="import tools with toolassay import"
        )
    refuse_baseline(llm, "--llm")
    path = folder.path / FILE
    known = None if force else read_world(folder.path)
    today = folder.benchmark.today
    now = time_on(today)
    made: World | None
    if llm == OFFLINE:
        made = known or world_by_rules(library, seed, now, progress=screen.progress)
    else:
        run = RunSettings(
            ModelSettings(llm, options), limits, RunChoices(force=force, dry_run=dry_run), command, screen
        )
        seen = shown_samples(read_results(folder), library.ids)
        writer = WorldWriter(folder.path, library, shown_service(library), seen, run, now)
        made = writer.written(known)
    if dry_run or made is None:
        return WrittenWorld(path, None)
    if made != known:
        if path.exists():
            screen.say(f"kept {keep_dated_copy(path).name}")
        made.write(folder.path)
    if today is None and not folder.data_raw.exists():
        folder.update_benchmark(**date_setting(datetime.fromisoformat(made.now).date()))
    is_checked = llm == OFFLINE and known is None  # rules keep what works
    found = [] if is_checked else world_flaws(made, library, seed, progress=screen.progress)
    _report(made, found, path, library, screen)
    return WrittenWorld(path, made, found)


def _report(made: World, found: Sequence[Flaw], path: Path, library: ToolLibrary, screen: Screen) -> None:
    """Show what a world has, which tools it does not cover, and what is wrong with it."""
    rows = [(name, str(len(made.records.get(name, ()))), thing.key) for name, thing in made.things.items()]
    screen.show(Table(("thing", "records", "key"), rows, "lrl").markdown())
    operations = Counter(msgspec.to_builtins(operation)["op"] for operation in made.tools.values())
    shown = ", ".join(f"{number:,} {name}" for name, number in operations.most_common())
    screen.show(f"{path}: {len(made.tools):,} of {count_of(len(library), 'tool')} covered: {shown or 'none'}")
    for one in made.uncovered:
        screen.show(f"  not covered: {one.tool}: {one.reason}")
    for flaw in found:
        screen.say(f"{WARNING}{flaw.tool or 'records'}: {flaw.reason}")
