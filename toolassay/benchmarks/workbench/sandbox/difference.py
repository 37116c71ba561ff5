"""What differs between two states of a sandbox: by content (strict), and in the published form, with
order and labels of rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.sandbox.records import Row, columns_of, read_rows
from toolassay.benchmarks.workbench.sandbox.sandbox import Cell, Sandbox
from toolassay.benchmarks.workbench.sandbox.schema import CALENDAR, JUDGED, Layout, quoted

Cells = tuple[Cell, ...]


@dataclass(frozen=True)
class CellChange:
    """A cell that is another one now."""

    id: Cell
    column: str
    old: Cell
    new: Cell


@dataclass(frozen=True)
class TableDifference:
    """What became of one table.

    Rows of the published tables are known by the number they got when they were made, so a row whose id was
    changed is a changed row, and neither order nor the labels of the published program count. Rows of other
    tables are known by their key; without one by their content, and then a row that was changed is one gone
    and one new.

    Args:
        gone: rows that were removed, in the order of the columns.
        new: rows that were added.
        changed: cells that were changed, in rows that stayed.
    """

    gone: list[Cells] = field(default_factory=list)
    new: list[dict[str, Cell]] = field(default_factory=list)
    changed: list[CellChange] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As a JSON value; bytes as hexadecimal digits."""
        return {
            "gone": [[*map(_plain, cells)] for cells in self.gone],
            "new": [{name: _plain(cell) for name, cell in row.items()} for row in self.new],
            "changed": [
                {name: _plain(cell) for name, cell in vars(change).items()} for change in self.changed
            ],
        }


def _plain(cell: Cell | bytes) -> Cell:
    return cell.hex() if isinstance(cell, bytes) else cell


def difference(before: Sandbox, after: Sandbox) -> dict[str, TableDifference]:
    """What the judged tables of `after` hold otherwise than those of `before`; equal ones are left out.

    Args:
        before: a state.
        after: a fork of it, or of a fork of it.

    >>> before = Sandbox.of({"plots": [["a.png"]]})
    >>> after = before.fork()
    >>> _ = after.connection.execute("UPDATE plots SET file_path = 'b.png'")
    >>> difference(before, after)["plots"].changed
    [CellChange(id='a.png', column='file_path', old='a.png', new='b.png')]
    """
    both = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for name, sandbox in (("before", before), ("after", after)):
            both.execute(f"ATTACH ':memory:' AS {name}")
            both.deserialize(sandbox.image(), name=name)
        found = {table.name: _table_difference(both, table) for table in before.judged}
    finally:
        both.close()
    return {name: table for name, table in found.items() if table != TableDifference()}


def _table_difference(both: sqlite3.Connection, table: Layout) -> TableDifference:
    if not table.key:
        return _difference_by_content(both, table)
    name, columns = quoted(table.name), list(table.columns)
    if table is CALENDAR:
        columns.append("added")
    listed = ", ".join(map(quoted, columns))
    order = ", ".join(f"b.{quoted(column)}" for column in table.key)
    away = f"FROM before.{name} b WHERE {_absent(table, 'after')} ORDER BY {order}"
    here = f"FROM after.{name} b WHERE {_absent(table, 'before')} ORDER BY {order}"
    new = [
        _with_added(dict(zip(columns, cells, strict=True)))
        for cells in both.execute(f"SELECT {listed} {here}")
    ]
    gone = [cells[: len(table.columns)] for cells in both.execute(f"SELECT {listed} {away}")]
    changed = []
    old_and_new = ", ".join(f"b.{quoted(column)}, a.{quoted(column)}" for column in columns)
    unequal = " OR ".join(f"b.{_exact(table, column)} IS NOT a.{quoted(column)}" for column in columns)
    pairs = f"SELECT {old_and_new} FROM before.{name} b JOIN after.{name} a ON {_same(table)} WHERE {unequal}"
    for cells in both.execute(f"{pairs} ORDER BY {order}"):
        old = _with_added(dict(zip(columns, cells[::2], strict=True)))
        now = _with_added(dict(zip(columns, cells[1::2], strict=True)))
        changed += [
            CellChange(table.id_of(cells[::2]), column, old.get(column), now.get(column))
            for column in old | now
            if old.get(column) != now.get(column)
        ]
    return TableDifference(gone, new, changed)


