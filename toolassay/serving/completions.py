"""Chat completions in OpenAI's form for a server: objects, events and errors, and their HTTP responses."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from toolassay.models import ToolCall, wire_format
from toolassay.models.dialects.dialect import Dialect, function_calls
from toolassay.serving.faults import KINDS


@dataclass(frozen=True)
class Received:
    """A received request.

    Attributes:
        path: Path of the URL.
        headers: HTTP headers.
        body: Parsed JSON body.
        query: Query string of the URL.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    query: str = ""

    @property
    def prompt(self) -> str:
        """The text of the last message."""
        return text_of(self.body["messages"][-1])

    @property
    def key(self) -> str:
        """The API key; "" without one."""
        key = self.headers.get("Authorization") or self.headers.get("x-api-key", "")
        return key.removeprefix("Bearer ")

    @property
    def echo(self) -> str:
        """Everything but the messages, as one text: headers, path, query and fields."""
        fields = {name: value for name, value in self.body.items() if name != "messages"}
        headers = sorted(self.headers.items(), key=lambda header: header[0] != "Authorization")
        return f"{' '.join(value for _, value in headers)} {self.path} {self.query} {json.dumps(fields)}"


def has_messages(body: Mapping[str, Any]) -> bool:
    """Whether a body has the `messages` that a chat completion needs."""
    messages = body.get("messages")
    return (
        isinstance(messages, list)
        and bool(messages)
        and all(isinstance(message, dict) for message in messages)
    )


@dataclass(frozen=True)
class Reply:
    """The model's reply: a text or tool calls."""

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message whose content is a string or a list of parts; "" without text.

    >>> text_of({"content": [{"type": "text", "text": "Hello "}, {"type": "text", "text": "you"}]})
    'Hello you'
    """
    return wire_format.text_of(message.get("content")) or ""


def count_tokens(text: str, characters_per_token: int = 4) -> int:
    """A replacement for a tokenizer: the length divided by `characters_per_token`, rounded up.

    >>> count_tokens("twelve chars"), count_tokens("a"), count_tokens("")
    (3, 1, 0)
    """
    return -(-len(text) // characters_per_token)


def completion(
    received: Received, reply: Reply, number: int, characters_per_token: int = 4
) -> dict[str, Any]:
    """The object of a chat completion.

    `count_tokens` counts the prompt over the texts of all messages and the JSON of the tools, and the answer
    over its text and tool calls.

    Args:
        received: The request.
        reply: The reply.
        number: Number of the request, for ids.
        characters_per_token: As for `count_tokens`.
    """
    calls = [
        (call.id or f"call_{number}_{position}", call.name, call.arguments)
        for position, call in enumerate(reply.tool_calls)
    ]
    content = (reply.text or None) if calls else reply.text
    message: dict[str, Any] = {"role": "assistant", "content": content, **function_calls(calls)}
    written = [reply.text, *(text for call in reply.tool_calls for text in (call.name, call.arguments))]
    prompt_tokens = sum(
        count_tokens(text_of(message), characters_per_token) for message in received.body["messages"]
    )
    if tools := received.body.get("tools"):
        prompt_tokens += count_tokens(json.dumps(tools), characters_per_token)
    completion_tokens = sum(count_tokens(text, characters_per_token) for text in written)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": str(received.body.get("model") or "offline"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.tool_calls else "stop"}
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def error_body(message: str, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    """The body of an error in OpenAI's form."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


DRIP_BYTES = 16
"""Bytes of one piece of the fault "drip"."""


def error_response(
    message: str,
    status: int = 400,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
) -> web.Response:
    """The response of an error in OpenAI's form."""
    return web.json_response(error_body(message, kind, code), status=status)


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
    request: web.Request,
    whole: dict[str, Any],
    kind: str,
    dialect: Dialect,
    *,
    stream: bool,
    usage: bool,
    pause: float,
) -> web.StreamResponse:
    """Send a completion with the fault `kind`.

    Args:
        request: The request.
        whole: The completion.
        kind: Name of the fault, or "whole".
        dialect: API of the request.
        stream: Whether to send server-sent events.
        usage: Whether the stream has an event with token counts.
        pause: Seconds between the pieces of the fault "drip".
    """
    if kind == "html":
        return web.Response(text="<html>Bad gateway</html>", content_type="text/html")
    answer = dialect.answer(whole)
    if stream and whole["choices"]:
        cut = kind in ("cut-stream", "truncated", "cut-json")
        return await _stream(request, dialect.events(answer, usage=usage, cut=cut), kind, pause=pause)
    body = json.dumps(answer).encode()
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
    request: web.Request, events: Iterable[tuple[str, str]], kind: str, *, pause: float
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b": hello\n\n")
    for name, data in events:
        event = f"event: {name}\ndata: {data}\n\n".removeprefix("event: \n").encode()
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


def refusal(kind: str, received: Received) -> tuple[int, str, str | None] | None:
    """Status, message and code of a fault that is an HTTP error; None for other faults.

    >>> received = Received("/v1/chat/completions", {}, {})
    >>> refusal("403", received), refusal("whole", received)
    ((403, 'not for you', None), None)
    """
    if (fault := KINDS.get(kind)) is None or not fault.status:
        return None
    message = fault.message.replace("{key}", received.key).replace("{echo}", received.echo)
    return fault.status, message, fault.code


def apply_fault(whole: dict[str, Any], kind: str, received: Received) -> None:
    """Apply a fault to a completion in place; faults of the connection leave it unchanged."""
    choice = whole["choices"][0]
    message = choice["message"]
    text = message["content"] or ""
    match kind:
        case "fenced":
            message["content"] = f"Here you are:\n```json\n{text}\n```\nDo {{ask}} for more."
        case "broken":
            message["content"] = text.replace('"', "'")[:-1] + ",}"
        case "length":
            message["content"] = text[: len(text) // 2]
        case "surrogate":
            message["content"] = f"\ud83d {text}"
        case "echo":
            message["content"] = f"You sent {received.echo}: {text}"
    if (fault := KINDS.get(kind)) is not None:
        message |= fault.answer
        choice |= fault.choice
        whole |= fault.completion
