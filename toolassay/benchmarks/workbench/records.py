"""The rows of a sandbox as records, and the difference between two copies of a sandbox."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from toolassay.benchmarks.workbench.sandbox import CALENDAR, EMAILS, JUDGED, Cell, Layout, Sandbox, quoted


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
        at = EMAILS.columns.index("sent_datetime")
        return [(*row[:at], Moment(row[at]), *row[at + 1 :]) if row[-1] in sent else row for row in rows]
    if table is CALENDAR and (added := columns_of(sandbox, table)[len(table.columns) :]):
        texts = select(f"SELECT added FROM {table.name} {clause}", parameters)
        stored = [json.loads(text or "{}") for (text,) in texts]
        return [  # a column may have a number for a name
            (*cells, *(more.get(str(name)) for name in added), label)
            for (*cells, label), more in zip(rows, stored, strict=True)
        ]
    return rows


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
        """Every row, in order; a missing cell is None. The table is read once for each state."""
        return self._once("rows", lambda: self._select("ORDER BY row"))

    def derived(self, compute: Callable[[Sequence[Record]], T]) -> T:
        """What a function computes from every row; it is called once for each state of the sandbox.

        Args:
            compute: a function of a module, which must not depend on anything but the rows.
        """
        return self._once(compute, lambda: compute(self.all()))

    def _once(self, key: Hashable, compute: Callable[[], T]) -> T:
        reads = self._sandbox.reads()
        table_and_key = (self._layout.name, key)
        if table_and_key not in reads:
            reads[table_and_key] = compute()
        value: T = reads[table_and_key]
        return value

    def first(self, key: Cell) -> Record | None:
        """The first row with this id; None if there is none."""
        rows = self._select(f"WHERE {quoted(self._layout.id)} = ? ORDER BY row LIMIT 1", key)
        return rows[0] if rows else None

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
        self._execute(
            f"INSERT INTO {self._layout.name} (label, {names}) VALUES (?, {marks})", [label, *cells.values()]
        )

    def overwrite(self, cells: Mapping[str, Cell], label: int) -> bool:
        """Replace the cells of the row with this label. Returns whether there was such a row."""
        names = ", ".join(f"{quoted(name)} = ?" for name in cells)
        changed = self._execute(
            f"UPDATE {self._layout.name} SET {names} WHERE label = ?", [*cells.values(), label]
        )
        return changed.rowcount > 0

    def renumber(self) -> None:
        """Relabel the rows 0, 1, 2, …, in their order."""
        self._execute(
            f"UPDATE {self._layout.name} SET label = place - 1 FROM (SELECT row AS numbered, row_number() "
            f"OVER (ORDER BY row) AS place FROM {self._layout.name}) WHERE row = numbered"
        )

    def remove(self, key: Cell) -> bool:
        """Remove every row with this id. Returns whether there was one."""
        found = self._execute(f"DELETE FROM {self._layout.name} WHERE {quoted(self._layout.id)} = ?", [key])
        return found.rowcount > 0

    def change(self, key: Cell, column: str, value: Cell) -> None:
        """Set one cell in every row with this id. An unknown column is added; only the calendar allows
        that.
        """
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
        """Add a column to the calendar, as the published program (pandas) does.

        If the value is a string, the other rows get the text `nan`, cut to its length; otherwise they stay
        empty.
        """
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

    Attributes:
        gone: removed rows, cells in the order of the columns.
        new: added rows, cells by column.
        changed: cells in rows that exist in both states that differ as they are compared (`compared_text`).
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


def difference(
    before: Sandbox, after: Sandbox, domains: Collection[str] | None = None
) -> dict[str, TableDifference]:
    """The differences in the judged tables, by table name. Equal tables are omitted.

    Args:
        before: a state.
        after: a fork of `before`, directly or through other forks.
        domains: those that may differ; None for all.

    >>> before = Sandbox.of({"plots": [["a.png"]]})
    >>> after = before.fork()
    >>> _ = after.connection.execute("UPDATE plots SET file_path = 'b.png'")
    >>> difference(before, after)["plots"].changed
    [CellChange(id='a.png', column='file_path', old='a.png', new='b.png')]
    """
    tables = (table for table in before.judged if domains is None or table.domain in domains)
    found = {table.name: _table_difference(table, before, after) for table in tables}
    return {name: table for name, table in found.items() if table != TableDifference()}


def _table_difference(table: Layout, before: Sandbox, after: Sandbox) -> TableDifference:
    width = len(table.key)
    columns = [*table.columns, *(["added"] if table is CALENDAR else [])]
    query = f"SELECT {', '.join(map(quoted, (*table.key, *columns)))} FROM main.{quoted(table.name)}"
    if (touched := after.touched(table)) is not None:
        query += f" WHERE row IN ({touched})"
    if table.key:
        query += f" ORDER BY {', '.join(map(quoted, table.key))}"
    old, now = (sandbox.connection.execute(query).fetchall() for sandbox in (before, after))
    if not table.key:  # only how often each content occurs is compared
        counter = Counter(now)
        counter.subtract(old)
        new = [_by_column(table, cells) for cells in (+counter).elements()]
        return TableDifference(list((-counter).elements()), new)
    earlier, later = ({row[:width]: row[width:] for row in rows} for rows in (old, now))
    changed = [
        CellChange(table.id_of(cells), column, was.get(column), present.get(column))
        for key, cells in earlier.items()
        if later.get(key, cells) != cells
        for was, present in [(_by_column(table, cells), _by_column(table, later[key]))]
        for column in was | present
        if compared_text(table, column, was.get(column)) != compared_text(table, column, present.get(column))
    ]
    return TableDifference(
        [cells[: len(table.columns)] for key, cells in earlier.items() if key not in later],
        [_by_column(table, cells) for key, cells in later.items() if key not in earlier],
        changed,
    )


def _by_column(table: Layout, cells: Cells) -> dict[str, Cell]:
    """The cells of a row. Those of added columns are JSON in a cell behind the others."""
    row = dict(zip(table.columns, cells, strict=False))
    added = cells[len(table.columns) :]
    return row | json.loads(str(added[0])) if any(added) else row


def compared_text(table: Layout, column: str, cell: Cell | bytes) -> str | None:
    """A cell as it is compared, without case unless the column is `verbatim`; None if it is empty."""
    if cell is None:
        return None
    if isinstance(cell, bytes):
        return cell.hex()
    return str(cell) if column in table.verbatim else str(cell).lower()


_ROWS_SHOWN = 12  # as in the published replays


class TableState(NamedTuple):
    """The content of one table; equality includes columns, order, labels and cells."""

    columns: tuple[str, ...]
    rows: list[Row]


State = Mapping[str, TableState]
"""The judged tables by domain."""


def table_state(sandbox: Sandbox, table: Layout) -> TableState:
    return TableState(columns_of(sandbox, table), read_rows(sandbox, table))


def numbered_rows(sandbox: Sandbox, table: Layout, clause: str = "ORDER BY row") -> dict[int, Row]:
    """The rows that an SQL clause after FROM selects, by their numbers."""
    numbers = sandbox.connection.execute(f"SELECT row FROM {table.name} {clause}")
    rows = read_rows(sandbox, table, clause)
    return {number: row for (number,), row in zip(numbers, rows, strict=True)}


def state_left(sandbox: Sandbox, table: Layout, before: Mapping[int, Row]) -> TableState:
    """The same as `table_state` of a sandbox that is watched, from the rows that changed.

    Args:
        sandbox: the sandbox.
        table: the table.
        before: its rows before the changes.
    """
    columns = columns_of(sandbox, table)
    if columns != table.columns:
        return table_state(sandbox, table)
    now = numbered_rows(sandbox, table, f"WHERE row IN ({sandbox.touched(table)}) ORDER BY row")
    numbers = sandbox.connection.execute(f"SELECT row FROM {table.name} ORDER BY row")
    return TableState(columns, [now.get(number) or before[number] for (number,) in numbers])


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
