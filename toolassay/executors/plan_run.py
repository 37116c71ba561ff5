"""Plans as items of a run: each in an environment of its own, every call and result in the journal."""

from __future__ import annotations

import copy
import fnmatch
import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    OpenExecutor,
    Refusal,
    State,
    call_tool,
)
from toolassay.executors.workspace import changes_of, digest_of
from toolassay.files.data_files import map_texts
from toolassay.models import ModelError
from toolassay.models.concurrency import waiting
from toolassay.plans.call_plan import CallPlan
from toolassay.plans.execution_record import Arguments, ExecutedCall, Execution, Outcome, StateSummary
from toolassay.plans.gold import Gold
from toolassay.records.dataset import RequestId, references_in
from toolassay.records.requests import key_of
from toolassay.runs.items import Ask, InDoubt, ItemWork, answer_item, no_model
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.runs.runner import Loop, run_items
from toolassay.tools.argument_schemas import Schema, json_type, kinds_of, schema_at
from toolassay.tools.library import Tool, ToolLibrary, is_required
from toolassay.tools.output_paths import (
    EACH,
    FOR_EACH,
    Part,
    Reference,
    Selector,
    may_leave_several,
    parse_reference,
    path_text,
    reference_text,
)

# A reference to a whole result inside a longer text: the one in "about <node-0>"; not "<node-x>".
_INSIDE = re.compile(r"<node-(\d{1,18})>")
_MOST_ITEMS = 10_000  # that one reference collects
_MOST_REPETITIONS = 20  # calls of one node with `[each]`


class PossibleItem(CallResult):
    """A result that may be the only item of a list (`OpenExecutor.sends_items`)."""


class Unresolvable(Exception):
    """A reference names something that the result does not have. The text is the reason."""


def resolve_arguments(
    arguments: Arguments, results: Mapping[int, CallResult], schema: Schema | None
) -> Arguments:
    """The arguments with values in place of references.

    A value takes the type that the schema of its place asks for: a number in place of a text of digits, a
    text in place of a number or an object.

    Args:
        arguments: By name.
        results: The results so far, by number of the call.
        schema: The schema of the arguments; None if the tool has none.

    Raises:
        Unresolvable: A result is missing, or does not have what a reference names.

    >>> films = CallResult.of({"results": [{"id": 7}, {"id": 9}]})
    >>> resolve_arguments({"film": "<node-0>.results[1].id", "note": "of <node-0>.results"}, {0: films}, None)
    {'film': 9, 'note': 'of {"results": [{"id": 7}, {"id": 9}]}.results'}
    """
    root = schema or {}
    return {name: _resolved(value, results, (name,), root) for name, value in arguments.items()}


def resolve_calls(
    call: ExecutedCall, results: Mapping[int, CallResult], schema: Schema | None
) -> list[ExecutedCall]:
    """The calls of a node with values in place of references: one, or with `[each]` one for each item.

    Several lists in the arguments of a node go together by position.

    Args:
        call: The call of the node, with its references.
        results: The results so far, by number of the call.
        schema: The schema of the arguments; None if the tool has none.

    Raises:
        Unresolvable: As for `resolve_arguments`; lists differ in length, or have more than 20 items.

    >>> tickets = {0: CallResult.of([{"id": 7}, {"id": 9}])}
    >>> close = ExecutedCall(1, "close", {"id": "<node-0>[each].id", "why": "late"})
    >>> [call.arguments for call in resolve_calls(close, tickets, None)]
    [{'id': 7, 'why': 'late'}, {'id': 9, 'why': 'late'}]
    """
    arguments = call.arguments
    sizes = sorted({_repetitions(ref, results) for ref in references_in(arguments) if FOR_EACH in ref.path})
    if not sizes:
        return [replace(call, arguments=resolve_arguments(arguments, results, schema))]
    if len(sizes) > 1:
        raise Unresolvable(f"its lists for [each] have {sizes[0]} and {sizes[-1]} items")
    if sizes[0] > _MOST_REPETITIONS:
        raise Unresolvable(f"[each] has {sizes[0]} items, and at most {_MOST_REPETITIONS} calls are made")

    def numbered(text: str, number: int) -> str:
        reference = parse_reference(text)
        if reference is None:
            return text
        path = tuple(number if step == FOR_EACH else step for step in reference.path)
        return reference_text(Reference(reference.node, path))

    calls = []
    for number in range(sizes[0]):
        own = map_texts(arguments, partial(numbered, number=number), key=str)
        resolved = resolve_arguments(own, results, schema)
        calls.append(replace(call, arguments=resolved, repetition=number))
    return calls


