"""The gates "duplicate" and "contamination": requests that repeat an earlier one, or one of another set."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from toolassay.engines import Engine, OneProcess
from toolassay.evaluation.line_index import CompactTexts
from toolassay.files.data_files import LineRange
from toolassay.gates.gate import Finding
from toolassay.gates.labelled_set import LabelledSet, LabelReader
from toolassay.plans.gold import Gold
from toolassay.records.dataset import RequestId, form_of
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
        findings: the finding for each repeated request, by the line of its label.
    """

    def __init__(self, name: str, findings: Mapping[str | int, Finding]) -> None:
        self._name = name
        self._findings = findings

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
        repeat = self._findings.get(gold.line)
        # A work order is its plan in words: another plan is another request, however similar the words are.
        if repeat and form_of(gold.request) and repeat.reason.endswith(_PLANS["other"]):
            return []
        return [repeat] if repeat else []


DUPLICATE = "duplicate"
CONTAMINATION = "contamination"


@dataclass(frozen=True)
class FingerprintTask:
    """Reads labels for the search of repeats, for an engine."""

    reader: LabelReader

    def start(self) -> Callable[[LineRange], list[tuple[RequestId, int, Item]]]:
        """The function that reads a part of the file."""
        return lambda lines: [(gold.id, gold.line, Item.of(gold)) for gold, _ in self.reader.repaired(lines)]


class _Set:
    """Labels for the search, with the id and line of each for reasons: an item does not hold both."""

    def __init__(self, labels: LabelledSet, engine: Engine) -> None:
        self._labels = labels
        self._engine = engine
        self._ids, self._lines = CompactTexts(), array("q")

    def __iter__(self) -> Iterator[Item]:
        for part in self._engine.map(FingerprintTask(self._labels.reader), self._labels.parts):
            for name, line, item in part:
                self._ids.append(str(name))
                self._lines.append(line)
                yield item

    def named(self, index: int) -> str:
        """The id and line of the item at an index, as reasons quote them."""
        return f"'{self._ids[index]}' (line {self._lines[index]})"


def repeat_gate(
    labels: LabelledSet,
    against: LabelledSet | None = None,
    thresholds: Thresholds | None = None,
    engine: Engine | None = None,
) -> RepeatGate:
    """The gate "duplicate" for a set, or "contamination" for a set and another one.

    Exact duplicates (the same words) are rejected; of those in one set the first in file order passes. Near
    duplicates are quarantined, because a person may want to keep them.

    Args:
        labels: the set to check; it is read once.
        against: another set, such as a test set that must not be trained on.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
        engine: where requests are read and hashed. Default: this process.
    """
    engine = engine or OneProcess()
    gate, of = (DUPLICATE, "") if against is None else (CONTAMINATION, " of the other set")
    mine = _Set(labels, engine)
    compared = mine if against is None else _Set(against, engine)
    repeats = find_repeats(mine, against=None if against is None else compared, thresholds=thresholds)
    findings = {}
    for key, match in repeats.held_back.items():
        similar = (
            "has the same words as" if match.exact else f"is {match.similarity:.0%} similar in wording to"
        )
        reason = f"{similar} {compared.named(match.earlier)}{of}{_PLANS[match.plans]}"
        findings[key] = Finding(gate, "reject" if match.exact else "quarantine", reason, _WHERE)
    return RepeatGate(gate, findings)
