"""One CSV table, read with the number of each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolgraph.errors import UsageError
from toolgraph.files import atomic_writer

# A message may quote a long log.
csv.field_size_limit(10**8)


@dataclass(frozen=True)
class Row:
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


def read_table(path: Path, columns: Collection[str]) -> Iterator[Row]:
    """The rows of a table.

    Args:
        path: a CSV file, UTF-8, with a header.
        columns: that it must have; more are kept.

    Raises:
        UsageError: the file is missing, is no such table, or a row has more cells than the header.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restkey="\0")
            if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
                raise UsageError(
                    f"has no column {missing[0]!r}", file=path, fix=f"give it {', '.join(columns)}"
                )
            for cells in reader:
                row = Row({name: cell or "" for name, cell in cells.items()}, path, reader.line_num)
                if "\0" in cells:
                    raise row.error("more cells than the header", "put quotes around cells with commas")
                yield row
    except FileNotFoundError:
        raise UsageError("is not there", file=path, fix="see docs/classic.md for the four tables") from None
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"not a CSV table: {error}", file=path, fix="save it as CSV, UTF-8") from None


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as `read_table` reads it, all or nothing."""
    with atomic_writer(path) as stream:
        for row in (columns, *rows):
            text = io.StringIO()
            # Told that lines end so, the writer puts quotes around a bare carriage return.
            csv.writer(text, lineterminator="\r\n").writerow(row)
            stream.write(text.getvalue().removesuffix("\r\n") + "\n")
