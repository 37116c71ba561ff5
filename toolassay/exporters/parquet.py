"""The export format "hf": the rows as Parquet, for the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from toolassay.exporters.export_format import columns
from toolassay.exporters.rows import RowFormat
from toolassay.extras import needed

ROWS_OF_A_GROUP = 1_000
"""Rows of a Parquet row group, which memory holds at once."""


class ParquetWriter:
    """Writes the rows of `row_of` as Parquet (zstd), `ROWS_OF_A_GROUP` at a time; needs pyarrow."""

    def __init__(self, path: Path) -> None:
        arrow, parquet = parquet_libraries()
        plain = {"string": arrow.string(), "int64": arrow.int64(), "bool": arrow.bool_()}

        def types_of(table: Sequence[Any]) -> Any:
            for column in table:
                items = column.get("list")
                if items is None:
                    kind = plain[column["dtype"]]
                else:
                    kind = arrow.list_(
                        plain[items] if isinstance(items, str) else arrow.struct(types_of(items))
                    )
                yield column["name"], kind

        self._schema = arrow.schema(types_of(columns("types", "rows")))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._table_of = arrow.Table.from_pylist
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Any] = []

    def write(self, row: object) -> None:
        """Append a row."""
        self._rows.append(msgspec.to_builtins(row))
        if len(self._rows) >= ROWS_OF_A_GROUP:
            self._flush()

    def close(self) -> None:
        """Write the last group and close the file."""
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._table_of(self._rows, schema=self._schema))
        self._rows = []


def parquet_libraries() -> tuple[Any, Any]:
    """The modules `pyarrow` and `pyarrow.parquet`.

    Raises:
        UsageError: pyarrow is not installed.
    """
    return needed("pyarrow", "Parquet", "export"), needed("pyarrow.parquet", "Parquet", "export")


class ParquetFormat(RowFormat):
    """Rows as Parquet."""

    name = "hf"
    help = "a row for each sample as Parquet, for the Hugging Face hub"
    about = "One row per sample."

    def require(self) -> None:
        """Pyarrow."""
        parquet_libraries()

    def file_of(self, split: str) -> str:
        """Where the hub looks for it."""
        return f"data/{split}.parquet"

    def writer(self, path: Path) -> ParquetWriter:
        """Writes Parquet."""
        return ParquetWriter(path)


FORMAT = ParquetFormat()
