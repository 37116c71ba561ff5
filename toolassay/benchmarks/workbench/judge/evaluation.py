"""Evaluation of published result files: reads the files, gives one verdict per row, and classifies the
differences between strict and compat verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.judge.compat import CompatJudge, CompatVerdict
from toolassay.benchmarks.workbench.judge.error_classes import (
    PUBLISHED,
    ErrorClasses,
    ErrorRules,
    classify_run,
)
from toolassay.benchmarks.workbench.judge.strict import StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.published_layout import read_csv
from toolassay.benchmarks.workbench.tasks import Task, parse_list
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.errors import UsageError

# Matches "gpt-4_all_2024-03-21_15-21-12" and "gpt-4_domains"; not "gpt-4_tools".
_NAME = re.compile(r"(?P<model>.+)_(?P<setting>all|domains)(_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)?")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one request.

    Args:
        query: the request.
        calls: the agent's calls as text, in order.
        error: the error message; empty if the run succeeded.
    """

    query: str
    calls: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True)
class ResultFile:
    """One result file.

    Args:
        path: of the file.
        name: its path below the given folder, with slashes.
    """

    path: Path
    name: str

    @property
    def model(self) -> str:
        """The model's name, taken from the file name.

        >>> ResultFile(Path("gpt-4_all_2024-03-21_15-21-12.csv"), "").model
        'gpt-4'
        """
        found = _NAME.fullmatch(self.path.stem)
        return found["model"] if found else self.path.stem

    @property
    def tool_selection(self) -> str | None:
        """`all` or `domains`, taken from the file name; None if it contains neither."""
        found = _NAME.fullmatch(self.path.stem)
        return found["setting"] if found else None

    def read(self) -> Iterator[Result]:
        """The results, in order.

        Raises:
            UsageError: the file is not a result file, or has no rows.
        """
        number = 0
        for number, row in enumerate(read_csv(self.path), start=1):
            if missing := {"query", "function_calls", "error"} - set(row):
                raise UsageError(
                    f"has no column {min(missing)!r}", file=self.path, fix="give a published result file"
                )
            calls = parse_list(row["function_calls"] or "", self.path, number)
            yield Result(row["query"] or "", calls, row["error"] or "")
        if not number:
            raise UsageError("has no rows", file=self.path, fix="give a published result file")


