"""Checks of requests about project tasks."""

from __future__ import annotations

import sqlite3

from toolassay.benchmarks.workbench.generate.checks.expected import (
    Check,
    ExpectedChanges,
    Gaps,
    changed,
    task,
)
from toolassay.benchmarks.workbench.generate.checks.lookups import address_of, column, parse_day

_IDS = "SELECT task_id FROM tasks WHERE assigned_to_email = ? AND "


def _up_to(db: sqlite3.Connection, gaps: Gaps, lists: str) -> list[str]:
    query = _IDS + f"list_name IN ({lists}) AND due_date <= ?"
    return column(db, query, address_of(db, gaps["person"]), parse_day(gaps["last"]))


def _unstarted(db: sqlite3.Connection, gaps: Gaps) -> list[str]:
    query = _IDS + "list_name = 'Backlog' AND due_date < ?"
    return column(db, query, address_of(db, gaps["person"]), parse_day(gaps["limit"]))


def _to_review(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed("tasks", _up_to(db, gaps, "'In Progress'"), "list_name", "In Review")


def _create(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return task(gaps["name"], address_of(db, gaps["person"]), parse_day(gaps["due"]), gaps["board"])


def _start_due(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed("tasks", _unstarted(db, gaps), "list_name", "In Progress")


def _complete(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed("tasks", _up_to(db, gaps, "'In Review'"), "list_name", "Completed")


def _stand_in(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed(
        "tasks", _up_to(db, gaps, "'In Progress'"), "assigned_to_email", address_of(db, gaps["to"])
    )


def _back_to_backlog(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed("tasks", _up_to(db, gaps, "'In Progress', 'In Review'"), "list_name", "Backlog")


def _give_unstarted(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed("tasks", _unstarted(db, gaps), "assigned_to_email", address_of(db, gaps["to"]))


def _give_most_urgent(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    person = address_of(db, gaps["person"])
    first = "SELECT min(due_date) FROM tasks WHERE assigned_to_email = ? AND list_name <> 'Completed'"
    found = column(db, _IDS + f"list_name <> 'Completed' AND due_date = ({first})", person, person)
    if len(found) != 1:
        raise ValueError(f"{len(found)} tasks of {person} are due first")
    return changed("tasks", found, "assigned_to_email", address_of(db, gaps["to"]))


CHECKS: dict[str, Check] = {
    "to_review": _to_review,
    "create": _create,
    "start_due": _start_due,
    "complete": _complete,
    "stand_in": _stand_in,
    "back_to_backlog": _back_to_backlog,
    "give_unstarted": _give_unstarted,
    "give_most_urgent": _give_most_urgent,
}
