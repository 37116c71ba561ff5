"""What evaluation met on the way and the user should know, one sentence a kind."""

from __future__ import annotations

from collections.abc import Iterable

_NAMED = 5


class Notes:
    """Counts occurrences by kind and keeps the first five of each.

    >>> notes = Notes()
    >>> notes.met("unknown id(s) in the predictions", "'7' (line 3)")
    >>> notes.lines()
    ["1 unknown id(s) in the predictions: '7' (line 3)"]
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[str]] = {}
        self._fixes: dict[str, str] = {}
        self._remarks: list[str] = []

    def met(self, kind: str, what: str, *, fix: str = "") -> None:
        """Count one occurrence; `fix` says what to do about the kind."""
        if fix:
            self._fixes[kind] = f"; {fix}"
        self._counts[kind] = self._counts.get(kind, 0) + 1
        named = self._first.setdefault(kind, [])
        if len(named) < _NAMED:
            named.append(what)

    def met_all(self, kind: str, whats: Iterable[str]) -> None:
        """Count several occurrences."""
        for what in whats:
            self.met(kind, what)

    def remark(self, sentence: str) -> None:
        """Add a sentence of its own."""
        self._remarks.append(sentence)

    def extend(self, other: Notes) -> None:
        """Add what somebody else met after this."""
        for kind, count in other._counts.items():
            named = self._first.setdefault(kind, [])
            named.extend(other._first[kind][: _NAMED - len(named)])
            self._counts[kind] = self._counts.get(kind, 0) + count
        self._fixes |= other._fixes
        self._remarks += other._remarks

    def lines(self) -> list[str]:
        """Every kind met with its count and its first occurrences, then the remarks."""
        lines = []
        for kind, count in self._counts.items():
            named = ", ".join(self._first[kind])
            more = ", …" if count > len(self._first[kind]) else ""
            lines.append(f"{count:,} {kind}: {named}{more}{self._fixes.get(kind, '')}")
        return lines + self._remarks
