"""CSV tables, read with the line number of each row, and written."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.files import atomic_writer
from toolassay.locks import open_regular
from toolassay.tables import csv_line

# A message may quote a long log; the default limit of a cell is 131,072 characters.
csv.field_size_limit(10**8)


@dataclass(frozen=True)
class CsvRow:
    """A row with the line that it ends on.

    Args:
        cells: by column; an absent or empty cell is an empty string, and no other text counts as missing.
        file: the table.
        line: of the file, from 1.
    """

    cells: dict[str, str]
    file: Path
    line: int

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def get(self, column: str) -> str:
        """The cell of an optional column; empty if the table lacks it."""
        return self.cells.get(column, "")

    def error(self, message: str, fix: str) -> UsageError:
        """An error message that names this row."""
        return UsageError(message, file=self.file, line=self.line, fix=fix)


def read_table(path: Path, columns: Collection[str], *, fix: str = "check the path") -> Iterator[CsvRow]:
    """The rows of a table.

    Args:
        path: a CSV file, UTF-8, with a header.
        columns: required columns; others are read as well.
        fix: the fix in the error message if the file does not exist.

    Raises:
        UsageError: the file does not exist, is not such a table, has a row with more cells than the header,
            or has a quotation mark that is not closed.
    """
    try:
        with open_regular(path, "r", encoding="utf-8-sig", newline="") as file:
            taken: list[str] = []
            reader = csv.DictReader(_recording_lines(file, taken), restkey="\0")
            header = reader.fieldnames or ()
            _check_quotes(CsvRow({}, path, reader.line_num), taken)
            taken.clear()
            if missing := [name for name in columns if name not in header]:
                raise UsageError(
                    f"has no column {missing[0]!r}", file=path, fix=f"give it {', '.join(columns)}"
                )
            for cells in reader:
                row = CsvRow({name: cell or "" for name, cell in cells.items()}, path, reader.line_num)
                _check_quotes(row, taken)
                taken.clear()
                if "\0" in cells:
                    raise row.error("more cells than the header", "put quotes around cells with commas")
                yield row
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix=fix) from None
    except IsADirectoryError:
        raise UsageError("is a folder, not a table", file=path, fix="name the file in it") from None
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _recording_lines(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _check_quotes(row: CsvRow, lines: Sequence[str]) -> None:
    """Refuse a row that extends over several lines because a quotation mark is not closed.

    Such a row ends at the end of the file, or at the next quotation mark, in the middle of a cell.
    """
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if len(lines) - first < 2:
        return
    try:
        list(csv.reader(lines[first:], strict=True))
    except csv.Error:
        raise UsageError(
            f"a quotation mark in this row is not closed: the row extends to line {row.line}",
            file=row.file,
            line=row.line - len(lines) + first + 1,
            fix="close it, and double quotation marks inside a cell",
        ) from None


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table in the form that `read_table` reads, atomically."""
    with atomic_writer(path) as stream:
        for row in (columns, *rows):
            stream.write(csv_line(row))
