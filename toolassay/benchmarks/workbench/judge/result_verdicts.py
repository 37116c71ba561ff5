"""Evaluation of published result files: reads the files and gives one verdict per row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.workbench.calls import replay_changes
from toolassay.benchmarks.workbench.judge.error_classes import (
    CONTEXT_OVERFLOW,
    ITERATION_LIMIT,
    NOT_RUN,
    PUBLISHED,
    ErrorClasses,
    ErrorRules,
    classify_run,
)
from toolassay.benchmarks.workbench.judge.strict import StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.records import (
    Moment,
    Row,
    State,
    TableState,
    numbered_rows,
    state_left,
    state_of,
)
from toolassay.benchmarks.workbench.sandbox import JUDGED, Cell, Layout, Sandbox, read_csv
from toolassay.benchmarks.workbench.sandbox import PUBLISHED as EDITION_2024
from toolassay.benchmarks.workbench.tasks import Task, parse_list
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.errors import UsageError
from toolassay.evaluation.items import ItemTrial, ScoredItem, trial_intervals
from toolassay.files.data_files import read_json, record_of

_LAYOUTS: Mapping[str, Layout] = {str(table.domain): table for table in JUDGED}


@dataclass(frozen=True, slots=True)
class CompatVerdict:
    """The published evaluator's verdict on one run.

    Attributes:
        correct: the state equals the one that the ground truth leaves, and the run ended without an error.
        side_effects: something changed and the state differs from the ground truth's, with or without an
            error. The edition of 2026 ignores plots, and a call that failed counts as a difference.
    """

    correct: bool
    side_effects: bool


class CompatJudge:
    """Judges runs on one sandbox. The states that the last thousand ground truths leave are kept, also for
    runs that made the same calls.

    Args:
        sandbox: the state before every run.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox.watched(overwrites=True)
        self._original = state_of(sandbox)
        self._rows = {name: numbered_rows(sandbox, layout) for name, layout in _LAYOUTS.items()}
        # A state may have all rows of a table, a quarter of a megabyte; the published tasks fit.
        self._wanted = lru_cache(maxsize=1000)(self._left_by)

    def verdict(self, calls: Iterable[str], answer: tuple[str, ...], *, error: str = "") -> CompatVerdict:
        """Judge one run.

        Args:
            calls: the run's calls as text.
            answer: the ground-truth calls as text.
            error: the run's error message; empty if it succeeded.
        """
        # Tables that neither the run nor the ground truth touched are equal and need no comparison.
        edition = self._sandbox.edition
        original = self._original
        calls = edition.judged_calls(calls)
        answer = edition.judged_calls(answer)
        wanted, failed = self._wanted(answer)
        left, failed = (wanted, failed) if calls == answer else self._left_by(calls)
        right = not failed and all(
            _same(
                _LAYOUTS[name],
                left.get(name, original[name]),
                wanted.get(name, original[name]),
                is_ordered=edition.is_ordered,
            )
            for name in {*left, *wanted}
        )
        changed = any(
            table != original[name] and (edition.is_ordered or _contents(table) != _contents(original[name]))
            for name, table in left.items()
            if name not in edition.harmless
        )
        return CompatVerdict(correct=right and not error, side_effects=changed and not right)

    def _left_by(self, calls: tuple[str, ...]) -> tuple[State, bool]:
        """The tables that the calls may have changed, by domain, and whether a call counts as failed."""
        with self._sandbox.undone() as sandbox:
            domains, failed = replay_changes(sandbox, calls)
            return {name: state_left(sandbox, _LAYOUTS[name], self._rows[name]) for name in domains}, failed


def _contents(table: TableState) -> tuple[tuple[str, ...], Counter[Row]]:
    """The columns and the rows of a table, without order and labels."""
    return table.columns, Counter(row[:-1] for row in table.rows)


