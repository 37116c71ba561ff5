"""The generated data folder: `sandbox.sqlite` (byte-identical on every platform), `tasks.jsonl` and
`benchmark.json`.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.generate.company import NOW, PEOPLE, USER, Tables, address
from toolassay.benchmarks.workbench.sandbox import FILE, TABLES, Rows, Sandbox, create_statements
from toolassay.benchmarks.workbench.tasks import FILE as TASKS_FILE
from toolassay.benchmarks.workbench.tasks import Task, TaskLine
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import atomic_target, sha256_of, write_json_lines


def sandbox_of(tables: Tables) -> Sandbox:
    """A sandbox with the generated tables and the directory.

    Sent mail is always appended, unlike in the published sandbox, where it can replace other mail.
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
    """The sandbox as an SQLite file with the same bytes from every release and build of SQLite.

    Three things make it so: rows are written in a fixed order; `secure_delete` zeroes unused bytes, which
    only some builds do by default; and the header of a database that was never a file has neither a change
    counter nor a release number.
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
"""Version of the generator; increased whenever a seed gives other data than before."""

_SOURCE = (
    "Tables, names, texts and requests are the project's own; the kinds of tables and tools are those of "
    "WorkBench (MIT)."
)


def write_folder(path: Path, sandbox: Sandbox, tasks: Sequence[Task], seed: int) -> None:
    """Write the three files. `benchmark.json` comes last, with the SHA-256 of the others.

    Raises:
        UsageError: the folder has another benchmark, or files that were changed since they were generated.
        ToolassayError: a file cannot be written.
    """
    check_replaceable(path)
    with atomic_target(path / FILE) as stream:
        stream.write(stable_image(sandbox))
    write_json_lines(
        path / TASKS_FILE, ({key: getattr(task, key) for key in TaskLine.__struct_fields__} for task in tasks)
    )
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    DataFolder(path).describe(
        benchmark="workbench",
        source=_SOURCE,
        generation={"generator": GENERATOR, "seed": seed},
        now=str(sandbox.now),
        user=sandbox.user,
        rows={table.name: len(sandbox.rows(table.name)) for table in TABLES},
        tasks={"all": _count(tasks), **{group: _count(some) for group, some in groups.items()}},
        sha256={name: sha256_of(path / name) for name in (FILE, TASKS_FILE)},
    )


def check_replaceable(path: Path) -> None:
    """Check that a folder has no benchmark, or exactly the files that were generated.

    Raises:
        UsageError: the folder has anything else.
    """
    folder = DataFolder(path)
    known: dict[str, Any] = folder.written_benchmark if folder.benchmark_file.exists() else {}
    if known.get("benchmark", "workbench") != "workbench":
        raise UsageError(f"is a {known['benchmark']} folder", file=path, fix="choose another --data_dir")
    hashes = known.get("sha256")
    hashes = hashes if isinstance(hashes, dict) else {}
    for name in (FILE, TASKS_FILE):
        file = path / name
        if file.exists() and sha256_of(file) != hashes.get(name):
            raise UsageError(
                "was changed since it was generated",
                file=file,
                fix="move it away, or choose another --data_dir",
            )


def _count(tasks: Sequence[Task]) -> dict[str, int]:
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
