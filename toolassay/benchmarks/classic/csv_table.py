"""A CSV table, read with the line number of each row, and written."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.files import atomic_writer
from toolassay.tables import csv_line

# A message may quote a long log.
csv.field_size_limit(10**8)


@dataclass(frozen=True)
class CsvRow:
    """A row and the line it ends on.

    Args:
        cells: by column; an absent or empty cell is an empty text, nothing else is read as missing.
        file: the table.
        line: of the file, from 1.
    """

    cells: dict[str, str]
    file: Path
    line: int

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def get(self, column: str) -> str:
        """A cell of a column that the table need not have."""
        return self.cells.get(column, "")

    def error(self, message: str, fix: str) -> UsageError:
        """What is wrong with this row."""
        return UsageError(message, file=self.file, line=self.line, fix=fix)


def read_table(path: Path, columns: Collection[str], *, fix: str = "check the path") -> Iterator[CsvRow]:
    """The rows of a table.

    Args:
        path: a CSV file, UTF-8, with a header.
        columns: that it must have; more are kept.
        fix: what to do where the file is missing.

    Raises:
        UsageError: the file is missing, is no such table, a row has more cells than the header, or a quote is
            not closed.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
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
        raise UsageError("is not there", file=path, fix=fix) from None
    except IsADirectoryError:
        raise UsageError("is a folder, not a table", file=path, fix="name the file in it") from None
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def _recording_lines(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _check_quotes(row: CsvRow, lines: Sequence[str]) -> None:
    """Refuse a row that goes on over lines because a quote was forgotten: it ends with the file, or at the
    next quote, in the middle of a cell.
    """
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if len(lines) - first < 2:
        return
    try:
        list(csv.reader(lines[first:], strict=True))
    except csv.Error:
        raise UsageError(
            f"a quote that is opened in this row is not closed: it goes on to line {row.line}",
            file=row.file,
            line=row.line - len(lines) + first + 1,
            fix="close it, and write a quote inside a cell twice",
        ) from None


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as `read_table` reads it, all or nothing."""
    with atomic_writer(path) as stream:
        for row in (columns, *rows):
            stream.write(csv_line(row))
