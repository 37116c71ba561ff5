"""The strict verdict: which changes were wanted, which were made, whatever the path and the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.calls import replay_changes
from toolassay.benchmarks.workbench.sandbox import Sandbox, difference
from toolassay.benchmarks.workbench.sandbox.difference import TableDifference
from toolassay.benchmarks.workbench.sandbox.sandbox import Cell
from toolassay.benchmarks.workbench.sandbox.schema import Layout

Cells = tuple[tuple[str, str | None], ...]
_DEEPEST = 5  # new rows may refer to each other in a circle


class StateChange(NamedTuple):
    """One change: a row gone, a row new, or a cell changed.

    Attributes:
        table: where.
        kind: `gone`, `new` or `changed`.
        id: of the row; None for a new one, and where rows are known by content.
        cells: column and content: of a new row all but what the database made up, of a changed one the new
            content, of one known by content all. Case does not count, but in columns with fixed values.
    """

    table: str
    kind: str
    id: Cell
    cells: Cells = ()

    def to_json(self) -> dict[str, Any]:
        """As it stands in a verdict."""
        return {"table": self.table, "change": self.kind, "id": self.id, "cells": dict(self.cells)}


@dataclass(frozen=True)
class StrictVerdict:
    """What is said of the state a run left.

    Args:
        correct: every wanted change was made and no other, and the run ended without an error.
        unwanted: changes that were made and not wanted.
        missing: changes that were wanted and not made.
        wanted: how many changes were wanted.
        made: how many were made.
    """

    correct: bool
    unwanted: tuple[StateChange, ...]
    missing: tuple[StateChange, ...]
    wanted: int
    made: int

    @property
    def side_effects(self) -> bool:
        """Whether something was changed that should not have been."""
        return bool(self.unwanted)

    @property
    def wanted_made(self) -> float | None:
        """The share of wanted changes that were made; None where none was wanted."""
        return (self.wanted - len(self.missing)) / self.wanted if self.wanted else None

    @property
    def made_wanted(self) -> float | None:
        """The share of made changes that were wanted; None where none was made."""
        return (self.made - len(self.unwanted)) / self.made if self.made else None

    def to_json(self) -> dict[str, Any]:
        """What a strict verdict says beyond a compat one."""
        return {
            "unwanted_count": len(self.unwanted),
            "unwanted": [change.to_json() for change in self.unwanted],
            "missing": [change.to_json() for change in self.missing],
            "wanted_changes_made": self.wanted_made,
            "made_changes_wanted": self.made_wanted,
        }


class StrictJudge:
    """Judges runs on one sandbox; the changes of each ground truth are worked out once.

    Calls are carried out on copies in which sent mail is always appended: that the published sandbox lets it
    replace other mail after a deletion is nothing an agent can know.

    Args:
        sandbox: as every run found it.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._wanted: dict[tuple[str, ...], Counter[StateChange]] = {}

    def verdict(self, calls: Iterable[str], answer: tuple[str, ...], *, error: str = "") -> StrictVerdict:
        """Judge one run.

        Args:
            calls: what it called, as text.
            answer: the ground truth, as text.
            error: how the run failed; empty if it did not.
        """
        if answer not in self._wanted:
            self._wanted[answer] = self._changes(answer)
        wanted, made = self._wanted[answer], self._changes(calls)
        return StrictVerdict(
            correct=made == wanted and not error,
            unwanted=tuple((made - wanted).elements()),
            missing=tuple((wanted - made).elements()),
            wanted=wanted.total(),
            made=made.total(),
        )

    def _changes(self, calls: Iterable[str]) -> Counter[StateChange]:
        sandbox = self._sandbox.fork(overwrites=False)
        found: Counter[StateChange] = Counter()
        if replay_changes(sandbox, calls):
            found.update(changes_between(self._sandbox, sandbox))
        sandbox.close()
        return found


def changes_between(before: Sandbox, after: Sandbox) -> Iterator[StateChange]:
    """What was changed from a state to a fork of it, table by table."""
    found = difference(before, after)
    contents = _Contents(before.judged, found)
    for table in before.judged:
        if table.name in found:
            yield from _changes_in(table, found[table.name], contents)


def _changes_in(table: Layout, found: TableDifference, contents: _Contents) -> Iterator[StateChange]:
    new = Counter(contents.of_row(table, row) for row in found.new)
    if table.key:
        for gone in found.gone:
            yield StateChange(table.name, "gone", table.id_of(gone))
    else:
        lost = Counter(
            contents.of_row(table, dict(zip(table.columns, row, strict=True))) for row in found.gone
        )
        for cells in (lost - new).elements():
            yield StateChange(table.name, "gone", None, cells)
        new -= lost
    for cells in new.elements():
        yield StateChange(table.name, "new", None, cells)
    for change in found.changed:
        if _text(table, change.column, change.old) == _text(table, change.column, change.new):
            continue
        content = contents.of_cell(table, change.column, change.new)
        yield StateChange(table.name, "changed", change.id, ((change.column, content),))


class _Contents:
    """Cells as they are compared: a reference to a new row, whose id is made up, says what is in that row."""

    def __init__(self, tables: Iterable[Layout], found: Mapping[str, TableDifference]) -> None:
        self._new = {
            (table.name, row[table.id]): (table, row)
            for table in tables
            if table.generated and table.name in found
            for row in found[table.name].new
        }

    def of_row(self, table: Layout, row: Mapping[str, Cell], depth: int = 0) -> Cells:
        """All cells that count."""
        return tuple(
            (name, self.of_cell(table, name, cell, depth))
            for name, cell in row.items()
            if name not in table.generated
        )

    def of_cell(self, table: Layout, column: str, cell: Cell | bytes, depth: int = 0) -> str | None:
        """One cell."""
        if column in table.references and depth < _DEEPEST and isinstance(cell, int | str):
            made = self._new.get((table.references[column], cell))
            if made is not None:
                return f"new {made[0].name}: {dict(self.of_row(*made, depth + 1))}"
        return _text(table, column, cell)


def _text(table: Layout, column: str, cell: Cell | bytes) -> str | None:
    """What is compared of a cell."""
    if cell is None:
        return None
    if isinstance(cell, bytes):
        return cell.hex()
    return str(cell) if column in table.verbatim else str(cell).lower()
