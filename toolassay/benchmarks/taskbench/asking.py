"""Ways of asking a model beside a plan: calls in one answer, an agent with native calls, an agent in text.

The calls that were made become a plan of the prediction file.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from toolassay.benchmarks.taskbench.entries import PlanEntry
from toolassay.benchmarks.taskbench.inference import Choose, RequestItems, offered_tools
from toolassay.episodes.call_formats import REACT, CallFormat, call_format
from toolassay.episodes.episode import EpisodeLimits, Trajectory, episode, shown_result
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import AgentStep
from toolassay.executors.executor import TOGETHER, EnvironmentFailure, OpenExecutor
from toolassay.executors.plan_run import CallPlace, result_of
from toolassay.files.data_files import unescaped_json
from toolassay.graph import ToolGraph
from toolassay.models import ModelError, ToolCall
from toolassay.plans.call_plan import FunctionSchema, NamedFunction, Names, function_of
from toolassay.plans.called_plan import plan_of_calls
from toolassay.plans.execution_record import ExecutedCall, Execution
from toolassay.prompts.templates import dated, fixed_text, template_file
from toolassay.records.dataset import Request
from toolassay.runs.items import ENDED, IN_DOUBT, OVERFLOW, Ask, InDoubt

# As many tokens as a plan may have, so that both ways of asking have one limit.
PARAMETERS: Mapping[str, Any] = {"max_tokens": 2000}
_TOOLS = template_file("benchmarks/taskbench", "ask_tools")
_CALLS = template_file("benchmarks/taskbench", "ask_calls")
_MOST_OF_SERVICE = 3_000  # characters


@dataclass(frozen=True)
class OfferedFunction:
    """A tool as a function of a model API, with its whole description and schema."""

    name: str
    function: FunctionSchema

    @property
    def function_name(self) -> str:
        """The name of the function."""
        return self.function.name

    def to_openai(self) -> dict[str, Any]:
        """The function as an entry of `tools` in a chat request."""
        return {"type": "function", "function": msgspec.to_builtins(self.function)}


class Conversation(NamedTuple):
    """What a model did about a request.

    Attributes:
        entry: Its entry in the journal.
        trajectory: Its messages, calls included.
        calls: The calls as they were made, with their results or errors.
    """

    entry: PlanEntry
    trajectory: Trajectory
    calls: Sequence[ExecutedCall]

    def steps(self) -> list[AgentStep]:
        """The calls with their results, as reports show them."""
        return [
            AgentStep(made.step, call.tool, call.arguments, made.result, call.error is not None)
            for call, made in zip(self.calls, self.trajectory.calls, strict=False)
        ]

    def execution(self, request: Request, entry: PlanEntry, executor: str) -> Execution:
        """The calls as an execution; an end at a limit or without an answer is a failure.

        Args:
            request: The request.
            entry: Its entry as recorded, which has the states of the environment.
            executor: Name of the executor.
        """
        ended = f"ended by a limit: {entry.limit}" if entry.limit else entry.outcome
        reason = "" if ended == "answered" else ended
        return Execution.of_agent(request.id, executor, self.calls, entry.states, reason)


@dataclass
class CallItems(RequestItems):
    """Requests that a model answers with calls.

    Attributes:
        graph: The tool graph.
        way: "calls": one answer, whose calls get no results; "tools": native calls, step by step; "react":
            actions in text.
        parameters: Of the requests, over the default ones.
        limits: Of one request.
        executing: Opens what makes the calls; None for "calls", and where only recorded results are wanted.
        allow_writes: Whether tools that are not marked read-only may be called.
        structured: Whether requests of "react" carry a JSON Schema of the action.
        is_idle: Whether it is the baseline `nothing`, which ends at once; it is sent no request.
        choose: Chooses the tools that a request shows; None for all.
        later: The same with the tools as they are listed after the first calls; None where they stay.
        together: Maximum of servers that are started for requests at a time; further ones wait for theirs.
        today: Date of the set.
    """

    graph: ToolGraph
    way: str
    parameters: Mapping[str, Any]
    limits: EpisodeLimits
    executing: Callable[[], AbstractAsyncContextManager[OpenExecutor]] | None = None
    allow_writes: bool = False
    structured: bool = False
    is_idle: bool = False
    choose: Choose | None = None
    later: CallItems | None = None
    together: int = TOGETHER
    today: date | None = None
    _free: AbstractAsyncContextManager[Any] | None = None
    _executor: OpenExecutor | None = None

    final = (*ENDED, IN_DOUBT)

    @asynccontextmanager
    async def around(self) -> AsyncIterator[None]:
        """The executor.

        Raises:
            UsageError: It cannot be used as given, or writes need consent.
        """
        if self.executing is None:
            yield
            return
        async with self.executing() as executor:
            writing = [tool.id for tool in self.graph.library if not executor.is_read_only(tool)]
            if writing and not self.allow_writes:
                raise UsageError(
                    f"{len(writing)} tools are not marked read-only, e.g. '{writing[0]}'",
                    fix="permit them with --allow_writes, or use --executor world",
                )
            self._executor = executor
            self._free = asyncio.Semaphore(self.together) if executor.starts_processes else None
            yield

    @cached_property
    def tools(self) -> list[OfferedFunction]:
        """All tools as functions."""
        return self.functions(self.graph.library.ids)

    def functions(self, ids: Sequence[str]) -> list[OfferedFunction]:
        """Some tools as functions."""
        return [self._functions[name] for name in ids]

    @cached_property
    def _functions(self) -> dict[str, OfferedFunction]:
        kind = self.graph.dependency_type
        names = self._names
        return {
            tool.id: OfferedFunction(tool.id, function_of(tool, kind, names)) for tool in self.graph.library
        }

    @cached_property
    def _names(self) -> Names:
        return Names.of(self.graph.library, self.graph.dependency_type, strict=True)

    @cached_property
    def _slots(self) -> Mapping[str, NamedFunction]:
        """By the name of a function, and by the id of a tool: the tool, and the argument of each property."""
        functions = self._names.by_function
        return {**functions, **{function.tool: function for function in functions.values()}}

    @cached_property
    def form(self) -> CallFormat:
        """How calls are written."""
        return call_format("react" if self.way == "react" else "native", structured=self.structured)

    def system(self, tools: Sequence[OfferedFunction]) -> str:
        """The system message, with the date if the set has one; it lists the tools if actions are text."""
        calls = self.way == "calls"
        parts = [fixed_text("ask_calls", _CALLS) if calls else fixed_text("ask_tools", _TOOLS)]
        if service := self.graph.library.service:
            parts.append(f"The service: {service[:_MOST_OF_SERVICE]}")
        if self.way == "react":
            lines = (
                unescaped_json(msgspec.to_builtins(replace(tool.function, name=tool.name))) for tool in tools
            )
            parts.append(fixed_text("ask_react", REACT).strip().format(tools="\n".join(lines)))
        return dated("\n\n".join(parts), self.today)

    async def answer(self, item: Request, ask: Ask) -> PlanEntry:
        """Let the model call tools; its calls are the plan."""
        return (await self.conversation(item, ask)).entry

    async def conversation(self, item: Request, ask: Ask) -> Conversation:
        """Like `answer`, with all messages and calls."""
        executed_calls: list[ExecutedCall] = []
        offered = None if self.choose is None else await offered_tools(self.choose, item, ask)
        tools = [*(self.tools if offered is None else self.functions(offered))]
        known = {tool.name for tool in tools}

        async def carry(asked: Sequence[ToolCall]) -> list[str]:
            results = [await self._carried(call, executed_calls, known, call_place) for call in asked]
            tools[:] = tools if self.later is None else self.later.tools
            return results

        start = [{"role": "system", "content": self.system(tools)}, {"role": "user", "content": item.text}]
        parameters = {**PARAMETERS, **self.parameters}
        has_results = self.way != "calls"
        states = None
        try:
            async with CallPlace(self._executor, ask, free=self._free) as call_place:
                if self.is_idle:
                    end = Trajectory(start)
                else:
                    end = await episode(
                        start, tools, ask, carry if has_results else None, self.limits, self.form, parameters
                    )
                if self._executor is not None:
                    states = await call_place.recorded_states()
        except EnvironmentFailure as error:
            raise ModelError(f"a call has no result: {error}") from None
        except InDoubt:
            words = "whether a call took effect is unknown, and its tool is not marked idempotent"
            raise ModelError(words, outcome=IN_DOUBT) from None
        if end.outcome == OVERFLOW and not end.steps:
            raise ModelError(end.problem, outcome=OVERFLOW)
        if not has_results:
            executed_calls = [
                self._parsed(ToolCall("", call.name, call.arguments), known, 0) for call in end.calls
            ]
        limit = "context" if end.outcome == OVERFLOW else end.limit
        outcome = "answered" if executed_calls or end.outcome == OVERFLOW else end.outcome
        if end.outcome == "refused":
            outcome = "refused"
        entry = PlanEntry(
            outcome=outcome,
            plan=plan_of_calls(executed_calls, item.text, self.graph.library)
            if outcome == "answered"
            else None,
            steps=end.steps,
            calls=len(executed_calls),
            refused_calls=sum(executed_call.error is not None for executed_call in executed_calls),
            cut_off=end.is_cut_off and not executed_calls,
            limit=limit or "",
            states=states,
            offered=offered,
            answer=end.answer if has_results else "",
        )
        return Conversation(entry, end, executed_calls)

    async def _carried(
        self,
        asked: ToolCall,
        executed_calls: list[ExecutedCall],
        offered: Collection[str],
        call_place: CallPlace,
    ) -> str:
        call = self._parsed(asked, offered, len(executed_calls))
        if call.error is None:
            call = await call_place.call(self.graph.library[call.tool], call)
        executed_calls.append(call)
        return shown_result(f"Error: {call.error}" if call.error is not None else result_of(call).text)

    def _parsed(self, asked: ToolCall, offered: Collection[str], number: int) -> ExecutedCall:
        """A call as the model wrote it; with an error if no offered tool can get it."""
        known = self._slots.get(asked.name)
        if known is None or known.tool not in offered:
            return ExecutedCall(number, asked.name, {}, error=f"there is no tool '{asked.name[:100]}'")
        try:
            given = json.loads(asked.arguments or "{}", strict=False)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return ExecutedCall(number, known.tool, {}, error="the arguments are not a JSON object")
        arguments = {known.parameters.get(str(name), str(name)): value for name, value in given.items()}
        return ExecutedCall(number, known.tool, arguments)
