"""Offers the tools of a data folder to any agent over MCP (streamable HTTP), and records what it calls.

Each agent has an address with its own token. It takes one request of the folder after the other, and works
on each in an environment of its own. A call is in the journal before its result is sent, so a server that is
started again goes on where the last one ended, whatever ended it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from msgspec.structs import replace

from toolassay.benchmarks.registry import benchmark_executors
from toolassay.calls.execution_record import ExecutedCall
from toolassay.data_folder import DataFolder
from toolassay.dataset import Request, RequestId, TaskGraph
from toolassay.executors import executor_named
from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    OpenExecutor,
    Refusal,
)
from toolassay.executors.plan_run import make_call, result_of
from toolassay.exporters.exported_tools import write_mcp
from toolassay.extras import needed
from toolassay.files import read_json, safe_name, sha256_of, write_json, write_json_lines
from toolassay.gates.references import placed_leaves
from toolassay.graph.traces import is_distinctive
from toolassay.locks import open_regular
from toolassay.output_paths import Part, Reference, reference_text
from toolassay.requests import Requests, key_of
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.journal import TOOL, CallLine, Journal, LineAddress
from toolassay.runs.manifest import JOURNAL, open_run
from toolassay.screen import DEFAULT, Screen
from toolassay.serving.loopback import bound
from toolassay.tools import Tool, ToolLibrary

if TYPE_CHECKING:
    import mcp_types
    from mcp.server import Server

GET_REQUEST, SUBMIT = "toolassay_get_request", "toolassay_submit"
_GIVEN = "request"  # role of the journal's line that says that the agent has the request
_MOST_CALLS = 200  # for one request
_MOST_CONNECTIONS = 256


class AgentPrediction(msgspec.Struct, frozen=True):
    """A line of an agent's predictions: a request that it finished.

    Attributes:
        id: Id of the request.
        user_request: Its text.
        result: The plan that the calls amount to (`plan_of_calls`).
        answer: The final answer.
        calls: All calls in order, also those without a result.
    """

    id: RequestId
    user_request: str
    result: dict[str, Any]
    answer: str
    calls: Sequence[ExecutedCall]


def plan_of_calls(request: str, calls: Sequence[ExecutedCall], library: ToolLibrary) -> TaskGraph:
    """The plan of an agent: the calls that returned, with references in place of values from results.

    A value is a reference if exactly one earlier result has it, the request does not, and it is unlikely to
    be there by chance (`is_distinctive`).

    >>> calls = [ExecutedCall(0, "find", {"name": "Ada"}, {"users": [{"id": "u-482"}]}),
    ...          ExecutedCall(1, "pay", {"user": "u-482"}, "paid")]
    >>> plan = plan_of_calls("Pay Ada.", calls, ToolLibrary([Tool("find"), Tool("pay")]))
    >>> plan.nodes[1]["arguments"], plan.links
    ([{'name': 'user', 'value': '<node-0>.users[0].id'}], [{'source': 'find', 'target': 'pay'}])
    """
    made = [call for call in calls if call.error is None]
    # For each result its values as text, with the first place of each.
    results = [{str(value): path for path, value in reversed([*placed_leaves(call.result)])} for call in made]
    links: dict[tuple[int, int], None] = {}

    def linked(value: Any, place: tuple[Part, ...], number: int) -> Any:
        if isinstance(value, Mapping):
            return {name: linked(item, (*place, name), number) for name, item in value.items()}
        if isinstance(value, list):
            return [linked(item, (*place, index), number) for index, item in enumerate(value)]
        sources = [source for source in range(number) if str(value) in results[source]]
        is_given = str(value).casefold() in request.casefold()
        if len(sources) != 1 or is_given or not is_distinctive(value, place, library[made[number].tool]):
            return value
        links[sources[0], number] = None
        return reference_text(Reference(sources[0], results[sources[0]][str(value)]))

    nodes = []
    for number, call in enumerate(made):
        given = {name: linked(value, (name,), number) for name, value in call.arguments.items()}
        named = [{"name": name, "value": value} for name, value in given.items()]
        is_resource = library[call.tool].is_resource
        nodes.append({"task": call.tool, "arguments": list(given.values()) if is_resource else named})
    return TaskGraph(
        [f"Call {call.tool}" for call in made],
        nodes,
        [{"source": made[source].tool, "target": made[target].tool} for source, target in links],
    )


@dataclass
class AgentSession:
    """The work of one agent: request after request, each in an environment of its own.

    Attributes:
        journal: Of the agent.
        predictions: Its file of predictions.
        remaining: The requests of the folder.
        library: The tools.
        executor: Runs the calls.
        may_write: Whether tools that are not marked read-only may be called.
    """

    journal: Journal
    predictions: Path
    remaining: Iterator[Request]
    library: ToolLibrary
    executor: OpenExecutor
    may_write: bool
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _environment: Environment | None = None

    def __post_init__(self) -> None:
        # The journal also has the predictions that a killed server did not write.
        write_json_lines(self.predictions, (entry["prediction"] for _, entry in self.journal.entries()))
        self._advance()

    def _advance(self) -> None:
        """Go to the first request that is not finished, with what is recorded of it."""
        unfinished = (one for one in self.remaining if key_of(one.id) not in self.journal)
        self._request = next(unfinished, None)
        self._key = "" if self._request is None else key_of(self._request.id)
        self._is_given = self.journal.call(LineAddress(self._key, _GIVEN)) is not None
        self._calls: list[ExecutedCall] = []
        for line in self.journal.calls(self._key):
            if line.result is not msgspec.UNSET:
                self._calls.append(msgspec.convert(line.result, ExecutedCall))
            elif not self.executor.is_isolated:  # a fresh copy does not have its effect
                call = msgspec.convert(line.call, ExecutedCall)
                self._calls.append(replace(call, error="the server was killed: the effect is unknown"))

    def get_request(self) -> dict[str, Any]:
        """The current request; the same one until an answer is submitted. An id of None: none is left."""
        if self._request is None:
            return {"id": None, "request": None}
        self.journal.add_answer(LineAddress(self._key, _GIVEN), CallLine())
        self._is_given = True
        return {"id": self._request.id, "request": self._request.text}

    def _current(self) -> Request:
        if self._request is None or not self._is_given:
            raise Refusal(f"there is no current request: call {GET_REQUEST}")
        return self._request

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> ExecutedCall:
        """Make a call and record it.

        Raises:
            Refusal: There is no current request, or it has too many calls.
        """
        self._current()
        number = len(self._calls)
        if number >= _MOST_CALLS:
            raise Refusal(f"a request may have {_MOST_CALLS} calls: call {SUBMIT}")
        address, call = LineAddress(self._key, TOOL, number), ExecutedCall(number, tool.id, arguments)
        try:
            if not (self.may_write or self.executor.is_read_only(tool)):
                raise Refusal(f"'{tool.id}' is not marked read-only: --allow_writes permits it")
            environment = await self._opened()
            self.journal.add_answer(address, CallLine(call))
            self.journal.force()
            call = await make_call(environment, tool, call)
        except (EnvironmentFailure, Refusal) as error:
            if isinstance(error, EnvironmentFailure):
                await self.leave()
            call = replace(call, error=str(error))
        self.journal.add_answer(address, CallLine(result=call))
        self._calls.append(call)
        return call

    async def _opened(self) -> Environment:
        """The environment of the request; in a fresh copy, the calls so far are made again first."""
        if self._environment is None:
            environment = await self._stack.enter_async_context(self.executor.environment())
            for call in self._calls if self.executor.is_isolated else ():
                if call.error is None:
                    await make_call(environment, self.library[call.tool], call)
            self._environment = environment
        return self._environment

    async def leave(self) -> None:
        """Close the environment."""
        self._environment = None
        await self._stack.aclose()

    async def submit(self, answer: str) -> dict[str, Any]:
        """Finish the current request.

        Raises:
            Refusal: There is none.
        """
        request = self._current()
        plan = plan_of_calls(request.text, self._calls, self.library).to_json()
        prediction = AgentPrediction(request.id, request.text, plan, answer, self._calls)
        line = msgspec.to_builtins(prediction)
        self.journal.append(self._key, {"outcome": "answered", "prediction": line})
        with open_regular(self.predictions, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        await self.leave()
        self._advance()
        return {"submitted": request.id}


def _server_of(session: AgentSession) -> Server[Any]:
    """The MCP server of one agent."""
    import mcp_types
    from mcp.server import Server

    get_request = mcp_types.Tool(
        name=GET_REQUEST,
        description=f"Returns the user's request. Call it first, and after {SUBMIT}. Id null: none is left.",
        input_schema={"type": "object"},
    )
    answer = {"type": "string", "description": "The final answer to the user."}
    submit = mcp_types.Tool(
        name=SUBMIT,
        description="Ends the work on the current request.",
        input_schema={"type": "object", "properties": {"answer": answer}, "required": ["answer"]},
    )
    document = write_mcp(session.library).document
    entries = [one for listing in document.get("servers", [document]) for one in listing["tools"]]
    listed = [get_request, submit, *map(mcp_types.Tool.model_validate, entries)]
    one_at_a_time = anyio.Lock()

    async def result_of_tool(name: str, given: Mapping[str, Any]) -> CallResult:
        if name == GET_REQUEST:
            return CallResult.of(session.get_request())
        if name == SUBMIT:
            return CallResult.of(await session.submit(str(given.get("answer", ""))))
        if name not in session.library:
            raise Refusal(f"there is no tool '{name}'")
        call = await session.call(session.library[name], given)
        if call.error is not None:
            raise Refusal(call.error)
        return result_of(call)

    async def call_tool(_: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        # A call that has begun is recorded, also if its agent is gone.
        with anyio.CancelScope(shield=True):
            async with one_at_a_time:
                try:
                    value, text = await result_of_tool(params.name, params.arguments or {})
                except Refusal as error:
                    said = mcp_types.TextContent(text=str(error))
                    return mcp_types.CallToolResult(content=[said], is_error=True)
        content = mcp_types.TextContent(text=text)
        structured = value if isinstance(value, dict) else None
        return mcp_types.CallToolResult(content=[content], structured_content=structured)

    async def list_tools(_: Any, params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=listed)

    return Server("toolassay", on_list_tools=list_tools, on_call_tool=call_tool)


def serve_mcp(
    data_dir: str | Path,
    *,
    executor: str = "simulate",
    options: Any = None,
    agents: Sequence[str] = ("agent",),
    port: int = 4000,
    allow_writes: bool = False,
    allow_tools: bool = False,
    seed: int = 0,
    screen: Screen = DEFAULT,
) -> None:
    """Offer the tools and requests of a folder over MCP on 127.0.0.1 until interrupted.

    Args:
        data_dir: Data folder with tools and requests.
        executor: Name of the executor that runs the calls.
        options: Its options object.
        agents: Names of the agents, one address each.
        port: Port; 0 selects a free one.
        allow_writes: Permit tools that are not marked read-only.
        allow_tools: Permit running code of the folder, or that an option names.
        seed: Random seed of the simulator.
        screen: Receives the file of the addresses once the server listens.

    Raises:
        UsageError: The executor cannot be used as given, a file is missing or malformed, an agent has
            predictions made with other settings, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """
    needed("mcp", "serve --mcp", "mcp")
    folder = DataFolder(Path(data_dir)).require()
    library, requests = folder.library(say=screen.say), Requests.read(folder.user_requests)
    chosen = executor_named(executor, benchmark_executors())
    context = ExecutionContext(folder, library, allow_tools=allow_tools, seed=seed)
    place = folder.path / "predictions_agents"
    addresses = place / "runs" / "addresses.json"  # with tokens
    known = read_json(addresses) if addresses.exists() else {}
    facts = {"executor": executor, "allow_writes": allow_writes, "tools_sha256": sha256_of(folder.tool_desc)}

    async def run() -> None:
        import uvicorn
        from starlette.applications import Starlette

        async with AsyncExitStack() as stack:
            listening = stack.enter_context(bound(port))
            base, routes = f"http://127.0.0.1:{listening.getsockname()[1]}", []
            opened = await stack.enter_async_context(chosen.open(context, options or chosen.options()))
            may_write = allow_writes or chosen.is_harmless
            for name in agents:
                own = place / "runs" / safe_name(name)
                settings = json.loads(json.dumps({"llm": name, **facts, **opened.identity}))
                open_run(own, settings, conflict_fix="use another --agent name")
                journal = stack.enter_context(Journal(own / JOURNAL))
                file = place / f"{safe_name(name)}.json"
                session = AgentSession(journal, file, iter(requests), library, opened, may_write)
                stack.push_async_callback(session.leave)
                token = known.get(name, "").rpartition("/")[2] or secrets.token_urlsafe(24)
                known[name] = f"{base}/mcp/{token}"
                server = _server_of(session)
                # Without sessions, so that agents go on after a restart.
                routes += server.streamable_http_app(
                    streamable_http_path=f"/mcp/{token}", json_response=True, stateless_http=True
                ).routes
                await stack.enter_async_context(server.session_manager.run())
            addresses.parent.chmod(0o700)
            write_json(addresses, known)
            listening.listen(_MOST_CONNECTIONS)
            screen.show(f"{base} answers MCP; the addresses of the agents are in {addresses}")
            config = uvicorn.Config(
                Starlette(routes=routes),
                lifespan="off",
                access_log=False,  # paths have tokens
                log_config=None,
                limit_concurrency=_MOST_CONNECTIONS,
            )
            # Signals end the command as they end every other one.
            listener = uvicorn.Server(config)
            listener.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
            await listener.serve(sockets=[listening])

    run_coroutine(run())
