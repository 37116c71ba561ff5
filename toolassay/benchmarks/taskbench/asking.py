"""Ways of asking a model beside a plan: calls in one answer, an agent with native calls, an agent in text.

The calls that were made become a plan of the prediction file.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from toolassay.benchmarks.taskbench.inference import Choose, offered_tools
from toolassay.calls.call_plan import Names, function_of
from toolassay.calls.execution_record import ExecutedCall, Execution, StateSummary
from toolassay.dataset import Request
from toolassay.episodes.call_formats import REACT, CallFormat, call_format
from toolassay.episodes.episode import EpisodeLimits, Trajectory, episode, shown_result
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import AgentStep
from toolassay.executors.executor import EnvironmentFailure, OpenExecutor
from toolassay.executors.plan_run import CallPlace, result_of
from toolassay.graph import ToolGraph
from toolassay.graph.traces import identifies, is_distinctive, is_said
from toolassay.models import ModelError, ToolCall
from toolassay.output_paths import Part, Reference, reference_text
from toolassay.prompt_templates import fixed_text
from toolassay.requests import key_of, request_fingerprint
from toolassay.runs.items import OVERFLOW, Ask, InDoubt, ItemWork
from toolassay.tools import ToolLibrary

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
_MOST_VALUES = 50_000  # of a result in which an argument is looked for
_DEEPEST = 32


@dataclass(frozen=True)
class OfferedFunction:
    """A tool as a function of a model API, with its whole description and schema."""

    name: str
    function: Mapping[str, Any]

    @property
    def function_name(self) -> str:
        """The name of the function."""
        return str(self.function["name"])

    def to_openai(self) -> dict[str, Any]:
        """The function as an entry of `tools` in a chat request."""
        return {"type": "function", "function": self.function}


_NOTHING_CHANGED = [None, {"digest": "", "places": 0, "changes": {}}]  # the states of an unused environment


class Conversation(NamedTuple):
    """What a model did about a request.

    Attributes:
        entry: Its entry in the journal.
        trajectory: Its messages, calls included.
        calls: The calls as they were made, with their results or errors.
    """

    entry: dict[str, Any]
    trajectory: Trajectory
    calls: Sequence[ExecutedCall]

    def steps(self) -> list[AgentStep]:
        """The calls with their results, as reports show them."""
        return [
            AgentStep(made.step, call.tool, call.arguments, made.result, call.error is not None)
            for call, made in zip(self.calls, self.trajectory.calls, strict=False)
        ]

    def execution(self, request: Request, entry: Mapping[str, Any], executor: str) -> Execution:
        """The calls as an execution, whose answer is every result that the model got.

        A refused call that the model went on after is no failure; an end at a limit or without an answer is.

        Args:
            request: The request.
            entry: Its entry as recorded, which has the states of the environment.
            executor: Name of the executor.
        """
        ended = str(entry["outcome"]) if "limit" not in entry else f"ended by a limit: {entry['limit']}"
        reason = "" if ended == "answered" else ended
        results = tuple(call.result for call in self.calls if call.error is None)
        made = Execution(request.id, "failed" if reason else "ran", executor, "", tuple(self.calls), reason)
        if "states" not in entry:
            unknown = "the state before the first call is not known"
            return replace(made, outcome="in_doubt", reason=unknown)
        before, after = msgspec.convert(entry["states"], tuple[StateSummary | None, StateSummary | None])
        return replace(made, answer=results, state_before=before, state_after=after)


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
        choose: Chooses the tools that a request shows; None for all.
    """

    graph: ToolGraph
    way: str
    parameters: Mapping[str, Any]
    limits: EpisodeLimits
    executing: Callable[[], AbstractAsyncContextManager[OpenExecutor]] | None = None
    allow_writes: bool = False
    structured: bool = False
    choose: Choose | None = None
    _executor: OpenExecutor | None = None

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

    def identity(self, item: Request) -> dict[str, Any]:
        """The wording of the request."""
        return {"request": request_fingerprint(item.text)}

    @cached_property
    def tools(self) -> list[OfferedFunction]:
        """All tools as functions."""
        return self.functions(self.graph.library.ids)

    def functions(self, ids: Sequence[str]) -> list[OfferedFunction]:
        """Some tools as functions."""
        kind, library = self.graph.dependency_type, self.graph.library
        for name in ids:
            if name not in self._functions:
                function = function_of(library[name], kind, self._names)
                self._functions[name] = OfferedFunction(name, function)
        return [self._functions[name] for name in ids]

    @cached_property
    def _functions(self) -> dict[str, OfferedFunction]:
        return {}

    @cached_property
    def _names(self) -> Names:
        return Names.of(self.graph.library, self.graph.dependency_type)

    @cached_property
    def _slots(self) -> Mapping[str, Mapping[str, Any]]:
        """By the name of a function, and by the id of a tool: the tool, and the argument of each property."""
        functions = self._names.to_json()["functions"]
        return {**functions, **{one["tool"]: one for one in functions.values()}}

    @cached_property
    def form(self) -> CallFormat:
        """How calls are written."""
        return call_format("react" if self.way == "react" else "native", structured=self.structured)

    def system(self, tools: Sequence[OfferedFunction]) -> str:
        """The system message, which lists the tools if actions are text."""
        calls = self.way == "calls"
        parts = [fixed_text("ask_calls", _CALLS) if calls else fixed_text("ask_tools", _TOOLS)]
        if service := self.graph.library.service:
            parts.append(f"The service: {service[:_MOST_OF_SERVICE]}")
        if self.way == "react":
            lines = (json.dumps({**tool.function, "name": tool.name}, ensure_ascii=False) for tool in tools)
            parts.append(fixed_text("ask_react", REACT).strip().format(tools="\n".join(lines)))
        return "\n\n".join(parts)

    async def answer(self, item: Request, ask: Ask) -> dict[str, Any]:
        """Let the model call tools; its calls are the plan."""
        return (await self.conversation(item, ask)).entry

    async def conversation(self, item: Request, ask: Ask) -> Conversation:
        """Like `answer`, with everything that was said and called."""
        made: list[ExecutedCall] = []
        offered, tools = dict[str, Any](), self.tools if self.choose is None else []
        if self.choose is not None:
            offered = {"offered": await offered_tools(self.choose, item, ask)}
            tools = self.functions(offered["offered"])
        known = {tool.name for tool in tools}

        async def carry(asked: Sequence[ToolCall]) -> list[str]:
            return [await self._carried(call, made, known, place) for call in asked]

        start = [{"role": "system", "content": self.system(tools)}, {"role": "user", "content": item.text}]
        parameters = {**PARAMETERS, **self.parameters}
        has_results = self.way != "calls"
        states: dict[str, Any] = {}
        try:
            async with CallPlace(self._executor, ask) as place:
                end = await episode(
                    start, tools, ask, carry if has_results else None, self.limits, self.form, parameters
                )
                if self._executor is not None and place.is_whole:
                    seen = msgspec.to_builtins(await place.states()) if place.is_used else _NOTHING_CHANGED
                    states = {"states": seen}
        except EnvironmentFailure as error:
            raise ModelError(f"a call has no result: {error}") from None
        except InDoubt:
            words = "whether a call took effect is unknown, and its tool is not marked idempotent"
            raise ModelError(words) from None
        if end.outcome == OVERFLOW and not end.steps:
            raise ModelError(end.problem, outcome=OVERFLOW)
        if not has_results:
            made = [self._parsed(ToolCall("", one.name, one.arguments), known, 0) for one in end.calls]
        limit = "context" if end.outcome == OVERFLOW else end.limit
        outcome = "answered" if made or end.outcome == OVERFLOW else end.outcome
        if end.outcome == "refused":
            outcome = "refused"
        plan = plan_of_calls(made, item.text, self.graph.library) if outcome == "answered" else None
        used = {
            "steps": end.steps,
            "calls": len(made),
            "refused_calls": sum(one.error is not None for one in made),
        }
        cut = {"cut_off": True} if end.is_cut_off and not made else {}
        reached = {"limit": limit} if limit else {}
        entry = {"outcome": outcome, "plan": plan, **used, **cut, **reached, **states, **offered}
        return Conversation(entry, end, made)

    async def _carried(
        self, asked: ToolCall, made: list[ExecutedCall], offered: Collection[str], place: CallPlace
    ) -> str:
        call = self._parsed(asked, offered, len(made))
        if call.error is None:
            call = await place.call(self.graph.library[call.tool], call)
        made.append(call)
        return shown_result(f"Error: {call.error}" if call.error is not None else result_of(call).text)

    def _parsed(self, asked: ToolCall, offered: Collection[str], number: int) -> ExecutedCall:
        """A call as the model wrote it; with an error if no offered tool can get it."""
        known = self._slots.get(asked.name)
        if known is None or known["tool"] not in offered:
            return ExecutedCall(number, asked.name, {}, error=f"there is no tool '{asked.name[:100]}'")
        try:
            given = json.loads(asked.arguments or "{}", strict=False)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return ExecutedCall(number, known["tool"], {}, error="the arguments are not a JSON object")
        arguments = {known["parameters"].get(name, name): value for name, value in given.items()}
        return ExecutedCall(number, known["tool"], arguments)


