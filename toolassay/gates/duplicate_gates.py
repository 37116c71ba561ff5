"""The gates "duplicate" and "contamination": requests that repeat an earlier one, or one of another set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolassay.dataset import RequestId
from toolassay.gates.gate import Finding, State
from toolassay.gold import Gold
from toolassay.variety import DuplicatePair, Item, Plans, Thresholds, find_repeats

_WHERE = "user_request"
_PLANS: Mapping[Plans, str] = {
    "same": " and has the same plan",
    "other": ", but its plan or its numbers differ",
    "unknown": "",
}


class DuplicateGate:
    """Holds back requests that repeat an earlier one of their set; the first in file order passes.

    Exact duplicates (the same words) are rejected. Near duplicates are quarantined, because a person may want
    to keep them.

    Args:
        golds: the whole set, in file order. The constructor iterates over it once.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.

    Attributes:
        repeats: all pairs found, for splits (`clusters`) and for the variety report.

    >>> twice = [Gold.of({"id": key, "user_request": text}, line)
    ...          for line, (key, text) in enumerate([("a", "Crop a.jpg."), ("b", "crop a.jpg")], start=1)]
    >>> gate = DuplicateGate(twice)
    >>> gate.check(twice[0]), gate.check(twice[1])[0].reason
    ([], "has the same words as 'a' (line 1)")
    """

    name = "duplicate"

    def __init__(self, golds: Iterable[Gold], thresholds: Thresholds | None = None) -> None:
        mine = _Set(golds)
        self.repeats = find_repeats(mine, thresholds=thresholds)
        self._findings = {
            key: _finding(self.name, match, mine.named(match.earlier))
            for key, match in self.repeats.held_back().items()
        }

    def check(self, gold: Gold) -> list[Finding]:
        """One finding if the request repeats an earlier one."""
        return _answer(self._findings, self.name, gold)


class ContaminationGate:
    """Holds back requests that repeat one of another set, such as a test set that must not be trained on.

    Args:
        golds: the set to check. The constructor iterates over it once.
        against: the other set.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
    """

    name = "contamination"

    def __init__(
        self, golds: Iterable[Gold], against: Iterable[Gold], thresholds: Thresholds | None = None
    ) -> None:
        theirs = _Set(against)
        repeats = find_repeats(map(Item.of, golds), against=theirs, thresholds=thresholds)
        self._findings = {
            key: _finding(self.name, match, f"{theirs.named(match.earlier)} of the other set")
            for key, match in repeats.held_back().items()
        }

    def check(self, gold: Gold) -> list[Finding]:
        """One finding if the request repeats one of the other set."""
        return _answer(self._findings, self.name, gold)


class _Set:
    """Labels as items, with the id and line of each for reasons: an item itself does not hold its line."""

    def __init__(self, golds: Iterable[Gold]) -> None:
        self._golds = golds
        self._names: list[tuple[RequestId, int]] = []

    def __iter__(self) -> Iterator[Item]:
        for gold in self._golds:
            self._names.append((gold.id, gold.line))
            yield Item.of(gold)

    def named(self, place: int) -> str:
        """The id and line of the item at an index, as reasons quote them."""
        key, line = self._names[place]
        return f"'{key}' (line {line})" if line else f"'{key}'"


def _finding(gate: str, match: DuplicatePair, other: str) -> Finding:
    state: State = "reject" if match.exact else "quarantine"
    similar = "has the same words as" if match.exact else f"is {match.similarity:.0%} similar in wording to"
    return Finding(gate, state, f"{similar} {other}{_PLANS[match.plans]}", _WHERE)


def _answer(findings: Mapping[str | int, Finding], gate: str, gold: Gold) -> list[Finding]:
    if not gold.request.strip():
        return [Finding(gate, "not applicable", "there is no request to compare", _WHERE)]
    found = findings.get(gold.line or gold.id)
    return [found] if found else []
