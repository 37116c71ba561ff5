"""Review in a spreadsheet (Excel or CSV): write a sheet, read it back, and save its decisions."""

from __future__ import annotations

import codecs
import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.excel import LONGEST_CELL, cell_text, offer_choices, unlock, write_head, write_row
from toolassay.extras import needed
from toolassay.files import HALF_PAIRS, atomic_target
from toolassay.gold import Gold
from toolassay.review.decision import COMMENT, DECISIONS, FIXES, Record, RequestedDecision, edited, record_of
from toolassay.review.findings import Findings
from toolassay.review.samples import ReviewSample
from toolassay.review.session import Session
from toolassay.review.store import Log

__all__ = ["COLUMNS", "read_sheet", "rows_of", "take_sheet", "write_sheet"]


READ_ONLY = ("id", "fingerprint", "request", "steps", "plan", "findings")
EDITS = {
    "edited_request": "user_request",
    "edited_steps": "task_steps",
    "edited_nodes": "task_nodes",
    "edited_links": "task_links",
}
"""The columns to fix a sample in, and the part of the label of each. The request is text, the others JSON."""

COLUMNS = (*READ_ONLY, "decision", "note", *EDITS)
WIDTHS = dict(zip(COLUMNS, (12, 18, 60, 50, 60, 40, 16, 30, 50, 40, 50, 40), strict=True))


def rows_of(samples: tuple[ReviewSample, ...], findings: Findings, log: Log) -> Iterator[dict[str, str]]:
    """The rows of a reviewer's sheet, by column, with the reviewer's earlier decisions.

    The columns of `EDITS` have the current parts, with the reviewer's earlier fix. A changed cell is an edit.
    """
    standing = log.standing("reviewer")
    for sample in samples:
        record = standing.get(sample.id)
        if record is not None and record.fingerprint != sample.fingerprint:
            record = None
        gold, (level, found) = sample.gold, findings.of(sample)
        yield {
            "id": id_text(sample.id),
            "fingerprint": sample.fingerprint,
            "request": gold.request,
            "steps": "\n".join(gold.steps),
            "plan": plan_text(gold),
            "findings": "\n".join([level, *(f"{item.gate} ({item.state}): {item.reason}" for item in found)]),
            "decision": record.action if record else "",
            "note": log.notes.get(("reviewer", sample.id), ""),
            **edit_cells(sample, record),
        }


def edit_cells(sample: ReviewSample, record: Record | None) -> dict[str, str]:
    """The columns of `EDITS` for a sample, with the fix of an earlier record."""
    label = edited(sample.record, record.parts) if record else sample.record
    return {column: part_text(part, label.get(part)) for column, part in EDITS.items()}


def part_text(part: str, value: Any) -> str:
    """A part of a label as the text of a cell: the request unchanged, other parts as ASCII JSON."""
    return value if part == "user_request" and isinstance(value, str) else json.dumps(value)


def id_text(sample: str | int) -> str:
    """An id as the text of a cell. A text that looks like a number is quoted, to differ from the number.

    >>> id_text(12), id_text("12"), id_text("a-12")
    ('12', '"12"', 'a-12')
    """
    if isinstance(sample, int):
        return str(sample)
    return json.dumps(sample) if sample.lstrip("-").isdigit() or sample != sample.strip() else sample


def plan_text(gold: Gold) -> str:
    """A plan as readable text: one line per call, then the links."""
    lines = [f"{node.place}. {node.tool}({_arguments(node.arguments)})" for node in gold.nodes]
    return "\n".join([*lines, *(f"{source} -> {target}" for source, target in gold.links)])


def _arguments(arguments: tuple[Any, ...] | None) -> str:
    return ", ".join(map(_argument, arguments or ()))


def _argument(argument: Any) -> str:
    if isinstance(argument, Mapping) and "name" in argument:
        return f"{argument['name']}={json.dumps(argument.get('value'), ensure_ascii=False)}"
    return argument if isinstance(argument, str) else json.dumps(argument, ensure_ascii=False)


