"""A session with a server: connects, lists its tools, calls them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolassay.extras import needed
from toolassay.mcp_client.link import INVALID_ANSWER, ServerLimits, ServerLink
from toolassay.mcp_client.server_config import ServerConfig, ServerError
from toolassay.version import __version__

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.dispatcher import Dispatcher
    from mcp.shared.exceptions import MCPError

for _name in ("mcp", "httpx2", "httpcore2"):  # they log addresses, and what servers send
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False

DEFAULT_LIMITS = ServerLimits()
_VERSION = "check the address or command, and the server's version"
_SLOW = "raise --timeout, or check the server"
_DOWNLOADING = "raise --timeout: npx and uvx may still be downloading the package"
# Messages of the SDK for an HTTP error status whose response has no error of MCP.
_SDK_STATUS_MESSAGES = ("Not Found", "Server returned an error response")
# Beginnings of the SDK's other messages. "SSE stream" goes on "ended without a response" or "failed: …".
_CLOSED = "Connection closed"
_STREAM_ENDED = "SSE stream "
_OTHER_CONTENT_TYPE = "Unexpected content type:"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server's description of itself.

    Attributes:
        name: Its name; empty if it gives none.
        version: Of the server.
        instructions: For models; empty if there are none.
    """

    name: str = ""
    version: str = ""
    instructions: str = ""


