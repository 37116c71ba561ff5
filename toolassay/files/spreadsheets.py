"""Spreadsheets that people fill in: one writer of Excel workbooks and CSV files, and one reader of both.

A text stays a text, whatever it begins with: in Excel by the type of its cell, in CSV by an apostrophe.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.extras import needed
from toolassay.files.data_files import HALF_PAIRS, atomic_target
from toolassay.files.locks import open_regular

LONGEST_CELL = 32_767
"""The UTF-16 units that Excel keeps of a cell; an emoji is two."""
# Characters that XML 1.0 cannot hold, which openpyxl refuses: matches "\x07" and "\ud800", not "\n" or "é".
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CUT = " […]"
# The characters that begin a formula in Excel or LibreOffice, in both widths, and the apostrophe itself.
_FORMULA = tuple("=+-@\t\r\n'＝＋－＠")
_HEADER_SEARCH_ROWS = 20  # rows in which a header that was moved down is looked for
# A cell may quote a long log; the default of csv is 131,072. Any more overflows a C long on Windows.
_LONGEST_FIELD = 2**31 - 1


def fits_cell(text: str) -> bool:
    """Whether Excel keeps a text whole."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2 <= LONGEST_CELL


def cell_text(text: str) -> str:
    r"""A text as a cell of Excel can hold it: no control characters, cut at 32,767 UTF-16 units.

    >>> cell_text("bell\x07"), len(cell_text("x" * 40_000))
    ('bell�', 32767)
    """
    clean = _NOT_IN_XML.sub("�", text)
    if fits_cell(clean):
        return clean
    units = clean.encode("utf-16-le")[: 2 * (LONGEST_CELL - len(_CUT))]
    return units.decode("utf-16-le", errors="ignore") + _CUT


class Choices(NamedTuple):
    """A drop-down list in neighbouring columns of a sheet, in every row below the header.

    Attributes:
        columns: their names.
        formula: a range of cells, or texts in double quotes with commas between.
        what: what to choose, for the message about another text.
    """

    columns: Sequence[str]
    formula: str
    what: str


