"""The pipeline of gates: their order, and the combined result for a sample. Also the gate "id"."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.calls.execution_record import read_executions
from toolassay.errors import UsageError
from toolassay.gates.critic import CriticVerdict
from toolassay.gates.critic.gate import TeacherGate
from toolassay.gates.duplicate_gates import RepeatGate
from toolassay.gates.execution_gate import ExecutionGate
from toolassay.gates.gate import Background, Finding, Gate, Level, State, current_name, level_of, state_of
from toolassay.gates.graph_gate import GraphGate
from toolassay.gates.grounding import GroundingGate
from toolassay.gates.language_gate import LanguageGate
from toolassay.gates.leak_gate import LeakGate
from toolassay.gates.schema import SchemaGate
from toolassay.gates.second_opinion_gate import SecondOpinionGate, Solver
from toolassay.gates.wiring_gate import WiringGate
from toolassay.gold import Gold


class IdGate:
    """Rejects a sample whose id an earlier sample has.

    Args:
        first: for each line that repeats an id, the line of the id's first sample. Lines count from 1.
    """

    name = "id"

    def __init__(self, first: Mapping[int, int]) -> None:
        self._first = first

    def check(self, gold: Gold) -> list[Finding]:
        """One finding if an earlier line has the same id."""
        line = self._first.get(gold.line)
        if line is None:
            return []
        return [Finding(self.name, "reject", f"line {line} has the id {gold.id!r} too", "id")]


class Inspection(NamedTuple):
    """The result of all gates for one sample.

    Attributes:
        gold: the sample.
        level: the worst result of any gate.
        states: the state of each gate, in the order of the pipeline.
        findings: the findings of all gates, in the same order.
    """

    gold: Gold
    level: Level
    states: dict[str, State]
    findings: list[Finding]

    @property
    def held_back_by(self) -> str | None:
        """The first gate that does not pass the sample; None if all do."""
        return next((gate for gate, state in self.states.items() if level_of([state]) != "pass"), None)

    def to_json(self) -> dict[str, Any]:
        """The object of the sample's line in `gates.jsonl`."""
        findings = [finding.to_json() for finding in self.findings]
        return {"id": self.gold.id, "level": self.level, "findings": findings, "gates": self.states}


