"""The pipeline of gates: which gates a sample passes through, in order, and what they report together.

The gate "id", which rejects repeated ids, is here too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.gates.critic import CriticVerdict
from toolassay.gates.critic.gate import TeacherGate
from toolassay.gates.gate import Background, Finding, Gate, Level, State, level_of, state_of
from toolassay.gates.graph_gate import GraphGate
from toolassay.gates.knowability import KnowabilityGate
from toolassay.gates.leak_gate import LeakGate
from toolassay.gates.schema import SchemaGate
from toolassay.gates.second_opinion_gate import SecondOpinionGate
from toolassay.gates.wiring_gate import WiringGate
from toolassay.gold import Gold


class IdGate:
    """Rejects a sample whose id an earlier one has.

    Args:
        first: for each line that repeats an id, the line that had it first.
    """

    name = "id"

    def __init__(self, first: Mapping[int, int]) -> None:
        self._first = first

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for a later sample of the same id."""
        line = self._first.get(gold.line)
        if line is None:
            return []
        return [Finding(self.name, "reject", f"the id {gold.id!r} is that of line {line} too", "id")]


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

    >>> from toolassay.gates.gate_pipeline import IdGate
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


@dataclass(frozen=True)
class SampleContext:
    """What is known of samples beyond what each says itself.

    Attributes:
        repeated: for each line that repeats an id, the line that had it first.
        critics: for each critic that was asked, its verdicts by line.
        teacher: the model that wrote the reviews stored with the labels; empty if unknown.
        second_opinion: the gate that knows what solvers answered; None where none was asked.
        whole_set: the gates made from the whole set: duplicates, contamination.
    """

    repeated: Mapping[int, int] = field(default_factory=dict)
    critics: Mapping[str, Mapping[int, CriticVerdict]] = field(default_factory=dict)
    teacher: str = ""
    second_opinion: SecondOpinionGate | None = None
    whole_set: Sequence[Gate] = ()


_ALONE = SampleContext()


def gate_pipeline(background: Background, known: SampleContext = _ALONE) -> tuple[Gate, ...]:
    """The gates a sample goes through, in the order in which the funnel shows them.

    Args:
        background: the tools and their graph.
        known: what else is known; without it, a sample is looked at alone.
    """
    opinions = () if known.second_opinion is None else (known.second_opinion,)
    return (
        IdGate(known.repeated),
        *rule_gates(background),
        *known.whole_set,
        TeacherGate(known.critics, known.teacher),
        *opinions,
    )


def rule_gates(background: Background) -> tuple[Gate, ...]:
    """The gates that need nothing but the sample and its tools."""
    return (
        SchemaGate(background),
        GraphGate(background),
        WiringGate(background),
        KnowabilityGate(background),
        LeakGate(background),
    )


def select_gates(
    gates: Sequence[Gate], only: Collection[str] | None = None, without: Collection[str] = ()
) -> tuple[Gate, ...]:
    """Some of the gates, in their order; names may be written with underscores.

    Raises:
        UsageError: there is no gate of a name, or none is left.
    """
    names = {_spelled(gate.name) for gate in gates}
    for name in (*(only or ()), *without):
        if _spelled(name) not in names:
            raise UsageError(
                f"there is no gate '{name}'", fix=f"choose from {', '.join(gate.name for gate in gates)}"
            )
    kept = tuple(
        gate
        for gate in gates
        if (only is None or _spelled(gate.name) in map(_spelled, only))
        and _spelled(gate.name) not in map(_spelled, without)
    )
    if not kept:
        raise UsageError("no gate is left", fix="leave --without out, or name fewer")
    return kept


def _spelled(name: str) -> str:
    return name.replace("_", " ").strip().casefold()
