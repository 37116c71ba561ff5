"""The generated data folder: `sandbox.sqlite` (byte-identical on every platform), `tasks.jsonl` and
`benchmark.json`.

The 690 requests of a seed have ground-truth calls, each of which is proved to have an effect.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.calls import run_text

# These two define the templates.
from toolassay.benchmarks.workbench.generate import templates  # noqa: F401
from toolassay.benchmarks.workbench.generate.company import (
    NOW,
    PEOPLE,
    USER,
    SeededRandom,
    Tables,
    address,
    texts,
)
from toolassay.benchmarks.workbench.generate.draft import TASKS, TEMPLATES, Draft, Template, Unusable
from toolassay.benchmarks.workbench.sandbox import FILE, TABLES, Rows, Sandbox, create_statements
from toolassay.benchmarks.workbench.tasks import FILE as TASKS_FILE
from toolassay.benchmarks.workbench.tasks import Task, TaskLine
from toolassay.benchmarks.workbench.tools import ToolFailure
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import atomic_target, sha256_of, write_json_lines
from toolassay.records.data_folder import DataFolder

_TRIES = 20_000  # draws per template; a seed that needs more has too few fitting rows


class NoRoom(ToolassayError):
    """The tables have too few rows for a template's ten requests."""


def draw_tasks(tables: Tables, seed: int) -> list[Task]:
    """Draw ten different requests for each template.

    Raises:
        ToolassayError: the tables of this seed do not allow a template's mix of calls.
    """
    tasks: list[Task] = []
    for group, kinds in TEMPLATES.items():
        number = 0
        for template in kinds:
            for place, (gaps, calls) in enumerate(_fillings(template, tables, seed)):
                number += 1
                wording = template.wordings[place % len(template.wordings)]
                tasks.append(
                    Task(
                        query=wording.format(**gaps),
                        answer=calls,
                        base_template=template.wordings[0],
                        chosen_template=wording,
                        domains=template.domains,
                        group=group,
                        id=f"{group}-{number:03}",
                    )
                )
    return tasks


def _fillings(
    template: Template, tables: Tables, seed: int
) -> Iterator[tuple[dict[str, str], tuple[str, ...]]]:
    """Ten different fillings of a template, with the template's mix of calls."""
    rng = SeededRandom(seed, f"tasks/{template.name}")
    room = Counter(template.mix._asdict())
    seen = set[tuple[str, ...]]()
    for _ in range(_TRIES):
        draft = Draft(tables, rng)
        try:
            calls = tuple(map(str, template.fill(draft)))
        except Unusable:
            continue
        # What makes a request unique: requests that differ only in the text of an e-mail count as equal.
        key = tuple(text for gap, text in draft.gaps.items() if not gap.endswith(("subject", "body")))
        if key in seen:
            continue
        size = ("none", "one", "many")[min(len(calls), 2)]
        if room[size]:
            room[size] -= 1
            seen.add(key)
            yield draft.gaps, calls
            if len(seen) == TASKS:
                return
    raise NoRoom(
        f"the tables of seed {seed} do not allow ten requests of the template {template.name}",
        fix="choose another seed",
    )


def prove_task(sandbox: Sandbox, task: Task) -> None:
    """Run the calls of a task on a copy of the sandbox.

    Raises:
        ToolassayError: a call fails or has no effect.
    """
    with closing(sandbox.fork()) as copy:
        for text in task.answer:
            before = copy.connection.total_changes
            try:
                run_text(copy, text)
            except ToolFailure as failure:
                raise ToolassayError(f"{task.id}: {failure}") from failure
            if copy.connection.total_changes == before:
                raise ToolassayError(f"{task.id}: no effect: {text}")


def has_our_wordings(tasks: Sequence[Task]) -> bool:
    """Whether at least half of the requests are worded by this generator.

    A task's own `chosen_template` counts only if its request is an instance of it; a reworded request is not.
    """
    groups = texts("wordings").values()
    known = {wording for group in groups for ways in group.values() for wording in ways}
    ours = [
        task.chosen_template in known and matches_wording(task.query, task.chosen_template) for task in tasks
    ]
    return 0 < len(tasks) <= 2 * sum(ours)


def matches_wording(request: str, wording: str) -> bool:
    """Whether a request is a wording with its gaps filled.

    >>> matches_wording("Cancel the Review of Ann.", "Cancel the {event} of {person}.")
    True
    >>> matches_wording("Please cancel Ann's Review.", "Cancel the {event} of {person}.")
    False
    """
    return fnmatchcase(request, re.sub(r"\{\w+\}", "*", escape(wording)))


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
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        for statement in ("PRAGMA page_size = 4096", "PRAGMA secure_delete = ON", *create_statements()):
            copy.execute(statement)
        for table in ("sandbox", "added_columns", *(layout.name for layout in TABLES)):
            for row in sandbox.connection.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                copy.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        return copy.serialize()


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
    DataFolder(path).update_benchmark(
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
