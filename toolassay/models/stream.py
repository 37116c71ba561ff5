"""An answer that comes token by token, as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from toolassay.models.errors import ModelError
from toolassay.models.failures import failure_inside
from toolassay.models.protocol import ChatResponse
from toolassay.models.wire import read_body, reasoning_of, text_of

EVENT_STREAM = "text/event-stream"
GRACE = 0.5  # seconds for a connection to end after its answer has


async def read_stream(chunks: AsyncIterator[bytes], started: float) -> ChatResponse:
    """The answer in the bytes of a stream, however they are cut.

    Args:
        chunks: the bytes as they come.
        started: when the request went out, by `time.perf_counter`.

    Raises:
        ModelError: as `StreamedAnswer` does.
    """
    answer = StreamedAnswer(started)
    rest: list[bytes] = []
    async for chunk in chunks:
        # Only a line feed ends a line: text decoders also cut at U+2028 and others that stand in answers.
        first, *more = chunk.split(b"\n")
        rest.append(first)
        for part in more:
            answer.line(b"".join(rest).decode(errors="replace"))
            rest = [part]
        if answer.ended:
            break
    answer.line(b"".join(rest).decode(errors="replace"))
    response = answer.response()
    # Only a connection that was read to its end is used again; the answer no longer depends on it.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(GRACE):
            async for _ in chunks:
                pass
    return response


class StreamedAnswer:
    """Puts an answer together from the lines of a server-sent event stream.

    Args:
        started: when the request went out, by `time.perf_counter`.
    """

    def __init__(self, started: float) -> None:
        self.ended = False
        self._started = started
        self._text: list[str] | None = None
        self._refusal: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._reason: str | None = None
        self._usage: Any = None
        self._first: float | None = None

    def line(self, line: str) -> None:
        """Take one line.

        Raises:
            ModelError: the server tells of an error, or the line cannot be read.
        """
        if self.ended or not line.startswith("data:"):
            return  # a comment, an event name, or the empty line between events
        data = line[5:].strip()
        if data == "[DONE]":
            self.ended = True
            return
        try:
            event = json.loads(data)
            if event.get("error"):
                raise failure_inside(event["error"])
            self._usage = event.get("usage") or self._usage
            for choice in event.get("choices") or []:
                self._take(choice.get("delta") or {})
                self._reason = choice.get("finish_reason") or self._reason
        except (ValueError, AttributeError, TypeError, RecursionError):
            raise ModelError(
                "the server's stream cannot be read", transient=True, kind="unreadable"
            ) from None

    def response(self) -> ChatResponse:
        """The answer, when the stream has ended.

        Raises:
            ModelError: it ended too early, or brought nothing.
        """
        if not self.ended and self._reason is None:
            raise ModelError("the stream ended in the middle", transient=True, kind="truncated")
        message = {
            "content": None if self._text is None else "".join(self._text),
            "refusal": "".join(self._refusal) or None,
            "reasoning_content": "".join(self._thoughts),
            "tool_calls": [self._calls[index] for index in sorted(self._calls)],
        }
        whole = {"choices": [{"message": message, "finish_reason": self._reason}], "usage": self._usage}
        read = read_body(whole, time.perf_counter() - self._started)
        return replace(read, first_token_seconds=self._first)

    def _take(self, delta: dict[str, Any]) -> None:
        text, refusal, calls = text_of(delta.get("content")), delta.get("refusal"), delta.get("tool_calls")
        if text is not None:
            self._text = self._text or []
            self._text.append(text)
        if isinstance(refusal, str):
            self._refusal.append(refusal)
        for call in calls or []:
            self._add(call)
        thought = reasoning_of(delta)
        self._thoughts.append(thought)
        if self._first is None and (text or refusal or calls or thought):
            self._first = time.perf_counter() - self._started

    def _add(self, piece: dict[str, Any]) -> None:
        """A piece of a call: its name comes first, its arguments in pieces."""
        index = piece.get("index")
        call = self._calls.setdefault(index if isinstance(index, int) else 0, {"id": "", "function": {}})
        call["id"] = piece.get("id") or call["id"]
        function, more = call["function"], piece.get("function") or {}
        function["name"] = more.get("name") or function.get("name")
        if isinstance(more.get("arguments"), str):
            function["arguments"] = function.get("arguments", "") + more["arguments"]
