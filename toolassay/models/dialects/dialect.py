"""`Dialect`: an HTTP API of chat models, translated to and from Chat Completions; `EventStream`: its streams.

The package works with the JSON of Chat Completions only. A dialect translates a request just before it is
sent, and an answer just after it has arrived. The fake server (`toolassay.serving`) uses the other direction.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from toolassay.models.errors import ModelError
from toolassay.models.protocol import ChatResponse
from toolassay.models.retry import failure_inside
from toolassay.models.wire_format import decoded, read_body, reported


class EventStream(ABC):
    """Assembles an answer from the lines of a server-sent event stream.

    Args:
        started: When the request was sent, by `time.perf_counter`.

    Attributes:
        finish: The finish reason, in the words of the dialect; None until it has arrived.
        usage: The token counts so far, in the words of the dialect.
    """

    def __init__(self, started: float) -> None:
        self.finish: Any = None
        self.usage: dict[str, Any] = {}
        self._ended = False
        self._started = started
        self._first: float | None = None
        self._event = ""
        self._unknown: Any = None  # not of the dialect: a failure unless an answer follows

    @abstractmethod
    def add(self, event: dict[str, Any]) -> None:
        """Add an event; calls `begin` with the first token, and sets `finish`."""

    @abstractmethod
    def completion(self) -> Mapping[str, Any]:
        """The complete answer as the body of a chat completion."""

    @property
    def is_complete(self) -> bool:
        """Whether the stream has sent a finish reason or `[DONE]`."""
        return self._ended or self.finish is not None

    def begin(self) -> None:
        """Note the time of the first token."""
        if self._first is None:
            self._first = time.perf_counter() - self._started

    def count(self, usage: Any) -> None:
        """Add token counts; null and 0 replace no count that an earlier event gave."""
        if isinstance(usage, dict):
            update(self.usage, usage)

    def line(self, line: str) -> None:
        """Add one line. After the finish reason the answer is complete, and errors are ignored.

        Raises:
            ModelError: The line is an error of the server, or is not valid.
        """
        line = line.strip().removeprefix("\ufeff")
        # Some servers send a failure as bare JSON, or as "error: …" (llama.cpp).
        name, _, data = ("data", "", line) if line.startswith("{") else line.partition(":")
        data = data.strip()
        if self._ended:
            return
        if name == "event" or not line:
            self._event = data
            self._unknown = self._unknown or ("error" in data and line)
        elif name in ("data", "error") and data:
            self._read(data, is_failure="error" in (name, self._event))
        elif name not in ("", "data", "id", "retry"):
            self._unknown = self._unknown or line

    def _read(self, data: str, *, is_failure: bool) -> None:
        if data == "[DONE]":
            self._ended = True
            return
        try:
            event = json.loads(data)
            failure = reported(event) or (event if is_failure else None)
            if failure and self.finish is None:
                error = failure_inside(failure)
                # In the middle of an answer no status means that the request is wrong.
                error.transient |= self._first is not None and error.outcome == "provider error"
                raise error
            self.add({"type": self._event, **event})  # some gateways name an event only before its data
        except _UNREADABLE:
            problem = f"the server's stream cannot be read: {data[:200]}"
            if self.finish is None:
                raise ModelError(problem, transient=True, kind="unreadable") from None

    def response(self) -> ChatResponse:
        """The complete answer, after the stream has ended.

        Raises:
            ModelError: The stream ended early, or it had no content.
        """
        if self._unknown and self.finish is None:
            raise failure_inside(self._unknown)
        if not self.is_complete:
            raise ModelError("the stream ended in the middle", transient=True, kind="truncated")
        try:
            whole = self.completion()
        except _UNREADABLE:
            whole = {"usage": self.usage}
        answer = read_body(whole, time.perf_counter() - self._started)
        return replace(answer, first_token_seconds=self._first)


# What odd JSON raises where it is read.
_UNREADABLE = (ValueError, AttributeError, LookupError, TypeError, RecursionError)


def update(old: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Merge an object into another: lists are extended; null, "" and 0 replace nothing, others do.

    >>> counts = {"input_tokens": 40, "output_tokens": 1}
    >>> update(counts, {"input_tokens": 0, "output_tokens": 20})
    >>> counts
    {'input_tokens': 40, 'output_tokens': 20}
    """
    for name, value in new.items():
        value_before = old.get(name)
        if isinstance(value, dict) and isinstance(value_before, dict):
            update(value_before, value)
        elif isinstance(value, list) and isinstance(value_before, list):
            value_before += value
        elif value or value_before is None:
            old[name] = value


@dataclass(frozen=True)
class Dialect:
    """An API. Functions of bodies get and return the objects of JSON, and raise `KeyError` and its like.

    Attributes:
        body: The body of its request, from that of a chat completion.
        completion: The body of a chat completion, from that of its answer.
        stream: Reads its streams.
        received: The body of a chat completion's request, from that of its own. For the fake server.
        answer: The body of its answer, from that of a chat completion. For the fake server.
        events: The events of an answer, as (name, data); the name is "" for an unnamed event. Of a chat
            completion: with token counts if `usage`, and without an end if `cut`.
        lacks: Parameters that it does not have, which requests send by default.
    """

    body: Callable[[dict[str, Any]], dict[str, Any]]
    completion: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    stream: type[EventStream]
    received: Callable[[dict[str, Any]], dict[str, Any]]
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    events: Callable[..., Iterator[tuple[str, str]]]
    lacks: frozenset[str] = frozenset()

    def read(
        self, text: str | bytes, seconds: float | None = None, *, charset: str | None = None
    ) -> ChatResponse:
        """Parse the body of a response that was not streamed.

        Args:
            text: The body.
            seconds: Duration of the attempt.
            charset: Encoding in the Content-Type header; used only for bytes that are not UTF-8.

        Raises:
            ModelError: The body is not an answer or has no content; transient, because servers send such
                bodies under load. An `error` in a body with status 200 is classified by its own code.
        """
        body: Any = None
        try:
            body = json.loads(text if isinstance(text, str) else decoded(text, charset))
            whole = body if reported(body) else self.completion(body)
        except _UNREADABLE:
            whole = body if isinstance(body, dict) else {}  # its token counts are charged
        return read_body(whole, seconds)


def function_calls(calls: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """The tool calls of a message in the form of chat completions; {} without any.

    Args:
        calls: Id, name and arguments of each.
    """
    tool_calls = [
        {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call, name, arguments in calls
    ]
    return {"tool_calls": tool_calls} if tool_calls else {}


def completion_of(message: Mapping[str, Any], reason: Any, usage: Any) -> dict[str, Any]:
    """The body of a chat completion with one choice.

    Args:
        message: The message of the model.
        reason: The finish reason.
        usage: Token counts, under the names of any of the APIs.
    """
    choice = {"message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"choices": [choice], "usage": usage}


def parts_of(whole: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any, dict[str, Any] | None]:
    """Message, finish reason and token counts of a chat completion of the fake server."""
    choice = (whole["choices"] or [{}])[0]
    usage = whole["usage"]
    counts = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    tokens = (
        {our_name: usage[name] for our_name, name in counts.items()} if isinstance(usage, Mapping) else None
    )
    return choice.get("message", {}), choice.get("finish_reason"), tokens
