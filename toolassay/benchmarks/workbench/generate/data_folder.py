"""The generated data folder: `sandbox.sqlite` (the same bytes everywhere), `tasks.jsonl`,
`benchmark.json`.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.generate.company import NOW, PEOPLE, USER, Tables, address
from toolassay.benchmarks.workbench.generate.generated_tasks import GeneratedTask
from toolassay.benchmarks.workbench.judge.error_classes import stated as stated_rules
from toolassay.benchmarks.workbench.sandbox import FILE, Sandbox
from toolassay.benchmarks.workbench.sandbox.sandbox import Rows
from toolassay.benchmarks.workbench.sandbox.schema import TABLES, create_statements
from toolassay.benchmarks.workbench.tasks import FILE as TASKS_FILE
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import atomic_target, sha256_of, write_json_lines


def sandbox_of(tables: Tables) -> Sandbox:
    """The sandbox with generated tables and the directory.

    Mail sent after a deletion is appended, and replaces no other mail.
    """
    visits = [
        [*list(visit.values())[:-1], int(visit["user_engaged"] == "True")] for visit in tables.analytics
    ]
    contents: dict[str, Rows] = {
        "calendar_events": [list(row.values()) for row in tables.calendar],
        "emails": [list(row.values()) for row in tables.email],
        "visits": visits,
        "tasks": [list(row.values()) for row in tables.project_management],
        "customers": [list(row.values()) for row in tables.customer_relationship_manager],
        "directory": [[email] for email in sorted(map(address, PEOPLE))],
    }
    return Sandbox.of(contents, now=NOW, user=USER, overwrites=False)


def stable_image(sandbox: Sandbox) -> bytes:
    """The sandbox as an SQLite file: the same bytes from every release and build of SQLite.

    Rows are written in one order, and what pages do not use is zero, as some builds have it by default.
    A database that was never a file has neither a change counter nor the number of a release in its header.
    """
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in ("PRAGMA page_size = 4096", "PRAGMA secure_delete = ON", *create_statements()):
            copy.execute(statement)
        for table in ("sandbox", "added_columns", *(layout.name for layout in TABLES)):
            for row in sandbox.connection.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                copy.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        return copy.serialize()
    finally:
        copy.close()


GENERATOR = 1
"""Raised whenever a seed gives other data than before."""

_SOURCE = (
    "Tables, names, texts and requests are the project's own; the kinds of tables and tools are those of "
    "WorkBench (MIT)."
)


def write_folder(path: Path, sandbox: Sandbox, tasks: Sequence[GeneratedTask], seed: int) -> None:
    """Write the three files; `benchmark.json` last, with the SHA-256 of the others.

    Raises:
        UsageError: the folder holds another benchmark, or files that were changed since they were generated.
        ToolassayError: it cannot be written.
    """
    check_replaceable(path)
    with atomic_target(path / FILE) as stream:
        stream.write(stable_image(sandbox))
    write_json_lines(path / TASKS_FILE, (task.to_json() for task in tasks))
    DataFolder(path).describe(
        benchmark="workbench",
        source=_SOURCE,
        generation={"generator": GENERATOR, "seed": seed},
        now=str(sandbox.now),
        user=sandbox.user,
        error_classes=stated_rules(sandbox),
        rows={table.name: len(sandbox.rows(table.name)) for table in TABLES},
        tasks=_counts(tasks),
        sha256={name: sha256_of(path / name) for name in (FILE, TASKS_FILE)},
    )


def check_replaceable(path: Path) -> None:
    """That a folder is empty of benchmarks, or holds just what was generated.

    Raises:
        UsageError: it does not.
    """
    folder = DataFolder(path)
    known: dict[str, Any] = folder.benchmark if folder.benchmark_file.exists() else {}
    if known.get("benchmark", "workbench") != "workbench":
        raise UsageError(f"is a {known['benchmark']} folder", file=path, fix="take another --data_dir")
    hashes = known.get("sha256")
    hashes = hashes if isinstance(hashes, dict) else {}
    for name in (FILE, TASKS_FILE):
        file = path / name
        if file.exists() and sha256_of(file) != hashes.get(name):
            raise UsageError(
                "is not as it was generated", file=file, fix="move it away, or take another --data_dir"
            )


def _counts(tasks: Sequence[GeneratedTask]) -> dict[str, Any]:
    """How many tasks there are, in all and for each group: templates, wordings, needed calls."""
    groups: dict[str, list[GeneratedTask]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    return {"all": _count(tasks), **{group: _count(some) for group, some in groups.items()}}


def _count(tasks: Sequence[GeneratedTask]) -> dict[str, int]:
    sizes = Counter(min(len(task.answer), 2) for task in tasks)
    return {
        "tasks": len(tasks),
        "templates": len({task.base_template for task in tasks}),
        "wordings": len({task.chosen_template for task in tasks}),
        "no_call": sizes[0],
        "one_call": sizes[1],
        "several_calls": sizes[2],
        "most_calls": max(len(task.answer) for task in tasks),
    }