def _same(layout: Layout, table: TableState, other: TableState, *, is_ordered: bool) -> bool:
    """Whether two tables are equal, ignoring case, and perhaps order and labels of rows.

    The published evaluator lower-cases whole text columns with pandas, which turns cells that are not text
    into missing values. So two such cells are equal there whatever they hold.
    """
    if table is other:
        return True
    if table.columns != other.columns or len(table.rows) != len(other.rows):
        return False
    numbers = _number_columns(layout, table)
    if numbers != _number_columns(layout, other):
        return False
    verbatim = {position for position, name in enumerate(table.columns) if name in layout.verbatim}
    verbatim |= numbers | {len(table.columns)}  # the label
    if not is_ordered:
        rows, others = (
            Counter(tuple(_folded(row, verbatim)[:-1]) for row in it.rows) for it in (table, other)
        )
        return rows == others
    return table.rows == other.rows or all(
        a == b or _folded(a, verbatim) == _folded(b, verbatim)
        for a, b in zip(table.rows, other.rows, strict=True)
    )


def _number_columns(layout: Layout, table: TableState) -> set[int]:
    """The positions of added columns without any text; pandas compares those as numbers."""
    return {
        position
        for position in range(len(layout.columns), len(table.columns))
        if not any(isinstance(row[position], str) for row in table.rows)
    }


def _folded(row: Row, verbatim: set[int]) -> list[Cell]:
    """The cells in lower case; None for those without text, but in verbatim columns."""
    folded: list[Cell] = []
    for position, cell in enumerate(row):
        if position in verbatim:
            folded.append(cell)
        elif isinstance(cell, str) and not isinstance(cell, Moment):
            folded.append(cell.lower())
        else:
            folded.append(None)
    return folded