def _exact(table: Layout, column: str) -> str:
    """A column as it is compared: where case counts, it does so whatever the database says."""
    return quoted(column) + (" COLLATE BINARY" if column in table.verbatim else "")


def _absent(table: Layout, state: str) -> str:
    """The condition that a row `b` is not in another state."""
    if table.key == ("row",):
        return f"b.row NOT IN (SELECT row FROM {state}.{quoted(table.name)})"
    return f"NOT EXISTS (SELECT 1 FROM {state}.{quoted(table.name)} a WHERE {_same(table)})"


def _same(table: Layout) -> str:
    """The condition that `a` and `b` are one row in two states; a number of a row is never NULL."""
    equal = "=" if table.key == ("row",) else "IS"
    return " AND ".join(f"a.{quoted(column)} {equal} b.{quoted(column)}" for column in table.key)


def _difference_by_content(both: sqlite3.Connection, table: Layout) -> TableDifference:
    """Rows without a key are a bag: how often each content is there."""
    listed = ", ".join(_exact(table, column) for column in table.columns)
    name, places = quoted(table.name), ", ".join(str(place + 1) for place in range(len(table.columns)))
    counts = [
        f"SELECT {listed}, count(*) FROM {state}.{name} GROUP BY {places}" for state in ("before", "after")
    ]
    found: Counter[Cells] = Counter()
    for sign, (one, other) in ((-1, counts), (1, counts[::-1])):
        for *cells, count in both.execute(f"{one} EXCEPT {other}"):
            found[tuple(cells)] += sign * count
    gone = list((-found).elements())
    new = [dict(zip(table.columns, cells, strict=True)) for cells in found.elements()]
    return TableDifference(gone, new)


def _with_added(cells: dict[str, Cell]) -> dict[str, Cell]:
    """The cells with those of added columns, which stand as JSON in one of them, beside the others."""
    added = cells.pop("added", None)
    return cells if added is None else cells | json.loads(str(added))


_ROWS_SHOWN = 12


class TableState(NamedTuple):
    """One table; equal to another if columns, order, labels and cells are."""

    columns: tuple[str, ...]
    rows: list[Row]


State = Mapping[str, TableState]
"""The judged tables by domain."""


def table_state(sandbox: Sandbox, table: Layout) -> TableState:
    """One table of a sandbox."""
    return TableState(columns_of(sandbox, table), read_rows(sandbox, table))


def state_of(sandbox: Sandbox) -> dict[str, TableState]:
    """All judged tables of a sandbox."""
    return {str(table.domain): table_state(sandbox, table) for table in JUDGED}


def state_changes(before: State, after: State) -> dict[str, dict[str, Any]]:
    """The changes between two states in the form of the published replays; at most 12 rows of a kind.

    Args:
        before: the original state.
        after: the present state, of the same domains.

    Returns:
        For each changed domain: `columns` (if they changed), `n_rows`, `first_label`, `last_label`,
        `labels_are_0_to_n_minus_1`, `gone` (label and cells), `new` (position, label and cells), and
        `gone_truncated` if there are more.
    """
    return {
        name: _published_changes(before[name], after[name]) for name in after if before[name] != after[name]
    }


def _published_changes(before: TableState, after: TableState) -> dict[str, Any]:
    old = {*before.rows} if before.columns == after.columns else set()
    new = {*after.rows} if before.columns == after.columns else set()
    labels = [row[-1] for row in after.rows]
    gone = [[row[-1], list(row[:-1])] for row in before.rows if row not in new]
    come = [[place, row[-1], list(row[:-1])] for place, row in enumerate(after.rows) if row not in old]
    return {
        "columns": None if before.columns == after.columns else list(after.columns),
        "n_rows": len(labels),
        "first_label": labels[0] if labels else None,
        "last_label": labels[-1] if labels else None,
        "labels_are_0_to_n_minus_1": labels == list(range(len(labels))),
        "gone": gone[:_ROWS_SHOWN],
        "new": come[:_ROWS_SHOWN],
    } | ({"gone_truncated": True} if len(gone) > _ROWS_SHOWN else {})