class Connection:
    """A session with a server; `connect` makes one.

    Attributes:
        info: The server's description of itself.
    """

    def __init__(
        self, session: ClientSession, link: ServerLink, deadline: float, info: Callable[[], Any]
    ) -> None:
        self._session = session
        self._link = link
        self._deadline = deadline
        self._handshake = info
        self.info = ServerInfo()

    @property
    def is_alive(self) -> bool:
        """Whether the connection has not failed, and the server's process, if there is one, runs."""
        link = self._link
        return link.failure is None and not link.has_ended and link.is_running()

    @property
    def memory_bytes(self) -> int:
        """Memory that the server's processes hold; 0 if it cannot be seen, as over HTTP."""
        return self._link.memory_bytes()

    async def list_tools(self) -> list[Any]:
        """The tools as the server describes them, unchecked: each should be an object.

        Raises:
            ServerError: There is no listing within the time of `connect`, or it has no end.
        """
        from mcp_types import ListToolsRequest, PaginatedRequestParams

        limits = self._link.limits
        tools = list[Any]()
        cursors = set[str | None]()
        cursor: str | None = None
        while cursor not in cursors:
            cursors.add(cursor)
            params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
            page = await self._request(ListToolsRequest(params=params))
            listed_tools = page.get("tools")
            cursor = page.get("nextCursor")
            if not isinstance(listed_tools, list):
                raise self._link.fail("answered tools/list without a list of tools")
            tools += listed_tools
            if len(tools) > limits.tools:
                raise self._link.fail(f"lists more than {limits.tools:,} tools")
            if cursor is None or cursor == "":
                return tools
            if not isinstance(cursor, str):
                raise self._link.fail("answered tools/list with a malformed cursor")
            if len(cursors) >= limits.pages:
                raise self._link.fail(f"lists more than {limits.pages:,} pages")
        raise self._link.fail("lists without end: it repeats a cursor")

    async def list_resources(self) -> list[Any]:
        """The first page of the server's resources as it describes them, unchecked; [] if it has none.

        Raises:
            ServerError: The connection failed.
        """
        from mcp_types import ListResourcesRequest

        self._link.restart()
        try:
            page = await self._request(ListResourcesRequest(), self._link.limits.seconds)
        except ServerError as error:
            if error.code is None:
                raise
            return []
        resources = page.get("resources")
        return list(resources) if isinstance(resources, list) else []

    async def call_tool(self, name: str, arguments: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        """Call a tool; the result as the server gives it, unchecked.

        Raises:
            ServerError: There is no result, or it exceeds a bound; `is_unsent` says whether the call surely
                did not reach the tool.
        """
        from mcp_types import CallToolRequest, CallToolRequestParams

        link = self._link
        if not self.is_alive:
            if link.failure is None and link.ended is not None:
                link.fail(f"{await link.ended()} before tools/call was sent", "try again")
            assert link.failure is not None
            raise ServerError(
                link.failure.reason, server=str(link.failure.file), fix=link.failure.fix or "", is_unsent=True
            )
        link.restart()
        params = CallToolRequestParams(name=name, arguments=arguments)
        return await self._request(CallToolRequest(params=params), seconds)

    async def _start(self) -> None:
        """Agree on a protocol."""
        from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

        # The older handshake first: of the servers in use nearly all know it, and some end on other requests.
        try:
            await self._bounded("initialize", self._session.initialize)
        except ServerError as error:
            if error.code not in (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION):
                raise
            await self._bounded("server/discover", self._session.discover)
        self.info = _info(self._handshake(), self._session)

    async def _request(self, request: Any, seconds: float | None = None) -> dict[str, Any]:
        async def send() -> Any:
            try:
                return await self._session.send_request(request, type(None))  # never converted
            except _RawResult as raw:
                return raw.result

        result: dict[str, Any] = await self._bounded(request.method, send, seconds)
        self._link.is_used = True
        return result

    async def _bounded(self, method: str, send: Callable[[], Any], seconds: float | None = None) -> Any:
        """The result of `send`, unless the time is over or the connection fails first.

        Without `seconds`, the time since the start counts.
        """
        import anyio
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        link = self._link
        if link.failure is not None:
            raise link.failure
        deadline = self._deadline if seconds is None else anyio.current_time() + seconds
        with anyio.CancelScope(deadline=deadline) as scope:
            link.waiting(scope.cancel)
            try:
                return await send()
            except MCPError as error:
                raise await self._failure(error, method) from None
            except (RuntimeError, ValidationError):
                raise link.error(f"answered {method} with something else than MCP", _VERSION) from None
            finally:
                link.answered(scope.cancel)
        noise = f"; {link.garbage:,} lines of its output are no MCP messages" if link.garbage else ""
        time_limit = f"{link.limits.seconds if seconds is None else seconds:g} s"
        what = f"did not answer {method} within {time_limit}{noise}{link.state()}"
        if seconds is not None:
            raise link.error(what, "allow more time")  # other calls may follow
        raise link.fail(what, _DOWNLOADING if link.config.command else _SLOW)

    async def _failure(self, error: MCPError, method: str) -> ServerError:
        """The error of `method` for an error that the SDK raised."""
        from mcp_types import PARSE_ERROR

        if error.code == PARSE_ERROR:  # the SDK's, with the answer in it
            return self._link.error(f"answered {method} with something else than MCP", _VERSION)
        return (
            await self._connection_lost(error, method)
            or self._http_refusal(error, method)
            or self._server_answered(error, method)
        )

    async def _connection_lost(self, error: MCPError, method: str) -> ServerError | None:
        """The failure if the process ended, the connection closed or the session is unknown; else None."""
        from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND

        link = self._link
        # Servers use this code for errors of their own too.
        if error.code == CONNECTION_CLOSED and link.has_ended and link.ended is not None:
            how = f"{await link.ended()} before it answered {method}"
            return link.fail(how, "run the command by hand to see why")
        if error.code == CONNECTION_CLOSED and link.ended is None and error.message == _CLOSED:
            return link.fail(f"closed the connection before it answered {method}", "try again")
        if link.has_lost_session and error.code != METHOD_NOT_FOUND:
            return link.fail("does not know the session any more", "try again", is_unsent=True)
        return None

    def _http_refusal(self, error: MCPError, method: str) -> ServerError | None:
        """The failure if the address answered with an error status or another content type; else None."""
        link = self._link
        if link.refusal is not None and error.message in _SDK_STATUS_MESSAGES:
            return link.fail(*link.refusal)
        message = link.config.cleaned(error.message)
        if message.startswith(_OTHER_CONTENT_TYPE):
            content_type = message.removeprefix(_OTHER_CONTENT_TYPE).partition(";")[0].strip()
            return link.fail(
                f"answered {method} with {content_type or 'an unknown type'}, not with MCP",
                "check the path, which often ends in /mcp",
            )
        return None

    def _server_answered(self, error: MCPError, method: str) -> ServerError:
        """The error that the server answered with; its code only if the server wrote it, not the SDK."""
        link = self._link
        message = link.config.cleaned(error.message)
        is_of_sdk = link.is_abandoned or message == INVALID_ANSWER or message.startswith(_STREAM_ENDED)
        code = None if is_of_sdk else error.code
        return link.error(f"answered {method} with the error '{message}'", "check the server", code)


@asynccontextmanager
async def connect(config: ServerConfig, limits: ServerLimits = DEFAULT_LIMITS) -> AsyncIterator[Connection]:
    """Start a server, or connect to its address; on exit it is ended with its children.

    Args:
        config: The server.
        limits: Bounds on what it sends, and on the time until it is listed.

    Raises:
        UsageError: The package `mcp` is not installed.
        ServerError: It cannot be started or reached, or fails later; one line without secrets.
    """
    needed("mcp", "a live MCP server", "mcp")
    from mcp.client.session import ClientSession
    from mcp_types import Implementation

    from toolassay.mcp_client.transports import http_transport, stdio_transport

    link = ServerLink(config, limits)
    deadline = asyncio.get_running_loop().time() + limits.seconds
    error_in_block: Exception | None = None
    try:
        async with AsyncExitStack() as stack:
            transport = http_transport(link) if config.url else stdio_transport(link)
            # Not a scope of anyio: the transport's own scopes outlive this block.
            async with asyncio.timeout_at(deadline):
                streams = await stack.enter_async_context(transport)
            dispatcher, handshake = _dispatcher(*streams, link)
            client = Implementation(name="toolassay", version=__version__)
            session = await stack.enter_async_context(
                ClientSession(dispatcher=dispatcher, client_info=client)
            )
            connection = Connection(session, link, deadline, handshake)
            await connection._start()
            try:
                yield connection
            except Exception as error:
                error_in_block = error
                raise
    except Exception as error:
        # Task groups wrap what goes through them, and add their own errors when a connection breaks.
        if error_in_block is not None:
            raise error_in_block from error_in_block.__cause__
        if isinstance(error, TimeoutError):
            raise link.error(f"did not answer within {limits.seconds:g} s", _SLOW) from None
        raise _server_error(error) or link.error("the connection broke", "try again") from None


def _server_error(error: BaseException) -> ServerError | None:
    """The first one of a group and its groups."""
    if isinstance(error, BaseExceptionGroup):
        return next(
            (server_error for inner in error.exceptions if (server_error := _server_error(inner))), None
        )
    return error if isinstance(error, ServerError) else None


class _RawResult(Exception):
    """Carries a result past the SDK's validation, which rejects a listing for one odd tool."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


def _dispatcher(read: Any, write: Any, link: ServerLink) -> tuple[Dispatcher[Any], Callable[[], Any]]:
    """A dispatcher of the SDK whose results of tools are raw, and a function that gives the handshake's."""
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
    from mcp.shared.transport_context import TransportContext

    handshake: dict[str, Any] = {}

    class Dispatcher(JSONRPCDispatcher[TransportContext]):
        async def send_raw_request(self, method: str, params: Any, opts: Any = None, **more: Any) -> Any:
            result = await super().send_raw_request(method, params, opts, **more)
            if method.startswith(("tools/", "resources/")):
                raise _RawResult(result)
            if method == "initialize":
                handshake.update(result)
                # Some servers leave out what the SDK requires and nothing here needs.
                return {
                    "protocolVersion": result.get("protocolVersion"),
                    "capabilities": {},
                    "serverInfo": {"name": "server", "version": ""},
                }
            return result

    def arrived(metadata: Any) -> TransportContext:
        """Called for each notification and request of the server."""
        link.other_message()
        return TransportContext(kind="jsonrpc", can_send_request=True)

    return Dispatcher(read, write, transport_builder=arrived), lambda: handshake


def _info(handshake: dict[str, Any], session: ClientSession) -> ServerInfo:
    about = handshake.get("serverInfo")
    if not handshake and session.server_info is not None:
        about = session.server_info.model_dump()
    about = about if isinstance(about, dict) else {}
    texts = about.get("name"), about.get("version"), handshake.get("instructions", session.instructions)
    return ServerInfo(*(text if isinstance(text, str) else "" for text in texts))
