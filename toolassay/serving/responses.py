"""HTTP responses of the server: errors, faulty answers, and delivery whole, streamed or truncated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from toolassay.serving.completions import Received, error_body, stream_events

DRIP_BYTES = 16
"""Bytes of one piece of the fault "drip"."""


def error_response(
    message: str,
    status: int = 400,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """The response of an error in OpenAI's form."""
    return web.json_response(error_body(message, kind, code), status=status, headers=headers)


def abort(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Break the connection without a response."""
    if request.transport is not None:
        request.transport.abort()
    return response or web.Response()


def garbage(request: web.Request) -> web.StreamResponse:
    """Send bytes that are not HTTP, and close the connection."""
    if request.transport is not None:
        request.transport.write(b"HTTP/1.1 two hundred\r\n\r\n")
        request.transport.close()
    return web.Response()


async def deliver(
    request: web.Request, whole: dict[str, Any], kind: str, *, stream: bool, usage: bool, pause: float
) -> web.StreamResponse:
    """Send a completion with the fault `kind`.

    Args:
        request: The request.
        whole: The completion.
        kind: Name of the fault, or "whole".
        stream: Whether to send server-sent events.
        usage: Whether the stream has an event with token counts.
        pause: Seconds between the pieces of the fault "drip".
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
    for start in range(0, len(data), DRIP_BYTES):
        await response.write(data[start : start + DRIP_BYTES])
        await asyncio.sleep(pause)


_REFUSALS = {
    "429": (429, "slow down", "rate_limit_exceeded"),
    "429-bare": (429, "slow down", "rate_limit_exceeded"),
    "500": (500, "something broke", None),
    "500-bare": (500, "something broke", None),
    "400": (400, "the prompt breaks our rules", None),
    "401": (401, "Incorrect API key provided: {key}", "invalid_api_key"),
    "402": (402, "no credit left", None),
    "403": (403, "not for you", None),
    "404": (404, "no such model", "model_not_found"),
    "413": (413, "the request is larger than this server takes", None),
    "400-filter": (400, "the prompt was stopped by the content filter", "content_filter"),
    "overflow": (400, "This model's maximum context length is 4096 tokens", "context_length_exceeded"),
    "400-echo": (400, "{echo}", None),
    "400-late-echo": (400, f"{'x' * 185} {{echo}}", None),
    "401-echo": (401, "{echo}", None),
    "500-echo": (500, "{echo}", None),
}


def refusal(kind: str, received: Received) -> tuple[int, str, str | None] | None:
    """Status, message and code of a fault that is an HTTP error; None for other faults.

    >>> received = Received("/v1/chat/completions", {}, {})
    >>> refusal("403", received), refusal("whole", received)
    ((403, 'not for you', None), None)
    """
    if kind not in _REFUSALS:
        return None
    status, message, code = _REFUSALS[kind]
    return status, message.replace("{key}", received.key).replace("{echo}", received.echo), code


def apply_fault(whole: dict[str, Any], kind: str, received: Received) -> None:
    """Apply a fault to a completion in place; faults of the connection leave it unchanged."""
    choice = whole["choices"][0]
    message = choice["message"]
    text = message["content"] or ""
    match kind:
        case "fenced":
            message["content"] = f"Here you are:\n```json\n{text}\n```\nDo {{ask}} for more."
        case "prose":
            message["content"] = "I am sorry, I would rather talk about the weather."
        case "broken":
            message["content"] = text.replace('"', "'")[:-1] + ",}"
        case "length":
            message["content"], choice["finish_reason"] = text[: len(text) // 2], "length"
        case "whole-but-cut":
            choice["finish_reason"] = "length"
        case "empty":
            message["content"] = ""
        case "surrogate":
            message["content"] = f"\ud83d {text}"
        case "echo":
            message["content"] = f"You sent {received.echo}: {text}"
        case "null-content":
            message["content"] = None
        case "odd":
            choice["finish_reason"], whole["usage"] = 7, ["none"]
        case "declined":
            message["content"], message["refusal"] = None, "I will not."
        case "filtered":
            message["content"], choice["finish_reason"] = None, "content_filter"
        case "thought":
            message["content"], choice["finish_reason"] = None, "length"
        case "empty-choices":
            whole["choices"], whole["usage"] = [], None
