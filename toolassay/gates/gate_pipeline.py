"""The pipeline of gates: their order, the combined result for a sample, the gates "id" and "execution", the
funnel.

The gate "execution" says whether the gold plan ran when `toolassay execute` executed it. The funnel counts
how many samples each gate holds back; the counts add up to the samples that entered.
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from toolassay.console.tables import Table, Value
from toolassay.errors import UsageError, made_by
from toolassay.evaluation.line_index import LineIndex
from toolassay.executors.fact_sources import FACTS, UNJUDGEABLE, facts_of, missing_facts, results_of
from toolassay.gates import installed_gates
from toolassay.gates.critic import CriticVerdict, TeacherGate
from toolassay.gates.duplicate_gates import RepeatGate
from toolassay.gates.gate import (
    LEVELS,
    STATES,
    Background,
    Finding,
    Gate,
    Level,
    RuleGate,
    State,
    current_name,
    level_of,
    state_of,
)
from toolassay.gates.graph_gate import GraphGate, WiringGate
from toolassay.gates.grounding import GroundingGate
from toolassay.gates.language_gate import LanguageGate
from toolassay.gates.leak_gate import LeakGate
from toolassay.gates.plan_gate import PlanGate
from toolassay.gates.schema_gate import SchemaGate
from toolassay.gates.second_opinion_gate import SecondOpinionGate, Solver
from toolassay.plans.call_plan import Unfit, call_plan_of
from toolassay.plans.execution_record import SIMULATOR, Execution, Outcome, read_executions
from toolassay.plans.gold import ALTERNATIVES, Gold, alternative_labels
from toolassay.records.data_folder import FunnelRow
from toolassay.tools.library import ToolLibrary


class _Ended(NamedTuple):
    """How an execution ended: without its results, so that a large set fits into memory.

    `is_idle` says that the plan was seen to change nothing; `unproven` has the reason of each alternative,
    by plan, that is not known to do the same.
    """

    outcome: Outcome
    plan: str
    where: str
    reason: str
    is_idle: bool = False
    unproven: Mapping[str, str] = MappingProxyType({})


class ExecutionGate:
    """Rejects a sample whose plan failed, with the tool's own words, or whose facts its results do not have.

    A plan without a result through no fault of its own, or whose effect is in doubt, is unknown. A sample
    that was not executed, or whose plan has changed since, is not judged. Findings about alternatives that do
    not do the same hold nothing back: only the alternatives are left out (`proven_label`).

    Args:
        executions: The executions of the set.
        background: The tools.
        path: Their file, from which the results of samples with facts are read; None without them.

    Attributes:
        background: The tools.
    """

    name = "execution"

    def __init__(
        self,
        executions: Iterable[Execution],
        background: Background,
        path: Path | None = None,
    ) -> None:
        self.background = background
        self._ended = {execution.id: _ended(execution, background.library) for execution in executions}
        self._path = path

    @cached_property
    def _lines(self) -> LineIndex:
        assert self._path is not None
        lines = LineIndex(self._path, fix=made_by("execute"))
        weakref.finalize(self, lines.close)
        return lines

    def check(self, gold: Gold) -> list[Finding]:
        """One finding unless the plan ran."""
        ended = self._ended.get(gold.id)
        if ended is None:
            return [self._finding("not applicable", "the plan was not executed")]
        try:
            plan = call_plan_of(gold, self.background.library, self.background.kind)
        except Unfit as error:
            return [self._finding("reject", f"the plan cannot be executed: {error}")]
        if plan.fingerprint != ended.plan:
            return [self._finding("not applicable", "the plan has changed since it was executed")]
        if ended.outcome == "ran":
            return [*self._fact_findings(gold, ended), *self._alternative_findings(gold, ended)]
        if ended.outcome == "failed":
            return [self._finding("reject", ended.reason, ended.where)]
        if ended.outcome == "not_allowed":
            return [self._finding("not applicable", f"the plan was not executed: {ended.reason}")]
        return [self._finding("unknown", f"{ended.outcome.replace('_', ' ')}: {ended.reason}", ended.where)]

    def _alternative_findings(self, gold: Gold, ended: _Ended) -> Iterator[Finding]:
        """The alternatives that were executed and do not do what the gold plan does."""
        for number, label in enumerate(alternative_labels(gold.record)):
            try:
                plan = call_plan_of(Gold.of(label), self.background.library, self.background.kind)
                reason = ended.unproven.get(plan.fingerprint, "")
            except Unfit as error:
                reason = f"it cannot be executed: {error}"
            if reason:
                yield self._finding("pass", f"left out: {reason}", f"{ALTERNATIVES}[{number}]")

    def _fact_findings(self, gold: Gold, ended: _Ended) -> Iterator[Finding]:
        """The facts that the results do not have; whether there is nothing to judge."""
        try:
            facts = facts_of(gold)
        except msgspec.ValidationError as error:
            yield self._finding("reject", f"is malformed: {error}", FACTS)
            return
        if facts == [] and ended.is_idle:
            yield self._finding("reject", UNJUDGEABLE, FACTS)
        if facts and self._path is not None:
            for problem in missing_facts(facts, results_of(self._read(gold))):
                yield self._finding("reject", problem, FACTS)

    def _read(self, gold: Gold) -> Execution:
        line = self._lines.read(self._lines.by_text[str(gold.id)])
        return msgspec.convert(line, Execution)

    def passed(self, gold: Gold) -> Execution | None:
        """The execution of a sample whose plan ran and has its facts; None of any other."""
        reasons = (finding.reason for finding in self.check(gold) if finding.state != "pass")
        return self._read(gold) if all(reason == UNJUDGEABLE for reason in reasons) else None

    def _finding(self, state: State, reason: str, where: str = "") -> Finding:
        return Finding(self.name, state, reason, where)


def _ended(execution: Execution, library: ToolLibrary) -> _Ended:
    last = execution.calls[-1] if execution.calls else None
    refused = next((call for call in execution.calls if call.error is not None), None)
    if execution.outcome == "ran" and refused is not None:
        reason = f"{refused.tool}: {refused.error}"
        return _Ended("failed", execution.plan, f"task_nodes[{refused.node}]", reason)
    where = f"task_nodes[{last.node}]" if last is not None and execution.outcome != "ran" else ""
    is_idle = execution.executor != SIMULATOR and execution.is_idle(library)
    verdicts = execution.alternatives or ()
    unproven = {
        verdict.plan: verdict.reason or verdict.outcome for verdict in verdicts if verdict.outcome != "same"
    }
    return _Ended(execution.outcome, execution.plan, where, execution.reason, is_idle, unproven)


def proven_label(gold: Gold, findings: Iterable[Finding]) -> Mapping[str, Any]:
    """The label without the alternatives that the gate "execution" leaves out."""
    left_out = {finding.where for finding in findings if finding.gate == ExecutionGate.name}
    written = gold.record.get(ALTERNATIVES) or ()
    kept = [other for number, other in enumerate(written) if f"{ALTERNATIVES}[{number}]" not in left_out]
    return gold.record if len(kept) == len(written) else {**gold.record, ALTERNATIVES: kept}


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


def inspect(golds: Sequence[Gold], gates: Sequence[Gate]) -> Iterator[Inspection]:
    """Check samples with every gate; a reject does not skip later gates.

    One gate checks all samples before the next one does, which is faster: its code and data stay cached.

    What the gate "grounding" only quarantines passes if a critic confirms the sample: its findings stay, with
    the state "pass". A critic never overrules a reject.

    >>> from toolassay.gates.gate_pipeline import IdGate
    >>> gold = Gold.of({"id": 1, "user_request": "Hi", "task_nodes": [{"task": "a"}]}, line=2)
    >>> [found.level for found in inspect([gold], [IdGate({2: 1})])]
    ['reject']
    """
    findings_by_gate = [[gate.check(gold) for gold in golds] for gate in gates]
    for number, gold in enumerate(golds):
        yield _inspection(gold, gates, [gate_findings[number] for gate_findings in findings_by_gate])


def _inspection(gold: Gold, gates: Sequence[Gate], findings_by_gate: Sequence[list[Finding]]) -> Inspection:
    states = {
        gate.name: state_of(gate_findings)
        for gate, gate_findings in zip(gates, findings_by_gate, strict=True)
    }
    findings = [finding for gate_findings in findings_by_gate for finding in gate_findings]
    name = GroundingGate.name
    if states.get(name) == "quarantine":
        critic = next((gate.confirmed_by(gold) for gate in gates if isinstance(gate, TeacherGate)), "")
        if critic:
            for position, finding in enumerate(findings):
                if finding.gate == name:
                    findings[position] = msgspec.structs.replace(
                        finding, state="pass", reason=f"{finding.reason}; {critic} confirms it", author=critic
                    )
            states[name] = "pass"
    return Inspection(gold, level_of(states.values()), states, findings)


@dataclass(frozen=True)
class SampleContext:
    """Knowledge about samples that is not part of their labels.

    Attributes:
        repeated: for each line that repeats an id, the line of the id's first sample.
        critics: for each critic, its verdicts by line.
        teacher: the model that wrote the reviews stored with the labels; empty if unknown.
        execution: the gate that holds how the plans ran; None if they were not executed.
        controls: the gate that judges what other programs do instead of the gold; None without samples that
            it can judge.
        second_opinion: the gate that holds the answers of the solvers; None without solvers.
        whole_set: gates that compare samples with each other or with another set (duplicates, contamination).
        solved: the lines of the samples that were sent to the solvers; None for all.
    """

    repeated: Mapping[int, int] = field(default_factory=dict)
    critics: Mapping[str, Mapping[int, CriticVerdict]] = field(default_factory=dict)
    teacher: str = ""
    execution: ExecutionGate | None = None
    controls: Gate | None = None
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
    background: Background, context: SampleContext = _ALONE, rules: Sequence[Gate] | None = None
) -> tuple[Gate, ...]:
    """The gates of a sample, in the order of the funnel.

    Args:
        background: the tools and their graph.
        context: knowledge beyond the label. By default each sample is checked alone.
        rules: `rule_gates(background)`, if they are there already.
    """
    opinions = () if context.second_opinion is None else (context.second_opinion,)
    executed = (gate for gate in (context.execution, context.controls) if gate is not None)
    return (
        IdGate(context.repeated),
        *(rule_gates(background) if rules is None else rules),
        *executed,
        *context.whole_set,
        TeacherGate(context.critics, context.teacher),
        *opinions,
    )


_RULES: tuple[type[RuleGate], ...] = (
    SchemaGate,
    GraphGate,
    WiringGate,
    PlanGate,
    GroundingGate,
    LeakGate,
    LanguageGate,
)


def rule_gates(background: Background) -> tuple[RuleGate, ...]:
    """The gates that need only the label and its tools: the built-in ones, then those of installed packages.

    Raises:
        UsageError: An installed gate cannot be loaded, or has the name of another.
    """
    return tuple(gate(background) for gate in (*_RULES, *installed_gates()))


@dataclass(frozen=True)
class GateRecipe:
    """What a process needs to build the gates of a check; sent to every worker of an engine.

    Attributes:
        background: the tools and their graph.
        names: the names of the selected gates, in order.
        executions: `executions.jsonl`; None if the plans were not executed.
        controls: builds the gate "controls", which is of a room above; None if it is not selected.
        solvers: the solvers and their predictions.
    """

    background: Background
    names: tuple[str, ...]
    executions: Path | None = None
    controls: Callable[[ExecutionGate], Gate] | None = None
    solvers: tuple[Solver, ...] = ()

    def build(self) -> Callable[[SampleContext], tuple[Gate, ...]]:
        """Read the files, and build the gates that are the same for all samples.

        Returns:
            What gives the selected gates, in order, for the samples that a context is about.

        Raises:
            UsageError: a file cannot be read, or a selected gate is not installed here.
        """
        background = self.background
        rules = rule_gates(self.background)
        execution: ExecutionGate | None = None
        controls: Gate | None = None
        opinion: SecondOpinionGate | None = None
        if self.executions is not None and (self.controls or ExecutionGate.name in self.names):
            execution = ExecutionGate(read_executions(self.executions), background, self.executions)
            controls = self.controls and self.controls(execution)
        if self.solvers and SecondOpinionGate.name in self.names:
            opinion = SecondOpinionGate(self.solvers, background)

        def gates(context: SampleContext) -> tuple[Gate, ...]:
            second_opinion = opinion and opinion.among(context.solved)
            known = replace(context, execution=execution, controls=controls, second_opinion=second_opinion)
            every = gate_pipeline(background, known, rules)
            # Only models judge: no rule gate is left that decides which samples they get.
            return select_gates(every, self.names) if self.names else ()

        return gates


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
    selected = tuple(
        gate
        for gate in gates
        if (only is None or _spelled(gate.name) in map(_spelled, only))
        and _spelled(gate.name) not in map(_spelled, without)
    )
    if not selected:
        raise UsageError("no gate is selected", fix="remove names from --without")
    return selected


def _spelled(name: str) -> str:
    return current_name(name.replace("_", " ").strip().casefold())


_MOST = 5  # kinds of reasons that the report shows for each gate
_KINDS = 2000  # kinds of reasons that are kept for each gate of a whole set, so that memory is bounded
# A list of particulars: matches "…, … and …", not "… is …".
_LIST = re.compile(r"…(?:(?:,| and)* …)+(?: more)?")
# What differs between reasons of one kind (quoted texts, nodes, numbers): matches "'a'", "<node-2>" and
# "3.5", not the apostrophes of "doesn't" and "isn't".
_PARTICULARS = re.compile(r"(?<!\w)'.*?'(?!\w)|\"[^\"]*\"|“[^”]*”|<node-\d+>|\d[\d.,:-]*")


class GateFunnel:
    """Counts samples by gate.

    The funnel counts a sample at the first gate that holds it back, by its final level: a quarantined sample
    that a later gate rejects is a reject. The states count every sample at every gate.

    Args:
        gates: the names of the gates, from first to last.
    """

    def __init__(self, gates: Sequence[str]) -> None:
        self.levels: Counter[Level] = Counter(dict.fromkeys(LEVELS, 0))
        self.states: dict[str, Counter[State]] = {gate: Counter() for gate in gates}
        self._held: dict[str, Counter[Level]] = {gate: Counter() for gate in gates}
        self._reasons: dict[str, Counter[str]] = {gate: Counter() for gate in gates}

    @property
    def total(self) -> int:
        """The number of samples."""
        return self.levels.total()

    def add(self, inspection: Inspection) -> None:
        """Count one sample."""
        self.levels[inspection.level] += 1
        for gate, state in inspection.states.items():
            self.states[gate][state] += 1
        if (gate_name := inspection.held_back_by) is not None:
            self._held[gate_name][inspection.level] += 1
        faults = (
            finding for finding in inspection.findings if finding.state in ("reject", "quarantine", "unknown")
        )
        # In order: of two kinds that are equally common, the report names the one that was met first.
        for gate, kind in dict.fromkeys((finding.gate, kind_of(finding.reason)) for finding in faults):
            self._reasons[gate][kind] += 1

    def extend(self, other: GateFunnel) -> None:
        """Add the counts of the samples that follow, with the same gates."""
        self.levels.update(other.levels)
        for gate in self.states:
            self.states[gate].update(other.states[gate])
            self._held[gate].update(other._held[gate])
            counted = self._reasons[gate]
            for kind, count in other._reasons[gate].items():
                if kind in counted or len(counted) < _KINDS:
                    counted[kind] += count

    @property
    def judging(self) -> dict[str, Counter[State]]:
        """The states at each gate; of the critic's only if a critic or a stored review judged a sample."""
        return {
            gate: counted
            for gate, counted in self.states.items()
            if gate != TeacherGate.name or counted.total() > counted["not applicable"]
        }

    @property
    def rows(self) -> list[FunnelRow]:
        """The gates from first to last; the samples that leave one enter the next."""
        rows = []
        entering = self.total
        for gate in self.judging:
            held = self._held[gate]
            leaving = entering - held["reject"] - held["quarantine"]
            rows.append(FunnelRow(gate, entering, held["reject"], held["quarantine"], leaving))
            entering = leaving
        return rows

    @property
    def reasons(self) -> dict[str, list[tuple[str, int]]]:
        """The most common kinds of reasons at each gate, and the number of samples with each."""
        return {gate: counted.most_common(_MOST) for gate, counted in self._reasons.items() if counted}

    def to_json(self, settings: Mapping[str, Any], signature: str) -> dict[str, Any]:
        """The object of `funnel.json`.

        Args:
            settings: the settings of the check, as they are to be recorded.
            signature: the settings and versions in one line.
        """
        return {
            "input": self.total,
            "levels": {level: self.levels[level] for level in LEVELS},
            "gates": {
                gate: {state: counted[state] for state in STATES} for gate, counted in self.judging.items()
            },
            "funnel": msgspec.to_builtins(self.rows),
            "reasons": {
                gate: [{"reason": kind, "samples": count} for kind, count in kinds]
                for gate, kinds in self.reasons.items()
            },
            "settings": dict(settings),
            "signature": signature,
        }


