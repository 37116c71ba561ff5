"""The difference between two states of a sandbox: by content (strict), and in the published form, which
keeps the order and labels of rows.
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
    """A changed cell of a row that exists in both states; `id` names the row."""

    id: Cell
    column: str
    old: Cell
    new: Cell


@dataclass(frozen=True)
class TableDifference:
    """What changed in one table.

    Rows of the published tables are identified by a number that is assigned on insertion and never reused. So
    a row whose id was edited counts as a changed row, and neither order nor published labels matter. Rows of
    other tables are identified by their key. Rows without a key are compared by content, so a changed row
    counts as one gone and one new.

    Args:
        gone: removed rows, cells in the order of the columns.
        new: added rows, cells by column.
        changed: changed cells in rows that exist in both states.
    """

    gone: list[Cells] = field(default_factory=list)
    new: list[dict[str, Cell]] = field(default_factory=list)
    changed: list[CellChange] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The difference as a JSON value; bytes become hexadecimal digits."""
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
    """The differences in the judged tables, by table name. Equal tables are omitted.

    Args:
        before: a state.
        after: a fork of `before`, directly or through other forks.

    >>> before = Sandbox.of({"plots": [["a.png"]]})
    >>> after = before.fork()
    >>> _ = after.connection.execute("UPDATE plots SET file_path = 'b.png'")
    >>> difference(before, after)["plots"].changed
    [CellChange(id='a.png', column='file_path', old='a.png', new='b.png')]
    """
    tables = before.judged
    if before.toolset is None:  # SQL in a user's tools does not say which tables it changes
        unlike = after.tables_unlike(before)
        tables = tuple(table for table in tables if table.name in unlike)
    if not tables:
        return {}
    # Both databases are attached to one connection, so that SQL compares them without reading all rows.
    both = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for name, sandbox in (("before", before), ("after", after)):
            both.execute(f"ATTACH ':memory:' AS {name}")
            both.deserialize(sandbox.image(), name=name)
        found = {table.name: _table_difference(both, table) for table in tables}
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
    """A column as it is compared. COLLATE BINARY overrides a case-insensitive collation of the schema."""
    return quoted(column) + (" COLLATE BINARY" if column in table.verbatim else "")


def _absent(table: Layout, state: str) -> str:
    """The SQL condition that row `b` does not exist in another state."""
    if table.key == ("row",):
        return f"b.row NOT IN (SELECT row FROM {state}.{quoted(table.name)})"
    return f"NOT EXISTS (SELECT 1 FROM {state}.{quoted(table.name)} a WHERE {_same(table)})"


def _same(table: Layout) -> str:
    """The SQL condition that `a` and `b` are the same row in two states.

    Key columns of a user's tables may be NULL, which only IS compares; `row` never is.
    """
    equal = "=" if table.key == ("row",) else "IS"
    return " AND ".join(f"a.{quoted(column)} {equal} b.{quoted(column)}" for column in table.key)


def _difference_by_content(both: sqlite3.Connection, table: Layout) -> TableDifference:
    """Rows without a key form a multiset: only how often each content occurs is compared."""
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
    """The cells, with those of added columns (stored as JSON in the cell `added`) beside the others."""
    added = cells.pop("added", None)
    return cells if added is None else cells | json.loads(str(added))


_ROWS_SHOWN = 12  # as in the published replays


class TableState(NamedTuple):
    """The content of one table; equality includes columns, order, labels and cells."""

    columns: tuple[str, ...]
    rows: list[Row]


State = Mapping[str, TableState]
"""The judged tables by domain."""


def table_state(sandbox: Sandbox, table: Layout) -> TableState:
    return TableState(columns_of(sandbox, table), read_rows(sandbox, table))


def state_of(sandbox: Sandbox) -> dict[str, TableState]:
    """All judged tables of a sandbox, by domain."""
    return {str(table.domain): table_state(sandbox, table) for table in JUDGED}


def state_changes(before: State, after: State) -> dict[str, dict[str, Any]]:
    """The changes between two states in the form of the published replays.

    Args:
        before: the original state.
        after: the present state, with the same domains.

    Returns:
        For each changed domain: `columns` (None unless they changed), `n_rows`, `first_label`, `last_label`,
        `labels_are_0_to_n_minus_1`, `gone` (label and cells, at most 12), `new` (position, label and cells,
        at most 12), and `gone_truncated` if there are more than 12 of `gone`.
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
