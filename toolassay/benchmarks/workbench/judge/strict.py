"""The strict verdict: compares the set of changes made with the set of changes wanted, regardless of the
calls that made them and of their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.calls import replay_changes
from toolassay.benchmarks.workbench.records import TableDifference, compared_text, difference
from toolassay.benchmarks.workbench.sandbox import Cell, Layout, Sandbox

Cells = tuple[tuple[str, str | None], ...]
_DEEPEST = 5  # new rows may refer to each other in a cycle, which would recurse for ever


class StateChange(NamedTuple):
    """One change: a removed row, a new row, or a changed cell.

    Attributes:
        table: the table's name.
        kind: `gone`, `new` or `changed`.
        id: the row's id; None for a new row and in tables compared by content.
        cells: column and content. A new row: all but generated columns. A changed cell: the new content. A
            removed row in a table compared by content: all. Lower-cased, except in `verbatim` columns.
    """

    table: str
    kind: str
    id: Cell
    cells: Cells = ()

    def to_json(self) -> dict[str, Any]:
        """The change as written in a verdict."""
        return {"table": self.table, "change": self.kind, "id": self.id, "cells": dict(self.cells)}


@dataclass(frozen=True, slots=True)
class StrictVerdict:
    """The strict verdict on the state that a run left.

    Attributes:
        correct: exactly the wanted changes were made, and the run ended without an error.
        unwanted: changes that were made but not wanted.
        missing: changes that were wanted but not made.
        wanted_count: number of wanted changes.
        made_count: number of changes made.
    """

    correct: bool
    unwanted: tuple[StateChange, ...]
    missing: tuple[StateChange, ...]
    wanted_count: int
    made_count: int

    @property
    def side_effects(self) -> bool:
        """Whether any change was unwanted."""
        return bool(self.unwanted)

    @property
    def wanted_made(self) -> float | None:
        """The share of wanted changes that were made (recall); None if none was wanted."""
        count = self.wanted_count
        return (count - len(self.missing)) / count if count else None

    @property
    def made_wanted(self) -> float | None:
        """The share of changes made that were wanted (precision); None if none was made."""
        count = self.made_count
        return (count - len(self.unwanted)) / count if count else None

    def to_json(self) -> dict[str, Any]:
        """The fields that a strict verdict has beyond a compat one."""
        return {
            "unwanted_count": len(self.unwanted),
            "unwanted": [change.to_json() for change in self.unwanted],
            "missing": [change.to_json() for change in self.missing],
            "wanted_changes_made": self.wanted_made,
            "made_changes_wanted": self.made_wanted,
        }


class StrictJudge:
    """Judges runs on one sandbox. The changes of the last ten thousand ground truths are kept, also for runs
    that made the same calls.

    Calls are replayed on copies in which sent mail is always appended. In the published sandbox it may
    replace other mail after a deletion, which an agent cannot know.

    Args:
        sandbox: the state before every run.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._replay_sandbox = sandbox.watched(overwrites=False)
        self._wanted = lru_cache(maxsize=10_000)(self._changes)

    def verdict(self, calls: Iterable[str], answer: tuple[str, ...], *, error: str = "") -> StrictVerdict:
        """Judge one run.

        Args:
            calls: the run's calls as text.
            answer: the ground-truth calls as text.
            error: the run's error message; empty if it succeeded.
        """
        calls = tuple(calls)
        wanted = self._wanted(answer)
        changes = wanted if calls == answer else self._changes(calls)
        return StrictVerdict(
            correct=changes == wanted and not error,
            unwanted=tuple((changes - wanted).elements()),
            missing=tuple((wanted - changes).elements()),
            wanted_count=wanted.total(),
            made_count=changes.total(),
        )

    def _changes(self, calls: tuple[str, ...]) -> Counter[StateChange]:
        with self._replay_sandbox.undone() as sandbox:
            if domains := replay_changes(sandbox, calls).domains:
                # SQL in a user's tools does not say which tables it changes.
                judged = domains if sandbox.toolset is None else None
                return Counter(changes_between(self._sandbox, sandbox, judged))
        return Counter()


def changes_between(
    before: Sandbox, after: Sandbox, domains: Collection[str] | None = None
) -> Iterator[StateChange]:
    """The changes from a state to a fork of it, table by table; the arguments are those of `difference`."""
    differences = difference(before, after, domains)
    contents = _Contents(before.judged, differences)
    for table in before.judged:
        if table.name not in differences:
            continue
        changes = differences[table.name]
        new = Counter(contents.of_row(table, row) for row in changes.new)
        if table.key:
            for gone in changes.gone:
                yield StateChange(table.name, "gone", table.id_of(gone))
        else:
            rows = (dict(zip(table.columns, row, strict=True)) for row in changes.gone)
            lost = Counter(contents.of_row(table, row) for row in rows)
            for cells in (lost - new).elements():
                yield StateChange(table.name, "gone", None, cells)
            new -= lost
        for cells in new.elements():
            yield StateChange(table.name, "new", None, cells)
        for change in changes.changed:
            content = contents.of_cell(table, change.column, change.new)
            yield StateChange(table.name, "changed", change.id, ((change.column, content),))


class _Contents:
    """Cells in the form in which they are compared.

    A reference to a new row is replaced by the content of that row, because its id was generated.
    """

    def __init__(self, tables: Iterable[Layout], differences: Mapping[str, TableDifference]) -> None:
        self._new = {
            (table.name, row[table.id]): (table, row)
            for table in tables
            if table.generated and table.name in differences
            for row in differences[table.name].new
        }

    def of_row(self, table: Layout, row: Mapping[str, Cell], depth: int = 0) -> Cells:
        """All cells of a row except generated ones."""
        return tuple(
            (name, self.of_cell(table, name, cell, depth))
            for name, cell in row.items()
            if name not in table.generated
        )

    def of_cell(self, table: Layout, column: str, cell: Cell | bytes, depth: int = 0) -> str | None:
        """One cell; None if it is empty."""
        if column in table.references and depth < _DEEPEST and isinstance(cell, int | str):
            new_row = self._new.get((table.references[column], cell))
            if new_row is not None:
                new_table, cells = new_row
                return f"new {new_table.name}: {dict(self.of_row(new_table, cells, depth + 1))}"
        return compared_text(table, column, cell)
