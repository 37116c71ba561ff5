"""Row access for the tools and the judges: read, look up, append, change and remove rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from toolassay.benchmarks.workbench.sandbox.sandbox import Cell, Sandbox
from toolassay.benchmarks.workbench.sandbox.schema import CALENDAR, EMAILS, Layout, quoted


class Moment(str):
    """A time written by a tool. The published program keeps it as a timestamp, which never equals a text."""

    __slots__ = ()


Row = tuple[Cell, ...]
"""A row: its cells in the order of `columns_of` (None if missing), then its label."""


def columns_of(sandbox: Sandbox, table: Layout) -> tuple[str, ...]:
    """The columns of a table, followed by those that a tool added."""
    if table is not CALENDAR:
        return table.columns
    added = sandbox.connection.execute("SELECT name FROM added_columns ORDER BY number")
    return (*table.columns, *(name for (name,) in added))


def read_rows(sandbox: Sandbox, table: Layout, clause: str = "ORDER BY row", *parameters: Cell) -> list[Row]:
    """The rows that an SQL clause after FROM selects."""
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
    """The cells of the added columns, which are stored as one JSON object."""
    cells = json.loads(text or "{}")
    return [cells.get(str(name)) for name in names]  # a column may have a number for a name


Record = Mapping[str, Any]
"""A row by column. Records are shared by copies of a sandbox: a tool returns `dict(record)`."""
T = TypeVar("T")


class Records:
    """Row access to one table of a sandbox.

    Args:
        sandbox: the sandbox.
        layout: the table.
    """

    def __init__(self, sandbox: Sandbox, layout: Layout) -> None:
        self._sandbox = sandbox
        self._execute = sandbox.connection.execute
        self._layout = layout

    def all(self) -> Sequence[Record]:
        """Every row, in order; a missing cell is None. The table is read once for each of its states."""
        return self._once("rows", lambda: self._select("ORDER BY row"))

    def derived(self, compute: Callable[[Sequence[Record]], T]) -> T:
        """What a function computes from every row; it is called once for each state of the table.

        Args:
            compute: a function of a module, which must not depend on anything but the rows.
        """
        return self._once(compute, lambda: compute(self.all()))

    def _once(self, key: Hashable, compute: Callable[[], T]) -> T:
        reads = self._sandbox.reads(self._layout.name)
        if key not in reads:
            reads[key] = compute()
        found: T = reads[key]
        return found

    def first(self, key: Cell) -> Record | None:
        """The first row with this id; None if there is none."""
        found = self._select(f"WHERE {quoted(self._layout.id)} = ? ORDER BY row LIMIT 1", key)
        return found[0] if found else None

    def values(self, column: str) -> list[Cell]:
        """One column's cells, in the order of the rows."""
        cells = self._execute(f"SELECT {quoted(column)} FROM {self._layout.name} ORDER BY row")
        return [cell for (cell,) in cells]

    def __len__(self) -> int:
        return int(self._execute(f"SELECT count(*) FROM {self._layout.name}").fetchone()[0])

    def next_id(self) -> int:
        """One more than the greatest id, as in the published program; 0 in an empty table.

        "Greatest" is by text order, so "99" counts as greater than "100".

        Raises:
            ValueError: the greatest id is not a number.
            TypeError: some ids are texts and some are numbers.
        """
        name = quoted(self._layout.id)
        last, *kinds = self._execute(
            f"SELECT max({name}), min(typeof({name})), max(typeof({name})) FROM {self._layout.name}"
        ).fetchone()
        if len({*kinds}) > 1:
            raise TypeError("some ids are texts and some are numbers")
        return 0 if last is None else int(last) + 1

    def next_label(self) -> int:
        """A label that no row has."""
        query = f"SELECT coalesce(max(label) + 1, 0) FROM {self._layout.name}"
        return int(self._execute(query).fetchone()[0])

    def append(self, cells: Mapping[str, Cell], label: int) -> None:
        """Insert a row after the last one."""
        names = ", ".join(map(quoted, cells))
        marks = ", ".join("?" for _ in cells)
        self._write(
            f"INSERT INTO {self._layout.name} (label, {names}) VALUES (?, {marks})", [label, *cells.values()]
        )

    def overwrite(self, cells: Mapping[str, Cell], label: int) -> bool:
        """Replace the cells of the row with this label. Returns whether there was such a row."""
        names = ", ".join(f"{quoted(name)} = ?" for name in cells)
        changed = self._write(
            f"UPDATE {self._layout.name} SET {names} WHERE label = ?", [*cells.values(), label]
        )
        return changed.rowcount > 0

    def renumber(self) -> None:
        """Relabel the rows 0, 1, 2, …, in their order."""
        self._write(
            f"UPDATE {self._layout.name} SET label = place - 1 FROM (SELECT row AS numbered, row_number() "
            f"OVER (ORDER BY row) AS place FROM {self._layout.name}) WHERE row = numbered"
        )

    def remove(self, key: Cell) -> bool:
        """Remove every row with this id. Returns whether there was one."""
        found = self._write(f"DELETE FROM {self._layout.name} WHERE {quoted(self._layout.id)} = ?", [key])
        return found.rowcount > 0

    def change(self, key: Cell, column: str, value: Cell) -> None:
        """Set one cell in every row with this id. An unknown column is added; only the calendar allows
        that.
        """
        where = f"WHERE {quoted(self._layout.id)} = ?"
        if column in self._layout.columns:
            self._write(f"UPDATE {self._layout.name} SET {quoted(column)} = ? {where}", [value, key])
            return
        if column not in columns_of(self._sandbox, self._layout):
            self._add_column(column, value)
        for row, text in self._execute(f"SELECT row, added FROM {CALENDAR.name} {where}", [key]).fetchall():
            added = json.dumps({**json.loads(text or "{}"), str(column): value})
            self._write(f"UPDATE {CALENDAR.name} SET added = ? WHERE row = ?", [added, row])

    def _add_column(self, column: str, value: Cell) -> None:
        """Add a column to the calendar, as the published program (pandas) does.

        If the value is a string, the other rows get the text `nan`, cut to its length; otherwise they stay
        empty.
        """
        self._write("INSERT INTO added_columns (name) VALUES (?)", [column])
        if isinstance(value, str):
            self._write(
                f"UPDATE {CALENDAR.name} SET added = json_patch(coalesce(added, '{{}}'), ?)",
                [json.dumps({column: "nan"[: len(value)]})],
            )

    def _write(self, statement: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._sandbox.write(self._layout.name, statement, parameters)

    def _select(self, clause: str, *parameters: Cell) -> list[Record]:
        columns = columns_of(self._sandbox, self._layout)
        rows = read_rows(self._sandbox, self._layout, clause, *parameters)
        return [dict(zip(columns, row, strict=False)) for row in rows]  # the label is left out
