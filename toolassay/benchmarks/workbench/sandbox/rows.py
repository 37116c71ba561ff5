"""Reading the rows of a table as the tools and the judge see them."""

from __future__ import annotations

import json

from toolassay.benchmarks.workbench.sandbox.sandbox import Cell, Sandbox
from toolassay.benchmarks.workbench.sandbox.schema import CALENDAR, EMAILS, Layout, quoted


class Moment(str):
    """A time that a tool wrote as a moment; the published program compares it with no text."""

    __slots__ = ()


Row = tuple[Cell, ...]
"""A row: its cells in the order of `columns_of`, a missing one None, and then its label."""


def columns_of(sandbox: Sandbox, table: Layout) -> tuple[str, ...]:
    """The columns of a table, those that a tool added at the end."""
    if table is not CALENDAR:
        return table.columns
    added = sandbox.connection.execute("SELECT name FROM added_columns ORDER BY number")
    return (*table.columns, *(name for (name,) in added))


def read_rows(sandbox: Sandbox, table: Layout, clause: str = "ORDER BY row", *parameters: Cell) -> list[Row]:
    """The rows that an SQL clause selects."""
    names = ", ".join(map(quoted, table.columns))
    select = sandbox.connection.execute
    rows: list[Row] = select(f"SELECT {names}, label FROM {table.name} {clause}", parameters).fetchall()
    if table is EMAILS:
        sent = {label for (label,) in select("SELECT label FROM emails WHERE moment")}
        return [_with_moment(row) if row[-1] in sent else row for row in rows] if sent else rows
    if table is CALENDAR and (added := columns_of(sandbox, table)[len(table.columns) :]):
        texts = select(f"SELECT added FROM {table.name} {clause}", parameters)
        return [
            (*cells, *_values(text, added), label)
            for (*cells, label), (text,) in zip(rows, texts, strict=True)
        ]
    return rows


def _with_moment(row: Row) -> Row:
    place = EMAILS.columns.index("sent_datetime")
    return (*row[:place], Moment(row[place]), *row[place + 1 :])


def _values(text: str | None, names: tuple[str, ...]) -> list[Cell]:
    """The cells of added columns, which stand as JSON in one."""
    cells = json.loads(text or "{}")
    return [cells.get(str(name)) for name in names]  # a column may have a number for a name
