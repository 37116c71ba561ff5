"""Ways of asking a model beside a plan: calls in one answer, an agent with native calls, an agent in text.

The calls that were made become a plan of the prediction file.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from toolassay.benchmarks.taskbench.entries import PlanEntry
from toolassay.calls.call_plan import FunctionSchema, NamedFunction, Names, function_of
from toolassay.calls.called_plan import plan_of_calls
from toolassay.calls.execution_record import ExecutedCall
from toolassay.dataset import Request
from toolassay.episodes.call_formats import REACT, CallFormat, call_format
from toolassay.episodes.episode import EpisodeLimits, episode, shown_result
from toolassay.errors import UsageError
from toolassay.executors.executor import EnvironmentFailure, OpenExecutor
from toolassay.executors.plan_run import CallPlace, result_of
from toolassay.graph import ToolGraph
from toolassay.models import ModelError, ToolCall
from toolassay.prompt_templates import fixed_text
from toolassay.requests import key_of, request_fingerprint
from toolassay.runs.items import OVERFLOW, Ask, InDoubt, ItemWork

PARAMETERS: Mapping[str, Any] = {"max_tokens": 2000}
_TOOLS = (
    "You do what a person asks with the tools of a service, without asking back. When it is done, say "
    "briefly what you did or found."
)
_CALLS = (
    "You do what a person asks with the tools of a service, without asking back. Make all calls that this "
    "needs in one answer: you do not see their results. Where an argument depends on the result of another "
    "call, write what you expect."
)
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


@dataclass
class CallItems(ItemWork[Request]):
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
    """

    graph: ToolGraph
    way: str
    parameters: Mapping[str, Any]
    limits: EpisodeLimits
    executing: Callable[[], AbstractAsyncContextManager[OpenExecutor]] | None = None
    allow_writes: bool = False
    structured: bool = False
    _executor: OpenExecutor | None = None

    record = PlanEntry

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
                    fix="permit them with --allow_writes, or use --executor simulate",
                )
            self._executor = executor
            yield

    def key_of(self, item: Request) -> str:
        """The key of a request."""
        return key_of(item.id)

    def identity(self, item: Request) -> Mapping[str, str]:
        """The wording of the request."""
        return {"request": request_fingerprint(item.text)}

    @cached_property
    def tools(self) -> list[OfferedFunction]:
        """The tools as functions."""
        kind, library = self.graph.dependency_type, self.graph.library
        names = Names.of(library, kind)
        return [OfferedFunction(tool.id, function_of(tool, kind, names)) for tool in library]

    @cached_property
    def _slots(self) -> Mapping[str, NamedFunction]:
        """By the name of a function, and by the id of a tool: the tool, and the argument of each property."""
        functions = Names.of(self.graph.library, self.graph.dependency_type).by_function
        return {**functions, **{one.tool: one for one in functions.values()}}

    @cached_property
    def form(self) -> CallFormat:
        """How calls are written."""
        return call_format("react" if self.way == "react" else "native", structured=self.structured)

    @cached_property
    def system(self) -> str:
        """The system message."""
        calls = self.way == "calls"
        parts = [fixed_text("ask_calls", _CALLS) if calls else fixed_text("ask_tools", _TOOLS)]
        if service := self.graph.library.service:
            parts.append(f"The service: {service[:_MOST_OF_SERVICE]}")
        if self.way == "react":
            lines = (
                json.dumps(
                    msgspec.to_builtins(msgspec.structs.replace(tool.function, name=tool.name)),
                    ensure_ascii=False,
                )
                for tool in self.tools
            )
            parts.append(fixed_text("ask_react", REACT).strip().format(tools="\n".join(lines)))
        return "\n\n".join(parts)

    async def answer(self, item: Request, ask: Ask) -> PlanEntry:
        """Let the model call tools; its calls are the plan."""
        made: list[ExecutedCall] = []

        async def carry(asked: Sequence[ToolCall]) -> list[str]:
            return [await self._carried(call, made, place) for call in asked]

        start = [{"role": "system", "content": self.system}, {"role": "user", "content": item.text}]
        parameters = {**PARAMETERS, **self.parameters}
        has_results = self.way != "calls"
        try:
            async with CallPlace(self._executor, ask) as place:
                end = await episode(
                    start, self.tools, ask, carry if has_results else None, self.limits, self.form, parameters
                )
        except EnvironmentFailure as error:
            raise ModelError(f"a call has no result: {error}") from None
        except InDoubt:
            words = "whether a call took effect is unknown, and its tool is not marked idempotent"
            raise ModelError(words) from None
        if end.outcome == OVERFLOW and not end.steps:
            raise ModelError(end.problem, outcome=OVERFLOW)
        if not has_results:
            made = [self._parsed(ToolCall("", one.name, one.arguments), 0) for one in end.calls]
        limit = "context" if end.outcome == OVERFLOW else end.limit
        outcome = "answered" if made or end.outcome == OVERFLOW else end.outcome
        if end.outcome == "refused":
            outcome = "refused"
        return PlanEntry(
            outcome=outcome,
            plan=plan_of_calls(made, item.text, self.graph.library) if outcome == "answered" else None,
            steps=end.steps,
            calls=len(made),
            refused_calls=sum(one.error is not None for one in made),
            cut_off=end.is_cut_off and not made,
            limit=limit or "",
        )

    async def _carried(self, asked: ToolCall, made: list[ExecutedCall], place: CallPlace) -> str:
        call = self._parsed(asked, len(made))
        if call.error is None:
            call = await place.call(self.graph.library[call.tool], call)
        made.append(call)
        return shown_result(f"Error: {call.error}" if call.error is not None else result_of(call).text)

    def _parsed(self, asked: ToolCall, number: int) -> ExecutedCall:
        """A call as the model wrote it; with an error if no tool can get it."""
        known = self._slots.get(asked.name)
        if known is None:
            return ExecutedCall(number, asked.name, {}, error=f"there is no tool '{asked.name[:100]}'")
        try:
            given = json.loads(asked.arguments or "{}", strict=False)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return ExecutedCall(number, known.tool, {}, error="the arguments are not a JSON object")
        arguments = {known.parameters.get(str(name), str(name)): value for name, value in given.items()}
        return ExecutedCall(number, known.tool, arguments)
