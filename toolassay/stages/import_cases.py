"""Imports a team's own cases into a data folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError
from toolassay.files.data_files import read_text, sha256_of
from toolassay.graph import DependencyType
from toolassay.importers.documents import is_json, read_values
from toolassay.plans.call_plan import Unfit, call_plan_of
from toolassay.plans.gold import Gold
from toolassay.records.cases import FILE, Case, keep_cases, read_cases
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import ToolLibrary

_OF_JSON = ("calls", "facts", "state")
_OF_NAMES = ("must_not_call", "tags")
_MOST_PROBLEMS = 20  # on the screen


@dataclass(frozen=True, repr=False)
class ImportedCases(Result):
    """The result of an import of cases.

    Attributes:
        path: The file of cases.
        cases: The cases that were imported.
        problems: What is wrong with the others, a line each.
    """

    path: Path
    cases: Sequence[Case]
    problems: Sequence[str]


def import_cases(file: str | Path, data_dir: str | Path, *, screen: Screen = DEFAULT) -> ImportedCases:
    """Import cases into a data folder that has tools; a case with the id of an earlier one replaces it.

    Args:
        file: YAML, JSON, JSON Lines or CSV with the fields of `Case`. In CSV, `calls`, `facts` and `state`
            are JSON (a fact may be the bare value), and names are separated by commas.
        data_dir: The data folder.
        screen: Receives messages and results.

    Raises:
        UsageError: The folder has no tools, the file cannot be read, or no case in it is valid.
    """
    folder = DataFolder(Path(data_dir)).require()
    refuse_other_benchmarks(folder)
    library = folder.library()
    kind = folder.benchmark.dependency_type or "schema"
    path = Path(file)
    cases: dict[str, Case] = {}
    problems = []
    for where, value in _values(path):
        try:
            case = _case(value, library, kind)
            if str(case.id) in cases:
                raise ValueError(f"the id {case.id!r} occurs twice - at `$.id`")
        except (msgspec.ValidationError, ValueError) as error:
            problem, _, key = str(error).partition(" - at `$")
            name = key.strip(".`")
            problems.append(f"{path}: {where}: {f'{name}: ' * bool(name)}{problem}")
            continue
        cases[str(case.id)] = case
    for problem in problems[:_MOST_PROBLEMS]:
        screen.say(f"{WARNING}{problem}")
    if not cases:
        reason = problems[0].removeprefix(f"{path}: ") if problems else "holds no case"
        raise UsageError(reason, file=path, fix="write at least a request, and what to judge")
    _keep(folder, [*(case for case in read_cases(folder.path) if str(case.id) not in cases), *cases.values()])
    left_out = f", {len(problems):,} left out" if problems else ""
    screen.show(f"{folder.path / FILE}: {count_of(len(cases), 'case')}{left_out}")
    return ImportedCases(folder.path / FILE, list(cases.values()), problems)


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """Each case as read, with its place in the file."""
    if path.suffix.lower() == ".csv":
        for row in (reader := csv.DictReader(read_text(path).splitlines())):
            yield f"line {reader.line_num}", _of_cells(row)
        return
    for number, value in read_values(path):
        if isinstance(value, list):
            yield from ((f"case {position}", case) for position, case in enumerate(value, 1))
        else:
            yield f"line {number}", value


def _of_cells(row: dict[str, Any]) -> dict[str, Any]:
    """The case in the cells of a row."""
    case: dict[str, Any] = {}
    for name, cell in row.items():
        text = (cell or "").strip() if isinstance(cell, str) else ""
        if not text:
            continue
        value: Any = text
        if name in _OF_NAMES:
            value = [part.strip() for part in text.split(",")]
        elif name in _OF_JSON:
            value = json.loads(text) if is_json(text) else text
            if name == "facts" and not isinstance(value, list):
                value = [value if isinstance(value, dict) else {"value": value}]
        case[name] = value
    return case


def _case(value: Any, library: ToolLibrary, kind: DependencyType) -> Case:
    """A case of known tools, whose calls can be made.

    Raises:
        ValueError: It is malformed, names an unknown tool, or an argument that its tool does not take.
    """
    case = msgspec.convert(value, Case)
    for tool in case.tools:
        if tool not in library:
            key = "must_not_call" if tool in case.must_not_call else "calls"
            raise ValueError(f"there is no tool {tool!r} - at `$.{key}`")
    if case.calls is not None:
        try:
            call_plan_of(Gold.of(case.label()), library, kind)
        except Unfit as error:
            raise ValueError(f"{error.fault.reason} - at `$.calls`") from None
    return case


def _keep(folder: DataFolder, cases: Sequence[Case]) -> None:
    """Write the cases; a data set that no person edited stays one that commands may replace."""
    before = sha256_of(folder.data) if folder.data.is_file() else None
    keep_cases(folder, cases)
    after = sha256_of(folder.data)
    benchmark = folder.benchmark
    if before == benchmark.data_sha256:
        folder.update_benchmark(data_sha256=after)
    elif benchmark.checked is not None and before == benchmark.checked.data_sha256:
        checked = folder.written_benchmark["checked"]
        folder.update_benchmark(checked={**checked, "data_sha256": after})
