"""Tables of somebody else's columns: CSV or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from toolassay.benchmarks.classic.data.table import Row, read_table
from toolassay.errors import UsageError
from toolassay.files import read_json_lines

COLUMNS: Mapping[str, Sequence[str]] = {
    "conversation": ("conversation", "conversation_uuid", "conversation_id"),
    "order": ("order", "time", "timestamp"),
    "sender": ("sender", "role", "from"),
    "text": ("text", "content", "message"),
    "domain": ("domain", "domain_uuid"),
    "workflow": ("workflow", "workflow_uuid", "workflow_id"),
    "name": ("name", "workflow_name"),
    "description": ("description",),
    "cost": ("cost",),
    "latency": ("latency",),
    "tokens": ("tokens",),
}
"""What is read, and the columns in which it is looked for unless one is named."""


def read_raw(
    path: Path, named: Mapping[str, str], needed: Sequence[str], used: set[str] | None = None
) -> Iterator[Row]:
    """The rows of a table, its cells under the names of `COLUMNS`.

    Args:
        path: CSV with a header, or `.jsonl`, `.json`: an object a line.
        named: the column of the table by what it holds, e.g. `{"text": "body"}`; one that this table lacks is
            looked for under the usual names, for several tables share the names.
        needed: what the table must have a column for.
        used: gets what of `named` was found.

    Raises:
        UsageError: missing or malformed file (with the line), unknown or missing column.
    """
    if unknown := set(named) - COLUMNS.keys():
        raise UsageError(f"nothing is called {min(unknown)!r}", fix=f"--column takes {', '.join(COLUMNS)}")
    columns: dict[str, str] = {}
    for row in _rows(path):
        if not columns or path.suffix.lower() != ".csv":
            columns = _columns(row, named, needed)
            if used is not None:
                used.update(what for what, column in columns.items() if named.get(what) == column)
        yield Row({what: row.get(column) for what, column in columns.items()}, row.file, row.line)


def _columns(row: Row, named: Mapping[str, str], needed: Sequence[str]) -> dict[str, str]:
    found = {}
    for what, usual in COLUMNS.items():
        own = [named[what]] if what in named else []
        column = next((name for name in (*own, *usual) if name in row.cells), None)
        if column is not None:
            found[what] = column
    if missing := [what for what in needed if what not in found]:
        flags = " ".join(f"--column {what}=NAME" for what in missing)
        raise row.error(
            f"no column for {', '.join(missing)}; there are {', '.join(row.cells)}",
            f"name {'it' if len(missing) == 1 else 'them'}: {flags}",
        )
    return found


def _rows(path: Path) -> Iterator[Row]:
    if path.suffix.lower() == ".csv":
        yield from read_table(path, ())
        return
    if path.suffix.lower() not in (".jsonl", ".json"):
        raise UsageError("is neither CSV nor JSON lines", file=path, fix="save it as .csv or .jsonl")
    for line, value in read_json_lines(path):
        if not isinstance(value, dict) or any(isinstance(cell, dict | list) for cell in value.values()):
            raise UsageError(
                "not an object of texts and numbers", file=path, line=line, fix="write one object a line"
            )
        yield Row({key: "" if cell is None else str(cell) for key, cell in value.items()}, path, line)
