"""Writes a data set to disk in the layout of the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.csv_table import read_table, write_table
from toolassay.benchmarks.classic.data import (
    DOMAIN_COLUMNS,
    DOMAINS,
    MESSAGE_COLUMNS,
    MESSAGES,
    PROMPTS,
    WORKFLOW_COLUMNS,
    WORKFLOWS,
    read_data,
)
from toolassay.extras import needed
from toolassay.files import atomic_target, read_text, write_text

CARD = "README.md"
PROMPT_COLUMNS = ("turn_1_prompt", "turn_2_prompt", "turn_3_prompt")
_TABLES = {
    MESSAGES: MESSAGE_COLUMNS,
    WORKFLOWS: WORKFLOW_COLUMNS,
    DOMAINS: DOMAIN_COLUMNS,
    PROMPTS: PROMPT_COLUMNS,
}
# The YAML block at the start of a card: matches "---\nlicense: mit\n---\n"; not a rule later in the text.
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n+", re.DOTALL | re.MULTILINE)


def lay_out(data_dir: Path, folder: Path, *, parquet: bool = False, prompts: Path | None = None) -> list[str]:
    """Write the tables of a data set and its card like on the hub: one configuration per table, one split
    `test`.

    Only published columns are written: no votes, no names of annotators, none of the bot's recorded values.

    Args:
        data_dir: the data set; it is checked first.
        folder: the destination.
        parquet: write Parquet instead of CSV; requires pyarrow.
        prompts: the table of security prompts, if `data_dir` has none.

    Returns:
        The names of the configurations.

    Raises:
        UsageError: the data set is malformed, or pyarrow is not installed.
    """
    read_data(data_dir)
    given = {name: data_dir / name for name in _TABLES}
    if prompts is not None:
        given[PROMPTS] = prompts
    tables = {
        name: path for name, path in given.items() if name != PROMPTS or path.is_file() or path == prompts
    }
    rows = {
        name: [[row[column] for column in _TABLES[name]] for row in read_table(path, _TABLES[name])]
        for name, path in tables.items()
    }
    write = _parquet_writer() if parquet else write_table
    names = {name: Path(name).with_suffix(".parquet").name if parquet else name for name in tables}
    for name, columns in _TABLES.items():
        if name in tables:
            write(folder / names[name], columns, rows[name])
    write_text(folder / CARD, _card(data_dir, list(names.values())))
    return [Path(name).stem for name in names]


def _card(data_dir: Path, files: Sequence[str]) -> str:
    path = data_dir / CARD
    text = (
        _FRONT_MATTER.sub("", read_text(path)) if path.is_file() else "# Chats and the workflows to start\n"
    )
    configs = "".join(
        f"- config_name: {Path(name).stem}\n  data_files:\n  - split: test\n    path: {name}\n"
        for name in files
    )
    return f"---\nconfigs:\n{configs}---\n\n{text}"


def _parquet_writer() -> Any:
    arrow = needed("pyarrow", "Parquet", "hub")
    parquet = needed("pyarrow.parquet", "Parquet", "hub")

    def write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        fields = [
            (column, arrow.int64() if column == "request_idx" else arrow.string()) for column in columns
        ]
        values = [
            {name: _cell_value(name, cell) for name, cell in zip(columns, row, strict=True)} for row in rows
        ]
        with atomic_target(path) as stream:
            parquet.write_table(arrow.Table.from_pylist(values, schema=arrow.schema(fields)), stream)

    return write


def _cell_value(column: str, cell: str) -> str | int | None:
    """A number in columns of numbers; None for an empty label."""
    if column == "request_idx":
        return int(cell.removesuffix(".0"))
    return cell or (None if column.startswith("true_workflow") else "")
