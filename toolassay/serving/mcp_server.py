"""Offers the tools of a data folder to any agent over MCP (streamable HTTP), and records what it calls.

Each agent has an address with its own token. It takes one request of the folder after the other, and works
on each in an environment of its own. A call is in the journal before its result is sent, so a server that is
started again goes on where the last one ended, whatever ended it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import msgspec
from msgspec.structs import replace

from toolassay.benchmarks.registry import benchmark_executors
from toolassay.calls.call_plan import Names
from toolassay.calls.execution_record import ExecutedCall
from toolassay.data_folder import DataFolder
from toolassay.dataset import Request, RequestId, TaskGraph
from toolassay.errors import UsageError
from toolassay.executors import executor_named
from toolassay.executors.executor import (
    CallLimits,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    OpenExecutor,
)
from toolassay.executors.plan_run import make_call, result_of
from toolassay.exporters.exported_tools import write_mcp
from toolassay.extras import needed
from toolassay.files import atomic_writer, indented_json, read_json, safe_name, sha256_of
from toolassay.graph.traces import is_distinctive
from toolassay.locks import Closable, open_regular
from toolassay.output_paths import Part, Reference, reference_text
from toolassay.requests import Requests, key_of
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.journal import TOOL, Journal, LineAddress
from toolassay.runs.manifest import JOURNAL, open_run
from toolassay.screen import DEFAULT, Screen
from toolassay.serving.loopback import HOST, bound
from toolassay.tools import Tool, ToolLibrary

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
    from starlette.types import Receive, Scope, Send

PREDICTIONS = "predictions_agents"
"""Folder of the predictions, in the data folder."""
ADDRESSES = "addresses.json"
"""The address of each agent, with its token; in the folder of the runs, readable by its owner only."""
GET_REQUEST, SUBMIT = "toolassay_get_request", "toolassay_submit"
_GIVEN = "request"  # role of the journal's line that says that the agent has the request
_MOST_BODY = 2**20  # bytes of one message of an agent
_MOST_CALLS = 200  # for one request
_MOST_AGENTS = 64
_MOST_CONNECTIONS = 256

_OWN_TOOLS: Sequence[Mapping[str, Any]] = (
    {
        "name": GET_REQUEST,
        "description": "Returns the current request of the user, with its id. Call it first, and again after "
        "each toolassay_submit. An id of null: no request is left.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": SUBMIT,
        "description": "Ends the work on the current request with the final answer to the user.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "answer": {"type": "string", "description": "The final answer."},
                "id": {"type": ["string", "integer"], "description": "Id of the request; may be left out."},
            },
            "required": ["answer"],
        },
    },
)


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
    results = [{str(value): path for path, value in reversed([*_leaves(call.result)])} for call in made]
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


def _leaves(value: Any, path: tuple[Part, ...] = ()) -> Iterator[tuple[tuple[Part, ...], Any]]:
    """The values in a JSON value that are no lists or objects, each with its path."""
    if isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for part, item in pairs:
            yield from _leaves(item, (*path, part))
    else:
        yield path, value


class Misuse(Exception):
    """An agent called what it may not call now; nothing was done. The text says what to do instead."""


class Offer(NamedTuple):
    """What all agents of a server are offered.

    Attributes:
        library: The tools.
        executor: Runs the calls.
        may_write: Whether tools that are not marked read-only may be called.
    """

    library: ToolLibrary
    executor: OpenExecutor
    may_write: bool


class AgentSession(Closable):
    """The work of one agent: request after request, each in an environment of its own.

    Args:
        predictions: Its file of predictions.
        run: Folder of its journal.
        requests: The requests of the folder.
        offer: What it may call.
    """

    def __init__(self, predictions: Path, run: Path, requests: Iterable[Request], offer: Offer) -> None:
        self._path, self._remaining, self._offer = predictions, iter(requests), offer
        self._journal = Journal(run / JOURNAL)
        self._stack = AsyncExitStack()
        self._environment: Environment | None = None
        with atomic_writer(predictions) as stream:  # the journal also has what a killed server did not write
            stream.writelines(_line(entry["prediction"]) for _, entry in self._journal.entries())
        self._advance()

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def _advance(self) -> None:
        """Go to the first request that is not finished, with what is recorded of it."""
        unfinished = (one for one in self._remaining if key_of(one.id) not in self._journal)
        self._request = next(unfinished, None)
        self._calls: list[ExecutedCall] = []
        self._is_given = False
        if self._request is None:
            return
        self._is_given = bool(self._journal.answer(self._address(0, _GIVEN)))
        for line in self._journal.answers(key_of(self._request.id), TOOL):
            if "result" in line:
                self._calls.append(msgspec.convert(line["result"], ExecutedCall))
            elif (
                not self._offer.executor.is_isolated
            ):  # in a fresh copy it has no effect: it counts as not made
                call = msgspec.convert(line["call"], ExecutedCall)
                reason = "the server ended before there was a result: whether it took effect is unknown"
                self._calls.append(replace(call, error=reason))

    def _address(self, number: int, role: str = TOOL) -> LineAddress:
        assert self._request is not None
        return LineAddress(key_of(self._request.id), role, number)

    def get_request(self) -> dict[str, Any]:
        """The current request; the same one until an answer is submitted."""
        if self._request is None:
            return {"id": None, "request": None}
        self._journal.add_answer(self._address(0, _GIVEN), {})
        self._is_given = True
        return {"id": self._request.id, "request": self._request.text}

    def _current(self) -> Request:
        if self._request is None or not self._is_given:
            raise Misuse(f"there is no current request: call {GET_REQUEST}")
        return self._request

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> ExecutedCall:
        """Make a call and record it.

        Raises:
            Misuse: There is no current request, or it has too many calls.
        """
        self._current()
        number, executor = len(self._calls), self._offer.executor
        if number >= _MOST_CALLS:
            raise Misuse(f"a request may have {_MOST_CALLS} calls: call {SUBMIT}")
        call = ExecutedCall(number, tool.id, arguments)
        if self._offer.may_write or executor.is_read_only(tool):
            try:
                environment = await self._opened()
                self._journal.add_answer(self._address(number), {"call": msgspec.to_builtins(call)})
                if not executor.is_isolated:
                    self._journal.force()
                call = await make_call(environment, tool, call)
            except EnvironmentFailure as error:
                await self.leave()
                call = replace(call, error=f"there is no result: {error}")
        else:
            call = replace(call, error="not marked read-only, and the server runs without --allow_writes")
        self._journal.add_answer(self._address(number), {"result": msgspec.to_builtins(call)})
        self._calls.append(call)
        return call

    async def _opened(self) -> Environment:
        """The environment of the request; in a fresh copy, the calls so far are made again first."""
        if self._environment is None:
            environment = await self._stack.enter_async_context(self._offer.executor.environment())
            for call in self._calls if self._offer.executor.is_isolated else ():
                if call.error is None:
                    await make_call(environment, self._offer.library[call.tool], call)
            self._environment = environment
        return self._environment

    async def leave(self) -> None:
        """Close the environment."""
        self._environment = None
        await self._stack.aclose()

    async def submit(self, answer: str, request_id: RequestId | None) -> dict[str, Any]:
        """Finish the current request.

        Raises:
            Misuse: There is none, or it has another id.
        """
        request = self._current()
        if request_id is not None and str(request_id) != str(request.id):
            raise Misuse(f"the current request is {request.id!r}, not {request_id!r}")
        plan = plan_of_calls(request.text, self._calls, self._offer.library).to_json()
        made = AgentPrediction(request.id, request.text, plan, answer, self._calls)
        prediction = msgspec.to_builtins(made)
        self._journal.append(key_of(request.id), {"outcome": "answered", "prediction": prediction})
        with open_regular(self._path, "a", encoding="utf-8") as stream:
            stream.write(_line(prediction))
        await self.leave()
        self._advance()
        return {"submitted": request.id, "has_next": self._request is not None}


def _line(prediction: Mapping[str, Any]) -> str:
    return json.dumps(prediction, ensure_ascii=False) + "\n"


def _server_of(session: AgentSession, offer: Offer) -> Server[Any]:
    """The MCP server of one agent."""
    import mcp_types
    from mcp.server.lowlevel import Server

    from toolassay.version import __version__

    names = Names.of(offer.library, "resource").functions
    tools = {name: offer.library[tool] for tool, name in names.items()}
    document = write_mcp(offer.library).document
    written = [entry for listing in document.get("servers", [document]) for entry in listing["tools"]]
    entries = [
        {**one, "name": names[one["name"]], "inputSchema": {"type": "object", **one["inputSchema"]}}
        for one in written
    ]
    listed = [mcp_types.Tool.model_validate(entry) for entry in (*_OWN_TOOLS, *entries)]
    one_at_a_time = anyio.Lock()

    def result(value: Any, text: str | None = None, *, failed: bool = False) -> CallToolResult:
        shown = json.dumps(value, ensure_ascii=False) if text is None else text
        structured = value if isinstance(value, dict) else None
        content: list[Any] = [mcp_types.TextContent(type="text", text=shown)]
        return mcp_types.CallToolResult(content=content, structured_content=structured, is_error=failed)

    async def carried_out(name: str, given: Mapping[str, Any]) -> CallToolResult:
        if name == GET_REQUEST:
            return result(session.get_request())
        if name == SUBMIT:
            answer = given.get("answer")
            return result(await session.submit(answer if isinstance(answer, str) else "", given.get("id")))
        if name not in tools:
            raise Misuse(f"there is no tool '{name}'")
        call = await session.call(tools[name], given)
        if call.error is not None:
            return result(None, call.error, failed=True)
        return result(call.result, result_of(call).text)

    async def call_tool(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        # A call that has begun is recorded, also if its agent is gone.
        with anyio.CancelScope(shield=True):
            async with one_at_a_time:
                try:
                    return await carried_out(params.name, params.arguments or {})
                except Misuse as error:
                    return result(None, str(error), failed=True)

    async def list_tools(
        ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return mcp_types.ListToolsResult(tools=listed)

    return Server("toolassay", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def serve_mcp(
    data_dir: str | Path,
    *,
    executor: str = "simulate",
    options: Any = None,
    agents: Sequence[str] = ("agent",),
    port: int = 4000,
    allow_writes: bool = False,
    allow_tools: bool = False,
    max_seconds: float = 30.0,
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
        max_seconds: Seconds for one call.
        seed: Random seed of the simulator.
        screen: Receives the file of the addresses once the server listens.

    Raises:
        UsageError: The executor cannot be used as given, a file is missing or malformed, an agent has done
            requests with other settings, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """
    needed("mcp", "serve --mcp", "mcp")
    if not 0 < len({safe_name(name) for name in agents}) == len(agents) <= _MOST_AGENTS:
        raise UsageError("the agents are too many or not distinct", fix=f"name 1 to {_MOST_AGENTS} agents")
    folder = DataFolder(Path(data_dir)).require()
    library, requests = folder.library(say=screen.say), Requests.read(folder.user_requests)
    chosen = executor_named(executor, benchmark_executors())
    context = ExecutionContext(folder, library, CallLimits(seconds=max_seconds), allow_tools, seed)
    place = folder.path / PREDICTIONS
    addresses = place / "runs" / ADDRESSES
    known = read_json(addresses) if addresses.exists() else {}

    async def run() -> None:
        import uvicorn
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings
        from starlette.responses import PlainTextResponse

        listening = bound(port)
        hosts = [f"{host}:{listening.getsockname()[1]}" for host in (HOST, "localhost")]
        origins = [f"http://{host}" for host in hosts]
        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
        managers: dict[str, StreamableHTTPSessionManager] = {}

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            manager = managers.get(scope["path"].removeprefix("/mcp/"))
            handle = PlainTextResponse("unknown address", 404) if manager is None else manager.handle_request
            await handle(scope, receive, send)

        async with AsyncExitStack() as stack:
            stack.callback(listening.close)
            own = options if options is not None else chosen.options()
            opened = await stack.enter_async_context(chosen.open(context, own))
            offer = Offer(library, opened, allow_writes or chosen.is_harmless)
            facts = {"executor": chosen.name, **opened.identity, "allow_writes": allow_writes}
            for name, file in (("requests", folder.user_requests), ("tools", folder.tool_desc)):
                facts[f"{name}_sha256"] = sha256_of(file)
            for name in agents:
                settings = json.loads(json.dumps({"llm": name, **facts}))
                run_folder = place / "runs" / safe_name(name)
                open_run(run_folder, settings, conflict_fix="use another --agent name")
                session = AgentSession(place / f"{safe_name(name)}.json", run_folder, requests, offer)
                stack.enter_context(session)
                stack.push_async_callback(session.leave)
                token = known.get(name, "").rpartition("/")[2] or secrets.token_urlsafe(24)
                known[name] = f"{origins[0]}/mcp/{token}"
                managers[token] = StreamableHTTPSessionManager(
                    _server_of(session, offer),
                    json_response=True,
                    stateless=True,  # so that agents go on after a restart
                    security_settings=security,
                    max_request_body_size=_MOST_BODY,
                )
                await stack.enter_async_context(managers[token].run())
            _write_private(addresses, known)
            listening.listen(_MOST_CONNECTIONS)
            screen.show(f"{origins[0]} answers MCP; the addresses of the agents are in {addresses}")
            config = uvicorn.Config(
                application,
                lifespan="off",
                ws="none",
                access_log=False,  # paths have tokens
                log_config=None,
                log_level="critical",
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=1,
            )
            await uvicorn.Server(config).serve(sockets=[listening])

    run_coroutine(run())


def _write_private(path: Path, value: Mapping[str, str]) -> None:
    """Write a JSON object that only its owner can read."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)
    new.write_text(indented_json(value), encoding="utf-8")
    new.replace(path)
