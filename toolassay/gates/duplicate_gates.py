"""The gates for whole sets: a request that duplicates an earlier one, or one of another set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolassay.dataset import RequestId
from toolassay.gates.gate import Finding, State
from toolassay.gold import Gold
from toolassay.variety import DuplicatePair, Item, Plans, Thresholds, find_repeats

_WHERE = "user_request"
_PLANS: Mapping[Plans, str] = {
    "same": " and asks for the same plan",
    "other": ", though its plan or its figures are others",
    "unknown": "",
}


class DuplicateGate:
    """Requests that repeat an earlier one of their set; the first in file order stays.

    Exact duplicates (the same words) are rejected; near ones, which a reader may want to keep, are put in
    quarantine.

    Args:
        golds: the whole set, in order; read once, here.
        bars: how alike near duplicates are.

    Attributes:
        repeats: what was found, for splits (`clusters`) and for the variety report.

    >>> twice = [Gold.of({"id": key, "user_request": text}, line)
    ...          for line, (key, text) in enumerate([("a", "Crop a.jpg."), ("b", "crop a.jpg")], start=1)]
    >>> gate = DuplicateGate(twice)
    >>> gate.check(twice[0]), gate.check(twice[1])[0].reason
    ([], "has the same words as 'a' (line 1)")
    """

    name = "duplicate"

    def __init__(self, golds: Iterable[Gold], bars: Thresholds | None = None) -> None:
        mine = _Set(golds)
        self.repeats = find_repeats(mine, bars=bars)
        self._findings = {
            key: _finding(self.name, match, mine.named(match.earlier))
            for key, match in self.repeats.held_back().items()
        }

    def check(self, gold: Gold) -> list[Finding]:
        """What an item repeats, if anything."""
        return _answer(self._findings, self.name, gold)


class ContaminationGate:
    """Requests that repeat one of another set, such as a test set that must not be trained on.

    Args:
        golds: the set to check; read once, here.
        against: the other set.
        bars: how alike near duplicates are.
    """

    name = "contamination"

    def __init__(
        self, golds: Iterable[Gold], against: Iterable[Gold], bars: Thresholds | None = None
    ) -> None:
        theirs = _Set(against)
        repeats = find_repeats(map(Item.of, golds), against=theirs, bars=bars)
        self._findings = {
            key: _finding(self.name, match, f"{theirs.named(match.earlier)} of the other set")
            for key, match in repeats.held_back().items()
        }

    def check(self, gold: Gold) -> list[Finding]:
        """What an item repeats of the other set, if anything."""
        return _answer(self._findings, self.name, gold)


class _Set:
    """A set of labels as items, which keeps what to call each."""

    def __init__(self, golds: Iterable[Gold]) -> None:
        self._golds = golds
        self._names: list[tuple[RequestId, int]] = []

    def __iter__(self) -> Iterator[Item]:
        for gold in self._golds:
            self._names.append((gold.id, gold.line))
            yield Item.of(gold)

    def named(self, place: int) -> str:
        """What to call the item of a place."""
        key, line = self._names[place]
        return f"'{key}' (line {line})" if line else f"'{key}'"


def _finding(gate: str, match: DuplicatePair, other: str) -> Finding:
    state: State = "reject" if match.exact else "quarantine"
    alike = "has the same words as" if match.exact else f"is {match.likeness:.0%} alike in wording to"
    return Finding(gate, state, f"{alike} {other}{_PLANS[match.plans]}", _WHERE)


def _answer(findings: Mapping[str | int, Finding], gate: str, gold: Gold) -> list[Finding]:
    if not gold.request.strip():
        return [Finding(gate, "not applicable", "there is no request to compare", _WHERE)]
    found = findings.get(gold.line or gold.id)
    return [found] if found else []
