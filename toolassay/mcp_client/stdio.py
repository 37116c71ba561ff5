"""The transport over standard streams: one JSON-RPC message a line.

The SDK's own transport keeps an endless line in memory and logs every line that is no message; it needs a
file for stderr, which a server can fill the disk with.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from toolassay.mcp_client.link import INVALID_ANSWER, Link
from toolassay.mcp_client.server_process import GRACE, ServerProcess, has_ended

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

_CHUNK = 65536
_LAST_WORDS = 1.0  # seconds in which the last output of a server that has ended arrives
_UNSENT = 100  # messages to a server that does not read them; the next one waits


@asynccontextmanager
async def stdio_transport(link: Link) -> AsyncIterator[TransportStreams]:
    """Start a server and connect to its standard streams; it is ended with its children on exit.

    Raises:
        ServerError: It cannot be started.
    """
    import anyio

    server = await ServerProcess.start(link.config)
    link.ended, link.state, link.processes = server.end_reason, lambda: server.state, server.processes
    link.is_running = lambda: not has_ended(server.process)
    arrived: MemoryObjectSendStream[SessionMessage | Exception]
    received: MemoryObjectReceiveStream[SessionMessage | Exception]
    sent: MemoryObjectSendStream[SessionMessage]
    unsent: MemoryObjectReceiveStream[SessionMessage]
    arrived, received = anyio.create_memory_object_stream(0)
    sent, unsent = anyio.create_memory_object_stream(_UNSENT)
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
    server: ServerProcess, link: Link, arrived: MemoryObjectSendStream[SessionMessage | Exception]
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
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                line += part
                if not link.has_failed() and line.strip():
                    message = _parsed(line, link)
                    if message is not None:
                        await arrived.send(SessionMessage(message))
                line.clear()
            line += rest
            link.check_message(len(line))
        link.has_ended = True
    with suppress(OSError):  # a server that waits for its output to be read would not end
        while await output.read(_CHUNK):
            pass


async def _end_with(
    server: ServerProcess, link: Link, arrived: MemoryObjectSendStream[SessionMessage | Exception]
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


def _parsed(line: bytearray, link: Link) -> JSONRPCMessage | None:
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
