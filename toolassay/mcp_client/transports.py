"""The transports: standard streams with one JSON-RPC message a line, and HTTP with bounds on responses.

The SDK's own transport over standard streams keeps an endless line in memory and logs every line that is no
message; it needs a file for stderr, which a server can fill the disk with.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from toolassay.mcp_client.link import INVALID_ANSWER, ServerLink
from toolassay.mcp_client.server_process import GRACE, ServerProcess, has_ended

if TYPE_CHECKING:
    import httpx2
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

# Bytes read at once; a pipe holds this many on Linux.
_CHUNK = 65536
_LAST_WORDS = 1.0  # seconds in which the last output of a server that has ended arrives
_MOST_UNSENT = 100  # messages to a server that does not read them; the next one waits


@asynccontextmanager
async def stdio_transport(link: ServerLink) -> AsyncIterator[TransportStreams]:
    """Start a server and connect to its standard streams; it is ended with its children on exit.

    Raises:
        ServerError: It cannot be started.
    """
    import anyio

    server = await ServerProcess.start(link.config)
    link.ended = server.end_reason
    link.state = lambda: server.state
    link.memory_bytes = lambda: server.memory_bytes
    link.is_running = lambda: not has_ended(server.process)
    arrived: MemoryObjectSendStream[SessionMessage | Exception]
    received: MemoryObjectReceiveStream[SessionMessage | Exception]
    sent: MemoryObjectSendStream[SessionMessage]
    unsent: MemoryObjectReceiveStream[SessionMessage]
    arrived, received = anyio.create_memory_object_stream(0)
    sent, unsent = anyio.create_memory_object_stream(_MOST_UNSENT)
    with arrived, received, sent, unsent:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.drain_stderr)
            tasks.start_soon(_read, server, link, arrived)
            tasks.start_soon(_write, server, unsent)
            tasks.start_soon(_end_with, server, link, arrived)
            healthy = False
            try:
                yield received, sent
                healthy = link.failure is None
            finally:
                with anyio.CancelScope(shield=True):
                    received.close()
                    await server.stop(GRACE if healthy else 0)
                tasks.cancel_scope.cancel()


async def _read(
    server: ServerProcess, link: ServerLink, arrived: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    """Pass on the messages until the output ends or the connection fails; then discard the rest."""
    import anyio
    from mcp.shared.message import SessionMessage

    output = server.process.stdout
    assert output
    line = bytearray()  # the last one, without its end
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError), arrived:
        while not link.has_failed() and (chunk := await output.read(_CHUNK)):
            link.received(len(chunk))
            *whole, unfinished = chunk.split(b"\n")
            for part in whole:
                line += part
                if not link.has_failed() and line.strip():
                    message = _parsed(line, link)
                    if message is not None:
                        await arrived.send(SessionMessage(message))
                line.clear()
            line += unfinished
            link.check_message(len(line))
        link.has_ended = True
    with suppress(OSError):  # a server that waits for its output to be read would not end
        while await output.read(_CHUNK):
            pass


async def _end_with(
    server: ServerProcess, link: ServerLink, arrived: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    """End the connection with the server, although a child may hold its output open.

    What it wrote before its end is still read: that its child writes on is no reason to wait.
    """
    import anyio

    await server.ended()
    await anyio.sleep(_LAST_WORDS)
    link.has_ended = True
    arrived.close()


async def _write(server: ServerProcess, unsent: MemoryObjectReceiveStream[SessionMessage]) -> None:
    assert server.process.stdin
    # A server that has ended reads nothing; the end of its output is what says so.
    with suppress(OSError):
        async for message in unsent:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            server.process.stdin.write(text.encode() + b"\n")
            await server.process.stdin.drain()


def _parsed(line: bytearray, link: ServerLink) -> JSONRPCMessage | None:
    """The message of a line; None, and counted, if it is none."""
    from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter
    from pydantic import ValidationError

    link.check_message(len(line))
    if link.has_failed():
        return None
    value: Any = None
    try:
        # Not by pydantic, which refuses more than some 200 levels without saying whose answer it was.
        value = json.loads(line.decode("utf-8", "replace"))
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except RecursionError:
        link.fail("sent a message that is nested too deeply")
    except ValidationError:
        if isinstance(value, dict) and isinstance(value.get("id"), int) and "method" not in value:
            error = ErrorData(code=INVALID_REQUEST, message=INVALID_ANSWER)
            return JSONRPCError(jsonrpc="2.0", id=value["id"], error=error)
        link.other_message(garbage=True)
    except ValueError:
        link.other_message(garbage=True)
    return None


# Seconds until a connection is there. The time of an answer is bounded apart from it.
_CONNECT_SECONDS = 30.0
_DELETE_SECONDS = 2.0  # to end a session that is not needed any more
# Statuses with which a server refuses a request before it looks at the call in it: no access, no such path,
# no such session.
_UNSENT = (401, 403, 404, 405)
# Those with which servers refuse a session that they do not know; the protocol has 404.
_UNKNOWN_SESSION = (400, 401, 404, 410, 503)


@asynccontextmanager
async def http_transport(link: ServerLink) -> AsyncIterator[TransportStreams]:
    """Connect to the address of a server."""
    import httpx2
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    config = link.config
    # Reading has no limit of its own: requests have, and a call may take longer than a listing.
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=None)
    # A compressed response of some KB could have gigabytes.
    headers = {**config.headers, "Accept-Encoding": "identity"}

    def client(*_: Any, **__: Any) -> httpx2.AsyncClient:
        return _client(link, headers, timeout)

    if config.legacy_sse:
        async with sse_client(config.url, httpx_client_factory=client) as streams:
            yield streams
        return
    async with (
        client() as http,
        streamable_http_client(
            config.url, http_client=http, max_sse_event_size=link.limits.message_bytes
        ) as streams,
    ):
        yield streams


def _client(link: ServerLink, headers: dict[str, str], timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """A client that counts what arrives and notes why a request failed."""
    import httpx2

    class Counted(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream, is_stream: bool) -> None:
            self._stream = stream
            self._is_stream = is_stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            total = 0
            async for chunk in self._stream:
                total += len(chunk)
                link.received(len(chunk))
                if not self._is_stream:  # the SDK checks the size of each event of a stream
                    link.check_message(total)
                if link.failure is not None:
                    raise link.failure
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Client(httpx2.AsyncClient):
        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            if link.failure is not None:
                raise link.failure
            if request.method == "DELETE":
                request.extensions["timeout"] = httpx2.Timeout(_DELETE_SECONDS).as_dict()
            if "last-event-id" in request.headers:
                link.resumed()
            is_vital = request.method == "POST" or link.config.legacy_sse
            sent_message = _object(request.content)
            # Whether another message was sent says nothing about a call before it.
            is_call = sent_message.get("method") == "tools/call"
            stream = options.pop("stream", False)
            try:
                response = await super().send(request, stream=True, **options)
            except httpx2.HTTPError as error:
                if is_vital:
                    is_unsent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
                    link.fail(*_unreachable(error), is_unsent=is_unsent and is_call)
                raise
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            # Of other messages the SDK ignores the response, which some servers give in a form of their own.
            status = response.status_code
            if is_vital and (link.config.legacy_sse or b'"id":' in request.content):
                link.refusal = _refusal(status)
                if "method" in sent_message:  # not an answer to a request of the server
                    link.is_abandoned = status == 202 or 300 <= status < 400
                    has_session = link.config.legacy_sse or "mcp-session-id" in request.headers
                    link.has_lost_session = has_session and status in _UNKNOWN_SESSION
                if link.refusal and (kind != "application/json" or status in (401, 403)):
                    is_unsent = is_call and (status in _UNSENT or link.has_lost_session)
                    link.fail(*link.refusal, is_unsent=is_unsent)
            if response.headers.get("content-encoding", "identity").lower() not in ("identity", ""):
                link.fail("sends compressed responses, which was not requested")
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = Counted(response.stream, kind == "text/event-stream")
            # With 400 a server may also answer the call. In a session that is used, the next one shows it.
            if link.has_lost_session and status == 400 and not link.is_used and link.failure is None:
                link.has_lost_session = _object(await response.aread()).get("id") != sent_message.get("id")
            if not stream:
                await response.aread()
            return response

    return Client(headers=headers, timeout=timeout)


def _object(message: bytes) -> dict[str, Any]:
    """A message of JSON-RPC; {} if it is none."""
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _unreachable(error: httpx2.HTTPError) -> tuple[str, str]:
    """Why there was no response, and what to do. The error's own text may repeat the address."""
    import httpx2

    text = f"{error} {error.__cause__ or ''}".lower()
    check = "check the address and whether the server runs"
    if "certificate" in text or "ssl" in text:
        return "its certificate cannot be verified", "check the address, or set SSL_CERT_FILE"
    if "name or service" in text or "getaddrinfo" in text or "nodename" in text or "name resolution" in text:
        return "its host is unknown", "check the address"
    if isinstance(error, httpx2.ConnectTimeout):
        return f"cannot be reached within {_CONNECT_SECONDS:.0f} s", check
    if isinstance(error, httpx2.ConnectError):
        return "refuses the connection", check
    if isinstance(error, httpx2.ProxyError):
        return "the proxy refuses the connection", "check HTTP_PROXY and HTTPS_PROXY"
    if isinstance(error, httpx2.TimeoutException):
        return "did not answer in time", check
    return "closed the connection without an answer", check


def _refusal(status: int) -> tuple[str, str] | None:
    """An error status in words, and what to do; None if it is no error."""
    if status < 400:
        return None
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    fix = "check the address, or try again later"
    if status in (401, 403):
        fix = "give credentials with --header 'Authorization: Bearer …', or under \"headers\" of its entry"
    elif status in (404, 405):
        fix = "check the path, which often ends in /mcp; for the older transport it ends in /sse"
    return f"answered HTTP {status} {phrase}".rstrip(), fix