# Matches "gpt-4_all_2024-03-21_15-21-12" and "gpt-4_domains"; not "gpt-4_tools".
_NAME = re.compile(r"(?P<model>.+)_(?P<setting>all|domains)(_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)?")


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of one request.

    Attributes:
        query: the request.
        calls: the agent's calls as text, in order.
        error: the error message; empty if the run succeeded.
    """

    query: str
    calls: tuple[str, ...]
    error: str = ""


class RunFacts(msgspec.Struct, frozen=True):
    """What the `_meta.json` beside a result file of 2026 says."""

    ground_truth_version: str = "v2"


@dataclass(frozen=True)
class ResultFile:
    """One result file.

    Attributes:
        path: of the file.
        name: its path below the given folder, with slashes.
    """

    path: Path
    name: str

    @property
    def stem(self) -> str:
        """The name of the file without its endings."""
        return self.path.name.removesuffix(".gz").removesuffix(".csv")

    @property
    def model(self) -> str:
        """The model's name, taken from the file name.

        >>> ResultFile(Path("gpt-4_all_2024-03-21_15-21-12.csv.gz"), "").model
        'gpt-4'
        """
        return match["model"] if (match := _NAME.fullmatch(self.stem)) else self.stem

    @property
    def tool_selection(self) -> str | None:
        """`all` or `domains`, taken from the file name; None if it contains neither."""
        return match["setting"] if (match := _NAME.fullmatch(self.stem)) else None

    @property
    def task_version(self) -> str:
        """The version of the tasks that were run, from the file's `_meta.json`; without one, that of 2024.

        Raises:
            UsageError: that file is not a JSON object.
        """
        path = self.path.with_name(f"{self.stem}_meta.json")
        if not path.exists():
            return EDITION_2024.task_version
        fix = 'write {"ground_truth_version": "v2"}'
        return record_of(read_json(path, fix=fix), RunFacts, file=path, fix=fix).ground_truth_version

    def read(self) -> Iterator[TaskResult]:
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
            yield TaskResult(row["query"] or "", calls, row["error"] or "")
        if not number:
            raise UsageError("has no rows", file=self.path, fix="give a published result file")


def result_files(path: Path) -> list[ResultFile]:
    """The given result file, or all CSV files (also `.csv.gz`) below the given folder, sorted by name.

    Raises:
        UsageError: the folder contains no CSV file.
    """
    if path.is_file():
        return [ResultFile(path, path.name)]
    every = [*path.rglob("*.csv"), *path.rglob("*.csv.gz")]
    named_files = sorted((file.relative_to(path).as_posix(), file) for file in every)
    if not named_files:
        raise UsageError("no result files", file=path, fix="give a CSV file, or a folder with CSV files")
    return [ResultFile(file, name) for name, file in named_files]


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict on one run.

    Attributes:
        task: the task.
        result: the run's calls and error.
        correct: whether the run is correct in the chosen mode.
        side_effects: whether something changed that should not have.
        classes: exact match and error classes.
        strict: the full strict verdict, in strict mode.
    """

    task: Task
    result: TaskResult
    correct: bool
    side_effects: bool
    classes: ErrorClasses
    strict: StrictVerdict | None = None

    def to_json(self) -> dict[str, Any]:
        """The verdict as the verdicts file has it, beside the file and the row of the result."""
        return {
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
        mode: `compat` or `strict`.
        rules: how error classes are recognised.

    Raises:
        UsageError: the mode is unknown, or is compat for a user-defined workplace.
    """

    def __init__(self, sandbox: Sandbox, mode: str, *, rules: ErrorRules = PUBLISHED) -> None:
        if mode not in MODES:
            raise UsageError(f"unknown mode {mode!r}", fix=f"choose from {', '.join(MODES)}")
        if mode == "compat" and sandbox.toolset is not None:
            raise UsageError(NO_COMPAT, fix="add --mode strict")
        self._toolset = toolset_of(sandbox)
        self._rules = rules
        self._judge: CompatJudge | StrictJudge
        self._judge = CompatJudge(sandbox) if mode == "compat" else StrictJudge(sandbox)

    def verdicts(self, file: ResultFile, tasks: Mapping[str, Task]) -> Iterator[RunVerdict]:
        """One verdict per row.

        Args:
            file: the results.
            tasks: those of the folder, by request.

        Raises:
            UsageError: a row's request is not a task of the folder.
        """
        for row, result in enumerate(file.read()):
            task = tasks.get(result.query)
            if task is None:
                raise UsageError(
                    f"row {row}: {result.query[:80]!r} is not a request of the data folder",
                    file=file.path,
                    fix="set --data_dir to the folder that these results belong to",
                )
            yield self.verdict(task, result)

    def verdict(self, task: Task, result: TaskResult) -> RunVerdict:
        """The verdict on one result; one that was not run is never an exact match."""
        judged = self._judge.verdict(result.calls, task.answer, error=result.error)
        classes = classify_run(
            result.calls,
            task.answer,
            correct=judged.correct,
            query=task.query,
            rules=self._rules,
            toolset=self._toolset,
        )
        if result.error == NOT_RUN:
            classes = replace(classes, exact_match=False)
        strict = judged if isinstance(judged, StrictVerdict) else None
        return RunVerdict(task, result, judged.correct, judged.side_effects, classes, strict)


@dataclass(frozen=True)
class JudgingTask:
    """Judging of tasks, for an engine.

    Attributes:
        workplace: opens the state before every run.
        modes: `compat` and `strict`, or one of them.
        rules: how error classes are recognised.
    """

    workplace: Callable[[], Sandbox]
    modes: tuple[str, ...]
    rules: ErrorRules

    def start(self) -> Callable[[Sequence[tuple[Task, Sequence[TaskResult]]]], list[list[list[RunVerdict]]]]:
        """Open the workplace. A shard of tasks with results gives the verdicts on each by mode and result."""
        sandbox = self.workplace()
        evaluators = [WorkbenchEvaluator(sandbox, mode, rules=self.rules) for mode in self.modes]

        return lambda tasks: [
            [[evaluator.verdict(task, result) for result in results] for evaluator in evaluators]
            for task, results in tasks
        ]


# Characters. Errors that begin alike are counted as one kind.
_LONGEST_ERROR = 120

_COUNTS: Mapping[str, Callable[[RunVerdict], bool]] = {
    "correct": lambda v: v.correct,
    "side_effects": lambda v: v.side_effects,
    "exact_match": lambda v: v.classes.exact_match,
    "errors_without_side_effects": lambda v: not v.correct and not v.side_effects,
    "errors_with_side_effects": lambda v: not v.correct and v.side_effects,
    "correct_with_side_effects": lambda v: v.correct and v.side_effects,
    "correct_not_exact": lambda v: v.correct and not v.classes.exact_match,
    "exact_not_correct": lambda v: v.classes.exact_match and not v.correct,
    "no_actions_predicted": lambda v: v.classes.no_actions,
    "failed_to_follow_react": lambda v: v.classes.no_actions and not v.correct and not v.side_effects,
    "wrong_email_total": lambda v: v.classes.wrong_email,
    "wrong_email_no_side_effects": lambda v: v.classes.wrong_email and not v.side_effects,
    "wrong_email_with_side_effects": lambda v: v.side_effects and v.classes.minor_errors == {"wrong_email"},
    "end_date_minor_error_total": lambda v: v.classes.end_date_minor_error,
    "end_date_minor_error_with_side_effects": (
        lambda v: v.side_effects and v.classes.minor_errors == {"end_date_minor_error"}
    ),
    "meeting_start_time_error_total": lambda v: v.classes.meeting_start_time_error,
    "meeting_start_time_error_no_side_effects": (
        lambda v: v.classes.meeting_start_time_error and not v.side_effects
    ),
    "meeting_start_time_error_with_side_effects": (
        lambda v: v.classes.meeting_start_time_error and v.side_effects
    ),
}
"""The published counts of runs."""

_CLASSES: Mapping[str, Callable[[RunVerdict], bool]] = {
    "no_actions": lambda v: v.classes.no_actions and v.result.error != NOT_RUN,
    "wrong_email": lambda v: v.classes.wrong_email,
    "end_date": lambda v: v.classes.end_date_minor_error,
    "meeting_start_time": lambda v: v.classes.meeting_start_time_error,
    "iteration_limit": lambda v: v.result.error == ITERATION_LIMIT,
    "context_overflow": lambda v: v.result.error == CONTEXT_OVERFLOW,
}
"""Classes of errors. A run may be in several, and one with `no_actions` may be correct. A task that was not
run is in none.
"""


def metrics_of(verdicts: Sequence[RunVerdict], model: str, tool_selection: str | None) -> dict[str, Any]:
    """The published counts and shares of one model.

    Args:
        verdicts: one per task.
        model: its name.
        tool_selection: `all` or `domains`, if known.

    Returns:
        The published counts. Each group (by number of wanted actions, template, domains) has `n`, `correct`
        and `side_effects`.
    """
    n = len(verdicts)
    groups = {v.task.group for v in verdicts}
    counts = {name: sum(map(holds, verdicts)) for name, holds in _COUNTS.items()}
    errors = Counter(v.result.error for v in verdicts if v.result.error)
    shown = Counter(v.result.error[:_LONGEST_ERROR] for v in verdicts if v.result.error)
    harmless = counts["errors_without_side_effects"]
    harmful = counts["errors_with_side_effects"]
    return {
        "domain": groups.pop() if len(groups) == 1 else None,
        "model": model,
        "tool_selection": tool_selection,
        "n": n,
        **counts,
        "accuracy_pct": percentage(counts["correct"], n),
        "side_effects_pct": percentage(counts["side_effects"], n),
        "exact_match_pct": percentage(counts["exact_match"], n),
        "gt_no_actions": _group(v for v in verdicts if not v.task.answer),
        "gt_nonzero_actions": _group(v for v in verdicts if v.task.answer),
        "gt_two_or_more_actions": _group(v for v in verdicts if len(v.task.answer) > 1),
        "context_window_errors": errors[CONTEXT_OVERFLOW],
        "iteration_or_time_limit": errors[ITERATION_LIMIT],
        "any_error": errors.total(),
        "errors_by_text": dict(shown.most_common()),
        "error_classes": {
            name: {"n": count, "pct": percentage(count, n)}
            for name, holds in _CLASSES.items()
            for count in [sum(map(holds, verdicts))]
        },
        "by_gt_action_count": counts_by(verdicts, lambda v: len(v.task.answer)),
        "by_base_template": counts_by(verdicts, lambda v: v.task.base_template),
        "by_domains_column": counts_by(verdicts, lambda v: str(list(v.task.domains))),
        "upstream_stdout": (
            f"Accuracy: {_share(counts['correct'], n)}\n"
            f"Errors without unwanted side effects: {_share(harmless, n)}\n"
            f"Errors with unwanted side effects: {_share(harmful, n)}\n"
        ),
    }


def percentage(part: int, whole: int) -> float | None:
    """A share in percent, rounded to two decimals; None if `whole` is 0.

    >>> percentage(1, 3)
    33.33
    """
    return round(100 * part / whole, 2) if whole else None


def _share(part: int, whole: int) -> str:
    return f"{percentage(part, whole)}% ({part} out of {whole})"


def _group(verdicts: Iterable[RunVerdict]) -> dict[str, int]:
    found = [(v.correct, v.side_effects) for v in verdicts]
    return {"n": len(found), "correct": sum(c for c, _ in found), "side_effects": sum(s for _, s in found)}


def counts_by(
    verdicts: Sequence[RunVerdict], key: Callable[[RunVerdict], int | str]
) -> dict[str, dict[str, int]]:
    """Counts for each value of the key: numbers in ascending order, strings in order of appearance."""
    run_verdicts: dict[int | str, list[RunVerdict]] = {}
    for verdict in verdicts:
        run_verdicts.setdefault(key(verdict), []).append(verdict)
    names = sorted(run_verdicts, key=lambda name: name if isinstance(name, int) else 0)
    return {str(name): _group(run_verdicts[name]) for name in names}


def _side_effects(run: ItemTrial) -> float | None:
    harmless = run.scores["no_side_effects"]
    return None if harmless is None else 1 - harmless


_INTERVALS: Mapping[str, Callable[[ItemTrial], float | None]] = {
    "accuracy": lambda run: run.scores["correct"],
    "side_effects": _side_effects,
    "wanted_changes_made": lambda run: run.scores["wanted_changes_made"],
    "made_changes_wanted": lambda run: run.scores["made_changes_wanted"],
    "exact_match": lambda run: run.scores["exact_match"],
}


def strict_metrics(items: Sequence[ScoredItem]) -> dict[str, Any]:
    """Means over tasks of means over their runs, with 95 % confidence intervals.

    The bootstrap resamples templates, not single tasks: tasks of one template are not independent.

    Returns:
        `unwanted_changes` (a count, of all runs) and, under `intervals`, `accuracy`, `side_effects`,
        `wanted_changes_made`, `made_changes_wanted` and `exact_match`: shares between 0 and 1, each with
        `value`, `low` and `high`.
    """
    intervals = trial_intervals(items, _INTERVALS)
    return {
        "unwanted_changes": sum(run.unwanted or 0 for item in items for run in item.trials or ()),
        "intervals": {name: interval.to_json() for name, interval in intervals.items()},
    }


_SCORES = (
    *("correct", "no_side_effects", "exact_match"),
    *("wanted_changes_made", "made_changes_wanted", "compat_correct"),
)


def scored_task(task: Task, runs: Sequence[ItemTrial]) -> ScoredItem:
    """The line of a task in a file of items, from its runs."""
    return ScoredItem.of_trials(task.id, task.base_template, runs, task.group, len(task.answer))


def unscored_run(outcome: str) -> ItemTrial:
    """A run that is not scored, in a file of items."""
    return ItemTrial(0, outcome, dict.fromkeys(_SCORES))


def scored_run(
    trial: int, outcome: str, verdict: RunVerdict, published: RunVerdict | None = None
) -> ItemTrial:
    """One run of a task in a file of items.

    A task without a prediction scores 0, but nothing was done that could do harm.

    Args:
        trial: the number of the trial.
        outcome: of the request.
        verdict: the strict verdict.
        published: the compat verdict; None without one.
    """
    strict = verdict.strict
    was_run = verdict.result.error != NOT_RUN
    scores = (
        float(verdict.correct),
        float(not verdict.side_effects) if was_run else None,
        float(verdict.classes.exact_match),
        strict.wanted_made if strict else None,
        strict.made_wanted if strict else None,
        float(published.correct) if published else None,
    )
    unwanted = len(strict.unwanted) if strict and was_run else None
    return ItemTrial(trial, outcome, dict(zip(_SCORES, scores, strict=True)), unwanted)
