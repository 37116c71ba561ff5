"""Notices for the user about labels and predictions: counted by kind, with the first occurrences."""

from __future__ import annotations

from collections.abc import Iterable

from toolassay.benchmarks.taskbench.scoring.compat import CompatItem

_NAMED = 5  # occurrences listed per kind


class EvaluationNotes:
    """Counts notices by kind and keeps the first five occurrences of each.

    >>> notes = EvaluationNotes()
    >>> notes.met("unknown id(s) in the predictions", "'7' (line 3)")
    >>> notes.lines()
    ["1 unknown id(s) in the predictions: '7' (line 3)"]
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[str]] = {}
        self._fixes: dict[str, str] = {}
        self._remarks: list[str] = []
        self._warned: set[str] = set()

    def met(self, kind: str, what: str, *, fix: str = "", warn: bool = False) -> None:
        """Count one occurrence.

        Args:
            kind: of the notice.
            what: the occurrence.
            fix: what to do about this kind.
            warn: whether the kind is a defect of the files, which is always shown.
        """
        if fix:
            self._fixes[kind] = f"; {fix}"
        if warn:
            self._warned.add(kind)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        named = self._first.setdefault(kind, [])
        if len(named) < _NAMED:
            named.append(what)

    def met_all(self, kind: str, whats: Iterable[str], *, warn: bool = False) -> None:
        for what in whats:
            self.met(kind, what, warn=warn)

    def remark(self, sentence: str) -> None:
        """Add a sentence that is not counted."""
        self._remarks.append(sentence)

    def extend(self, other: EvaluationNotes) -> None:
        """Append the notices of a later chunk."""
        for kind, count in other._counts.items():
            named = self._first.setdefault(kind, [])
            named.extend(other._first[kind][: _NAMED - len(named)])
            self._counts[kind] = self._counts.get(kind, 0) + count
        self._fixes |= other._fixes
        self._warned |= other._warned
        self._remarks += other._remarks

    def lines(self) -> list[str]:
        """One line per kind with its count and first occurrences, then the remarks."""
        return [*map(self._line, self._counts), *self._remarks]

    def warnings(self) -> list[str]:
        """The lines of kinds that are always shown."""
        return [self._line(kind) for kind in self._counts if kind in self._warned]

    def _line(self, kind: str) -> str:
        count, first = self._counts[kind], self._first[kind]
        more = ", …" if count > len(first) else ""
        return f"{count:,} {kind}: {', '.join(first)}{more}{self._fixes.get(kind, '')}"


def note_compat(notes: EvaluationNotes, item: CompatItem, where: str) -> None:
    """Add notices about unexpected treatment of an item by the published evaluator."""
    if item.lacks_gold_arguments:
        notes.met("label(s) without gold arguments, left out of compat as published", where)
    if item.unreadable_links:
        notes.met("item(s) with unreadable task_links, in compat as if empty", where)
    if item.borrowed:
        notes.met("item(s) where compat lends a malformed argument the last one converted", where)
