"""The sheet of a review, read: Excel, or CSV with and without the mark that Excel writes."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from toolgraph.errors import UsageError
from toolgraph.extras import needed
from toolgraph.review.sheets.rows import COLUMNS, EDITS
from toolgraph.review.sheets.write import EXTRA, armed, kind_of

NEEDED = ("id", "fingerprint", "decision", "note", *EDITS)


class SheetRow(NamedTuple):
    """A row with anything in it; `line` is its number in the sheet, from 1, as spreadsheets count."""

    line: int
    cells: Mapping[str, str]


def read_sheet(path: Path) -> list[SheetRow]:
    """The rows of a sheet, in order; the columns may stand in another one.

    Raises:
        UsageError: the file is missing or no such sheet, a column is missing, or a cell is a formula.
    """
    lines = _csv_lines(path) if kind_of(path) == ".csv" else _excel_lines(path)
    header: list[str] | None = None
    rows: list[SheetRow] = []
    for number, cells in lines:
        if header is None:
            header = [cell.strip() for cell in cells]
            for column in NEEDED:
                if header.count(column) != 1:
                    raise UsageError(
                        f"no column '{column}', or two",
                        file=path,
                        line=number,
                        fix="give the file that --export wrote",
                    )
        elif any(cells):
            padded = [*cells, *[""] * len(header)]
            rows.append(SheetRow(number, dict(zip(header, padded, strict=False))))
    if not rows:
        raise UsageError("holds no rows", file=path, fix="give the file that --export wrote")
    return rows


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            start = stream.readline()
            stream.seek(0)
            # Excel writes what the machine's settings call a list separator.
            comma = ";" if start.count(";") > start.count(",") else ","
            for number, cells in enumerate(csv.reader(stream, delimiter=comma), start=1):
                yield number, [armed(cell) for cell in cells]
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --import") from None
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _excel_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    excel = needed("openpyxl", "an Excel sheet", EXTRA)
    try:
        with path.open("rb") as stream:
            sheet = excel.load_workbook(stream, read_only=True).worksheets[0]
            for number, cells in enumerate(sheet.iter_rows(), start=1):
                for cell in cells:
                    if cell.data_type == "f":
                        raise UsageError(
                            "holds a formula", file=path, line=number, fix="write the value instead"
                        )
                yield number, [_text(cell.value) for cell in cells]
    except UsageError:
        raise
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix="check --import") from None
    except Exception as error:  # what openpyxl says of a damaged file is of many kinds
        raise UsageError(f"no Excel workbook: {error}", file=path, fix="save it as .xlsx") from None


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


assert set(NEEDED) <= set(COLUMNS)
