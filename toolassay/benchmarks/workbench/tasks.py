"""The tasks of a data folder: requests with their ground-truth calls."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import msgspec

from toolassay.benchmarks.workbench.sandbox import EDITIONS, StatedPlace, read_csv, read_facts
from toolassay.benchmarks.workbench.sandbox import FILE as SANDBOX
from toolassay.errors import UsageError
from toolassay.files.data_files import holds_list, read_json_lines, record_of
from toolassay.records.data_folder import DataFolder

FILE = "tasks.jsonl"
_LAYOUTS = {edition.layout: edition.task_version for edition in EDITIONS.values()}


@dataclass(frozen=True, slots=True)
class Task:
    """A request and its ground truth.

    Attributes:
        query: the request; results are joined with tasks on this text.
        answer: the ground-truth calls as text, see `calls.parse_call`.
        base_template: the template that the request was made from; without one, the request itself. Intervals
            and repeats resample by it.
        chosen_template: the wording of that template; may be empty.
        domains: the domains whose tools the task needs.
        group: the name of the published file, or the task's only domain, or `multi_domain`.
        id: unique in the folder; by default the group and the row or line number.
    """

    query: str
    answer: tuple[str, ...]
    base_template: str
    chosen_template: str
    domains: tuple[str, ...]
    group: str
    id: str


class TaskLine(msgspec.Struct, kw_only=True):
    """A line of `tasks.jsonl`; what is None has the default of `Task`. A user's own keys are ignored."""

    id: str | int | None = None
    query: str
    answer: tuple[str, ...]
    base_template: str | None = None
    chosen_template: str = ""
    domains: tuple[str, ...]

    def task(self, line: int) -> Task:
        """The task, with defaults by the number of its line."""
        group = self.domains[0] if len(self.domains) == 1 else "multi_domain"
        return Task(
            self.query,
            self.answer,
            self.query if self.base_template is None else self.base_template,
            self.chosen_template,
            self.domains,
            group,
            f"{group}-{line:03}" if self.id is None else str(self.id),
        )


def read_tasks(folder: Path, version: str | None = None) -> list[Task]:
    """Read the tasks of a folder, from `tasks.jsonl` if there is one, else from the published CSV files.

    Args:
        folder: the data folder.
        version: of the tasks, in the layout of 2026; None for the one that `benchmark.json` states.

    Raises:
        UsageError: there are no tasks, a task cannot be read, or two have the same request or id.
    """
    return [placed.task for placed in placed_tasks(folder, version)]


class PlacedTask(NamedTuple):
    """A task with the file and line that define it, for error messages."""

    task: Task
    file: Path
    line: int

    def error(self, problem: str, fix: str | None = None) -> UsageError:
        """An error message that names this task's line."""
        return UsageError(problem, file=self.file, line=self.line, fix=fix)


def placed_tasks(folder: Path, version: str | None = None) -> list[PlacedTask]:
    """Like `read_tasks`, with the place of each task.

    Raises:
        UsageError: there are no tasks, a task cannot be read, or two have the same request or id.
    """
    tasks: dict[str, PlacedTask] = {}
    ids: set[str] = set()
    source = folder / FILE
    for placed in _read_own(source) if source.exists() else _read_published(folder, version):
        task = placed.task
        if task.query in tasks:
            raise placed.error(f"duplicate request {task.query[:80]!r}", "reword one of the two")
        if task.id in ids:
            raise placed.error(f"duplicate id {task.id!r}", "choose another id")
        ids.add(task.id)
        tasks[task.query] = placed
    if not tasks:
        raise UsageError("contains no tasks", file=source, fix="write one JSON object per line")
    return list(tasks.values())


def fingerprint(tasks: Iterable[Task]) -> str:
    """The SHA-256 of tasks including their ground truth, as hexadecimal digits."""
    digest = hashlib.sha256(b"[")
    for number, task in enumerate(tasks):  # one by one: the text of all tasks would need as much memory again
        digest.update(f"{', ' if number else ''}{json.dumps(asdict(task))}".encode())
    digest.update(b"]")
    return digest.hexdigest()


def holds_tasks(folder: Path) -> bool:
    """Whether a folder is a WorkBench folder: published layout, or `tasks.jsonl` beside a database."""
    if any((folder / "processed" / layout).is_dir() for layout in _LAYOUTS):
        return True
    return (folder / FILE).is_file() and (folder / SANDBOX).is_file()


def parse_list(text: str, file: Path, line: int) -> tuple[str, ...]:
    """Parse a list of strings as Python prints it, as in the published CSV files. Nothing is executed.

    Raises:
        UsageError: the text is not a list of strings.
    """
    try:
        return msgspec.convert(ast.literal_eval(text) if text else (), tuple[str, ...])
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise UsageError("not a list of strings", file=file, line=line, fix='write ["…", "…"]') from None


def _read_own(path: Path) -> Iterator[PlacedTask]:
    if holds_list(path):
        raise UsageError("is a single JSON list", file=path, fix="write one JSON object per line")
    for line, entry in read_json_lines(path):
        keys = TaskLine.__struct_fields__
        for key in entry.keys() - keys if isinstance(entry, dict) else ():
            # A misspelt key is an error; a key that resembles no known one is a user's own addition.
            if near := get_close_matches(key, keys, n=1, cutoff=0.75):
                raise UsageError(
                    f"unknown key {key!r}", file=path, line=line, fix=f"did you mean {near[0]!r}?"
                )
        fix = 'write {"query": "…", "answer": ["…"], "domains": ["…"]}'
        record = record_of(entry, TaskLine, file=path, line=line, fix=fix)
        yield PlacedTask(record.task(line), path, line)


def _read_published(folder: Path, version: str | None) -> Iterator[PlacedTask]:
    layout = next((name for name in _LAYOUTS if (folder / "processed" / name).is_dir()), "")
    version = version or read_facts(DataFolder(folder), StatedPlace).task_version
    task_folder = folder / "processed" / layout / ("" if version == _LAYOUTS.get(layout) else version)
    suffix = f"_{layout}.csv"
    if not (files := sorted([*task_folder.glob(f"*{suffix}"), *task_folder.glob(f"*{suffix}.gz")])):
        patterns = " or ".join(f"processed/{layout}/*_{layout}.csv" for layout in _LAYOUTS)
        raise UsageError("no tasks", file=task_folder, fix=f"the folder needs {FILE}, or {patterns}")
    for path in files:
        group = path.name.partition(suffix)[0]
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