def kind_of(reason: str) -> str:
    """A reason with "…" for its quotations and numbers, so that equal problems count as one kind.

    >>> kind_of("'Image Editing' takes image, text; got 'example.wav', an audio file")
    '… takes image, text; got …, an audio file'
    >>> kind_of("it lacks 'a', 'b' and 'c'")
    'it lacks …'
    """
    return _LIST.sub("…", _PARTICULARS.sub("…", reason))


def funnel_table(rows: Sequence[FunnelRow]) -> str:
    """The funnel in Markdown."""
    headings = ("gate", "entering", "rejected", "quarantined", "leaving")
    return Table(headings, [msgspec.structs.astuple(row) for row in rows]).markdown()


def funnel_page(funnel: GateFunnel, signature: str) -> str:
    """The text of `funnel.md`: both tables, the picture, the reasons and the signature."""
    # Of all samples at each gate, whatever the other gates found.
    states: list[Sequence[Value]] = [
        [gate, *(counted[state] for state in STATES)] for gate, counted in funnel.judging.items()
    ]
    parts = [
        "# What passes the gates",
        f"{funnel.total:,} samples: {levels_text(funnel)}.",
        "Each sample is counted at the first gate that holds it back:",
        funnel_table(funnel.rows),
        "![The funnel](funnel.png)",
        "The states of all samples at each gate:",
        Table(("gate", *STATES), states).markdown(),
    ]
    for gate, kinds in funnel.reasons.items():
        listed = "\n".join(f"- {count:,}: {kind}" for kind, count in kinds)
        parts += [f"The most common reasons of the gate {gate}, with the number of samples:", listed]
    return "\n\n".join([*parts, f"`{signature}`"]) + "\n"


def levels_text(funnel: GateFunnel) -> str:
    """The number of samples at each level, as part of a sentence."""
    names = {"pass": "pass", "quarantine": "in quarantine", "reject": "rejected"}
    return ", ".join(f"{funnel.levels[level]:,} {names[level]}" for level in LEVELS)
