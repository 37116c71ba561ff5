"""Rows of JSON, JSON Lines, Parquet and Arrow files, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolassay.errors import UsageError, install
from toolassay.files import Line, holds_list, read_json, read_json_lines

NEEDED = install("hub")


def read_rows(path: Path) -> Iterator[Line]:
    """Each row of a file with its number, counted from 1 (in JSON Lines: its line).

    `.json` holds one object a line, or a list of them. `.arrow` is what the `datasets` library saves.

    Raises:
        UsageError: missing or malformed file, or pyarrow is needed and missing.
    """
    if path.suffix in (".parquet", ".arrow"):
        yield from _arrow_rows(path)
    elif holds_list(path):
        yield from (Line(number, value) for number, value in enumerate(read_json(path), start=1))
    else:
        yield from read_json_lines(path, fix="check the folder")


def _arrow_rows(path: Path) -> Iterator[Line]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise UsageError("pyarrow is needed to read it", file=path, fix=NEEDED) from error
    try:
        number = 0
        with path.open("rb") as stream:
            if path.suffix == ".parquet":
                batches = parquet.ParquetFile(stream).iter_batches()
            else:
                batches = arrow.ipc.open_stream(stream)
            for batch in batches:
                for value in batch.to_pylist():
                    number += 1
                    yield Line(number, value)
    except OSError as error:
        raise UsageError(f"cannot be read: {error}", file=path, fix="check the file") from None
    except arrow.ArrowException as error:
        raise UsageError(
            f"is no {path.suffix[1:]} file: {error}", file=path, fix="download it again"
        ) from None
