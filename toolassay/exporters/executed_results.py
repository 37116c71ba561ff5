"""Results of executed plans: read from `executions.jsonl` by id, and checked against the plan."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolassay.argument_schemas import ArgumentValidator
from toolassay.calls.call_plan import Argument, Call, CallPlan, Unfit, with_texts
from toolassay.calls.execution_record import SIMULATOR, ExecutedCall, Execution, Outcome
from toolassay.calls.function_schemas import slots_of
from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.files import LineRange, line_ranges, read_json_lines, readable
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

Marking = Literal["executed", "simulated"]
"""Whether results are those of a tool or of its simulation."""
_RUN = "run toolassay execute"
_FIXES: Mapping[Outcome, str] = {
    "failed": f"fix the plan, then {_RUN}",
    "not_allowed": f"{_RUN} --allow_writes",
}


@dataclass(frozen=True)
class RefusedCall:
    """A call with a mistake, which its tool refused.

    Attributes:
        number: Number of the right call that follows it.
        call: The wrong call.
        error: The tool's words.
    """

    number: int
    call: Call
    error: str


@dataclass(frozen=True)
class PlanResults:
    """What the calls of one plan returned.

    Attributes:
        calls: The calls, with values in place of references.
        texts: For each call, its result as a model reads it.
        executor: Name of the executor.
        refused: A wrong call before one of them; None if there is none.
    """

    calls: tuple[Call, ...]
    texts: tuple[str, ...]
    executor: str
    refused: RefusedCall | None = None

    @property
    def marking(self) -> Marking:
        """How these results are marked in an export."""
        return "simulated" if self.executor == SIMULATOR else "executed"


class ExecutedResults:
    """The results in an `executions.jsonl`, read one plan at a time.

    Of several lines with one id the last counts.

    Args:
        path: The file.
        library: The tools.
        kind: The dependency type.

    Raises:
        UsageError: The file is missing, or a line is malformed (names its number).
    """

    def __init__(self, path: Path, library: ToolLibrary, kind: DependencyType) -> None:
        self._path, self._library, self._kind = path, library, kind
        self._validators: dict[str, ArgumentValidator] = {}
        self._lines: dict[str, LineRange] = {}  # results may be larger than memory
        fix = "make it with toolassay execute, or use --results references"
        for lines in line_ranges(path, 1, fix=fix):
            for number, value in read_json_lines(path, lines=lines):
                if not isinstance(value, dict) or "id" not in value:
                    raise _malformed(path, number)
                self._lines[_key(value["id"])] = lines

    def of(self, request_id: RequestId, plan: CallPlan) -> PlanResults:
        """The results of a plan.

        Raises:
            Unfit: There are none, they are those of another plan, or an argument is not valid.
            UsageError: The line is malformed.
        """
        execution = self._execution(request_id)
        if execution is None:
            raise Unfit(f"has no execution of this sample; {_RUN}", self._path.name)
        if execution.plan != plan.fingerprint:
            raise Unfit(f"has an execution of an earlier version of this plan; {_RUN}", self._path.name)
        if execution.outcome != "ran":
            why = f" ({execution.reason})" if execution.reason else ""
            raise Unfit(
                f"has no results of this sample, its outcome is {execution.outcome}{why}; "
                f"{_FIXES.get(execution.outcome, _RUN)}",
                self._path.name,
            )
        nodes = plan.nodes or range(plan.size)
        made = [self._call(node, call.tool, execution) for node, call in zip(nodes, plan.calls, strict=True)]
        return PlanResults(
            tuple(call for call, _ in made),
            tuple(text for _, text in made),
            execution.executor,
            self._refused(execution.wrong_call, list(nodes), plan),
        )

    def _execution(self, request_id: RequestId) -> Execution | None:
        lines = self._lines.get(_key(request_id))
        if lines is None:
            return None
        ((number, value),) = read_json_lines(self._path, lines=lines)
        try:
            return Execution.of(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise _malformed(self._path, number) from None

    def _call(self, node: int, tool: str, execution: Execution) -> tuple[Call, str]:
        """A call as it was executed, and its result."""
        where = f"task_nodes[{node}]"
        executed = execution.result_of(node)
        if executed is None or executed.tool != tool:
            raise Unfit(f"has no result in {self._path.name}; {_RUN}", where)
        call = _call_of(executed)
        if call is None:
            raise Unfit("was executed with a value that JSON does not have, such as NaN", where)
        known = {slot.name for slot in slots_of(self._library[tool], self._kind)}
        for name, _ in call.arguments:
            if name not in known:
                raise Unfit(f"was executed with '{name}', which is not a parameter of '{tool}'", where)
        if problem := self._problem(call):
            raise Unfit(f"was executed with arguments that its schema forbids: {problem}", where)
        return call, _text_of(executed)

    def _problem(self, call: Call) -> str:
        """What the schema of a tool forbids in a call; empty if it is valid or the tool has no schema."""
        tool = self._library[call.tool]
        if tool.input_schema is None or (self._kind == "resource" and tool.is_resource):
            return ""
        if tool.id not in self._validators:
            try:
                self._validators[tool.id] = ArgumentValidator(tool.input_schema)
            except ValueError as error:
                return f"it is no JSON Schema: {error}"
        for problem in self._validators[tool.id].problems(dict(call.arguments)):
            return f"{problem.path}: {problem.reason}" if problem.path else problem.reason
        return ""

    def _refused(self, wrong: ExecutedCall | None, nodes: list[int], plan: CallPlan) -> RefusedCall | None:
        if wrong is None or not (wrong.error or "").strip() or wrong.node not in nodes:
            return None
        number, call = nodes.index(wrong.node), _call_of(wrong)
        # Another tool might not be among the functions that the chat offers.
        if call is None or call.tool != plan.calls[number].tool:
            return None
        return RefusedCall(number, call, readable(wrong.error or ""))


def drawn(ids: Iterable[str], count: int, seed: int) -> frozenset[str]:
    """A random choice of ids, which does not depend on their order; a larger one includes a smaller one.

    >>> sorted(drawn("abcdef", 2, 0) - drawn("fedcba", 3, 0)), len(drawn("abc", 9, 0))
    ([], 3)
    """
    ranked = sorted(ids, key=lambda one: (random.Random(f"{seed} recovery {one}").random(), one))
    return frozenset(ranked[:count])


def _call_of(executed: ExecutedCall) -> Call | None:
    """A call as it was executed; None if a value is not JSON."""
    try:
        json.dumps(dict(executed.arguments), allow_nan=False)
    except (ValueError, RecursionError):
        return None
    arguments = with_texts(dict(executed.arguments), readable)
    return Call(executed.tool, tuple(Argument(name, value) for name, value in arguments.items()))


def _text_of(executed: ExecutedCall) -> str:
    text = executed.result if executed.text is None else executed.text
    return readable(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))


def _key(request_id: object) -> str:
    """The key of an id: 7 and "7" are different ids."""
    return json.dumps(request_id)


def _malformed(path: Path, number: int) -> UsageError:
    return UsageError("is no execution of a plan", file=path, line=number, fix=f"{_RUN} again")
