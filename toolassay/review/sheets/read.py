"""The sheet of a review, read: Excel, or CSV as spreadsheets save it."""

from __future__ import annotations

import codecs
import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.extras import needed
from toolassay.review.sheets.rows import EDITS
from toolassay.review.sheets.write import EXTRA, SHEET, armed, kind_of

NEEDED = ("id", "fingerprint", "decision", "note", *EDITS)


class SheetRow(NamedTuple):
    """A row with anything in it; `line` is its number in the sheet, from 1, as spreadsheets count."""

    line: int
    cells: Mapping[str, str]


def read_sheet(path: Path) -> list[SheetRow]:
    """The rows of a sheet, in order; the columns may stand in another one, with others among them.

    Raises:
        UsageError: the file is missing or no such sheet, a column is missing, or a cell is a formula.
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
                        f"no column '{column}', or two",
                        file=path,
                        line=number,
                        fix="give the file that --export wrote",
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
        raise UsageError("holds no rows", file=path, fix="give the file that --export wrote")
    return rows


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str | None]]]:
    csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding=_encoding(path), newline="") as stream:
            start = stream.readline()
            stream.seek(0)
            # Spreadsheets write what the machine's settings call a list separator, or tabs.
            comma = max(",;\t", key=start.count)
            for number, cells in enumerate(csv.reader(stream, delimiter=comma), start=1):
                yield number, [armed(cell) for cell in cells]
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --import") from None
    except (csv.Error, UnicodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _encoding(path: Path) -> str:
    """That of a text file, by the mark it begins with; Excel calls UTF-16 "Unicode"."""
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
            sheet.reset_dimensions()  # other programs write wrong ones
            for number, cells in enumerate(sheet.iter_rows(), start=1):
                yield number, [None if cell.data_type == "f" else _text(cell.value) for cell in cells]
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --import") from None
    except Exception as error:  # what openpyxl says of a damaged file is of many kinds
        raise UsageError(f"no Excel workbook: {error}", file=path, fix="save it as .xlsx") from None


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
