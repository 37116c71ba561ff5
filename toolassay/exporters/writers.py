"""Files that rows are written into, one by one: JSON Lines and Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from toolassay.extras import needed
from toolassay.files import HALF_PAIRS

ROWS_OF_A_GROUP = 1_000


class Writer(Protocol):
    """Takes rows one by one; complete only when closed."""

    def write(self, row: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class JsonLinesWriter:
    """One JSON object a line, UTF-8."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("w", encoding="utf-8", errors=HALF_PAIRS, newline="\n")

    def write(self, row: Mapping[str, Any]) -> None:
        """Add a line."""
        self._stream.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")

    def close(self) -> None:
        """End the file."""
        self._stream.close()


class ParquetWriter:
    """Rows of `toolassay.exporters.rows` as Parquet, a group of a thousand at a time."""

    def __init__(self, path: Path) -> None:
        arrow, parquet = parquet_libraries()
        text, number = arrow.string(), arrow.int64()
        argument = arrow.struct({"name": text, "kind": text, "value": text})
        call = arrow.struct({"tool": text, "arguments": arrow.list_(argument)})
        link = arrow.struct({"source": number, "target": number})
        self._schema = arrow.schema(
            {
                "id": text,
                "request": text,
                "shape": text,
                "size": number,
                "steps": arrow.list_(text),
                "calls": arrow.list_(call),
                "links": arrow.list_(link),
                "has_arguments": arrow.bool_(),
            }
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        self._table_of = arrow.Table.from_pylist
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Mapping[str, Any]] = []

    def write(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) >= ROWS_OF_A_GROUP:
            self._flush()

    def close(self) -> None:
        """End the file."""
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._table_of(self._rows, schema=self._schema))
        self._rows = []


def parquet_libraries() -> tuple[Any, Any]:
    """The package pyarrow and its Parquet part.

    Raises:
        UsageError: it is missing.
    """
    return needed("pyarrow", "Parquet", "export"), needed("pyarrow.parquet", "Parquet", "export")