class Workbook:
    """An Excel workbook whose sheets are locked except for the columns to fill in.

    Args:
        extra: the extra of `pyproject.toml` that installs openpyxl.

    Raises:
        UsageError: openpyxl is not installed.
    """

    def __init__(self, extra: str) -> None:
        self._openpyxl = needed("openpyxl", "an Excel sheet", extra)
        self._book = self._openpyxl.Workbook()
        self._book.remove(self._book.active)
        self._wrapped = self._openpyxl.styles.Alignment(wrap_text=True, vertical="top")

    @property
    def titles(self) -> list[str]:
        """The names of the sheets."""
        return list(self._book.sheetnames)

    def add_sheet(
        self,
        title: str,
        widths: Mapping[str, int],
        rows: Iterable[Sequence[str | int]],
        *,
        unlocked: Sequence[str] = (),
        choices: Sequence[Choices] = (),
        freeze: str = "A2",
    ) -> None:
        """Add a sheet with a header that stays in sight.

        Args:
            title: name of the sheet, as Excel allows it.
            widths: the columns, in characters.
            rows: below the header, in the order of the columns, perhaps without the last ones; an empty text
                leaves its cell empty.
            unlocked: the columns that people fill in.
            choices: drop-down lists.
            freeze: the first cell that scrolls.
        """
        excel = self._openpyxl
        sheet = self._book.create_sheet(title)
        letters = {column: excel.utils.get_column_letter(at) for at, column in enumerate(widths, start=1)}
        for column, letter in letters.items():
            self._fill(sheet[f"{letter}1"], column)
            sheet[f"{letter}1"].font = excel.styles.Font(bold=True)
            sheet.column_dimensions[letter].width = widths[column]
        sheet.freeze_panes = freeze
        sheet.protection.sheet = True
        # People may still resize the rows and columns of a locked sheet.
        sheet.protection.formatColumns = sheet.protection.formatRows = False
        last = 1
        for last, row in enumerate(rows, start=2):
            padded = [*row, *[""] * (len(letters) - len(row))]
            for (column, letter), value in zip(letters.items(), padded, strict=True):
                self._fill(sheet[f"{letter}{last}"], value, locked=column not in unlocked)
        for columns, formula, what in choices:
            rule = excel.worksheet.datavalidation.DataValidation(
                type="list", formula1=formula, allow_blank=True, showErrorMessage=True
            )
            rule.errorTitle = "Not in the list"
            rule.error = f"Choose {what}, or leave the cell empty."
            rule.add(f"{letters[columns[0]]}2:{letters[columns[-1]]}{last}")
            sheet.add_data_validation(rule)

    def _fill(self, cell: Any, value: str | int, *, locked: bool = True) -> None:
        cell.alignment = self._wrapped
        if not locked:
            cell.protection = self._openpyxl.styles.Protection(locked=False)
        if isinstance(value, int):
            cell.value = value
        elif value:
            cell.value = cell_text(value)
            # openpyxl takes "=1" for a formula and "#REF!" for an error.
            cell.data_type = "s"
            cell.number_format = "@"
            cell.quotePrefix = True

    def save(self, path: Path) -> None:
        """Write the workbook, whole or not at all."""
        with atomic_target(path) as stream:
            self._book.save(stream)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file as Excel opens it, UTF-8 with a byte order mark; no cell is a formula."""
    with atomic_target(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors=HALF_PAIRS, newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        writer.writerows(map(escape_formula, row) for row in rows)
        text.detach()


def escape_formula(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula.

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


class SheetRow(NamedTuple):
    """A row in which at least one column is filled.

    Attributes:
        sheet: the name of its sheet; empty in a CSV file.
        line: its number, from 1, as spreadsheets count.
        cells: the text of each column that was requested; an empty cell is an empty text.
    """

    sheet: str
    line: int
    cells: Mapping[str, str]


def read_rows(
    path: Path,
    columns: Sequence[str],
    *,
    extra: str,
    option: str,
    sheet: str | None = None,
    computed: bool = False,
    apostrophes: bool = False,
) -> Iterator[SheetRow]:
    """Read the rows of a CSV file (ending in .csv) or of an Excel workbook.

    A header is a row that names at least two of the columns; case, order and other columns do not matter.
    A sheet without one is passed over. CSV may be UTF-8 or UTF-16, with commas, semicolons or tabs.

    Args:
        path: the file.
        columns: those to read; each must be in the header once.
        extra: the extra of `pyproject.toml` that installs openpyxl.
        option: the command-line option that named the file, for messages.
        sheet: read this sheet, or the first where there is none of the name; None reads all.
        computed: take the value that Excel computed for a formula. By default a formula is an error.
        apostrophes: the CSV file is one of `write_csv`: take its apostrophes away.

    Raises:
        UsageError: the file is missing or is neither format, a column is missing or there twice, the header
            is not in the first row, or a cell is a formula (without a value, where `computed`).
    """
    if path.suffix.lower() == ".csv":
        cells = _csv_cells(path, option, apostrophes=apostrophes)
    else:
        cells = _excel_cells(path, option, extra, only=sheet, computed=computed)
    for title, lines in groupby(cells, key=lambda line: line.sheet):
        yield from _rows_of_sheet(title, lines, columns, path, computed=computed)


def rows_error(path: Path, problems: Sequence[tuple[SheetRow, str]]) -> UsageError:
    """An error message that names the first wrong row of a sheet, and says how many others are wrong."""
    row, problem = problems[0]
    more = f" (and {len(problems) - 1} more such rows)" if len(problems) > 1 else ""
    where = f"sheet {row.sheet!r}: " if row.sheet else ""
    fix = "correct it in the file; nothing was saved"
    return UsageError(f"{where}{problem}{more}", file=path, line=row.line, fix=fix)


def _rows_of_sheet(
    title: str, lines: Iterator[_Cells], columns: Sequence[str], path: Path, *, computed: bool
) -> Iterator[SheetRow]:
    names = [_name(column) for column in columns]
    header = [_name(cell) for cell in next(lines).cells]
    where = f"sheet {title!r}: " if title else ""
    if not _is_header(header, names):
        below = islice(lines, _HEADER_SEARCH_ROWS)
        if not any(_is_header(map(_name, line.cells), names) for line in below):
            return
        header = []
    for column, name in zip(columns, names, strict=True):
        if header.count(name) != 1:
            wrong = f"{where}the first row has no column {column!r}, or has it twice"
            raise UsageError(wrong, file=path, line=1, fix="put the header back into the first row")
    for line in lines:
        by_name = dict(zip_longest(header, line.cells[: len(header)], fillvalue=""))
        texts = {}
        for column, name in zip(columns, names, strict=True):
            text = by_name[name]
            if text is None:
                wrong = f"{where}{column} is a formula{' without a value' if computed else ''}"
                raise UsageError(wrong, file=path, line=line.number, fix="write the value instead")
            texts[column] = text
        if any(text.strip() for text in texts.values()):
            yield SheetRow(title, line.number, texts)


class _Cells(NamedTuple):
    sheet: str
    number: int
    cells: list[str | None]
    """None is a formula (that has no value)."""


def _name(cell: str | None) -> str:
    return (cell or "").strip().casefold()


def _is_header(cells: Iterable[str], names: Sequence[str]) -> bool:
    return len(set(cells) & set(names)) > 1


def _csv_cells(path: Path, option: str, *, apostrophes: bool) -> Iterator[_Cells]:
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        with open_regular(path, "r", encoding=_encoding(path), newline="") as stream:
            start = stream.readline()
            stream.seek(0)
            # Excel separates by what the locale calls a list separator, or by tabs.
            delimiter = max(",;\t", key=start.count)
            for number, cells in enumerate(csv.reader(stream, delimiter=delimiter), start=1):
                yield _Cells("", number, [unescape_formula(cell) if apostrophes else cell for cell in cells])
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix=f"check {option}") from None
    except (csv.Error, UnicodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _encoding(path: Path) -> str:
    """The encoding of a text file by its byte order mark; Excel calls UTF-16 "Unicode"."""
    with open_regular(path) as stream:
        start = stream.read(2)
    return "utf-16" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _excel_cells(
    path: Path, option: str, extra: str, *, only: str | None, computed: bool
) -> Iterator[_Cells]:
    excel = needed("openpyxl", "an Excel sheet", extra)
    try:
        # openpyxl reads either formulas or their values, so both need two passes over the file.
        with open_regular(path) as stream, open_regular(path) as again:
            book = excel.load_workbook(stream, read_only=True)
            values = excel.load_workbook(again, read_only=True, data_only=True) if computed else book
            named = [sheet for sheet in book.worksheets if sheet.title == only]
            for sheet in book.worksheets if only is None else named or book.worksheets[:1]:
                yield from _sheet_cells(sheet, values[sheet.title] if computed else None)
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix=f"check {option}") from None
    except Exception as error:  # openpyxl raises exceptions of many kinds for a damaged file
        raise UsageError(f"is not an Excel workbook: {error}", file=path, fix="save it as .xlsx") from None


def _sheet_cells(sheet: Any, values: Any) -> Iterator[_Cells]:
    sheet.reset_dimensions()  # other programs write wrong ones, and openpyxl would leave rows out
    rows = sheet.iter_rows()
    computed: Iterator[Sequence[Any]] = iter(())
    if values is not None:
        values.reset_dimensions()
        computed = values.iter_rows(values_only=True)
    for number, (cells, results) in enumerate(zip_longest(rows, computed, fillvalue=()), start=1):
        texts = [
            (None if result is None else _text(result)) if cell.data_type == "f" else _text(cell.value)
            for cell, result in zip_longest(cells, results[: len(cells)])
        ]
        yield _Cells(sheet.title, number, texts)


def _text(value: Any) -> str:
    """A value of openpyxl; Excel keeps every number as a float, so 1.0 is 1."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
