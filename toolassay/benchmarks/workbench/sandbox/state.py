"""The judged tables as the published program sees them: with the order and the labels of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.sandbox.rows import Row, columns_of, read_rows
from toolassay.benchmarks.workbench.sandbox.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.schema import JUDGED, Layout

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
    return {name: _changes(before[name], after[name]) for name in after if before[name] != after[name]}


def _changes(before: TableState, after: TableState) -> dict[str, Any]:
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
