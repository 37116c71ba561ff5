"""`Execution`: what happened when the calls of a plan were executed, a line of `executions.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.errors import as_called, made_by
from toolassay.files.data_files import read_json_lines, record_of
from toolassay.records.dataset import RequestId
from toolassay.tools.library import ToolLibrary

FILE = "executions.jsonl"
"""The executions of gold plans, in a data folder."""

RUN = "execution"
"""Folder of journal and manifest of executions, in the data folder or in the run of a model."""

WORLD = "world"
"""The executor whose results are those of a world, which is data."""

SIMULATOR = "simulate"
"""The executor of earlier versions that made results up; its name still means `WORLD`."""

Outcome = Literal["ran", "failed", "not_allowed", "in_doubt", "provider_error"]


Arguments = Mapping[str, Any]
"""The arguments of a call by name; the values are JSON, and only the tool's schema knows their form."""


class ExecutedCall(msgspec.Struct, frozen=True):
    """One call that was executed.

    Attributes:
        node: Index in the label's `task_nodes`.
        tool: Id of the tool.
        arguments: By name, references replaced by values.
        result: What it returned, as JSON; None after an error.
        error: The tool's own words if it refused the call, or what happened instead of a result; None if it
            returned.
        seconds: Time until the result.
        text: The result as a model reads it; None if that is `result` itself or its JSON.
        repetition: Number of the call among those that `[each]` makes of its node, from 0; unset for others.
    """

    node: int
    tool: str
    arguments: Arguments
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    text: str | None = None
    repetition: int | UnsetType = UNSET


class Change(TypedDict):
    """A place that differs from before; null stands for a place that is not there."""

    before: Any
    after: Any


class StateSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of an environment.

    Attributes:
        digest: Hash of the state.
        places: Number of places.
        changes: What differs from the state before the plan, by place; None for that state itself.
    """

    digest: str
    places: int
    changes: dict[str, Change] | None = None


class AlternativeVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a further right plan of a label does what the gold plan does.

    Attributes:
        plan: `CallPlan.fingerprint` of the plan.
        outcome: "same", "differs", or `Execution.outcome` of a plan that did not run.
        reason: What differs, or why it did not run; empty if it does the same.
    """

    plan: str
    outcome: Outcome | Literal["same", "differs"]
    reason: str = ""


class Execution(msgspec.Struct, frozen=True):
    """The execution of one plan.

    Attributes:
        id: Id of the request.
        outcome: "ran": every call returned. "failed": a call was refused, or the plan cannot be executed.
            "not_allowed": a tool is not marked read-only and writes were not allowed; nothing was called.
            "in_doubt": whether a call took effect is unknown, and it must not be repeated.
            "provider_error": no result through no fault of the plan; the same command tries again.
        executor: Name of the executor.
        plan: `CallPlan.fingerprint` of the plan that was executed; empty if the plan cannot be parsed.
        calls: The calls, in the order in which they were executed.
        reason: Why it did not run; empty if it did.
        answer: The results of the calls that no other call needs, which is what the user gets.
        state_before: That of the environment; None if it cannot be seen.
        state_after: The same, with its changes.
        wrong_call: A call with a mistake that was executed and refused before the right one, on request.
        varies: Numbers of the calls whose result differed in a second execution; None if there was none.
        alternatives: The further right plans of the label that were executed; unset without any.
    """

    id: RequestId
    outcome: Outcome
    executor: str
    plan: str = ""
    calls: tuple[ExecutedCall, ...] = ()
    reason: str = ""
    answer: tuple[Any, ...] = ()
    state_before: StateSummary | None = None
    state_after: StateSummary | None = None
    wrong_call: ExecutedCall | None = None
    varies: tuple[int, ...] | None = None
    alternatives: tuple[AlternativeVerdict, ...] | UnsetType = UNSET

    @classmethod
    def of_agent(
        cls,
        item: RequestId,
        executor: str,
        calls: Sequence[ExecutedCall],
        states: Sequence[Any] | None,
        reason: str = "",
    ) -> Execution:
        """The calls of an agent, whose answer is every result that it got.

        A refused call that the agent went on after is no failure.

        Args:
            item: Id of the request.
            executor: Name of the executor.
            calls: The calls.
            states: The environment before and after them, as JSON; None if that is not known.
            reason: Why the agent did not end by itself; empty if it did.
        """
        execution = cls(item, "failed" if reason else "ran", executor, "", tuple(calls), reason)
        if states is None:
            unknown = "the state before the first call is not known"
            return msgspec.structs.replace(execution, outcome="in_doubt", reason=unknown)
        before, after = msgspec.convert(states, tuple[StateSummary | None, StateSummary | None])
        results = tuple(call.result for call in calls if call.error is None)
        return msgspec.structs.replace(execution, answer=results, state_before=before, state_after=after)

    def is_idle(self, library: ToolLibrary) -> bool:
        """Whether its calls change nothing: nothing changed, or all tools are marked as reading.

        Of the latter, what changed is what the server made when it started.
        """
        read = (call.tool in library and library[call.tool].is_marked_reading for call in self.calls)
        return self.changes == {} or all(read)

    @property
    def changes(self) -> Mapping[str, Change] | None:
        """What changed, by place; None if the state cannot be seen."""
        return None if self.state_after is None else self.state_after.changes or {}

    @property
    def results(self) -> dict[int, Any]:
        """The result of each node whose call returned, in the order of the calls.

        That of a node with `[each]` is the list of the results of its calls.
        """
        results: dict[int, Any] = {}
        for call in self.calls:
            if call.error is None:
                is_repeated = call.repetition is not UNSET
                results[call.node] = (
                    [*results.get(call.node, ()), call.result] if is_repeated else call.result
                )
        return results


def read_executions(path: Path) -> Iterator[Execution]:
    """The executions in a file, in its order.

    Raises:
        UsageError: The file is missing, or a line is malformed (names its number).
    """
    for number, value in read_json_lines(path, fix=made_by("execute")):
        yield record_of(value, Execution, file=path, line=number, fix=f"run {as_called('execute')} again")
