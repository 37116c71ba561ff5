"""`Execution`: what happened when the calls of a plan were executed, a line of `executions.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.files import read_json_lines
from toolassay.tool_results import is_refusal

FILE = "executions.jsonl"
"""The executions of gold plans, in a data folder."""

SIMULATOR = "simulate"
"""The executor whose results are simulated."""

Outcome = Literal["ran", "failed", "not_allowed", "in_doubt", "provider_error"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_FIX = "run toolassay execute again"
_LONGEST_WORDS = 300  # characters of an error


@dataclass(frozen=True, slots=True)
class ExecutedCall:
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
    """

    node: int
    tool: str
    arguments: Mapping[str, Any]
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    text: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The object in a line of `executions.jsonl`."""
        value = {name: getattr(self, name) for name in ExecutedCall.__slots__}
        return value if self.text is not None else {key: item for key, item in value.items() if key != "text"}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> ExecutedCall:
        """Parse the object.

        Raises:
            KeyError, TypeError: It is malformed.
        """
        if not isinstance(value["arguments"], Mapping) or not isinstance(value["tool"], str):
            raise TypeError("a malformed call")
        call = cls(**{name: value[name] for name in cls.__slots__ if name != "text"}, text=value.get("text"))
        if call.error is None and is_refusal(call.result):  # earlier versions took it for a result
            text = call.text or (call.result if isinstance(call.result, str) else json.dumps(call.result))
            return replace(call, result=None, error=" ".join(text.split())[:_LONGEST_WORDS])
        return call


@dataclass(frozen=True, slots=True)
class Execution:
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
        state_before: `{"digest", "places"}` of the environment; None if it cannot be seen.
        state_after: The same, with `changes`: by place `{"before", "after"}`, null for a place that is not
            there.
        wrong_call: A call with a mistake that was executed and refused before the right one, on request.
        varies: Numbers of the calls whose result differed in a second execution; None if there was none.
    """

    id: RequestId
    outcome: Outcome
    executor: str
    plan: str = ""
    calls: Sequence[ExecutedCall] = ()
    reason: str = ""
    answer: Sequence[Any] = ()
    state_before: Mapping[str, Any] | None = None
    state_after: Mapping[str, Any] | None = None
    wrong_call: ExecutedCall | None = None
    varies: Sequence[int] | None = field(default=None)

    @property
    def changes(self) -> Mapping[str, Any] | None:
        """What changed, by place; None if the state cannot be seen."""
        return None if self.state_after is None else self.state_after.get("changes", {})

    def result_of(self, node: int) -> ExecutedCall | None:
        """The call of a node; None if it was not reached."""
        return next((call for call in self.calls if call.node == node), None)

    def to_json(self) -> dict[str, Any]:
        """The line of `executions.jsonl`."""
        value = {name: getattr(self, name) for name in Execution.__slots__}
        value["calls"] = [call.to_json() for call in self.calls]
        value["answer"] = list(self.answer)
        value["wrong_call"] = None if self.wrong_call is None else self.wrong_call.to_json()
        optional = ("wrong_call", "varies")
        return {key: item for key, item in value.items() if item is not None or key not in optional}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Execution:
        """Parse a line.

        Raises:
            KeyError, TypeError, ValueError: It is malformed.
        """
        if value["outcome"] not in OUTCOMES:
            raise ValueError("an unknown outcome")
        wrong = value.get("wrong_call")
        calls = tuple(ExecutedCall.of(call) for call in value["calls"])
        execution = cls(
            value["id"],
            value["outcome"],
            str(value["executor"]),
            str(value.get("plan", "")),
            calls,
            str(value.get("reason", "")),
            tuple(value["answer"]),
            value.get("state_before"),
            value.get("state_after"),
            None if wrong is None else ExecutedCall.of(wrong),
            value.get("varies"),
        )
        failed = next((number for number, call in enumerate(calls) if call.error is not None), None)
        if execution.outcome != "ran" or failed is None:
            return execution
        reason = f"call {calls[failed].node} ({calls[failed].tool}): {calls[failed].error}"
        return replace(execution, outcome="failed", calls=calls[: failed + 1], reason=reason, answer=())


def read_executions(path: Path) -> Iterator[Execution]:
    """The executions in a file, in its order.

    Raises:
        UsageError: The file is missing, or a line is malformed (names its number).
    """
    for number, value in read_json_lines(path, fix="make it with toolassay execute"):
        try:
            yield Execution.of(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError("is no execution of a plan", file=path, line=number, fix=_FIX) from None
