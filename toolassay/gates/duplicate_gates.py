"""The gates "duplicate" and "contamination": requests that repeat an earlier one, or one of another set."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from toolassay.dataset import RequestId, form_of
from toolassay.engines import Engine, OneProcess
from toolassay.evaluation.line_index import CompactTexts
from toolassay.files import LineRange
from toolassay.gates.gate import Finding
from toolassay.gates.labelled_set import LabelledSet, LabelReader
from toolassay.gold import Gold
from toolassay.variety.near_duplicates import Item, Plans, Thresholds, find_repeats

_WHERE = "user_request"
_PLANS: Mapping[Plans, str] = {
    "same": " and has the same plan",
    "other": ", but its plan or its numbers differ",
    "unknown": "",
}


class RepeatGate:
    """Holds back requests that are known to repeat another one.

    Args:
        name: the name of the gate.
        findings: the finding for each repeated request, by the line of its label (its id without a line).
    """

    def __init__(self, name: str, findings: Mapping[str | int, Finding]) -> None:
        self._name, self._findings = name, findings

    @property
    def name(self) -> str:
        """The name of the gate."""
        return self._name

    def within(self, lines: range) -> RepeatGate:
        """The gate for the labels on these lines, which is small enough to be sent with them."""
        return RepeatGate(
            self._name, {line: self._findings[line] for line in lines if line in self._findings}
        )

    def check(self, gold: Gold) -> list[Finding]:
        """One finding if the request repeats another one."""
        if not gold.request.strip():
            return [Finding(self.name, "not applicable", "there is no request to compare", _WHERE)]
        found = self._findings.get(gold.line or gold.id)
        # A work order is its plan in words: another plan is another request, however similar the words are.
        if found and form_of(gold.request) and found.reason.endswith(_PLANS["other"]):
            return []
        return [found] if found else []


DUPLICATE, CONTAMINATION = "duplicate", "contamination"


class DuplicateGate(RepeatGate):
    """Holds back requests that repeat an earlier one of their set; the first in file order passes.

    Exact duplicates (the same words) are rejected. Near duplicates are quarantined, because a person may want
    to keep them.

    Args:
        golds: the whole set, in file order. The constructor iterates over it once.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
        engine: where requests are read and hashed; a `LabelledSet` is read there, too.

    >>> twice = [Gold.of({"id": key, "user_request": text}, line)
    ...          for line, (key, text) in enumerate([("a", "Crop a.jpg."), ("b", "crop a.jpg")], start=1)]
    >>> gate = DuplicateGate(twice)
    >>> gate.check(twice[0]), gate.check(twice[1])[0].reason
    ([], "has the same words as 'a' (line 1)")
    """

    def __init__(
        self, golds: Iterable[Gold], thresholds: Thresholds | None = None, engine: Engine | None = None
    ) -> None:
        super().__init__(DUPLICATE, _findings(DUPLICATE, golds, None, thresholds, engine))


class ContaminationGate(RepeatGate):
    """Holds back requests that repeat one of another set, such as a test set that must not be trained on.

    Args:
        golds: the set to check. The constructor iterates over it once.
        against: the other set.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
        engine: as for `DuplicateGate`.
    """

    def __init__(
        self,
        golds: Iterable[Gold],
        against: Iterable[Gold],
        thresholds: Thresholds | None = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(CONTAMINATION, _findings(CONTAMINATION, golds, against, thresholds, engine))


@dataclass(frozen=True)
class FingerprintTask:
    """Reads labels for the search of repeats, for an engine."""

    reader: LabelReader

    def start(self) -> Callable[[LineRange], list[tuple[RequestId, int, Item]]]:
        """The function that reads a part of the file."""
        return self._read

    def _read(self, lines: LineRange) -> list[tuple[RequestId, int, Item]]:
        golds = (gold for gold, _ in self.reader.repaired(lines))
        return [(gold.id, gold.line, Item.of(gold)) for gold in golds]


class _Set:
    """Labels for the search, with the id and line of each for reasons: an item does not hold both."""

    def __init__(self, golds: Iterable[Gold], engine: Engine) -> None:
        self._golds, self._engine = golds, engine
        self._ids, self._lines = CompactTexts(), array("q")

    def __iter__(self) -> Iterator[Item]:
        if isinstance(self._golds, LabelledSet):
            for part in self._engine.map(FingerprintTask(self._golds.reader), self._golds.parts):
                for name, line, item in part:
                    self._add(name, line)
                    yield item
        else:
            for gold in self._golds:
                self._add(gold.id, gold.line)
                yield Item.of(gold)

    def _add(self, name: RequestId, line: int) -> None:
        self._ids.append(str(name))
        self._lines.append(line)

    def named(self, place: int) -> str:
        """The id and line of the item at an index, as reasons quote them."""
        key, line = self._ids[place], self._lines[place]
        return f"'{key}' (line {line})" if line else f"'{key}'"


def _findings(
    gate: str,
    golds: Iterable[Gold],
    against: Iterable[Gold] | None,
    thresholds: Thresholds | None,
    engine: Engine | None,
) -> dict[str | int, Finding]:
    """A finding for each label that repeats another one of its set, or one of the other set."""
    engine = engine or OneProcess()
    mine = _Set(golds, engine)
    others, of = (mine, "") if against is None else (_Set(against, engine), " of the other set")
    repeats = find_repeats(mine, against=None if against is None else others, thresholds=thresholds)
    findings = {}
    for key, match in repeats.held_back.items():
        similar = (
            "has the same words as" if match.exact else f"is {match.similarity:.0%} similar in wording to"
        )
        reason = f"{similar} {others.named(match.earlier)}{of}{_PLANS[match.plans]}"
        findings[key] = Finding(gate, "reject" if match.exact else "quarantine", reason, _WHERE)
    return findings
