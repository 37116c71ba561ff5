"""The tasks of a data folder: a request each, and the calls that carry it out."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.sandbox import FILE as SANDBOX
from toolassay.benchmarks.workbench.sandbox.published_layout import read_csv
from toolassay.errors import UsageError
from toolassay.files import holds_list, read_json_lines

FILE = "tasks.jsonl"
_KEYS = ("query", "answer", "domains", "id", "base_template", "chosen_template")
_PUBLISHED = Path("processed", "queries_and_answers")
_SUFFIX = "_queries_and_answers.csv"


@dataclass(frozen=True)
class Task:
    """A request and its ground truth.

    Args:
        query: the request; what results are joined on.
        answer: calls as text, see `calls.parse_call`.
        base_template: what it was made from; the request itself if it was made from nothing.
        chosen_template: the wording of that.
        domains: whose tools it needs.
        group: the published file it is from, or its domain, or `multi_domain`.
        id: its own, or the group and the number of its row.
    """

    query: str
    answer: tuple[str, ...]
    base_template: str
    chosen_template: str
    domains: tuple[str, ...]
    group: str
    id: str


def read_tasks(folder: Path) -> list[Task]:
    """The tasks in a folder's `tasks.jsonl`, or in the published CSV files.

    Raises:
        UsageError: there are none, one cannot be read, or two have the same request.
    """
    return [placed.task for placed in placed_tasks(folder)]


class PlacedTask(NamedTuple):
    """A task, and where it is written."""

    task: Task
    file: Path
    line: int


def placed_tasks(folder: Path) -> list[PlacedTask]:
    """The tasks of a folder with their places.

    Raises:
        UsageError: there are none, one cannot be read, or two have the same request.
    """
    tasks: dict[str, PlacedTask] = {}
    ids: set[str] = set()
    source = folder / FILE
    for placed in _read_own(source) if source.exists() else _read_published(folder / _PUBLISHED):
        task, file, line = placed
        if task.query in tasks:
            raise UsageError(
                f"the request {task.query[:80]!r} is there twice", file=file, line=line, fix="reword one"
            )
        if task.id in ids:
            raise UsageError(
                f"the id {task.id!r} is there twice", file=file, line=line, fix="give it another"
            )
        ids.add(task.id)
        tasks[task.query] = placed
    if not tasks and source.exists():
        raise UsageError("holds no tasks", file=source, fix="write one object a line")
    if not tasks:
        raise UsageError("no tasks", file=folder, fix=f"the folder needs {FILE}, or {_PUBLISHED}/*{_SUFFIX}")
    return list(tasks.values())


def fingerprint(tasks: Iterable[Task]) -> str:
    """The SHA-256 of tasks and their ground truth, in hexadecimal."""
    return hashlib.sha256(json.dumps([asdict(task) for task in tasks]).encode()).hexdigest()


def holds_tasks(folder: Path) -> bool:
    """Whether a folder holds tasks of this benchmark, in the published layout or beside a database."""
    return (folder / _PUBLISHED).is_dir() or ((folder / FILE).is_file() and (folder / SANDBOX).is_file())


def parse_list(text: str, file: Path, line: int) -> tuple[str, ...]:
    """The texts in a list as Python prints it; nothing is run.

    Raises:
        UsageError: it is no such list.
    """
    try:
        value = ast.literal_eval(text) if text else []
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        value = None
    return _texts(value, file, line)


def _read_own(path: Path) -> Iterator[PlacedTask]:
    if holds_list(path):
        raise UsageError("is one list", file=path, fix="write one object a line")
    for line, entry in read_json_lines(path):
        if not isinstance(entry, dict):
            raise UsageError("is no object", file=path, line=line, fix="write one object a line")
        for key in entry.keys() - _KEYS:
            if near := get_close_matches(key, _KEYS, n=1, cutoff=0.75):
                raise UsageError(
                    f"unknown key {key!r}", file=path, line=line, fix=f"the nearest known one is {near[0]!r}"
                )
        for key in ("query", "answer", "domains"):
            if key not in entry:
                raise UsageError(f"a task without {key!r}", file=path, line=line, fix="add it")
        if not isinstance(entry["query"], str):
            raise UsageError("'query' is no text", file=path, line=line, fix='write "…"')
        domains = _texts(entry.get("domains"), path, line, "'domains' is ")
        yield PlacedTask(
            Task(
                entry["query"],
                _texts(entry.get("answer"), path, line, "'answer' is "),
                str(entry.get("base_template", entry["query"])),
                str(entry.get("chosen_template", "")),
                domains,
                group := domains[0] if len(domains) == 1 else "multi_domain",
                str(entry.get("id", f"{group}-{line:03}")),
            ),
            path,
            line,
        )


def _read_published(folder: Path) -> Iterator[PlacedTask]:
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        group = path.name.removesuffix(_SUFFIX)
        for number, row in enumerate(read_csv(path), start=1):
            cells = {name: cell or "" for name, cell in row.items()}
            if missing := {"query", "answer", "base_template", "domains"} - set(cells):
                raise UsageError(f"has no column {min(missing)!r}", file=path, fix="use the published file")
            yield PlacedTask(
                Task(
                    cells["query"],
                    parse_list(cells["answer"], path, number),
                    cells["base_template"],
                    cells.get("chosen_template", ""),
                    parse_list(cells["domains"], path, number),
                    group,
                    f"{group}-{number:03}",
                ),
                path,
                number,
            )


def _texts(value: Any, file: Path, line: int, what: str = "") -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{what}not a list of texts", file=file, line=line, fix='write ["…", "…"]')
    return tuple(value)
