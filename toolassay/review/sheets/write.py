"""The sheet of a review, written."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.excel import LONGEST_CELL, cell_text, offer_choices, unlock, write_head, write_row
from toolassay.extras import needed
from toolassay.files import HALF_PAIRS, atomic_target
from toolassay.review.decision import DECISIONS
from toolassay.review.sheets.rows import COLUMNS, READ_ONLY, WIDTHS

EXTRA = "review"
SHEET = "Review"
# What spreadsheets take for the beginning of a formula, in both widths; and our own mark.
_FORMULA = tuple("=+-@\t\r\n'＝＋－＠")


def write_sheet(path: Path, rows: Iterable[Mapping[str, str]]) -> int:
    """Write the rows to an `.xlsx` or a `.csv` file; how many.

    In both, a text that begins as a formula does stays a text: in Excel by the type of its cell, in CSV by an
    apostrophe before it, which reading takes away again. CSV is UTF-8 with the mark that Excel needs.

    Raises:
        UsageError: another kind of file, openpyxl is missing, or a text is too long for a cell.
    """
    kind = kind_of(path)
    listed = list(rows)
    if kind == ".csv":
        with atomic_target(path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors=HALF_PAIRS, newline="")
            writer = csv.writer(text)
            writer.writerow(COLUMNS)
            writer.writerows([disarmed(row[column]) for column in COLUMNS] for row in listed)
            text.detach()
    else:
        _write_excel(path, listed)
    return len(listed)


def kind_of(path: Path) -> str:
    """The ending of a sheet's name.

    Raises:
        UsageError: it is neither `.xlsx` nor `.csv`.
    """
    kind = path.suffix.lower()
    if kind not in (".xlsx", ".csv"):
        raise UsageError("is no sheet", file=path, fix="name it .xlsx or .csv")
    return kind


def disarmed(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    >>> disarmed("=1+1"), disarmed("'a"), disarmed("a")
    ("'=1+1", "''a", 'a')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def armed(text: str) -> str:
    """The text that was disarmed.

    >>> armed("'=1+1"), armed("''a"), armed("'tis")
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
                    fix="export a .csv, or review this one in the browser",
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
