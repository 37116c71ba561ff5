"""What the tools do with a table: look up, append, change, remove."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolassay.benchmarks.workbench.sandbox.rows import columns_of, read_rows
from toolassay.benchmarks.workbench.sandbox.sandbox import Cell, Sandbox
from toolassay.benchmarks.workbench.sandbox.schema import CALENDAR, Layout, quoted

Record = dict[str, Any]


class Records:
    """One table of a sandbox.

    Args:
        sandbox: whose table.
        layout: which table.
    """

    def __init__(self, sandbox: Sandbox, layout: Layout) -> None:
        self._sandbox = sandbox
        self._execute = sandbox.connection.execute
        self._layout = layout

    def all(self) -> list[Record]:
        """Every row, in order; a missing cell is None."""
        return self._select("ORDER BY row")

    def first(self, key: Cell) -> Record | None:
        """The first row with this id."""
        found = self._select(f"WHERE {quoted(self._layout.id)} = ? ORDER BY row LIMIT 1", key)
        return found[0] if found else None

    def values(self, column: str) -> list[Cell]:
        """One column, in order."""
        cells = self._execute(f"SELECT {quoted(column)} FROM {self._layout.name} ORDER BY row")
        return [cell for (cell,) in cells]

    def __len__(self) -> int:
        return int(self._execute(f"SELECT count(*) FROM {self._layout.name}").fetchone()[0])

    def next_id(self) -> int:
        """One more than the last id in the order of texts, as published; 0 in an empty table.

        Raises:
            ValueError: that id is no number.
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
        """Add a row at the end."""
        names = ", ".join(map(quoted, cells))
        marks = ", ".join("?" for _ in cells)
        self._execute(
            f"INSERT INTO {self._layout.name} (label, {names}) VALUES (?, {marks})", [label, *cells.values()]
        )

    def overwrite(self, cells: Mapping[str, Cell], label: int) -> bool:
        """Replace the row with this label, if there is one; whether there was."""
        names = ", ".join(f"{quoted(name)} = ?" for name in cells)
        changed = self._execute(
            f"UPDATE {self._layout.name} SET {names} WHERE label = ?", [*cells.values(), label]
        )
        return changed.rowcount > 0

    def renumber(self) -> None:
        """Give the rows the labels 0, 1, 2, …."""
        self._execute(
            f"UPDATE {self._layout.name} SET label = place - 1 FROM (SELECT row AS numbered, row_number() "
            f"OVER (ORDER BY row) AS place FROM {self._layout.name}) WHERE row = numbered"
        )

    def remove(self, key: Cell) -> bool:
        """Remove every row with this id; whether there was one."""
        found = self._execute(f"DELETE FROM {self._layout.name} WHERE {quoted(self._layout.id)} = ?", [key])
        return found.rowcount > 0

    def change(self, key: Cell, column: str, value: Cell) -> None:
        """Set a cell in every row with this id; a column that is not there is added (calendar)."""
        where = f"WHERE {quoted(self._layout.id)} = ?"
        if column in self._layout.columns:
            self._execute(f"UPDATE {self._layout.name} SET {quoted(column)} = ? {where}", [value, key])
            return
        if column not in columns_of(self._sandbox, self._layout):
            self._add_column(column, value)
        for row, text in self._execute(f"SELECT row, added FROM {CALENDAR.name} {where}", [key]).fetchall():
            added = json.dumps({**json.loads(text or "{}"), str(column): value})
            self._execute(f"UPDATE {CALENDAR.name} SET added = ? WHERE row = ?", [added, row])

    def _add_column(self, column: str, value: Cell) -> None:
        """As published: beside a text, the other rows get the text `nan`, cut to its length; else nothing."""
        self._execute("INSERT INTO added_columns (name) VALUES (?)", [column])
        if isinstance(value, str):
            self._execute(
                f"UPDATE {CALENDAR.name} SET added = json_patch(coalesce(added, '{{}}'), ?)",
                [json.dumps({column: "nan"[: len(value)]})],
            )

    def _select(self, clause: str, *parameters: Cell) -> list[Record]:
        columns = columns_of(self._sandbox, self._layout)
        rows = read_rows(self._sandbox, self._layout, clause, *parameters)
        return [dict(zip(columns, row, strict=False)) for row in rows]  # the label is left out
