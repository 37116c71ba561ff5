"""The gates' findings on each sample: from `gates.jsonl`, or computed when the sample is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.files import read_json_lines
from toolassay.gates.gate import LEVELS, STATES, Finding, Gate, Level, State, current_name, level_of
from toolassay.review.decision import check
from toolassay.review.samples import ReviewSample

FILE = "gates.jsonl"


class Findings:
    """The level and the findings of each sample.

    Args:
        written: the level and findings in `gates.jsonl`, by id; empty without the file.
        gates: the gates to run on a sample that the file lacks.
    """

    def __init__(self, written: Mapping[RequestId, tuple[Level, tuple[Finding, ...]]], gates: Sequence[Gate]):
        self._found = dict(written)
        self._gates = gates

    def of(self, sample: ReviewSample) -> tuple[Level, tuple[Finding, ...]]:
        """The level of a sample, and its findings."""
        key = sample.id
        if key not in self._found:
            checked = check(sample.record, self._gates)
            findings = (*(Finding("form", "reject", fault) for fault in checked.faults), *checked.findings)
            self._found[key] = level_of(finding.state for finding in findings), findings
        return self._found[key]

    def level(self, sample: ReviewSample) -> Level | None:
        """The level, if it is known without running the gates; else None."""
        known = self._found.get(sample.id)
        return known[0] if known else None


def read_findings(path: Path) -> dict[RequestId, tuple[Level, tuple[Finding, ...]]]:
    """Read a `gates.jsonl`.

    A line is `{"id": …, "level": …, "findings": [{"gate": …, "state": …, "reason": …, "where": …}]}`. A
    finding without a `state` has the level as its state.

    Returns:
        The level and the findings by id of the sample.

    Raises:
        UsageError: a line has another form.
    """
    found: dict[RequestId, tuple[Level, tuple[Finding, ...]]] = {}
    for number, value in read_json_lines(path, fix="write it with toolassay check"):
        level = value.get("level") if isinstance(value, dict) else None
        if level not in LEVELS or not isinstance(value.get("id"), str | int):
            raise UsageError("has no id or no level", file=path, line=number, fix="run toolassay check again")
        listed = value.get("findings")
        listed = listed if isinstance(listed, list) else []
        findings = tuple(_finding(item, level) for item in listed if isinstance(item, dict))
        found[value["id"]] = level, findings
    return found


def _finding(item: Mapping[str, Any], level: Level) -> Finding:
    state = item.get("state", level)
    gate, reason, where, author = (str(item.get(key, "")) for key in ("gate", "reason", "where", "author"))
    return Finding(
        current_name(gate), cast(State, state if state in STATES else level), reason, where, author
    )