EXTRA = "review"
SHEET = "Review"
# Spreadsheets take a text that starts with one of these for a formula, half-width or full-width. The
# apostrophe is the mark that `escape_formula` adds.
_FORMULA = tuple("=+-@\t\r\n'＝＋－＠")


def write_sheet(path: Path, rows: Iterable[Mapping[str, str]]) -> int:
    """Write rows to an `.xlsx` or a `.csv` file.

    A text that starts like a formula stays a text: in Excel by the type of its cell, in CSV by a leading
    apostrophe, which `read_sheet` removes. CSV is UTF-8 with a byte order mark, which Excel needs.

    Returns:
        The number of rows.

    Raises:
        UsageError: the file has another ending, openpyxl is missing, or a text is too long for a cell.
    """
    kind = kind_of(path)
    listed = list(rows)
    if kind == ".csv":
        with atomic_target(path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors=HALF_PAIRS, newline="")
            writer = csv.writer(text)
            writer.writerow(COLUMNS)
            writer.writerows([escape_formula(row[column]) for column in COLUMNS] for row in listed)
            text.detach()
    else:
        _write_excel(path, listed)
    return len(listed)


def kind_of(path: Path) -> str:
    """The ending of a sheet's name, in lower case.

    Raises:
        UsageError: it is neither `.xlsx` nor `.csv`.
    """
    kind = path.suffix.lower()
    if kind not in (".xlsx", ".csv"):
        raise UsageError("is not a sheet", file=path, fix="name it .xlsx or .csv")
    return kind