def _repetitions(reference: Reference, results: Mapping[int, CallResult]) -> int:
    """The number of items for which a reference with `[each]` repeats its call."""
    depth = reference.path.index(FOR_EACH)
    before = reference.path[:depth]
    if EACH in before or FOR_EACH in reference.path[depth + 1 :]:
        raise Unresolvable("a reference has one [each], and no [*] before it")
    return len(picked(Reference(reference.node, (*before, EACH)), results).value)


def _resolved(
    value: Any, results: Mapping[int, CallResult], path: tuple[str | int, ...], root: Schema
) -> Any:
    if isinstance(value, str):
        reference = parse_reference(value)
        if reference is not None:
            return _typed(picked(reference, results), kinds_of(schema_at(path, root), root))
        return _INSIDE.sub(lambda match: _result(int(match[1]), results).text, value)
    if isinstance(value, list):
        return [_resolved(item, results, (*path, number), root) for number, item in enumerate(value)]
    if isinstance(value, dict):
        return {name: _resolved(item, results, (*path, name), root) for name, item in value.items()}
    return value


def _result(number: int, results: Mapping[int, CallResult]) -> CallResult:
    if number not in results:
        raise Unresolvable(f"there is no result of call {number}")
    return results[number]


def picked(reference: Reference, results: Mapping[int, CallResult]) -> CallResult:
    """What a reference names in the results.

    Raises:
        Unresolvable: A result is missing, or does not have it.
    """
    result = _result(reference.node, results)
    if not reference.path:
        return result
    values = [result.value]
    begins_with_item = reference.path[0] in (0, EACH) or isinstance(reference.path[0], Selector)
    if isinstance(result, PossibleItem) and begins_with_item and not isinstance(result.value, list):
        values = [values]
    for depth, part in enumerate(reference.path):
        path = path_text(reference.path[: depth + 1])
        if isinstance(part, Selector):
            where = f"'{path}' of the result of call {reference.node}"
            are_several = may_leave_several(reference.path, depth)
            values = [_selected(value, part, where, are_several=are_several) for value in values]
            continue
        values = [item for value in values for item in _inside(value, part)][:_MOST_ITEMS]
        if not values and EACH not in reference.path[:depth]:
            raise Unresolvable(f"the result of call {reference.node} has no '{path}'")
    return CallResult.of(values if EACH in reference.path else values[0])


def _selected(items: Any, selector: Selector, where: str, *, are_several: bool) -> Any:
    """The item that a selector chooses; of a filter that may leave several, the list of them.

    Args:
        items: What should be a list.
        selector: The selector.
        where: Names its place in a refusal.
        are_several: Whether a filter may leave several items.
    """
    if selector == FOR_EACH:
        raise Unresolvable(f"{where} is only for arguments of calls")
    if not isinstance(items, list):
        raise Unresolvable(f"{where} needs a list")
    with_field = [(item, value) for item in items for value in _field(item, selector.field)]
    if selector.kind == "is":
        wanted = selector.value
        is_truth = isinstance(wanted, bool)  # true is not 1
        chosen = [
            item for item, value in with_field if value == wanted and isinstance(value, bool) == is_truth
        ]
        if not chosen or (len(chosen) > 1 and not are_several):
            raise Unresolvable(f"{where} matches {len(chosen)} of {len(items)} items")
        return chosen if are_several else chosen[0]
    kinds = {json_type(value) for _, value in with_field}
    if len(with_field) < len(items) or not (kinds and (kinds <= _NUMBERS or kinds == {"string"})):
        raise Unresolvable(
            f"{where} needs items that all have a number, or all a text, as '{selector.field}'"
        )
    best = (max if selector.kind == "max" else min)(value for _, value in with_field)
    chosen = [item for item, value in with_field if value == best]
    if len(chosen) > 1 and not selector.first:
        raise Unresolvable(f"{where} has a tie of {len(chosen)} items")
    return chosen[0]


def _field(item: Any, field: str) -> Sequence[Any]:
    """The value of a field, which may be in an inner object; nothing if the item lacks it."""
    for name in field.split("."):
        if not isinstance(item, Mapping) or name not in item:
            return ()
        item = item[name]
    return (item,)


