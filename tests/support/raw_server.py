"""A server on loopback that sends the very bytes it is told, in the event loop of the test."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

Answer = Callable[[asyncio.StreamWriter, int], Awaitable[None]]


class RawServer:
    """Hands each request to `answer(writer, number)`, numbered from 0, and keeps what came.

    `heads` are the requests' heads as they came, `connections` counts those that were opened.
    """

    def __init__(self, answer: Answer, host: str = "127.0.0.1") -> None:
        self.heads: list[str] = []
        self.connections = 0
        self.port = 0
        self._answer = answer
        self._host = host
        self._handlers: list[asyncio.Task[None] | None] = []

    @property
    def base(self) -> str:
        """The base URL."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for handler in self._handlers:
            if handler is not None:
                handler.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._handlers.append(asyncio.current_task())
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    (
                        int(line.split(":")[1])
                        for line in head.splitlines()
                        if line.lower().startswith("content-length:")
                    ),
                    0,
                )
                await reader.readexactly(length)
                self.heads.append(head)
                await self._answer(writer, len(self.heads) - 1)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            writer.close()


def whole(
    body: bytes | Any, status: str = "200 OK", *, kind: str = "application/json", more: str = ""
) -> bytes:
    """A response with a body of known length; what is no bytes becomes JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode()
        + data
    )


def always(data: bytes) -> Answer:
    """Send this every time."""

    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(data)

    return answer


def completion(content: Any = "yes", **choice: Any) -> dict[str, Any]:
    """A chat completion."""
    message = {"role": "assistant", "content": content}
    return {"choices": [{"message": message, "finish_reason": "stop", **choice}], "usage": None}


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """A part of a body that comes in chunks; an empty one ends it."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(value: Any, end: bytes = b"\n\n") -> bytes:
    """A server-sent event; what is no text becomes JSON with all its characters as they are."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return b"data: " + text.encode() + end


def delta(content: Any = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    """A piece of a streamed answer."""
    return {"choices": [{"delta": {"content": content, **more}, "finish_reason": reason}]}


def black_hole() -> tuple[socket.socket, list[socket.socket]]:
    """A port on which nobody takes up the call, and who fills its queue."""
    hole = socket.socket()
    hole.bind(("127.0.0.1", 0))
    hole.listen(0)
    callers = []
    for _ in range(4):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(hole.getsockname())
        callers.append(caller)
    return hole, callers
