"""Checks the tasks of a user-defined workplace by running their ground truth, and reports its effect."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.workbench.calls import parse_call, run_text
from toolassay.benchmarks.workbench.judge.strict import StateChange, changes_between
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox
from toolassay.benchmarks.workbench.tasks import PlacedTask, Task, placed_tasks
from toolassay.benchmarks.workbench.tools import ToolFailure, toolset_of
from toolassay.errors import UsageError
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
    task, file, line = placed
    try:
        known = {tool.name for tool in toolset_of(sandbox).of_domains(task.domains)}
    except UsageError as error:
        raise UsageError(str(error), file=file, line=line) from None
    for text in task.answer:
        call = parse_call(text, toolset_of(sandbox))
        if call is None:
            raise UsageError(
                f"not a call: {text[:200]}", file=file, line=line, fix='write domain.tool.func(name="value")'
            )
        if call.name in toolset_of(sandbox).tools and call.name not in known:
            raise UsageError(
                f"{call.name} belongs to none of the task's domains",
                file=file,
                line=line,
                fix=f"add {call.name.partition('.')[0]!r} to 'domains'",
            )
    first, second = (_changes(sandbox, placed) for _ in range(2))
    if first != second:
        (differing, *_) = (first - second) | (second - first)
        raise UsageError(
            f"two runs of the ground truth leave different rows in the table {differing.table}",
            file=file,
            line=line,
            fix="use now(db) for the time and no random values, or list the column under 'ignore'",
        )
    return Effect(task, tuple(first.elements()))


def _changes(sandbox: OwnSandbox, placed: PlacedTask) -> Counter[StateChange]:
    task, file, line = placed
    copy = sandbox.fork()
    try:
        for text in task.answer:
            try:
                run_text(copy, text)
            except ToolFailure as failure:
                raise UsageError(
                    f"the ground truth fails: {text[:200]}: {failure}",
                    file=file,
                    line=line,
                    fix="correct the call or the tool",
                ) from failure
        return Counter(changes_between(sandbox, copy))
    except sqlite3.Error as error:
        raise UsageError(
            f"the state cannot be compared: {error}", file=file, line=line, fix="correct the database"
        ) from None
    finally:
        copy.close()
