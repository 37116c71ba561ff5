"""The tools of a data folder for one request of an agent: its calls, recorded, and their MCP server."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from toolassay.errors import UsageError
from toolassay.executors.executor import CallResult, EnvironmentFailure, OpenExecutor, Refusal
from toolassay.executors.plan_run import CallPlace
from toolassay.models import ModelError
from toolassay.plans.call_plan import FunctionSchema, Names, function_of
from toolassay.plans.called_plan import plan_of_calls
from toolassay.plans.execution_record import ExecutedCall, Execution
from toolassay.records.dataset import Request
from toolassay.runs.items import IN_DOUBT, Ask, InDoubt
from toolassay.runs.journal import CallLine, ItemEntry
from toolassay.tools.library import ToolLibrary

if TYPE_CHECKING:
    import mcp_types
    from mcp.server import Server

HOST = "127.0.0.1"
_MOST_CALLS = 200  # for one request
# Open connections, so that an agent cannot use up the run's file descriptors.
_MOST_CONNECTIONS = 1024
_MOST_BYTES = 2**26  # of a request


class SessionEntry(ItemEntry):
    """What a request ended with that an agent worked on.

    Attributes:
        plan: The plan of its calls.
        answer: Its final text.
        calls: Number of calls.
        refused_calls: Number of calls that had an error.
        made: The calls, as JSON of `ExecutedCall`.
        states: The environment before and after them (JSON of two `StateSummary`); None if not known.
        steps: Number of answers of its models, where they are known.
        request: Hash of the wording.
    """

    plan: dict[str, Any] | None = None
    answer: str = ""
    calls: int = 0
    refused_calls: int = 0
    made: Sequence[dict[str, Any]] = ()
    states: Sequence[Any] | None = None
    steps: int | None = None
    request: str = ""

    def prediction(self, request: Request) -> dict[str, Any]:
        """The line of a request that an agent has answered."""
        more = {"answer": self.answer, "calls": self.made}
        line = {"id": request.id, "user_request": request.text, "result": self.plan}
        return line | {name: value for name, value in more.items() if value}

    def execution(self, request: Request, executor: str) -> Any:
        """What its calls did, as JSON of `Execution`, by which `evaluate` judges the agent."""
        calls = msgspec.convert(self.made, list[ExecutedCall])
        return msgspec.to_builtins(Execution.of_agent(request.id, executor, calls, self.states))


class ToolSession:
    """The calls of an agent for one request, in an environment of their own, each recorded before its result
    is seen.

    Args:
        library: The tools.
        executor: Makes the calls.
        ask: Records them.
        may_write: Whether tools that are not marked read-only may be called.

    Attributes:
        calls: The calls so far, with their results or refusals.
        failure: Why a call has no result through no fault of the agent; None while all have one.
    """

    def __init__(self, library: ToolLibrary, executor: OpenExecutor, ask: Ask, *, may_write: bool) -> None:
        self.library = library
        self._executor = executor
        self._ask = ask
        self._may_write = may_write
        self.calls: list[ExecutedCall] = []
        self.failure: ModelError | None = None
        self._call_place = CallPlace(executor, ask)
        self._turn = asyncio.Lock()
        self._waiting = set[asyncio.Task[ExecutedCall]]()
        self._has_ended = False
        ask.by_content(is_isolated=executor.is_isolated)
        if any(line.result is UNSET and self._lasts(line) for line in ask.unclaimed.values()):
            self.failure = _in_doubt()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ExecutedCall:
        """Make a call; one that is refused has an `error`.

        Raises:
            Refusal: The request has ended, it has too many calls, or its environment failed.
        """
        # A call that has begun is recorded, also if its caller is cancelled.
        task = asyncio.ensure_future(self._recorded(name, arguments))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        return await asyncio.shield(task)

    async def _recorded(self, name: str, arguments: Mapping[str, Any]) -> ExecutedCall:
        async with self._turn:
            if self._has_ended:
                raise Refusal("the request has ended")
            if self.failure:
                raise Refusal(str(self.failure))
            if len(self.calls) >= _MOST_CALLS:
                raise Refusal(f"a request may have {_MOST_CALLS} calls: give the answer")
            call = ExecutedCall(len(self.calls), name, dict(arguments))
            try:
                call = replace(await self._executed(call), node=call.node)
            except InDoubt:
                self.failure = _in_doubt()
                raise Refusal(str(self.failure)) from None
            except EnvironmentFailure as error:
                self.failure = ModelError(f"a call has no result: {error}")
                raise Refusal(str(self.failure)) from None
            self.calls.append(call)
            return call

    async def _executed(self, call: ExecutedCall) -> ExecutedCall:
        if call.tool not in self.library:
            refused = replace(call, arguments={}, error=f"there is no tool '{call.tool[:100]}'")
        elif not (self._may_write or self._executor.is_read_only(self.library[call.tool])):
            refused = replace(call, error=f"'{call.tool}' is not marked read-only: --allow_writes permits it")
        else:
            return await self._call_place.call(self.library[call.tool], call)

        async def record_refusal() -> Any:
            return msgspec.to_builtins(refused)

        async def ready() -> None: ...

        def is_of(content: Any) -> bool:
            return (content["tool"], content["arguments"]) == (refused.tool, refused.arguments)

        refused_call = msgspec.to_builtins(refused)
        await self._ask.perform(refused_call, record_refusal, ready, repeatable=True, is_of=is_of)
        return refused

    def _lasts(self, line: CallLine) -> bool:
        """Whether a recorded call may have changed something that is still changed."""
        if self._executor.is_isolated or line.content is UNSET or line.content.get("error"):
            return False
        tool = line.content["tool"]
        return tool in self.library and not self._executor.is_idempotent(self.library[tool])

    async def resume(self, recorded: Iterable[CallLine]) -> None:
        """Go on after the recorded calls of an agent that still works on the request."""
        for line in () if self.failure else recorded:
            # A call without a result has no effect on a fresh copy of the environment.
            if recorded_call := line.result or (None if self._executor.is_isolated else line.call):
                await self.call(recorded_call["tool"], recorded_call["arguments"])

    async def entry(self, request: str, answer: str) -> SessionEntry:
        """The entry of an answered request: its calls are its plan. No call is made any more."""
        states = None
        self._has_ended = True
        async with self._turn:  # a call that has begun belongs to the request
            try:
                states = None if self.failure else await self._call_place.recorded_states()
            except EnvironmentFailure as error:
                self.failure = ModelError(f"what the calls changed cannot be read: {error}")
            if self.failure is None and any(map(self._lasts, self._ask.unclaimed.values())):
                self.failure = _in_doubt()  # the agent was started again, and went another way
        return SessionEntry(
            outcome="answered",
            plan=plan_of_calls(self.calls, request, self.library),
            answer=answer,
            calls=len(self.calls),
            refused_calls=sum(call.error is not None for call in self.calls),
            made=msgspec.to_builtins(self.calls),
            states=states,
            order=self._ask.order,
        )

    async def close(self) -> None:
        """Close the environment."""
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*self._waiting, return_exceptions=True)
        await self._call_place.aclose()


def _in_doubt() -> ModelError:
    return ModelError("whether a call of an earlier start took effect is unknown", outcome=IN_DOUBT)


def mcp_server(
    library: ToolLibrary,
    call: Callable[[str, Mapping[str, Any]], Awaitable[CallResult]],
    further: Sequence[mcp_types.Tool] = (),
    later: Callable[[], ToolLibrary | None] | None = None,
) -> Server[Any]:
    """An MCP server with the tools of a library.

    Args:
        library: The tools.
        call: Makes a call, one at a time; raises `Refusal`.
        further: Tools that are listed before them.
        later: The library to list instead; None while it is the first.
    """
    import anyio
    import mcp_types
    from mcp.server import Server

    def entries(library: ToolLibrary) -> Iterator[mcp_types.Tool]:
        for name, function in functions_of(library):
            tool = library[name]
            is_object = (tool.output_schema or {}).get(
                "type"
            ) == "object"  # MCP has no other schemas of results
            entry = {
                "name": tool.id,
                "description": function.description,
                "inputSchema": function.parameters,
                "outputSchema": tool.output_schema if is_object else None,
                "annotations": tool.annotations or None,
            }
            yield mcp_types.Tool.model_validate(entry)

    tools = [*further, *entries(library)]
    one_at_a_time = anyio.Lock()

    async def call_tool(_: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        # A call that has begun is recorded, also if its agent is gone.
        with anyio.CancelScope(shield=True):
            async with one_at_a_time:
                try:
                    value, text = await call(params.name, params.arguments or {})
                except Refusal as error:
                    error_content = mcp_types.TextContent(text=str(error))
                    return mcp_types.CallToolResult(content=[error_content], is_error=True)
        content = mcp_types.TextContent(text=text)
        structured = value if isinstance(value, dict) else None
        return mcp_types.CallToolResult(content=[content], structured_content=structured)

    async def list_tools(_: Any, params: Any) -> mcp_types.ListToolsResult:
        changed = None if later is None else later()
        return mcp_types.ListToolsResult(tools=tools if changed is None else [*further, *entries(changed)])

    return Server("toolassay", on_list_tools=list_tools, on_call_tool=call_tool)


def functions_of(library: ToolLibrary) -> Iterator[tuple[str, FunctionSchema]]:
    """The ids of imported tools, each with its function of a model API."""
    names = Names.of(library, "schema")
    return ((tool.id, function_of(tool, "schema", names)) for tool in library)


class AgentServer:
    """An HTTP server on 127.0.0.1 with an MCP server, and what else an agent gets, under each token.

    Args:
        port: Its port; 0 takes a free one.

    Attributes:
        base: The address of the server, without a token.

    Raises:
        UsageError: The port is in use.
    """

    def __init__(self, port: int = 0) -> None:
        self._socket = bound(port)
        self.base = f"http://{HOST}:{self._socket.getsockname()[1]}"
        self._applications: dict[str, Any] = {}

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[asyncio.Task[None]]:
        """Listen while the block runs; until then there is no connection. Yields the task that serves."""
        import uvicorn

        with self._socket as listening:
            listening.listen(_MOST_CONNECTIONS)
            config = uvicorn.Config(
                self._answer,
                interface="asgi3",
                lifespan="off",
                access_log=False,  # paths have tokens
                log_config=None,
                limit_concurrency=_MOST_CONNECTIONS,
            )
            server = uvicorn.Server(config)
            # Signals end the command as they end every other one.
            server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
            task = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                yield task
            finally:
                server.should_exit = server.force_exit = True
                await asyncio.wait([task], timeout=2)
                task.cancel()

    @asynccontextmanager
    async def offered(self, server: Server[Any], token: str, *routes: Any) -> AsyncIterator[str]:
        """Offer an MCP server and further routes with the token while the block runs; yields its address."""
        from starlette.applications import Starlette

        path = f"/mcp/{token}"
        failure = None
        # Without sessions, so that agents go on after a restart.
        application = server.streamable_http_app(
            streamable_http_path=path, json_response=True, stateless_http=True
        )
        async with server.session_manager.run():
            self._applications[token] = Starlette(routes=[*application.routes, *routes])
            try:
                yield self.base + path
            except Exception as error:  # its task group would wrap it
                failure = error
            finally:
                del self._applications[token]
        if failure is not None:
            raise failure

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        from starlette.exceptions import HTTPException
        from starlette.responses import Response

        tokens = scope["path"].split("/")
        bytes_read = 0
        application = next(
            (self._applications[token] for token in tokens if token in self._applications), None
        )

        async def bounded() -> Any:
            nonlocal bytes_read
            message = await receive()
            bytes_read += len(message.get("body", b""))
            if bytes_read > _MOST_BYTES:  # whatever its headers say
                raise HTTPException(413, f"send at most {_MOST_BYTES:,} bytes", {"Connection": "close"})
            return message

        lengths = {name for name, _ in scope["headers"]} & {b"content-length", b"transfer-encoding"}
        if len(lengths) > 1:  # which of the two counts is not agreed upon
            application = Response("send either a length or chunks", 400, {"Connection": "close"})
        await (application or Response(status_code=404))(scope, bounded, send)


TOKEN = "[A-Za-z0-9_-]{32}"
"""The form of a token."""


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


def bound(port: int) -> socket.socket:
    """A socket with a port of 127.0.0.1, which does not listen yet; 0 takes a free one.

    Raises:
        UsageError: The port is in use.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        wrong = f"cannot listen on port {port}: {error.strerror}"
        raise UsageError(wrong, fix="use another --port, or 0 for a free one") from error
    return listener
