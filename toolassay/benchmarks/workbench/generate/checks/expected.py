"""The changes that a request should make to the tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from toolassay.benchmarks.workbench.sandbox.difference import TableDifference
from toolassay.benchmarks.workbench.sandbox.schema import TABLES

_IDS = {table.name: table.id for table in TABLES}


@dataclass
class ExpectedChanges:
    """Rows to delete, add and change.

    Args:
        gone: table and id.
        new: cells by table, in order, without the id and without empty cells.
        changed: table, id, column and new value.
    """

    gone: set[tuple[str, str]] = field(default_factory=set)
    new: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    changed: set[tuple[str, str, str, str]] = field(default_factory=set)

    def __add__(self, other: ExpectedChanges) -> ExpectedChanges:
        new = {table: self.new.get(table, []) + rows for table, rows in other.new.items()}
        return ExpectedChanges(self.gone | other.gone, {**self.new, **new}, self.changed | other.changed)

    @classmethod
    def of(cls, differences: Mapping[str, TableDifference]) -> ExpectedChanges:
        """The changes that were made, in the same form."""
        found = cls()
        for table, difference in differences.items():
            found.gone |= {(table, str(cells[0])) for cells in difference.gone}
            found.changed |= {
                (table, str(change.id), change.column, str(change.new)) for change in difference.changed
            }
            for row in difference.new:
                keep = {name: str(cell) for name, cell in row.items() if cell not in (None, "")}
                if table != "plots":
                    del keep[_IDS[table]]
                found.new.setdefault(table, []).append(keep)
        return found


Gaps = Mapping[str, str]
Check = Callable[[sqlite3.Connection, Gaps], ExpectedChanges]
"""Computes the changes from the sandbox before the request and the gaps of its wording."""

NOTHING = ExpectedChanges()


def gone(table: str, ids: Iterable[str]) -> ExpectedChanges:
    """Rows to delete."""
    return ExpectedChanges(gone={(table, row) for row in ids})


def changed(table: str, ids: Iterable[str], column: str, value: str) -> ExpectedChanges:
    """Rows whose column gets a new value."""
    return ExpectedChanges(changed={(table, row, column, value) for row in ids})


def new(table: str, **cells: str) -> ExpectedChanges:
    """One row to add."""
    return ExpectedChanges(new={table: [cells]})


def mail(recipient: str, subject: str, body: str) -> ExpectedChanges:
    """One e-mail to send, at the current time."""
    cells = {"inbox/outbox": "outbox", "sender/recipient": recipient, "subject": subject, "body": body}
    return new("emails", **cells, sent_datetime="2023-11-30 00:00:00")


def meeting(name: str, participant: str, start: str, duration: int) -> ExpectedChanges:
    """One meeting to add."""
    return new(
        "calendar_events",
        event_name=name,
        participant_email=participant,
        event_start=start,
        duration=str(duration),
    )


def task(name: str, assignee: str, due: str, board: str) -> ExpectedChanges:
    """One task to add to a backlog."""
    return new(
        "tasks", task_name=name, assigned_to_email=assignee, list_name="Backlog", due_date=due, board=board
    )
