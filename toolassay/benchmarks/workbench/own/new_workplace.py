"""`toolassay workbench new`: a user-defined workplace is written to a temporary folder, checked, and
moved into place.
"""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from toolassay.benchmarks.workbench.own.database import read_database
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox
from toolassay.benchmarks.workbench.own.task_check import Effect, check_tasks
from toolassay.benchmarks.workbench.sandbox import FILE as SANDBOX
from toolassay.benchmarks.workbench.tasks import FILE as TASKS
from toolassay.benchmarks.workbench.workplace import TOOLS, load_own
from toolassay.errors import UsageError
from toolassay.files import write_json, write_json_lines
from toolassay.locks import temporary_folder

_EXAMPLE = Path(__file__).parent / "example"
_NOW, _USER = datetime(2024, 5, 14, 10), "Maya"
_CUSTOMS = "The library lends for 21 days."


@dataclass(frozen=True)
class Sources:
    """The files to make a workplace from. Without any, the bundled example is used.

    Args:
        sandbox: an SQLite file.
        tools: a Python file; requires `sandbox`.
        tasks: a JSON Lines file; requires `tools`.

    Raises:
        UsageError: a file is given without the one it requires.
    """

    sandbox: Path | None = None
    tools: Path | None = None
    tasks: Path | None = None

    def __post_init__(self) -> None:
        for name, given, needed in (
            ("tools", self.tools, self.sandbox),
            ("tasks", self.tasks, self.tools),
        ):
            if given is not None and needed is None:
                other = {"tools": "sandbox", "tasks": "tools"}[name]
                raise UsageError(f"--{name} without --{other}", fix=f"add --{other} FILE")


def make_workplace(target: Path, sources: Sources) -> tuple[OwnSandbox, list[Effect]]:
    """Make a folder with a database, tools and tasks. It is created only if all of them work together.

    Args:
        target: the new folder; must not exist.
        sources: the files; they are copied and never changed.

    Returns:
        The workplace, and the effect of each task.

    Raises:
        UsageError: the folder exists, or a file cannot be used.
    """
    if target.name in ("", ".."):
        raise UsageError("the new folder has no name", fix="name it, e.g. library")
    if target.exists() or target.is_symlink():
        raise UsageError("exists already", file=target, fix="choose another name, or remove it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(target.parent) as made:
        draft = made / target.name
        draft.mkdir()
        try:
            _fill(draft, sources)
            sandbox = load_own(draft)
            if sources.sandbox and not sources.tasks:
                _write_first_task(draft, sandbox)
            effects = check_tasks(sandbox, draft)
        except UsageError as error:
            raise UsageError(_in_words(str(error), draft, sources)) from error
        draft.rename(target)
    return sandbox, effects


def _fill(draft: Path, sources: Sources) -> None:
    example = sources.sandbox is None
    if sources.sandbox is None:
        library = sqlite3.connect(":memory:")
        library.executescript((_EXAMPLE / "library.sql").read_text(encoding="utf-8"))
        image = library.serialize()
        library.close()
    else:
        image = read_database(sources.sandbox)
    (draft / SANDBOX).write_bytes(image)
    tools = sources.tools or _EXAMPLE / ("tools.py" if example else "first_tools.py")
    _copy(tools, draft / TOOLS)
    if example:
        _copy(_EXAMPLE / "tasks.jsonl", draft / TASKS)
    elif sources.tasks:
        _copy(sources.tasks, draft / TASKS)
    now = _NOW if example else datetime.now()
    about = {
        "benchmark": "workbench",
        "tools": TOOLS,
        "now": now.strftime("%Y-%m-%d %H:%M:%S"),
        "user": _USER if example else "the user",
        "customs": _CUSTOMS if example else "",
        "ignore": [],
        "verbatim": ["books.shelf"] if example else [],
    }
    write_json(draft / "benchmark.json", about)


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", file=source, fix="check the path") from None


def _write_first_task(draft: Path, sandbox: OwnSandbox) -> None:
    """Write a placeholder task, which asks for nothing, for the user to replace."""
    assert sandbox.toolset is not None
    domain = next(iter(sandbox.toolset.toolkits))
    task = {"query": "Do nothing. (Write your own requests here.)", "answer": [], "domains": [domain]}
    write_json_lines(draft / TASKS, [task])


def _in_words(message: str, draft: Path, sources: Sources) -> str:
    """An error message about the draft, with the paths of the files that the user gave."""
    for name, given in ((SANDBOX, sources.sandbox), (TOOLS, sources.tools), (TASKS, sources.tasks)):
        message = message.replace(str(draft / name), str(given or name))
    return message.replace(f"{draft}/", "")
