"""One sample through all gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolassay.gates.gate import Finding, Gate, Level, State, level_of, state_of
from toolassay.gold import Gold


class Inspection(NamedTuple):
    """What all gates say of one sample.

    Attributes:
        gold: the sample.
        level: what is to become of it.
        states: of each gate, in the order of the line-up.
        findings: of all gates, likewise.
    """

    gold: Gold
    level: Level
    states: dict[str, State]
    findings: list[Finding]

    @property
    def held_back_by(self) -> str | None:
        """The first gate that keeps it from passing; None where it passes."""
        return next((gate for gate, state in self.states.items() if level_of([state]) != "pass"), None)

    def to_json(self) -> dict[str, Any]:
        """Its line in `gates.jsonl`."""
        findings = [finding.to_json() for finding in self.findings]
        return {"id": self.gold.id, "level": self.level, "findings": findings, "gates": self.states}


def inspect(gold: Gold, gates: Sequence[Gate]) -> Inspection:
    """Send a sample through the gates.

    >>> from toolassay.gates.ids import IdGate
    >>> gold = Gold.of({"id": 1, "user_request": "Hi", "task_nodes": [{"task": "a"}]}, line=2)
    >>> inspect(gold, [IdGate({2: 1})]).level
    'reject'
    """
    findings: list[Finding] = []
    states: dict[str, State] = {}
    for gate in gates:
        found = gate.check(gold)
        states[gate.name] = state_of(found)
        findings += found
    return Inspection(gold, level_of(states.values()), states, findings)
