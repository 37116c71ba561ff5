"""How an answer leaves: whole, as a stream, a few bytes at a time, or broken off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from toolassay.serving.completions import error_body, stream_events

DROP = 16  # bytes of a slow drip


def error_response(
    message: str,
    status: int = 400,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An error in OpenAI's form."""
    return web.json_response(error_body(message, kind, code), status=status, headers=headers)


def abort(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Break the connection off."""
    if request.transport is not None:
        request.transport.abort()
    return response or web.Response()


def garbage(request: web.Request) -> web.StreamResponse:
    """Send what is not HTTP, and close the connection."""
    if request.transport is not None:
        request.transport.write(b"HTTP/1.1 two hundred\r\n\r\n")
        request.transport.close()
    return web.Response()


async def deliver(
    request: web.Request, whole: dict[str, Any], kind: str, *, stream: bool, usage: bool, pause: float
) -> web.StreamResponse:
    """Send a completion as its fault has it.

    Args:
        request: whom to send it to.
        whole: the completion.
        kind: of fault.
        stream: as server-sent events.
        usage: with an event that tells the tokens.
        pause: seconds between the pieces of a slow drip.
    """
    if kind == "html":
        return web.Response(text="<html>Bad gateway</html>", content_type="text/html")
    if stream and whole["choices"]:
        return await _stream(request, whole, kind, usage=usage, pause=pause)
    body = json.dumps(whole).encode()
    if kind == "cut-json":
        body = body[: len(body) // 2]
    if kind in ("truncated", "drip"):
        response = web.StreamResponse(
            headers={"Content-Length": str(len(body)), "Content-Type": "application/json"}
        )
        await response.prepare(request)
        if kind == "truncated":
            await response.write(body[: len(body) // 2])
            return abort(request, response)
        await _drip(response, body, pause)
        await response.write_eof()
        return response
    return web.Response(body=body, content_type="text/plain" if kind == "text" else "application/json")


async def _stream(
    request: web.Request, whole: dict[str, Any], kind: str, *, usage: bool, pause: float
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b": hello\n\n")
    cut = kind in ("cut-stream", "truncated", "cut-json")
    for data in stream_events(whole, usage=usage, cut=cut):
        event = f"data: {data}\n\n".encode()
        if kind == "drip":
            await _drip(response, event, pause)
        else:
            await response.write(event)
    if kind == "truncated":
        return abort(request, response)
    if kind == "cut-json":
        await response.write(b'data: {"choices": [{"ind\n\n')
    await response.write_eof()
    return response


async def _drip(response: web.StreamResponse, data: bytes, pause: float) -> None:
    for start in range(0, len(data), DROP):
        await response.write(data[start : start + DROP])
        await asyncio.sleep(pause)