def inspect(gold: Gold, gates: Sequence[Gate]) -> Inspection:
    """Check a sample with every gate; a reject does not skip later gates.

    What the gate "grounding" only quarantines passes if a critic confirms the sample: its findings stay, with
    the state "pass". A critic never overrules a reject.

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
    name = GroundingGate.name
    if states.get(name) == "quarantine":
        critic = next((gate.confirmed_by(gold) for gate in gates if isinstance(gate, TeacherGate)), "")
        if critic:
            findings = [_confirmed(one, critic) if one.gate == name else one for one in findings]
            states[name] = "pass"
    return Inspection(gold, level_of(states.values()), states, findings)


def _confirmed(finding: Finding, critic: str) -> Finding:
    return finding._replace(state="pass", reason=f"{finding.reason}; {critic} confirms it", author=critic)


@dataclass(frozen=True)
class SampleContext:
    """Knowledge about samples that is not part of their labels.

    Attributes:
        repeated: for each line that repeats an id, the line of the id's first sample.
        critics: for each critic, its verdicts by line.
        teacher: the model that wrote the reviews stored with the labels; empty if unknown.
        execution: the gate that holds how the plans ran; None if they were not executed.
        second_opinion: the gate that holds the answers of the solvers; None without solvers.
        whole_set: gates that compare samples with each other or with another set (duplicates, contamination).
        solved: the lines of the samples that were sent to the solvers; None for all.
    """

    repeated: Mapping[int, int] = field(default_factory=dict)
    critics: Mapping[str, Mapping[int, CriticVerdict]] = field(default_factory=dict)
    teacher: str = ""
    execution: ExecutionGate | None = None
    second_opinion: SecondOpinionGate | None = None
    whole_set: Sequence[RepeatGate] = ()
    solved: frozenset[int] | None = None

    def within(self, lines: range) -> SampleContext:
        """What is known about the samples on these lines: little enough to be sent with them.

        How plans ran and what solvers answered is left out, because any process can read it (`GateRecipe`).
        """
        return SampleContext(
            {line: self.repeated[line] for line in lines if line in self.repeated},
            {
                name: {line: verdicts[line] for line in lines if line in verdicts}
                for name, verdicts in self.critics.items()
            },
            self.teacher,
            whole_set=[gate.within(lines) for gate in self.whole_set],
            solved=None if self.solved is None else self.solved.intersection(lines),
        )


_ALONE = SampleContext()


def gate_pipeline(
    background: Background, known: SampleContext = _ALONE, rules: Sequence[Gate] | None = None
) -> tuple[Gate, ...]:
    """The gates of a sample, in the order of the funnel.

    Args:
        background: the tools and their graph.
        known: knowledge beyond the label. By default each sample is checked alone.
        rules: `rule_gates(background)`, if they are there already.
    """
    opinions = () if known.second_opinion is None else (known.second_opinion,)
    executed = () if known.execution is None else (known.execution,)
    return (
        IdGate(known.repeated),
        *(rule_gates(background) if rules is None else rules),
        *executed,
        *known.whole_set,
        TeacherGate(known.critics, known.teacher),
        *opinions,
    )


def rule_gates(background: Background) -> tuple[Gate, ...]:
    """The gates that need only the label and its tools: no model, and no other sample."""
    return (
        SchemaGate(background),
        GraphGate(background),
        WiringGate(background),
        GroundingGate(background),
        LeakGate(background),
        LanguageGate(background),
    )


@dataclass(frozen=True)
class GateRecipe:
    """What a process needs to build the gates of a check; sent to every worker of an engine.

    Attributes:
        background: the tools and their graph.
        names: the names of the selected gates, in order.
        executions: `executions.jsonl`; None if the plans were not executed.
        solvers: the solvers and their predictions.
    """

    background: Background
    names: tuple[str, ...]
    executions: Path | None = None
    solvers: tuple[Solver, ...] = ()

    def build(self) -> GateBuilder:
        """Build the gates that are the same for all samples.

        Raises:
            UsageError: a file cannot be read.
        """
        return GateBuilder(self)


class GateBuilder:
    """The gates of a check in one process.

    Args:
        recipe: which gates.
    """

    def __init__(self, recipe: GateRecipe) -> None:
        self._recipe, background = recipe, recipe.background
        self._rules = rule_gates(background)
        self._execution: ExecutionGate | None = None
        self._opinion: SecondOpinionGate | None = None
        if recipe.executions is not None and ExecutionGate.name in recipe.names:
            self._execution = ExecutionGate(read_executions(recipe.executions), background)
        if recipe.solvers and SecondOpinionGate.name in recipe.names:
            self._opinion = SecondOpinionGate(recipe.solvers, background)

    def gates(self, known: SampleContext) -> tuple[Gate, ...]:
        """The selected gates, in order, for the samples that `known` is about."""
        opinion = None if self._opinion is None else self._opinion.among(known.solved)
        known = replace(known, execution=self._execution, second_opinion=opinion)
        gates = gate_pipeline(self._recipe.background, known, self._rules)
        return tuple(gate for gate in gates if gate.name in self._recipe.names)


def select_gates(
    gates: Sequence[Gate], only: Collection[str] | None = None, without: Collection[str] = ()
) -> tuple[Gate, ...]:
    """The selected gates, in their order.

    Args:
        gates: all gates.
        only: names of the gates to keep; None keeps all. Case does not matter, and "_" stands for a blank.
        without: names of gates to leave out, written likewise.

    Raises:
        UsageError: a name is unknown, or no gate remains.
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
        raise UsageError("no gate is selected", fix="remove names from --without")
    return kept


def _spelled(name: str) -> str:
    spelled = name.replace("_", " ").strip().casefold()
    return current_name(spelled)
