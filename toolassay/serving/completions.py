"""Chat completions in OpenAI's form for a server: whole objects, stream events and error bodies."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolassay.models import ToolCall, wire_format

PIECE = 40
"""Characters of the text in one stream event."""


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
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    @property
    def echo(self) -> str:
        """Everything but the messages, as one text: headers, path, query and fields."""
        fields = {name: value for name, value in self.body.items() if name != "messages"}
        headers = sorted(self.headers.items(), key=lambda header: header[0] != "Authorization")
        return f"{' '.join(value for _, value in headers)} {self.path} {self.query} {json.dumps(fields)}"


def has_messages(body: Mapping[str, Any]) -> bool:
    """Whether a body has the `messages` that a chat completion needs."""
    messages = body.get("messages")
    return isinstance(messages, list) and bool(messages) and all(isinstance(one, dict) for one in messages)


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
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        calls = [
            {
                "id": call.id or f"call_{number}_{position}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for position, call in enumerate(reply.tool_calls)
        ]
        message |= {"content": reply.text or None, "tool_calls": calls}
    written = [reply.text]
    for call in reply.tool_calls:
        written += call.name, call.arguments
    asked = sum(count_tokens(text_of(message), characters_per_token) for message in received.body["messages"])
    if tools := received.body.get("tools"):
        asked += count_tokens(json.dumps(tools), characters_per_token)
    said = sum(count_tokens(text, characters_per_token) for text in written)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": str(received.body.get("model") or "offline"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.tool_calls else "stop"}
        ],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


def stream_events(whole: Mapping[str, Any], *, usage: bool, cut: bool = False) -> Iterator[str]:
    """Yield the data of the events of a streamed completion: text, tool calls, finish reason, usage, end.

    Args:
        whole: The completion.
        usage: Whether to send the token counts in an event of their own.
        cut: Whether to end after the first piece of text.
    """
    head = {**{key: whole[key] for key in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    choice = whole["choices"][0]
    message = choice["message"]

    def event(delta: Mapping[str, Any], reason: Any = None) -> str:
        return json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield event({"role": "assistant"})
    text = message.get("content") or ""
    for start in range(0, len(text), PIECE):
        yield event({"content": text[start : start + PIECE]})
        if cut:
            return
    for position, call in enumerate(message.get("tool_calls", [])):
        yield event({"tool_calls": [{"index": position, **call}]})
    if message.get("refusal"):
        yield event({"refusal": message["refusal"]})
    yield event({}, choice["finish_reason"])
    if usage:
        yield json.dumps({**head, "choices": [], "usage": whole["usage"]})
    yield "[DONE]"


def error_body(message: str, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    """The body of an error in OpenAI's form."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
