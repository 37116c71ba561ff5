"""What annotators chose, checked row by row against the sample."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.chats.answer import Answer, Key
from toolassay.benchmarks.classic.chats.workbook.layout import (
    COLUMNS,
    FLAGS,
    LABELS,
    NONE,
    READ_ONLY,
    alike,
    bare,
)
from toolassay.benchmarks.classic.data import ClassicData, Example
from toolassay.errors import UsageError
from toolassay.extras import needed

_INDEX = re.compile("[0-9]{1,9}")
_HEAD = 20  # rows in which a header that was moved is looked for
_YES_NO = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False, "": False}


@dataclass(frozen=True)
class _Row:
    sheet: str
    line: int
    cells: Mapping[str, str]


def read_answers(path: Path, data: ClassicData) -> dict[Key, Answer]:
    """The answers in one workbook, or in a CSV file of the same columns.

    Args:
        path: `.xlsx` or `.csv`.
        data: the sample that was annotated.

    Returns:
        For each row that has any answer, by conversation and place.

    Raises:
        UsageError: the file is missing or no such table; or a row is wrong, told with file, sheet and row: an
            unknown message, one that is there twice, a changed text, a label that is not in the list.
    """
    examples = {(example.conversation, example.request_idx): example for example in data.examples}
    names = {
        domain: {bare(flow.id): flow.id for flow in these} | {bare(flow.name): flow.id for flow in these}
        for domain, these in data.workflows.items()
    }
    answers: dict[Key, Answer] = {}
    problems: list[tuple[_Row, str]] = []
    seen: set[Key] = set()
    for row in _rows_of_csv(path) if path.suffix.lower() == ".csv" else _rows_of_excel(path):
        try:
            example = _example(row, examples)
            key = example.conversation, example.request_idx
            if key in seen:
                raise _Wrong(f"message {key[1]} of {key[0]!r} is there twice")
            seen.add(key)
            answer = _answer(row, names[example.domain])
        except _Wrong as wrong:
            problems.append((row, str(wrong)))
            continue
        if answer is not None:
            answers[key] = answer
    if problems:
        row, problem = problems[0]
        more = f" (and {len(problems) - 1} more such rows)" if len(problems) > 1 else ""
        where = f"sheet {row.sheet!r}: " if row.sheet else ""
        raise UsageError(f"{where}{problem}{more}", file=path, line=row.line, fix="mend it in the file")
    if not seen:
        raise UsageError(
            "no sheet has rows of messages",
            file=path,
            fix="give the file that 'classic build workbook' wrote",
        )
    return answers


class _Wrong(Exception):
    """What is wrong with a row."""


def _example(row: _Row, examples: Mapping[Key, Example]) -> Example:
    name, place = row.cells["conversation_uuid"], row.cells["request_idx"].removesuffix(".0")
    example = examples.get((name, int(place))) if _INDEX.fullmatch(place) else None
    if example is None:
        raise _Wrong(f"the sample has no message {place[:20]!r} of {name[:60]!r}")
    for column, text in zip(
        READ_ONLY[2:], (example.question.turns[-1].content, example.response), strict=True
    ):
        if not alike(text, row.cells[column]):
            raise _Wrong(f"{column} of {name!r} is not what the sample says")
    return example


def _answer(row: _Row, names: Mapping[str, str]) -> Answer | None:
    first, second = (_label(row.cells[column], column, names) for column in LABELS)
    flags = frozenset(flag for flag, column in FLAGS.items() if _yes(row.cells[column], column))
    if second is not None and first is None:
        raise _Wrong("Workflow 2 is filled in and Workflow 1 is not")
    if second and not first:
        raise _Wrong(f"Workflow 1 says {NONE!r} and Workflow 2 names one")
    if first is None and not any(row.cells[column] for column in FLAGS.values()):
        return None
    return Answer(first, second if second and second != first else None, flags)


def _label(text: str, column: str, names: Mapping[str, str]) -> str | None:
    """An id, an empty text for the choice of none, None where nothing was chosen."""
    wanted = bare(text)
    if not wanted:
        return None
    if wanted == bare(NONE):
        return ""
    if wanted not in names:
        raise _Wrong(f"{column} {text[:60]!r} is not in the list")
    return names[wanted]


def _yes(text: str, column: str) -> bool:
    try:
        return _YES_NO[text.casefold()]
    except KeyError:
        raise _Wrong(f"{column} {text[:60]!r} is neither Yes nor No") from None


def _rows_of_csv(path: Path) -> Iterator[_Row]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            _check_header(header, path, "")
            for cells in reader:
                if any(cells):
                    yield _Row("", reader.line_num, _named(header, cells))
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --workbooks") from None
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _rows_of_excel(path: Path) -> Iterator[_Row]:
    excel = needed("openpyxl", "a workbook", "chats")
    try:
        with path.open("rb") as stream, path.open("rb") as again:
            book = excel.load_workbook(stream, read_only=True, data_only=True)
            written = excel.load_workbook(again, read_only=True)
            for sheet, same in zip(book.worksheets, written.worksheets, strict=True):
                yield from _rows_of_sheet(path, sheet, same)
    except UsageError:
        raise
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --workbooks") from None
    except Exception as error:  # what openpyxl says of a damaged file is of many kinds
        raise UsageError(f"no Excel workbook: {error}", file=path, fix="save it as .xlsx") from None


def _rows_of_sheet(path: Path, sheet: Any, written: Any) -> Iterator[_Row]:
    """The rows of one sheet, if it has messages.

    Args:
        path: of the workbook.
        sheet: its values.
        written: the same with formulas, which tell a cell that was never computed from an empty one.
    """
    lines = sheet.iter_rows(values_only=True)
    header = [_text(value) for value in next(lines, ())]
    if COLUMNS[0] not in header:
        if any(_is_header(cells) for cells in (header, *islice(lines, _HEAD))):
            _check_header([], path, sheet.title)
        return
    _check_header(header, path, sheet.title)
    formulas = written.iter_rows(min_row=2, values_only=True)
    for line, (cells, source) in enumerate(zip_longest(lines, formulas, fillvalue=()), start=2):
        for value, formula, name in zip_longest(cells, source, header):
            if value is None and formula is not None and name in COLUMNS:
                raise UsageError(
                    f"sheet {sheet.title!r}: {name} is a formula without a value",
                    file=path,
                    line=line,
                    fix="write the value instead",
                )
        if any(cell is not None for cell in cells):
            yield _Row(sheet.title, line, _named(header, [_text(cell) for cell in cells]))


def _is_header(cells: Iterable[object]) -> bool:
    return len(set(COLUMNS) & {_text(cell).strip() for cell in cells}) > 1


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _check_header(header: list[str], path: Path, sheet: str) -> None:
    for column in COLUMNS:
        if header.count(column) != 1:
            where = f"sheet {sheet!r}: " if sheet else ""
            raise UsageError(
                f"{where}no column {column!r}, or two",
                file=path,
                line=1,
                fix="put the header back into the first row",
            )


def _named(header: list[str], cells: list[str]) -> dict[str, str]:
    return {name: cell.strip() for name, cell in zip(header, [*cells, *[""] * len(header)], strict=False)}
