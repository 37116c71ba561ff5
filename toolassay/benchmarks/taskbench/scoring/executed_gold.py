"""Compares plans by the values of their references, where the gold plan was executed.

A reference and a literal are equal if they have the same value, and a link counts if the value is that of its
source. A value that several earlier results have comes from the source that the gold names, if it is one of
them, else from the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from toolassay.errors import made_by
from toolassay.evaluation.line_index import LineIndex
from toolassay.executors.executor import CallResult
from toolassay.executors.plan_run import (
    PossibleItem,
    Unresolvable,
    resolve_arguments,
    resolve_calls,
    result_of,
)
from toolassay.plans.call_plan import references
from toolassay.plans.called_plan import given_values, leaves, may_come_from_result, value_key
from toolassay.plans.execution_record import SIMULATOR, ExecutedCall, Execution
from toolassay.plans.normalised_plan import Argument, Plan, PlanReader, published_arguments
from toolassay.tools.library import Tool, ToolLibrary

Written = tuple[str, Mapping[str, Any]]
"""The tool and the arguments of a call, as a plan has them."""


class _Call(NamedTuple):
    """A call of a plan.

    Attributes:
        tool: its name.
        written: its arguments, with references.
        values: its arguments, with values in place of the references that are known.
        result: what it returned; None if that is not known.
        gold: number of the gold call that it matches; None if it matches none.
        node: the node that makes it; one with `[each]` makes several calls.
    """

    tool: str
    written: Mapping[str, Any]
    values: Mapping[str, Any]
    result: CallResult | None
    gold: int | None
    node: int


class ExecutedGold:
    """The executed gold plans of a data folder.

    Args:
        path: `executions.jsonl`.
        reader: of the plans.
        library: the tools.

    Raises:
        UsageError: the file is missing.
    """

    def __init__(self, path: Path, reader: PlanReader, library: ToolLibrary) -> None:
        self._lines = LineIndex(path, fix=made_by("execute"))
        self._reader = reader
        self._library = library

    def compared(
        self, label: Mapping[str, Any], gold: Plan, result: Any, predicted: Plan
    ) -> tuple[Plan, Plan]:
        """Both plans with values in place of references; unchanged if the gold plan of the label did not run.

        Args:
            label: the label.
            gold: its plan.
            result: a predicted plan as it is written.
            predicted: the same plan.
        """
        written = _written(result)
        gold_calls = self._gold_calls(label)
        if written is None or gold_calls is None:
            return gold, predicted
        predicted_calls = self._predicted_calls(written, gold_calls)
        links = self._links(predicted_calls, gold_calls, str(label.get("user_request") or ""))
        dropped = Counter(
            (predicted_calls[source].tool, predicted_calls[target].tool)
            for source, target in _references(predicted_calls)
            if (source, target) not in links
        )
        stated = list((Counter(predicted.stated_links) - dropped).elements())
        return (
            self._plan(gold_calls, gold, gold.stated_links, _references(gold_calls)),
            self._plan(predicted_calls, predicted, stated, links),
        )

    def _plan(
        self,
        calls: Sequence[_Call],
        plan: Plan,
        stated: list[tuple[str, str]],
        references: list[tuple[int, int]],
    ) -> Plan:
        """A plan with the values of its calls, and the links of these references."""
        valued = Plan(
            [call.tool for call in calls],
            [self._keys(call.tool, call.values) for call in calls],
            stated,
            plan.steps,
            False,
        )
        valued.references = references
        valued.links = valued.links_of(references)
        return valued

    def _keys(self, tool: str, values: Mapping[str, Any]) -> list[Argument]:
        """The comparable arguments of a call."""
        arguments = [{"name": name, "value": value} for name, value in values.items()]
        plan = self._reader.plan({"task_nodes": [{"task": tool, "arguments": arguments}]})
        return plan.arguments[0] if plan is not None and plan.arguments else []

    def _gold_calls(self, label: Mapping[str, Any]) -> list[_Call] | None:
        """The calls of a gold plan that ran, in the order of its nodes; None if it did not, or was another
        plan then.
        """
        number = self._lines.by_text.get(str(label["id"]))
        written = _written(label)
        if number is None or written is None:
            return None
        try:
            execution = msgspec.convert(self._lines.read(number), Execution)
        except (KeyError, TypeError, ValueError):
            return None
        if execution.outcome != "ran" or execution.executor == SIMULATOR:
            return None
        if execution.results.keys() != {*range(len(written))}:
            return None
        calls: list[_Call] = []
        for executed_call in sorted(execution.calls, key=lambda call: call.node):
            node = executed_call.node
            tool, arguments = written[node]
            is_same = tool == executed_call.tool and all(
                list(references(value)) or executed_call.arguments.get(name) == value
                for name, value in arguments.items()
            )
            if not is_same:
                return None
            result = PossibleItem(*result_of(executed_call))
            calls.append(_Call(tool, arguments, executed_call.arguments, result, len(calls), node))
        return calls

    def _predicted_calls(self, written: Sequence[Written], gold: Sequence[_Call]) -> list[_Call]:
        """Predicted calls, each with the gold call of its tool whose arguments are the most like its own.

        A call that equals one of the gold has its result. References to any other call are read as those to
        the gold call that it matches, so that one wrong argument is not wrong again in the calls after it.
        """
        results: dict[int, CallResult] = {}
        left = set(range(len(gold)))
        calls: list[_Call] = []
        for node, (tool, arguments) in enumerate(written):
            resolved = self._resolved(ExecutedCall(node, tool, arguments), results)
            known: list[CallResult] = []
            for values in (call.arguments for call in resolved):
                keys = Counter(self._keys(tool, values))
                likeness = {
                    number: (keys & Counter(self._keys(tool, call.values))).total()
                    for number, call in enumerate(gold)
                    if call.tool == tool
                }
                equal = [
                    number for number in likeness if Counter(self._keys(tool, gold[number].values)) == keys
                ]
                choices = [*(left & likeness.keys()), *equal]
                best = max(
                    choices, key=lambda number: (number in left, likeness[number], -number), default=None
                )
                result = None if best is None else gold[best].result
                if best is not None and result is not None:
                    known.append(result)
                    left.discard(best)
                calls.append(_Call(tool, arguments, values, result if best in equal else None, best, node))
            if len(known) == len(resolved):
                is_repeated = resolved[0].repetition is not UNSET
                results[node] = CallResult.of([each.value for each in known]) if is_repeated else known[0]
        return calls

    def _resolved(self, call: ExecutedCall, results: Mapping[int, CallResult]) -> list[ExecutedCall]:
        """The calls of a node with the values of references that are known."""
        schema = self._library[call.tool].input_schema if call.tool in self._library else None
        with suppress(Unresolvable):
            return resolve_calls(call, results, schema)
        values = dict(call.arguments)
        for name, value in call.arguments.items():
            # A reference to a call without a known result stays as it is.
            with suppress(Unresolvable):
                values |= resolve_arguments({name: value}, results, schema)
        return [replace(call, arguments=values)]

    def _links(self, calls: Sequence[_Call], gold: Sequence[_Call], request: str) -> list[tuple[int, int]]:
        """The links of predicted calls, as (source, target)."""
        links: dict[tuple[int, int], None] = {}
        held = [_held(call) for call in calls]
        for target, call in enumerate(calls):
            own = None if call.gold is None else gold[call.gold]
            for name, value in call.values.items():
                asked = _sources(call.written[name], value, calls)
                sources = asked
                if own is not None and self._is_equal(call, own, name):
                    if wanted := _sources(own.written[name], own.values[name], gold):
                        keys = {value_key(leaf) for _, leaf in leaves(value)}
                        holders = [source for source in range(target) if keys & held[source]]
                        named = {source for source in (*asked, *holders) if calls[source].gold in wanted}
                        sources = named or asked or set(holders[-1:])
                elif not asked:
                    sources = self._last_sources(calls[: target + 1], name, request)
                links |= {(source, target): None for source in sorted(sources) if source != target}
        return list(links)

    def _last_sources(self, calls: Sequence[_Call], name: str, request: str) -> set[int]:
        """The last sources of the values that an argument of the last call has from several results.

        A value of one source is written as a reference.
        """
        *before, call = calls
        tool = self._library[call.tool] if call.tool in self._library else Tool("")
        given = [
            {} if earlier.result is None else given_values(earlier.values, earlier.result.value)
            for earlier in before
        ]
        sources: set[int] = set()
        for parts, leaf in leaves(call.values[name], (name,)):
            holders = [source for source, values in enumerate(given) if value_key(leaf) in values]
            if len(holders) > 1 and may_come_from_result(leaf, parts, request, tool):
                sources.add(holders[-1])
        return sources

    def _is_equal(self, call: _Call, gold: _Call, name: str) -> bool:
        """Whether an argument has the same value in two calls of a tool."""
        if name not in gold.values:
            return False
        keys = self._keys(call.tool, {name: call.values[name]})
        return keys == self._keys(call.tool, {name: gold.values[name]})


def _references(calls: Sequence[_Call]) -> list[tuple[int, int]]:
    """The pairs (source, target) of calls that references in arguments link."""
    pairs = (
        (source, target)
        for target, call in enumerate(calls)
        for name, written in call.written.items()
        for source in sorted(_sources(written, call.values.get(name), calls))
    )
    return [*dict.fromkeys((source, target) for source, target in pairs if source != target)]


def _sources(written: Any, value: Any, calls: Sequence[_Call]) -> set[int]:
    """The calls that the references in an argument name.

    Of a node with several calls only those whose result has a part of the value, if there are any.
    """
    sources: set[int] = set()
    for node in references(written):
        of_node = {number for number, call in enumerate(calls) if call.node == node}
        if len(of_node) > 1:
            keys = {value_key(leaf) for _, leaf in leaves(value)}
            of_node = {number for number in of_node if keys & _held(calls[number])} or of_node
        sources |= of_node
    return sources


def _held(call: _Call) -> set[str]:
    """The values in the result of a call, by `value_key`."""
    return set() if call.result is None else {value_key(leaf) for _, leaf in leaves(call.result.value)}


def _written(value: Any) -> list[Written] | None:
    """The calls of a plan as (tool, arguments by name); None if they are written in another form."""
    nodes = value.get("task_nodes") if isinstance(value, Mapping) else None
    calls: list[Written] = []
    for node in nodes if isinstance(nodes, list) else ():
        arguments = published_arguments(node.get("arguments") or []) if isinstance(node, dict) else None
        if not isinstance(arguments, list) or not all(
            isinstance(argument, dict) and isinstance(argument.get("name"), str) and "value" in argument
            for argument in arguments
        ):
            return None
        by_name = {argument["name"]: argument["value"] for argument in arguments}
        if len(by_name) < len(arguments):
            return None
        calls.append((str(node.get("task")), by_name))
    return calls or None