def escape_formula(text: str) -> str:
    """Escape a text so that no spreadsheet takes it for a formula: an apostrophe before it.

    >>> escape_formula("=1+1"), escape_formula("'a"), escape_formula("a")
    ("'=1+1", "''a", 'a')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def unescape_formula(text: str) -> str:
    """The inverse of `escape_formula`.

    >>> unescape_formula("'=1+1"), unescape_formula("''a"), unescape_formula("'tis")
    ('=1+1', "'a", "'tis")
    """
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _write_excel(path: Path, rows: list[Mapping[str, str]]) -> None:
    excel = needed("openpyxl", "an Excel sheet", EXTRA)
    book = excel.Workbook()
    sheet = book.active
    sheet.title = SHEET
    write_head(excel, sheet, WIDTHS)
    for number, row in enumerate(rows, start=2):
        for column in COLUMNS[len(READ_ONLY) :]:
            if len(row[column].encode("utf-16-le", "surrogatepass")) // 2 > LONGEST_CELL:
                raise UsageError(
                    f"the {column} of sample {row['id']} is too long for a cell of Excel",
                    file=path,
                    fix="export a .csv, or review this sample on the page",
                )
        write_row(excel, sheet, number, [cell_text(row[column]) for column in COLUMNS])
        for place in range(len(READ_ONLY) + 1, len(COLUMNS) + 1):
            unlock(excel, sheet.cell(number, place))
    decision = COLUMNS.index("decision") + 1
    choices = f'"{",".join(DECISIONS)}"'
    offer_choices(excel, sheet, choices, "a decision", range(decision, decision + 1), len(rows) + 1)
    sheet.freeze_panes = "B2"
    with atomic_target(path) as stream:
        book.save(stream)


NEEDED = ("id", "fingerprint", "decision", "note", *EDITS)


class SheetRow(NamedTuple):
    """A row that is not empty; `line` is its number in the sheet, from 1."""

    line: int
    cells: Mapping[str, str]


def read_sheet(path: Path) -> list[SheetRow]:
    """Read the rows of a sheet. Columns may be in any order, and there may be further ones.

    Raises:
        UsageError: the file is missing or not a sheet, a column is missing, or a cell is a formula.
    """
    lines = _csv_lines(path) if kind_of(path) == ".csv" else _excel_lines(path)
    header: list[str] | None = None
    rows: list[SheetRow] = []
    for number, cells in lines:
        if header is None:
            header = [(cell or "").strip().casefold() for cell in cells]
            for column in NEEDED:
                if header.count(column) != 1:
                    raise UsageError(
                        f"no column '{column}', or two of them",
                        file=path,
                        line=number,
                        fix="use the file that --export wrote",
                    )
            continue
        found = dict(zip(header, [*cells, *[""] * len(header)], strict=False))
        values = {column: text for column, text in found.items() if text is not None}
        formula = next((column for column in NEEDED if column not in values), None)
        if formula is not None:
            wrong = f"holds a formula (column '{formula}')"
            raise UsageError(wrong, file=path, line=number, fix="write the value instead")
        if any(values[column].strip() for column in NEEDED):
            rows.append(SheetRow(number, values))
    if not rows:
        raise UsageError("holds no rows", file=path, fix="use the file that --export wrote")
    return rows


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str | None]]]:
    csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding=_encoding(path), newline="") as stream:
            start = stream.readline()
            stream.seek(0)
            # Spreadsheets separate cells by the list separator of the system's locale, or by tabs.
            comma = max(",;\t", key=start.count)
            for number, cells in enumerate(csv.reader(stream, delimiter=comma), start=1):
                yield number, [unescape_formula(cell) for cell in cells]
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --import") from None
    except (csv.Error, UnicodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _encoding(path: Path) -> str:
    """The encoding of a text file by its byte order mark. Excel writes UTF-16 as "Unicode text"."""
    with path.open("rb") as stream:
        start = stream.read(2)
    return "utf-16" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _excel_lines(path: Path) -> Iterator[tuple[int, list[str | None]]]:
    """The cells of each row; None for a formula."""
    excel = needed("openpyxl", "an Excel sheet", EXTRA)
    try:
        with path.open("rb") as stream:
            book = excel.load_workbook(stream, read_only=True)
            sheet = book[SHEET] if SHEET in book.sheetnames else book.worksheets[0]
            sheet.reset_dimensions()  # some programs write wrong ones, and rows would be cut off
            for number, cells in enumerate(sheet.iter_rows(), start=1):
                yield number, [None if cell.data_type == "f" else _text(cell.value) for cell in cells]
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --import") from None
    except Exception as error:  # openpyxl raises many types for a damaged file
        raise UsageError(f"not an Excel workbook: {error}", file=path, fix="save it as .xlsx") from None


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


_SHOWN = 5  # further wrong rows that an error lists


def take_sheet(
    session: Session, rows: Sequence[SheetRow], reviewer: str, path: Path, *, insist: bool = False
) -> int:
    """Save the decisions and comments of a sheet. Importing the same sheet again changes nothing.

    Args:
        session: the review.
        rows: the rows of the sheet.
        reviewer: the reviewer's name.
        path: the sheet, for errors.
        insist: save fixes that gates reject; the record says so.

    Returns:
        The number of new records.

    Raises:
        UsageError: rows are wrong; the error lists them, and nothing is saved.
        ToolassayError: the file of decisions cannot be written.
    """
    find = _Finder(session.samples)
    saved: list[Record] = []

    def make(log: Log) -> list[Record]:
        problems: list[tuple[int, str]] = []
        seen: set[str] = set()
        for row in rows:
            try:
                sample = find.sample(row)
                if id_text(sample.id) in seen:
                    raise UsageError(f"sample {sample.id!r} occurs twice")
                seen.add(id_text(sample.id))
                record = _record(session, sample, row, reviewer, log, insist=insist)
            except UsageError as error:
                problems.append((row.line, str(error).split(". Fix: ")[0]))
                continue
            if record is not None:
                saved.append(record)
        if problems:
            raise _complaint(path, problems)
        return saved

    session.store.append(reviewer, make)
    return len(saved)


class _Finder:
    """Finds the sample of a row by its id, or by its fingerprint if that is unique.

    Spreadsheets turn some ids into dates or into numbers with an exponent.
    """

    def __init__(self, samples: Sequence[ReviewSample]) -> None:
        self._by_id = {id_text(sample.id): sample for sample in samples}
        self._by_print: dict[str, list[ReviewSample]] = {}
        for sample in samples:
            self._by_print.setdefault(sample.fingerprint, []).append(sample)

    def sample(self, row: SheetRow) -> ReviewSample:
        """The sample of a row.

        Raises:
            UsageError: no sample has its id or fingerprint.
        """
        sample = self._by_id.get(row.cells["id"].strip())
        if sample is not None:
            return sample
        alike = self._by_print.get(row.cells["fingerprint"].strip(), [])
        if len(alike) != 1:
            raise UsageError(f"there is no sample {row.cells['id'][:40]!r} (column 'id')")
        return alike[0]


def _record(
    session: Session, sample: ReviewSample, row: SheetRow, reviewer: str, log: Log, *, insist: bool
) -> Record | None:
    """The new record of a row; None if the row changes nothing.

    Raises:
        UsageError: the row is wrong.
    """
    cells = row.cells
    if cells["fingerprint"].strip() != sample.fingerprint:
        raise UsageError(f"sample {sample.id!r} has changed since the sheet was written: export it again")
    before = log.standing("reviewer").get(sample.id)
    if before is not None and before.fingerprint != sample.fingerprint:
        before = None
    old_note = log.notes.get(("reviewer", sample.id), "")
    note = old_note if _same_text(cells["note"], old_note) else cells["note"]
    action = "_".join(cells["decision"].casefold().split())
    if action not in ("", *DECISIONS):
        said = cells["decision"].strip()[:40]
        raise UsageError(f"decision '{said}' is none of {', '.join(DECISIONS)}")
    parts = _parts(sample, before, cells)
    if not action:
        if any(value != sample.record.get(part) for part, value in parts.items()) and before is None:
            raise UsageError("is edited, and has no decision (column 'decision')")
        if note == old_note:
            return None
    if action not in FIXES and before is not None and parts == dict(before.parts):
        parts = {}  # the edits of an earlier fix, still in the sheet
    wanted = RequestedDecision(
        number=sample.number,
        fingerprint=sample.fingerprint,
        action=action or COMMENT,
        parts=parts if action else {},
        note=note,
        insist=insist or (before is not None and bool(before.insisted)),
    )
    record = record_of(sample, reviewer, "reviewer", wanted, session.gates)
    if record.same_as(before) and note == old_note:
        return None
    return replace(record, note=note)


def _parts(sample: ReviewSample, before: Record | None, cells: Any) -> dict[str, Any]:
    """The parts that differ from the sample's. An emptied cell is no edit.

    Raises:
        UsageError: a cell is not JSON.
    """
    old = {**sample.parts, **(before.parts if before else {})}
    parts: dict[str, Any] = {}
    written = edit_cells(sample, before)
    for column, part in EDITS.items():
        cell = cells[column]
        if not cell.strip():
            continue
        if _same_text(cell, written[column]):
            value = old[part]
        elif part == "user_request":
            value = cell if "\r" in str(old[part]) else _plain(cell)
        else:
            try:
                value = json.loads(cell)
            except (ValueError, RecursionError):
                raise UsageError(f"{column} is not JSON") from None
        if value != sample.record.get(part):
            parts[part] = value
    return parts


def _same_text(read: str, written: str) -> bool:
    """Whether a cell is unchanged, apart from the line ends of the spreadsheet."""
    return read == written or _plain(read) == _plain(cell_text(written))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("_x000D_", "")


def _complaint(path: Path, problems: Sequence[tuple[int, str]]) -> UsageError:
    line, problem = problems[0]
    others = ", ".join(str(other) for other, _ in problems[1 : _SHOWN + 1])
    more = f" (rows {others}{', …' if len(problems) > _SHOWN + 1 else ''} are wrong too)" if others else ""
    return UsageError(f"{problem}{more}", file=path, line=line, fix="correct the sheet; nothing was saved")
