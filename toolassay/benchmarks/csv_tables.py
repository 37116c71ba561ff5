"""The CSV tables of published data sets: rows with their place, for messages."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.console.tables import csv_line
from toolassay.errors import UsageError
from toolassay.files.data_files import atomic_writer
from toolassay.files.locks import open_regular

csv.field_size_limit(10**8)  # recorded conversations exceed the default of 131,072 characters


@dataclass(frozen=True)
class CsvRow:
    """A row with the line that it ends on.

    Attributes:
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

    def refuse_if(self, is_wrong: bool, problem: str, fix: str) -> None:
        """Check the row.

        Raises:
            UsageError: it is wrong.
        """
        if is_wrong:
            raise self.error(problem, fix)

    def error(self, message: str, fix: str) -> UsageError:
        """An error message that names this row."""
        return UsageError(message, file=self.file, line=self.line, fix=fix)


def read_table(path: Path, columns: Collection[str], *, fix: str = "check the path") -> Iterator[CsvRow]:
    """The rows of a table.

    Args:
        path: a CSV file, UTF-8, with a header; it may be compressed (`.gz`).
        columns: required columns; others are read as well.
        fix: the fix in the error message if the file does not exist.

    Raises:
        UsageError: the file does not exist, is not such a table, has a row with more cells than the header,
            or has a quotation mark that is not closed.
    """
    begins = 1
    try:
        with open_regular(path) as file:
            plain = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            lines = io.TextIOWrapper(plain, encoding="utf-8-sig", newline="")
            reader = csv.DictReader(lines, restkey="\0", strict=True)
            header = reader.fieldnames or ()
            if missing := [name for name in columns if name not in header]:
                raise UsageError(
                    f"has no column {missing[0]!r}", file=path, fix=f"give it {', '.join(columns)}"
                )
            begins = reader.line_num + 1
            for cells in reader:
                row = CsvRow({name: cell or "" for name, cell in cells.items()}, path, reader.line_num)
                if "\0" in cells:
                    raise row.error("more cells than the header", "put quotes around cells with commas")
                yield row
                begins = reader.line_num + 1
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix=fix) from None
    except IsADirectoryError:
        raise UsageError("is a folder, not a table", file=path, fix="name the file in it") from None
    except csv.Error as error:
        fix = "close quotation marks, and double those inside a cell"
        raise UsageError(f"not a row of a CSV table: {error}", file=path, line=begins, fix=fix) from None
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise UsageError(f"not a CSV file: {error}", file=path, fix="save it as CSV, UTF-8") from None


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table in the form that `read_table` reads, atomically."""
    with atomic_writer(path) as stream:
        for row in (columns, *rows):
            stream.write(csv_line(row))