def _inside(value: Any, part: Part) -> Sequence[Any]:
    """What a part of a path names in a value: nothing, one value, or all items for `EACH`."""
    if part == EACH:
        return value if isinstance(value, list) else ()
    if isinstance(part, int):
        return [value[part]] if isinstance(value, list) and part < len(value) else ()
    return [value[part]] if isinstance(value, Mapping) and part in value else ()


def _typed(result: CallResult, kinds: frozenset[str]) -> Any:
    """A result in a type that its place takes, if it can be written in one."""
    value = result.value
    wanted_kinds = kinds - {"null"}
    if value is None or not wanted_kinds:
        return value  # a missing value is not the text "null"
    if "string" in wanted_kinds:
        return result.text if wanted_kinds == {"string"} or not _fits(value, wanted_kinds) else value
    readings = [value]
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            readings.append(json.loads(value))
    for reading in readings:
        if reading is not None and _fits(reading, wanted_kinds):
            return reading
        if isinstance(reading, float) and reading.is_integer() and "integer" in wanted_kinds:
            return int(reading)
    return value


def _fits(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a value has one of these types; an integer is a number too."""
    kind = json_type(value)
    return kind in kinds or (kind == "integer" and "number" in kinds)


_NUMBERS = frozenset({"integer", "number"})

TRIES = 3
"""How often a plan is tried in one start if it has no result through no fault of its own."""
_MOST_FAILURES = 8  # plans in a row without a result: the server is gone
_WRONG_TRIES = 4  # wrong calls that are tried for a plan, until one is refused


@dataclass(frozen=True)
class PlannedItem:
    """A request and its plan.

    Attributes:
        id: Id of the request.
        plan: Its calls; None if the plan cannot be parsed.
        fault: Why it cannot.
        gold: The label of a gold plan with alternatives; else None.
        alternatives: The further right plans of the label.
    """

    id: RequestId
    plan: CallPlan | None
    fault: str = ""
    gold: Gold | None = None
    alternatives: Sequence[PlannedItem] = ()

    @property
    def fingerprint(self) -> str:
        """That of the plan; empty without one."""
        return "" if self.plan is None else self.plan.fingerprint

    @property
    def key(self) -> str:
        """Its key in a journal: another plan for the request is another item."""
        return f"{key_of(self.id)} {self.fingerprint}"


class PlanSet(NamedTuple):
    """The plans of a folder.

    Attributes:
        library: The tools that they call.
        size: Number of plans.
        items: Yields the plans, as often as it is called.
    """

    library: ToolLibrary
    size: int
    items: Callable[[], Iterator[PlannedItem]]


@dataclass(frozen=True)
class RunRules:
    """How plans are run.

    Attributes:
        allow_writes: Whether tools that are not marked read-only may be called.
        twice: Whether each plan is executed a second time, to see which results vary.
        wrong_calls: Share of the plans for which a wrong call is executed as well.
        ignore: Patterns of places of the state that are not compared, e.g. `*.log`.
        seed: Random seed of the wrong calls.
    """

    allow_writes: bool = False
    twice: bool = False
    wrong_calls: float = 0.0
    ignore: Sequence[str] = ()
    seed: int = 0

    @property
    def passes(self) -> int:
        """How often `run_plans` goes through the plans."""
        return 2 if self.twice or self.wrong_calls else 1


class ExecutionEntry(ItemEntry):
    """How a plan ended; its `outcome` is that of the execution."""

    execution: Execution | None = None

    @classmethod
    def of(cls, execution: Execution) -> ExecutionEntry:
        """The entry of an execution."""
        return cls(outcome=execution.outcome, execution=execution)


def recorded_execution(journal: Journal, item: PlannedItem) -> Execution | None:
    """How a plan ended; None if its end is not recorded."""
    return journal.entry(item.key, ExecutionEntry).execution


async def run_plans(work: ExecutionWork, items: Sequence[PlannedItem], journal: Journal, loop: Loop) -> None:
    """Run the plans that have not ended, several at a time; their order does not matter.

    Second executions come after all first ones, so that some time has passed between the two.

    Args:
        work: What is done with a plan.
        items: The plans.
        journal: Receives every call, result and end.
        loop: Number of plans at a time, and callbacks; `done` is called after each plan of each pass, and
            `summary.stop` says why it stopped before the last plan.

    Raises:
        KeyboardInterrupt: At Ctrl-C, when the calls in flight have ended.
    """
    failures = 0

    def unsettled() -> Iterator[PlannedItem]:
        for item in items:
            if work.is_settled(work.entry_of(journal, item)):
                loop.done()
            else:
                yield item

    async def first(item: PlannedItem) -> str:
        nonlocal failures
        outcome = await answer_item(work, item, journal, loop, no_model)
        failures = failures + 1 if outcome == "provider_error" else 0
        if failures >= _MOST_FAILURES and (last := recorded_execution(journal, item)):
            loop.summary.stop = f"{failures} plans in a row have no result; the last: {last.reason}"
        return outcome

    async def second(item: PlannedItem) -> str:
        execution = recorded_execution(journal, item)
        if execution is None or execution.outcome != "ran":
            return "skipped"
        examined = await work.examined(item, execution)
        if examined != execution:
            journal.append(item.key, ExecutionEntry.of(examined))
        return examined.outcome

    passes: list[tuple[Iterable[PlannedItem], Callable[[PlannedItem], Awaitable[str]]]]
    passes = [(unsettled(), first), (items, second)]
    for these, run in passes[: work.rules.passes]:
        await run_items(these, run, loop)
        if loop.summary.interrupted:
            raise KeyboardInterrupt


async def run_plan(work: ExecutionWork, item: PlannedItem, journal: Journal) -> Execution:
    """Run one plan outside a run; its end is not recorded."""
    return await work.executed(item, Ask(item.key, journal, no_model))


class ExecutionWork(ItemWork[PlannedItem]):
    """Runs a plan with an executor; each call and its result are lines of the journal.

    It holds the executor, so it is done in the process that has opened it.

    Args:
        opened: The executor.
        name: Its name.
        library: The tools.
        rules: How plans are run.

    Attributes:
        affected: The plans that may depend on state that other plans left in a process.
    """

    final = ("ran", "failed", "not_allowed", "in_doubt")
    record = ExecutionEntry

    def __init__(self, opened: OpenExecutor, name: str, library: ToolLibrary, rules: RunRules) -> None:
        self._opened = opened
        self._name = name
        self._library = library
        self.rules = rules
        self.affected: set[RequestId] = set()
        self._has_written = False
        self._outcomes: dict[str, int] = {}  # the hash of a result, by the calls of the plan up to it

    def for_alternatives(self) -> ExecutionWork:
        """The same for alternatives, which are run once, and change nothing that lasts."""
        rules = RunRules(self.rules.allow_writes and self._opened.is_isolated, ignore=self.rules.ignore)
        return ExecutionWork(self._opened, self._name, self._library, rules)

    def key_of(self, item: PlannedItem) -> str:
        """See `PlannedItem.key`."""
        return item.key

    async def answer(self, item: PlannedItem, ask: Ask) -> ExecutionEntry:
        """Run a plan, several times if it has no result through no fault of its own."""
        return ExecutionEntry.of(await self.executed(item, ask))

    async def executed(self, item: PlannedItem, ask: Ask) -> Execution:
        """Like `answer`; the record itself."""
        plan = item.plan
        if plan is None:
            return self._ended(item, "failed", item.fault)
        tools = [self._library[call.tool] for call in plan.calls]
        if reason := next(filter(None, map(self._opened.missing, tools)), ""):
            return self._ended(item, "failed", reason)
        if not self.rules.allow_writes:
            writing = [tool.id for tool in tools if not self._opened.is_read_only(tool)]
            if writing:
                return self._ended(item, "not_allowed", f"'{writing[0]}' is not marked read-only")
        calls: list[ExecutedCall] = []
        for _ in range(TRIES):
            ask.restart(forget=self._opened.is_isolated)
            calls.clear()
            try:
                return await self._attempt(item, plan, tools, ask, calls)
            except EnvironmentFailure as error:
                reason = str(error)
            except InDoubt as error:
                reason = f"whether {error} took effect is unknown, and it is not marked idempotent"
                return self._ended(item, "in_doubt", reason, calls)
        return self._ended(item, "provider_error", reason, calls)

    async def examined(self, item: PlannedItem, execution: Execution) -> Execution:
        """An execution that ran, with what a second one and a wrong call show, where these are wanted."""
        plan = item.plan
        assert plan is not None
        tools = [self._library[call.tool] for call in plan.calls]
        # An environment that fails here says nothing of the plan, which ran; the next start tries again.
        with suppress(EnvironmentFailure):
            if self.rules.twice and execution.varies is None:
                execution = replace(execution, varies=await self._varying(plan, tools, execution))
            chance = random.Random(f"{self.rules.seed} wrong call {item.id!r}").random()
            is_chosen = self._opened.is_isolated and chance < self.rules.wrong_calls
            if is_chosen and execution.wrong_call is None:
                execution = replace(execution, wrong_call=await self._wrong_call(plan, tools, execution))
        return execution

    def _ended(
        self, item: PlannedItem, outcome: Outcome, reason: str, calls: Sequence[ExecutedCall] = ()
    ) -> Execution:
        return Execution(item.id, outcome, self._name, item.fingerprint, tuple(calls), reason)

    async def _attempt(
        self,
        item: PlannedItem,
        plan: CallPlan,
        tools: Sequence[Tool],
        ask: Ask,
        calls: list[ExecutedCall],
    ) -> Execution:
        """Run the plan, and add its calls to `calls`; the first one that is made opens the place."""
        results: dict[int, CallResult] = {}
        reason = ""
        is_after_write = self._has_written and not self._opened.is_isolated
        async with CallPlace(self._opened, ask, self.rules.ignore) as call_place:
            for number, tool in enumerate(tools):
                try:
                    prepared = self._prepared(plan, number, tool, results)
                except Unresolvable as error:
                    reason = f"call {_node(plan, number)} ({tool.id}): {error}"
                    break
                for call in prepared:
                    try:
                        call = await call_place.call(tool, call)
                    except InDoubt:
                        raise InDoubt(f"call {len(calls)} ({tool.id})") from None
                    calls.append(call)
                    # Whether the same calls, from the start of a plan, ended otherwise in an earlier plan.
                    key = digest_of({"calls": [[executed.tool, executed.arguments] for executed in calls]})
                    outcome = hash(repr((call.result, call.error)))
                    is_other = self._outcomes.setdefault(key, outcome) != outcome
                    if self._opened.is_shared and (is_other or is_after_write):
                        self.affected.add(item.id)
                    self._has_written |= not self._opened.is_read_only(tool)
                    if call.error is not None:
                        reason = f"call {call.node} ({tool.id}): {call.error}"
                        break
                if reason:
                    break
                results[number] = self._result_of(calls[-len(prepared) :])
            before, after = await call_place.states()
        ended = self._ended(item, "failed" if reason else "ran", reason, calls)
        last_nodes = {_node(plan, number) for number in plan.results()}
        return replace(
            ended,
            answer=() if reason else tuple(call.result for call in calls if call.node in last_nodes),
            state_before=before,
            state_after=after,
        )

    def _result_of(self, calls: Sequence[ExecutedCall]) -> CallResult:
        """The result of a node with these calls: with `[each]` a list."""
        if calls[0].repetition is not UNSET:
            return CallResult.of([call.result for call in calls])
        return (PossibleItem if self._opened.sends_items else CallResult)(*result_of(calls[0]))

    def _prepared(
        self, plan: CallPlan, number: int, tool: Tool, results: Mapping[int, CallResult]
    ) -> list[ExecutedCall]:
        arguments = {argument.name: argument.value for argument in plan.calls[number].arguments}
        call = ExecutedCall(_node(plan, number), tool.id, arguments)
        return resolve_calls(call, results, tool.input_schema)

    async def _rerun(
        self, plan: CallPlan, tools: Sequence[Tool], environment: Environment, end: int
    ) -> dict[int, CallResult]:
        """The results of the first calls of a plan, run again; fewer if one is refused this time."""
        results: dict[int, CallResult] = {}
        for number, tool in enumerate(tools[:end]):
            try:
                prepared = self._prepared(plan, number, tool, results)
            except Unresolvable:
                break
            calls = [await make_call(environment, tool, call) for call in prepared]
            if any(call.error is not None for call in calls):
                break
            results[number] = self._result_of(calls)
        return results

    async def _varying(
        self, plan: CallPlan, tools: Sequence[Tool], execution: Execution
    ) -> tuple[int, ...] | None:
        """The nodes whose result differs in a second execution; None where there must not be one."""
        if not self._opened.is_isolated and not all(map(self._opened.is_read_only, tools)):
            return None
        async with CallPlace(self._opened) as call_place:
            results = await self._rerun(plan, tools, await call_place.opened(), len(tools))
        return tuple(
            node
            for number, (node, result) in enumerate(execution.results.items())
            if number not in results or results[number].value != result
        )

    async def _wrong_call(
        self, plan: CallPlan, tools: Sequence[Tool], execution: Execution
    ) -> ExecutedCall | None:
        """A call with a mistake, made in a fresh environment and refused there; None if none was refused."""
        rng = random.Random(f"{self.rules.seed} mistake {plan.id}")
        numbers = [number for number, call in enumerate(execution.calls) if call.arguments]
        for _ in range(_WRONG_TRIES if numbers else 0):
            right_call = execution.calls[rng.choice(numbers)]
            number = [*execution.results].index(right_call.node)
            arguments = with_mistake(right_call.arguments, tools[number], rng)
            if arguments is None:
                continue
            wrong_call = ExecutedCall(right_call.node, right_call.tool, arguments)
            try:
                async with CallPlace(self._opened) as call_place:
                    environment = await call_place.opened()
                    if len(await self._rerun(plan, tools, environment, number)) < number:
                        continue
                    wrong_call = await make_call(environment, tools[number], wrong_call)
            except EnvironmentFailure:  # a server that a wrong call ends has executed the plan all the same
                continue
            if wrong_call.error is not None:
                return wrong_call
        return None


class CallPlace(AsyncExitStack):
    """The environment of one plan or conversation, which is opened when it is first needed.

    Every call and its result are lines of the journal. Where environments are isolated, recorded calls are
    made again before the first one that is not recorded, for their effect.

    Args:
        opened: The executor; None if only recorded results are wanted.
        ask: Has the recorded results.
        ignore: Patterns of places of the state that are not compared.
        free: Is entered before an environment is opened, and left when it is closed.
    """

    def __init__(
        self,
        opened: OpenExecutor | None,
        ask: Ask | None = None,
        ignore: Sequence[str] = (),
        free: AbstractAsyncContextManager[Any] | None = None,
    ) -> None:
        super().__init__()
        self._opened = opened
        self._ask = ask
        self._ignore = ignore
        self._free = free or nullcontext()
        self._environment: Environment | None = None
        self._before: State | None = None
        self._earlier: list[tuple[int, Tool, ExecutedCall]] = []  # numbers are those in the journal

    async def opened(self) -> Environment:
        """The environment; Ctrl-C ends the wait for it."""
        if self._environment is None:
            if self._opened is None:
                raise ModelError("the journal has no result of this call", outcome="not run")
            with waiting():
                await self.enter_async_context(self._free)
                self._environment = await self.enter_async_context(self._opened.environment())
            if self._ask is not None:
                before = self._opened.first_state
                if before is None or not self._opened.is_isolated:
                    before = self._opened.first_state = await self._environment.state()
                self._before = compared(before, self._ignore)
        return self._environment

    @property
    def is_used(self) -> bool:
        """Whether a call was made here, in this start or an earlier one."""
        return self._environment is not None or bool(self._earlier)

    @property
    def is_whole(self) -> bool:
        """Whether the state before the first call is known: not if an earlier start changed what lasts."""
        return not self._earlier or (self._opened is not None and self._opened.is_isolated)

    async def states(self) -> tuple[StateSummary | None, StateSummary | None]:
        """The state before the first call, and now with what changed; None if it cannot be seen.

        Raises:
            EnvironmentFailure: It cannot be read.
        """
        after = compared(await (await self._current()).state(), self._ignore)
        before = self._before
        return (
            None if before is None else StateSummary(digest_of(before), len(before)),
            None
            if before is None or after is None
            else StateSummary(digest_of(after), len(after), changes_of(before, after)),
        )

    async def recorded_states(self) -> list[Any] | None:
        """`states` as JSON, for a journal; None if the state before the first call is not known.

        Raises:
            EnvironmentFailure: They cannot be read.
        """
        if not self.is_whole:
            return None
        states = await self.states() if self.is_used else (None, StateSummary("", 0, {}))
        return [*msgspec.to_builtins(states)]

    async def _current(self) -> Environment:
        """The environment; where it is isolated, recorded calls are made again first, for their effect."""
        environment = await self.opened()
        executor = self._opened
        assert executor is not None
        self._earlier.sort(key=itemgetter(0))  # as they were made at first
        while executor.is_isolated and self._earlier:
            _, earlier, executed = self._earlier.pop(0)
            await executor.prepare(environment, earlier)
            await make_call(environment, earlier, executed)
        return environment

    async def call(self, tool: Tool, call: ExecutedCall) -> ExecutedCall:
        """A call with its result, or with the words in which it was refused.

        Raises:
            EnvironmentFailure: It has no result through no fault of the caller.
            InDoubt: An earlier start made it, its result is not known, and it must not be repeated.
            ModelError: There is no executor, or the run is ending.
        """
        executor = self._opened
        is_recorded = True
        is_isolated = executor is None or executor.is_isolated

        async def ready() -> None:
            environment = await self._current()
            assert executor is not None
            await executor.prepare(environment, tool)

        async def make() -> Any:
            nonlocal is_recorded
            is_recorded = False
            return msgspec.to_builtins(await make_call(await self.opened(), tool, call))

        assert self._ask is not None
        repeatable = is_isolated or (executor is not None and executor.is_idempotent(tool))
        call_record = msgspec.to_builtins(call)

        def is_of(result: Any) -> bool:
            return all(result[name] == call_record[name] for name in ("tool", "arguments"))

        performed = await self._ask.perform(call_record, make, ready, repeatable=repeatable, is_of=is_of)
        if is_recorded:
            self._earlier.append((self._ask.call_numbers[-1], tool, call))
        return msgspec.convert(performed, ExecutedCall)


Places = TypeVar("Places", bound=Mapping[str, Any] | None)


def compared(places: Places, ignore: Sequence[str]) -> Places:
    """A state, or what changed in it, without the places that are not compared.

    >>> compared({"notes.json": 1, "a.log": 2}, ["*.log"])
    {'notes.json': 1}
    """
    if places is None or not ignore:
        return places
    kept_values = {
        path: value
        for path, value in places.items()
        if not any(fnmatch.fnmatchcase(path, pattern) for pattern in ignore)
    }
    return cast("Places", kept_values)


def compared_execution(execution: Execution, ignore: Sequence[str]) -> Execution:
    """An execution whose changes are only those at places that are compared."""
    after = execution.state_after
    if after is None:
        return execution
    return replace(execution, state_after=replace(after, changes=compared(after.changes, ignore)))


def _node(plan: CallPlan, number: int) -> int:
    return plan.nodes[number] if number < len(plan.nodes) else number


async def make_call(environment: Environment, tool: Tool, call: ExecutedCall) -> ExecutedCall:
    """The call with its result, or with the words in which it was refused."""
    began = time.perf_counter()
    try:
        result = await call_tool(environment, tool, call.arguments)
    except Refusal as error:
        return replace(call, error=str(error), seconds=_seconds(began))
    text = None if CallResult.of(result.value).text == result.text else result.text
    return replace(call, result=result.value, text=text, seconds=_seconds(began))


def _seconds(began: float) -> float:
    return round(time.perf_counter() - began, 4)


def result_of(call: ExecutedCall) -> CallResult:
    """The result of a call that was executed."""
    result = CallResult.of(call.result)
    return result if call.text is None else CallResult(call.result, call.text)


def with_mistake(arguments: Arguments, tool: Tool, rng: random.Random) -> Arguments | None:
    """The arguments with one mistake such as models make; None if this draw gives none.

    A required argument is missing, a value is misspelled, or it has another type.
    """
    name = rng.choice(sorted(arguments))
    kind = rng.choice(("missing", "misspelled", "misspelled", "type"))
    changed = copy.deepcopy(dict(arguments))
    value = changed[name]
    if kind == "missing":
        required = {parameter.name for parameter in tool.parameters if is_required(parameter, tool)}
        if name not in required:
            return None
        del changed[name]
    elif kind == "misspelled" and isinstance(value, str) and len(value) > 2:
        position = rng.randrange(1, len(value) - 1)
        changed[name] = value[:position] + value[position + 1 :]
    elif kind == "misspelled" and isinstance(value, int) and not isinstance(value, bool):
        changed[name] = value * 10 + 7
    elif kind == "type":
        changed[name] = {"value": value} if isinstance(value, str | int | float) else json.dumps(value)
    return changed if changed != arguments else None
