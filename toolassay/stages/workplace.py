"""The workplace of a data folder and its tasks, as the stages of WorkBench need them."""

from __future__ import annotations

from pathlib import Path

from toolassay.benchmarks.workbench.own.new_workplace import Sources, make_workplace
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox
from toolassay.benchmarks.workbench.own.task_check import Effect, check_tasks
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task, read_tasks
from toolassay.benchmarks.workbench.workplace import open_workplace, own_tools_file
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import sha256_of
from toolassay.stages.screen import DEFAULT, Screen
from toolassay.text_formatting import count_of


def load_workplace(
    folder: Path, *, allow_tools: bool = False, screen: Screen = DEFAULT
) -> tuple[Sandbox, list[Task]]:
    """The sandbox and the tasks of a folder; of somebody's own workplace, the ground truths are tried.

    Args:
        folder: the data folder.
        allow_tools: run the tools that the folder brings.
        screen: who listens.

    Raises:
        UsageError: a file is missing or cannot be used, tools are not allowed, or a ground truth fails.
    """
    sandbox = open_workplace(folder, allow_tools=allow_tools)
    if isinstance(sandbox, OwnSandbox):
        _tell(sandbox, folder, screen)
        return sandbox, [effect.task for effect in check_tasks(sandbox, folder)]
    return sandbox, read_tasks(folder)


def tools_hash(folder: Path) -> dict[str, str]:
    """The fingerprint of a folder's own tools, under `tools`; empty if it brings none."""
    tools = own_tools_file(folder)
    return {} if tools is None else {"tools": sha256_of(tools)}


def new_workplace(
    target: str | Path,
    *,
    sandbox: str | Path | None = None,
    tools: str | Path | None = None,
    tasks: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> list[Effect]:
    """Make a folder for a workplace of one's own, and try all of it; without files, a small example.

    Args:
        target: the folder; it must not be there.
        sandbox: an SQLite file; it is copied.
        tools: a Python file with tools; it is copied and run.
        tasks: JSON lines; they are copied.
        screen: who listens.

    Returns:
        What each task does.

    Raises:
        UsageError: the folder is there, or a file cannot be used; nothing is written.
    """
    given = [None if file is None else Path(file) for file in (sandbox, tools, tasks)]
    made, effects = make_workplace(Path(target), Sources(*given))
    _tell(made, Path(target), screen)
    if sandbox is not None:
        moment = f"{made.now:%Y-%m-%d %H:%M:%S}, by this machine's clock"
        screen.say(
            f"{DataFolder(Path(target)).benchmark_file}: it is {moment}, and agents work for {made.user}: "
            "write there what your tasks need"
        )
    return effects


def check_workplace(
    folder: str | Path, *, allow_tools: bool = False, screen: Screen = DEFAULT
) -> list[Effect]:
    """Try the ground truths of a workplace of one's own.

    Args:
        folder: the data folder.
        allow_tools: run the tools that the folder brings.
        screen: who listens.

    Returns:
        What each task does.

    Raises:
        UsageError: something in the folder cannot be used.
    """
    if not Path(folder).is_dir():
        raise UsageError("no such folder", file=folder, fix="check its name")
    sandbox = open_workplace(folder, allow_tools=allow_tools)
    if not isinstance(sandbox, OwnSandbox):
        raise UsageError(
            "has no tools of its own", file=folder, fix="check a folder made by `toolassay workbench new`"
        )
    _tell(sandbox, Path(folder), screen)
    return check_tasks(sandbox, Path(folder))


def _tell(sandbox: OwnSandbox, folder: Path, screen: Screen) -> None:
    assert sandbox.toolset is not None
    domains = sandbox.toolset.toolkits
    tools = count_of(len(sandbox.toolset.tools), "tool")
    screen.say(f"{own_tools_file(folder)}: {tools} ({', '.join(domains)})")
