"""The gate "execution": whether the gold plan ran when `toolassay execute` executed it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from toolassay.calls.call_plan import Unfit, plan_of
from toolassay.calls.execution_record import Execution, Outcome
from toolassay.gates.gate import Background, Finding, State
from toolassay.gold import Gold


class _Ended(NamedTuple):
    """How an execution ended: without its results, so that a large set fits into memory."""

    outcome: Outcome
    plan: str
    where: str
    reason: str


class ExecutionGate:
    """Rejects a sample whose plan failed, with the tool's own words.

    A plan without a result through no fault of its own, or whose effect is in doubt, is unknown. A sample
    that was not executed, or whose plan has changed since, is not judged.

    Args:
        executions: The executions of the set.
        background: The tools.
    """

    name = "execution"

    def __init__(self, executions: Iterable[Execution], background: Background) -> None:
        self._background = background
        self._ended = {one.id: _ended(one) for one in executions}

    def check(self, gold: Gold) -> list[Finding]:
        """One finding unless the plan ran."""
        ended = self._ended.get(gold.id)
        if ended is None:
            return [self._finding("not applicable", "the plan was not executed")]
        try:
            plan = plan_of(gold, self._background.library, self._background.kind)
        except Unfit as error:
            return [self._finding("reject", f"the plan cannot be executed: {error}")]
        if plan.fingerprint != ended.plan:
            return [self._finding("not applicable", "the plan has changed since it was executed")]
        if ended.outcome == "ran":
            return []
        if ended.outcome == "failed":
            return [self._finding("reject", ended.reason, ended.where)]
        if ended.outcome == "not_allowed":
            return [self._finding("not applicable", f"the plan was not executed: {ended.reason}")]
        return [self._finding("unknown", f"{ended.outcome.replace('_', ' ')}: {ended.reason}", ended.where)]

    def _finding(self, state: State, reason: str, where: str = "") -> Finding:
        return Finding(self.name, state, reason, where)


def _ended(execution: Execution) -> _Ended:
    last = execution.calls[-1] if execution.calls else None
    where = f"task_nodes[{last.node}]" if last is not None and execution.outcome != "ran" else ""
    return _Ended(execution.outcome, execution.plan, where, execution.reason)
