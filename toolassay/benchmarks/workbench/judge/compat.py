"""The verdict of the published evaluator: compares tables including the order and the labels of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from toolassay.benchmarks.workbench.calls import replay_changes
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.difference import State, TableState, state_of, table_state
from toolassay.benchmarks.workbench.sandbox.records import Moment, Row
from toolassay.benchmarks.workbench.sandbox.sandbox import Cell
from toolassay.benchmarks.workbench.sandbox.schema import JUDGED, Layout

_LAYOUTS: Mapping[str, Layout] = {str(table.domain): table for table in JUDGED}


@dataclass(frozen=True, slots=True)
class CompatVerdict:
    """The published evaluator's verdict on one run.

    Args:
        correct: the state equals the one that the ground truth leaves, and the run ended without an error.
        side_effects: something changed and the state differs from the ground truth's, with or without an
            error.
    """

    correct: bool
    side_effects: bool


class CompatJudge:
    """Judges runs on one sandbox. The states that the last thousand ground truths leave are kept, also for
    runs that made the same calls.

    Args:
        sandbox: the state before every run.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._original = state_of(sandbox)
        # A state may have all rows of a table, a quarter of a megabyte; the published tasks fit.
        self._wanted = lru_cache(maxsize=1000)(self._left_by)

    def verdict(self, calls: Iterable[str], answer: tuple[str, ...], *, error: str = "") -> CompatVerdict:
        """Judge one run.

        Args:
            calls: the run's calls as text.
            answer: the ground-truth calls as text.
            error: the run's error message; empty if it succeeded.
        """
        # Tables that neither the run nor the ground truth touched are equal and need no comparison.
        calls, wanted = tuple(calls), self._wanted(answer)
        left = wanted if calls == answer else self._left_by(calls)
        right = all(
            _same(
                _LAYOUTS[name], left.get(name, self._original[name]), wanted.get(name, self._original[name])
            )
            for name in {*left, *wanted}
        )
        changed = any(table != self._original[name] for name, table in left.items())
        return CompatVerdict(correct=right and not error, side_effects=changed and not right)

    def _left_by(self, calls: tuple[str, ...]) -> State:
        """The tables that the calls may have changed, by domain."""
        sandbox = self._sandbox.fork(overwrites=True)
        left = {name: table_state(sandbox, _LAYOUTS[name]) for name in replay_changes(sandbox, calls)}
        sandbox.close()
        return left


def _same(layout: Layout, one: TableState, other: TableState) -> bool:
    """Whether two tables are equal, ignoring case.

    The published evaluator lower-cases whole text columns with pandas, which turns cells that are not text
    into missing values. So two such cells are equal there whatever they hold.
    """
    if one is other:
        return True
    if one.columns != other.columns or len(one.rows) != len(other.rows):
        return False
    numbers = _number_columns(layout, one)
    if numbers != _number_columns(layout, other):
        return False
    verbatim = {place for place, name in enumerate(one.columns) if name in layout.verbatim}
    verbatim |= numbers | {len(one.columns)}  # the label
    return all(
        a == b or _folded(a, verbatim) == _folded(b, verbatim)
        for a, b in zip(one.rows, other.rows, strict=True)
    )


def _number_columns(layout: Layout, table: TableState) -> set[int]:
    """The positions of added columns without any text; pandas compares those as numbers."""
    return {
        place
        for place in range(len(layout.columns), len(table.columns))
        if not any(isinstance(row[place], str) for row in table.rows)
    }


def _folded(row: Row, verbatim: set[int]) -> list[Cell]:
    return [
        cell
        if place in verbatim
        else cell.lower()
        if isinstance(cell, str) and not isinstance(cell, Moment)
        else None
        for place, cell in enumerate(row)
    ]