def plan_of_calls(calls: Sequence[ExecutedCall], request: str, library: ToolLibrary) -> dict[str, Any]:
    """The plan that calls make.

    An argument that occurs in exactly one earlier result becomes a reference, with a link, unless the request
    or the source's own arguments say it, or it may recur by chance (`is_distinctive`). A refused call is left
    out if a later call of its tool was accepted.

    >>> from toolassay.tools import Tool
    >>> found = ExecutedCall(0, "find", {"q": "Dune"}, [{"id": 7042}])
    >>> shown = ExecutedCall(1, "show", {"id": 7042})
    >>> plan = plan_of_calls([found, shown], "Show Dune", ToolLibrary([Tool("find"), Tool("show")]))
    >>> plan["task_nodes"][1], plan["task_links"]  # doctest: +NORMALIZE_WHITESPACE
    ({'task': 'show', 'arguments': [{'name': 'id', 'value': '<node-0>[0].id'}]},
     [{'source': 'find', 'target': 'show'}])
    """
    accepted = {call.tool: place for place, call in enumerate(calls) if call.error is None}
    kept = [
        call for place, call in enumerate(calls) if call.error is None or accepted.get(call.tool, -1) < place
    ]
    nodes, links = [], dict[tuple[str, str], None]()
    sources: list[dict[str, tuple[Part, ...]]] = []
    for call in kept:

        def filled(value: Any, parts: tuple[Part, ...], call: ExecutedCall = call) -> Any:
            if isinstance(value, dict):
                return {name: filled(one, (*parts, name)) for name, one in value.items()}
            if isinstance(value, list):
                return [filled(one, (*parts, place)) for place, one in enumerate(value)]
            found = [place for place, source in enumerate(sources) if _key(value) in source]
            if len(found) != 1 or value in (None, True, False, "") or is_said(value, request):
                return value
            if not identifies(parts) and not is_distinctive(value, parts, library[call.tool]):
                return value
            links[kept[found[0]].tool, call.tool] = None
            return reference_text(Reference(found[0], sources[found[0]][_key(value)]))

        arguments = [{"name": name, "value": filled(one, (name,))} for name, one in call.arguments.items()]
        nodes.append({"task": call.tool, "arguments": arguments})
        own = {_key(value) for _, value in _leaves(dict(call.arguments))}
        places: dict[str, tuple[Part, ...]] = {}
        for parts, value in _leaves(call.result):
            if len(places) < _MOST_VALUES and _key(value) not in own:
                places.setdefault(_key(value), parts)
        sources.append(places)
    return {
        "task_steps": [],
        "task_nodes": nodes,
        "task_links": [{"source": source, "target": target} for source, target in links],
    }


def _key(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _leaves(value: Any, parts: tuple[Part, ...] = ()) -> Iterator[tuple[tuple[Part, ...], Any]]:
    """The values in a JSON value that are no lists or objects, each with its path."""
    if isinstance(value, dict | list) and len(parts) < _DEEPEST:
        for part, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(item, (*parts, part))
    else:
        yield parts, value