def result_files(path: Path) -> list[ResultFile]:
    """The given result file, or all CSV files below the given folder, sorted by name.

    Raises:
        UsageError: the folder contains no CSV file.
    """
    if path.is_file():
        return [ResultFile(path, path.name)]
    found = sorted((file.relative_to(path).as_posix(), file) for file in path.rglob("*.csv"))
    if not found:
        raise UsageError("no result files", file=path, fix="give a CSV file, or a folder with CSV files")
    return [ResultFile(file, name) for name, file in found]


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict on one run.

    Args:
        file: the result file.
        row: the row number in it, from 0.
        task: the task.
        result: the run's calls and error.
        correct: whether the run is correct in the chosen mode.
        side_effects: whether something changed that should not have.
        classes: exact match and error classes.
        strict: the full strict verdict, in strict mode.
    """

    file: str
    row: int
    task: Task
    result: Result
    correct: bool
    side_effects: bool
    classes: ErrorClasses
    strict: StrictVerdict | None = None

    def to_json(self) -> dict[str, Any]:
        """The verdict as a line of the verdicts file."""
        return {
            "file": self.file,
            "row": self.row,
            "query": self.result.query,
            "correct": self.correct,
            "unwanted_side_effects": self.side_effects,
            **asdict(self.classes),
            **(self.strict.to_json() if self.strict else {}),
        }


MODES = ("compat", "strict")
NO_COMPAT = "compat verdicts exist for the published tables only"


class WorkbenchEvaluator:
    """Judges result files of one data folder.

    Args:
        sandbox: the state before every run.
        tasks: the tasks of the folder.
        mode: `compat` or `strict`.
        rules: how error classes are recognised.

    Raises:
        UsageError: the mode is unknown, or is compat for a user-defined workplace.
    """

    def __init__(
        self, sandbox: Sandbox, tasks: Iterable[Task], mode: str, *, rules: ErrorRules = PUBLISHED
    ) -> None:
        if mode not in MODES:
            raise UsageError(f"unknown mode {mode!r}", fix=f"choose from {', '.join(MODES)}")
        if mode == "compat" and sandbox.toolset is not None:
            raise UsageError(NO_COMPAT, fix="add --mode strict")
        self._toolset = toolset_of(sandbox)
        self._tasks: Mapping[str, Task] = {task.query: task for task in tasks}
        self._rules = rules
        self._judge: CompatJudge | StrictJudge
        self._judge = CompatJudge(sandbox) if mode == "compat" else StrictJudge(sandbox)

    def verdicts(self, file: ResultFile) -> Iterator[RunVerdict]:
        """One verdict per row.

        Raises:
            UsageError: a row's request is not a task of the folder.
        """
        for row, result in enumerate(file.read()):
            task = self._tasks.get(result.query)
            if task is None:
                raise UsageError(
                    f"row {row}: {result.query[:80]!r} is not a request of the data folder",
                    file=file.path,
                    fix="set --data_dir to the folder that these results belong to",
                )
            yield self.verdict(file.name, row, task, result)

    def verdict(self, file: str, row: int, task: Task, result: Result) -> RunVerdict:
        """The verdict on one result; `file` and `row` are only recorded in it."""
        judged = self._judge.verdict(result.calls, task.answer, error=result.error)
        classes = classify_run(
            result.calls,
            task.answer,
            correct=judged.correct,
            query=task.query,
            rules=self._rules,
            toolset=self._toolset,
        )
        strict = judged if isinstance(judged, StrictVerdict) else None
        return RunVerdict(file, row, task, result, judged.correct, judged.side_effects, classes, strict)


class JudgedTask(NamedTuple):
    """A task to judge.

    Args:
        row: recorded in the verdicts.
        task: the task.
        results: one or several results of it.
    """

    row: int
    task: Task
    results: tuple[Result, ...]


@dataclass(frozen=True)
class JudgingTask:
    """Judging of tasks, for an engine.

    Args:
        workplace: opens the state before every run.
        modes: `compat` and `strict`, or one of them.
        rules: how error classes are recognised.
        file: recorded in the verdicts.
    """

    workplace: Callable[[], Sandbox]
    modes: tuple[str, ...]
    rules: ErrorRules
    file: str

    def start(self) -> Callable[[Sequence[JudgedTask]], list[list[list[RunVerdict]]]]:
        """Open the workplace. A shard gives the verdicts on each task by mode and result."""
        sandbox = self.workplace()
        evaluators = [WorkbenchEvaluator(sandbox, (), mode, rules=self.rules) for mode in self.modes]

        def verdicts(tasks: Sequence[JudgedTask]) -> list[list[list[RunVerdict]]]:
            return [
                [
                    [evaluator.verdict(self.file, row, task, result) for result in results]
                    for evaluator in evaluators
                ]
                for row, task, results in tasks
            ]

        return verdicts


UNFINISHED = "some of the wanted changes and no other: compat counts them as a side effect"
BESIDE = "the wanted state but for what compat does not compare (numbers, times)"
ORDER = "the wanted changes in another order, or under other labels, or mail that replaced other mail"
REVERSED = "changed and changed back, under other labels"


def disagreement(compat: CompatVerdict, strict: StrictVerdict) -> str | None:
    """Why the two verdicts on one run differ; None if they agree.

    Returns:
        One of `UNFINISHED`, `BESIDE`, `ORDER` and `REVERSED`.
    """
    if (compat.correct, compat.side_effects) == (strict.correct, strict.side_effects):
        return None
    if strict.unwanted:
        return BESIDE
    if strict.missing:
        return UNFINISHED if compat.side_effects else BESIDE
    return ORDER if strict.wanted else REVERSED
