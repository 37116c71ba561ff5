"""`toolassay workbench new`: a user-defined workplace is written to a temporary folder, checked, and
moved into place.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from toolassay.benchmarks.workbench.calls import parse_call, run_text
from toolassay.benchmarks.workbench.judge.strict import StateChange, changes_between
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox, read_database
from toolassay.benchmarks.workbench.sandbox import FILE as SANDBOX
from toolassay.benchmarks.workbench.tasks import FILE as TASKS
from toolassay.benchmarks.workbench.tasks import PlacedTask, Task, placed_tasks
from toolassay.benchmarks.workbench.tools import ToolFailure, toolset_of
from toolassay.benchmarks.workbench.workplace import TOOLS, load_own
from toolassay.errors import UsageError
from toolassay.files import write_json, write_json_lines
from toolassay.locks import temporary_folder
from toolassay.text_formatting import count_of

_NOUNS = {"gone": "row", "new": "row", "changed": "cell"}


@dataclass(frozen=True)
class Effect:
    """The effect of a task's ground truth.

    Args:
        task: the task.
        changes: the changes to judged tables; empty if the task asks for no action.
    """

    task: Task
    changes: tuple[StateChange, ...]

    @property
    def is_idle(self) -> bool:
        """Whether the ground truth has calls but changes nothing, which is probably a mistake."""
        return bool(self.task.answer) and not self.changes

    @property
    def summary(self) -> str:
        """One line: the number of rows gone, rows new and cells changed, by table.

        >>> Effect(Task("Hello", (), "", "", ("desk",), "desk", "desk-001"), ()).summary
        'desk-001: no action'
        """
        if self.is_idle:
            return f"{self.task.id}: warning: its answer has calls, and changes nothing"
        counts = Counter((change.table, change.kind) for change in self.changes)
        counted = ", ".join(
            f"{table}: {count_of(count, _NOUNS[kind])} {kind}" for (table, kind), count in counts.items()
        )
        return f"{self.task.id}: {counted or 'no action'}"


def check_tasks(sandbox: OwnSandbox, folder: Path) -> list[Effect]:
    """Run the ground truth of every task twice, each time on a fresh copy.

    Raises:
        UsageError: a task cannot be read, occurs twice, names an unknown domain or a tool outside its
            domains; a call of its ground truth fails; or the two runs leave different states.
    """
    return [_effect(sandbox, placed) for placed in placed_tasks(folder)]


def _effect(sandbox: OwnSandbox, placed: PlacedTask) -> Effect:
    task, toolset = placed.task, toolset_of(sandbox)
    try:
        known = {tool.name for tool in toolset.of_domains(task.domains)}
    except UsageError as error:
        raise placed.error(str(error)) from None
    for text in task.answer:
        call = parse_call(text, toolset)
        if call is None:
            raise placed.error(f"not a call: {text[:200]}", 'write domain.tool.func(name="value")')
        if call.name in toolset.tools and call.name not in known:
            fix = f"add {call.name.partition('.')[0]!r} to 'domains'"
            raise placed.error(f"{call.name} belongs to none of the task's domains", fix)
    first, second = (_changes(sandbox, placed) for _ in range(2))
    if first != second:
        (differing, *_) = (first - second) | (second - first)
        raise placed.error(
            f"two runs of the ground truth leave different rows in the table {differing.table}",
            "use now(db) for the time and no random values, or list the column under 'ignore'",
        )
    return Effect(task, tuple(first.elements()))


def _changes(sandbox: OwnSandbox, placed: PlacedTask) -> Counter[StateChange]:
    copy = sandbox.fork()
    try:
        for text in placed.task.answer:
            try:
                run_text(copy, text)
            except ToolFailure as failure:
                problem = f"the ground truth fails: {text[:200]}: {failure}"
                raise placed.error(problem, "correct the call or the tool") from failure
        return Counter(changes_between(sandbox, copy))
    except sqlite3.Error as error:
        raise placed.error(f"the state cannot be compared: {error}", "correct the database") from None
    finally:
        copy.close()


_EXAMPLE = Path(__file__).parent / "example"
_FACTS = "benchmark.json"


def make_workplace(
    target: Path, sandbox: Path | None = None, tools: Path | None = None, tasks: Path | None = None
) -> tuple[OwnSandbox, list[Effect]]:
    """Make a folder with a database, tools and tasks. It is created only if all of them work together.

    Args:
        target: the new folder; must not exist.
        sandbox: an SQLite file; without one, the bundled example is used. Files are copied and never changed.
        tools: a Python file; requires `sandbox`.
        tasks: a JSON Lines file; requires `tools`.

    Returns:
        The workplace, and the effect of each task.

    Raises:
        UsageError: the folder exists, a file cannot be used, or is given without the one it requires.
    """
    for flag, given, needed, present in (
        ("tools", tools, "sandbox", sandbox),
        ("tasks", tasks, "tools", tools),
    ):
        if given is not None and present is None:
            raise UsageError(f"--{flag} without --{needed}", fix=f"add --{needed} FILE")
    if target.name in ("", ".."):
        raise UsageError("the new folder has no name", fix="name it, e.g. library")
    if target.exists() or target.is_symlink():
        raise UsageError("exists already", file=target, fix="choose another name, or remove it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(target.parent) as made:
        draft = made / target.name
        draft.mkdir()
        try:
            copied = {TOOLS: tools or _EXAMPLE / "first_tools.py", TASKS: tasks}
            if sandbox is None:
                copied = {name: _EXAMPLE / name for name in (TOOLS, TASKS, _FACTS)}
                library = sqlite3.connect(":memory:")
                library.executescript((_EXAMPLE / "library.sql").read_text(encoding="utf-8"))
                (draft / SANDBOX).write_bytes(library.serialize())
                library.close()
            else:
                now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
                about = {"benchmark": "workbench", "tools": TOOLS, "now": now, "user": "the user"}
                write_json(draft / _FACTS, {**about, "customs": "", "ignore": [], "verbatim": []})
                (draft / SANDBOX).write_bytes(read_database(sandbox))
            for name, source in copied.items():
                try:
                    if source is not None:
                        shutil.copyfile(source, draft / name)
                except OSError as error:
                    problem = f"cannot be read: {error.strerror}"
                    raise UsageError(problem, file=source, fix="check the path") from None
            workplace = load_own(draft)
            if sandbox and not tasks:  # a placeholder for the user to replace
                query = "Do nothing. (Write your own requests here.)"
                domains = [next(iter(toolset_of(workplace).toolkits))]
                write_json_lines(draft / TASKS, [{"query": query, "answer": [], "domains": domains}])
            effects = check_tasks(workplace, draft)
        except UsageError as error:
            message = str(error)  # with the paths of the files that the user gave
            for name, file in ((SANDBOX, sandbox), (TOOLS, tools), (TASKS, tasks)):
                message = message.replace(str(draft / name), str(file or name))
            raise UsageError(message.replace(f"{draft}/", "")) from error
        draft.rename(target)
    return workplace, effects
