"""The gate "controls": three programs show whether the outcome of a sample can be judged.

A replay of the gold must be right; a program that does nothing must not be, nor one that says all it saw.
What they would do and see is recorded, so that no server is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from toolassay.answers.expected import Expected
from toolassay.episodes.episode import shown_result
from toolassay.executors.executor import CallResult
from toolassay.executors.fact_sources import FACTS, facts_in_words, results_of
from toolassay.executors.plan_run import result_of
from toolassay.gates.gate import Finding, State, shown
from toolassay.gates.gate_pipeline import ExecutionGate
from toolassay.graph.derive.fields import verb_of
from toolassay.live_values.results import SeenCall
from toolassay.plans.execution_record import ExecutedCall, Execution
from toolassay.plans.gold import Gold
from toolassay.records.cases import is_case


class ControlGate:
    """Quarantines executed samples that a replay of the gold fails, or that a program passes without work.

    Args:
        executed: How the plans ran.
        observed: What reading tools returned when values were collected, by tool.
    """

    name = "controls"

    def __init__(self, executed: ExecutionGate, observed: Mapping[str, Sequence[SeenCall]]) -> None:
        self._executed = executed
        self._observed = [
            ExecutedCall(0, tool, call.arguments, CallResult.read(call.result).value)
            for tool, calls in observed.items()
            for call in calls
        ]

    def check(self, gold: Gold) -> list[Finding]:
        """What the three programs show."""
        if gold.record.get(FACTS) is None or is_case(gold.record):
            return [self._finding("not applicable", "nothing is known of the facts")]
        execution = self._executed.passed(gold)
        if execution is None:
            return [self._finding("not applicable", "the plan did not run, or lacks a fact")]
        try:
            expected = Expected.of(gold.record, execution)
        except (TypeError, msgspec.ValidationError) as error:
            return [self._finding("reject", f"is malformed: {error}")]
        assert expected is not None  # there is gold
        words = facts_in_words(gold, results_of(execution))
        return [
            *self._replay_findings(expected, execution, words),
            *self._program_findings(expected, execution),
        ]

    def _replay_findings(self, expected: Expected, gold: Execution, words: str) -> Iterator[Finding]:
        """Why the gold with a text that states the facts is not judged right."""
        replay = expected.judge(gold, words)
        assert replay is not None  # it ran
        for number, (fact, verdict) in enumerate(
            zip(expected.facts or (), replay.facts_by or (), strict=True)
        ):
            where = f"{FACTS}[{number}]"
            if verdict.right is None:
                reason = f"undecided: a judge model says whether a text tells {shown(fact.value)}"
                yield self._finding("pass", reason, where)
            elif not verdict.right:
                reason = f"a replay of the gold that tells {shown(fact.value)} is judged wrong"
                yield self._finding("quarantine", reason, where)
        if replay.state is False or replay.forbidden:
            yield self._finding("quarantine", "a replay of the gold is judged wrong by its calls or state")

    def _program_findings(self, expected: Expected, gold: Execution) -> Iterator[Finding]:
        """The programs that are judged right although they do not work on the request."""
        is_idle = gold.is_idle(self._executed.background.library)
        calls = [call for call in gold.calls if is_idle or self._reads(call)]
        unchanged = (
            gold.state_after if is_idle else gold.state_after and replace(gold.state_after, changes={})
        )
        idle = replace(gold, calls=(), answer=(), state_after=unchanged)
        reading = replace(idle, calls=(*calls, *self._observed))
        # Bounded as one result of an agent is, because a long text takes long to judge.
        text_of_all = shown_result("\n".join(result_of(call).text for call in reading.calls))
        for program, execution, text in (
            ("does nothing", idle, ""),
            ("says all that reading tools return", reading, text_of_all),
        ):
            verdict = expected.judge(execution, text)
            if verdict is not None and verdict.correct:
                yield self._finding("quarantine", f"a program that {program} is judged right")
                return  # where doing nothing is right, most other programs are

    def _reads(self, call: ExecutedCall) -> bool:
        """Whether a call reads, as its tool is marked or by its name."""
        tool = self._executed.background.library[call.tool]
        return tool.is_marked_reading or verb_of(tool, None) in ("find", "search")

    def _finding(self, state: State, reason: str, where: str = "") -> Finding:
        return Finding(self.name, state, reason, where)
