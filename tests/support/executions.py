"""Executions of plans with made-up results, as `toolassay execute` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.support.running import lines_of, write_lines
from toolassay.exporters.executed_results import PlanResults, RefusedCall
from toolassay.graph import DependencyType
from toolassay.plans.call_plan import Argument, Call, CallPlan, Names, call_plan_of
from toolassay.plans.execution_record import FILE, ExecutedCall, Execution
from toolassay.plans.gold import Gold
from toolassay.records.dataset import RequestId
from toolassay.tools.library import ToolLibrary
from toolassay.tools.output_paths import EACH, parse_reference


def resolved(value: Any, results: Mapping[int, Any]) -> Any:
    """A value of a plan with results in place of whole references."""
    if isinstance(value, list):
        return [resolved(item, results) for item in value]
    if isinstance(value, dict):
        return {key: resolved(item, results) for key, item in value.items()}
    found = parse_reference(value) if isinstance(value, str) else None
    if found is None or found.node not in results:
        return value
    result = results[found.node]
    for part in found.path:
        assert part != EACH
        result = result[part]
    return result


def execution_of(
    request_id: RequestId, plan: CallPlan, results: Sequence[Any], *, executor: str = "mcp", **more: Any
) -> Execution:
    """The execution of a plan whose calls return `results`; `more` are further fields."""
    nodes = plan.nodes or range(plan.size)
    calls: list[ExecutedCall] = []
    known: dict[int, Any] = {}
    for number, call in enumerate(plan.calls):
        arguments = {name: resolved(value, known) for name, value in call.arguments}
        calls.append(ExecutedCall(nodes[number], call.tool, arguments, results[number]))
        known[number] = results[number]
    answer = tuple(results[number] for number in plan.results())
    return Execution(request_id, "ran", executor, plan.fingerprint, tuple(calls), answer=answer, **more)


def results_of(plan: CallPlan, results: Sequence[Any], **more: Any) -> PlanResults:
    """The same as an export has it."""
    execution = execution_of(plan.id, plan, results)
    calls = tuple(
        Call(one.tool, tuple(Argument(*item) for item in one.arguments.items())) for one in execution.calls
    )
    return PlanResults(calls, tuple(map(text_of, results)), "mcp", **more)


def calls_of(messages: Sequence[Mapping[str, Any]], names: Names) -> tuple[Call, ...]:
    """The calls in the messages of a chat, by the names that `names.json` has."""
    known = json.loads(json.dumps(msgspec.to_builtins(names.by_function)))
    found = []
    for message in messages:
        for item in message.get("tool_calls") or ():
            entry, given = known[item["function"]["name"]], item["function"]["arguments"]
            given = json.loads(given) if isinstance(given, str) else given
            arguments = (Argument(entry["parameters"][name], value) for name, value in given.items())
            found.append(Call(entry["tool"], tuple(arguments)))
    return tuple(found)


def text_of(result: Any) -> str:
    """A result as a model reads it."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def refused_call(results: PlanResults, number: int, error: str = "no such film") -> PlanResults:
    """The results with a wrong call, without arguments, before a call."""
    wrong = RefusedCall(number, Call(results.calls[number].tool, ()), error)
    return PlanResults(results.calls, results.texts, results.executor, wrong)


def write_executions(folder: Path, executions: Sequence[Execution]) -> None:
    """The `executions.jsonl` of a data folder."""
    write_lines(folder / FILE, [msgspec.to_builtins(one) for one in executions])


def plans_of(folder: Path, library: ToolLibrary, kind: DependencyType) -> list[CallPlan]:
    """The plans of a data folder."""
    return [call_plan_of(Gold.of(one), library, kind) for one in lines_of(folder / "data.json")]
