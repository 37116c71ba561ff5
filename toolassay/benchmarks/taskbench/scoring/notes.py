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
        self._warned: set[str] = set()

    def met(self, kind: str, what: str, *, fix: str = "", warn: bool = False) -> None:
        """Count one occurrence.

        Args:
            kind: of what was met.
            what: was met.
            fix: what to do about the kind.
            warn: whether the kind is a fault of the files, which the user must see.
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
        """Count several occurrences."""
        for what in whats:
            self.met(kind, what, warn=warn)

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
        self._warned |= other._warned
        self._remarks += other._remarks

    def lines(self) -> list[str]:
        """Every kind met with its count and its first occurrences, then the remarks."""
        return [*map(self._line, self._counts), *self._remarks]

    def warnings(self) -> list[str]:
        """Those lines that the user must see."""
        return [self._line(kind) for kind in self._counts if kind in self._warned]

    def _line(self, kind: str) -> str:
        count, first = self._counts[kind], self._first[kind]
        more = ", …" if count > len(first) else ""
        return f"{count:,} {kind}: {', '.join(first)}{more}{self._fixes.get(kind, '')}"
