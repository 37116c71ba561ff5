"""The JSON of chat completions: request bodies, responses, and streams of server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from toolassay.answers import CUT_OFF
from toolassay.models.errors import ModelError
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import ChatRequest, ChatResponse, OfferedTools, ToolCall
from toolassay.models.retry import failure_inside

_MOST_TOKENS = 10**12  # a larger count is an error of the server and is ignored
# Fields of the reasoning: DeepSeek, llama.cpp and older vLLM; vLLM since 0.11.2 and OpenRouter.
_THOUGHTS = ("reasoning_content", "reasoning")
_BROKEN_OFF = ("error", "abort")  # finish reasons with which servers and proxies report their own failure


def request_body(name: str, request: ChatRequest, options: ModelOptions) -> dict[str, Any]:
    """The body of a request: model, messages and `parameters_of`."""
    return {"model": name, "messages": list(request.messages), **parameters_of(request, options)}


def encoded_body(name: str, request: ChatRequest, options: ModelOptions) -> bytes:
    """The body as JSON; the text of tools that many requests share is reused."""
    return encoded(request_body(name, request, options))


def encoded(body: dict[str, Any]) -> bytes:
    """A body as JSON, in ASCII; removes `OfferedTools` from it, whose text is reused."""
    tools = body.get("tools")
    if not isinstance(tools, OfferedTools):
        return json.dumps(body).encode()
    del body["tools"]
    return f'{json.dumps(body)[:-1]}, "tools": {tools.text}}}'.encode()


def parameters_of(request: ChatRequest, options: ModelOptions) -> dict[str, Any]:
    """The fields of a request body besides `model` and `messages`.

    `extra_body` overrides the request's parameters; null there omits one. Then a schema is converted to the
    form that the endpoint accepts, and refused parameters are omitted or renamed, as is what the request
    tries to omit (`ChatRequest.change`).

    >>> request = ChatRequest([], {"top_p": 0.1, "presence_penalty": 1.05})
    >>> parameters_of(request, ModelOptions(extra_body={"presence_penalty": None, "top_k": 5}))
    {'top_p': 0.1, 'top_k': 5}
    """
    parameters = dict(request.parameters)
    if options.stream:
        parameters |= {"stream": True, "stream_options": {"include_usage": True}}
    for name, value in options.extra_body.items():
        if value is None:
            parameters.pop(name, None)
        else:
            parameters[name] = value
    if options.schemas is not None:
        parameters = options.schemas.fit(parameters)
    if options.refusals is None:
        return parameters
    return options.refusals.fit(parameters, request.change, options.chosen(parameters))


def read_completion(
    text: str | bytes, seconds: float | None = None, *, charset: str | None = None
) -> ChatResponse:
    """Parse the body of a response that was not streamed.

    Args:
        text: The body.
        seconds: Duration of the attempt.
        charset: Encoding in the Content-Type header; used only for bytes that are not UTF-8.

    Raises:
        ModelError: The body is not a chat completion or has no content; transient, because servers send such
            bodies under load. An `error` in a body with status 200 is classified by its own code.

    >>> read_completion('{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}').text
    'yes'
    """
    try:
        body = json.loads(text if isinstance(text, str) else _decoded(text, charset))
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ModelError("the server's answer is not a chat completion", transient=True, kind="unreadable")
    return read_body(body, seconds)


def read_body(body: Mapping[str, Any], seconds: float | None = None) -> ChatResponse:
    """Parse the object of a body; raises as `read_completion` does."""
    prompt_tokens, reasoning_tokens = _tokens(body, "prompt_tokens"), _reasoning_tokens(body)
    completion_tokens = _completion_tokens(body, reasoning_tokens)

    def useless(message: str, kind: str) -> ModelError:
        return ModelError(
            message,
            transient=True,
            kind=kind,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
        )

    choices = body.get("choices")
    if body.get("error") and not choices:
        raise failure_inside(body["error"])
    if choices == [] or (choices is None and "choices" in body):
        raise useless("the server's answer is empty (no choices)", "empty choices")
    try:
        choice = choices[0]  # type: ignore[index]
        message = choice["message"]
        content, refusal = text_of(message.get("content")), message.get("refusal")
        calls = _tool_calls(message.get("tool_calls"))
        reasoning = reasoning_of(message)
        reason = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise useless("the server's answer is not a chat completion", "unreadable") from None
    reason = reason if isinstance(reason, str) else None
    if reason in _BROKEN_OFF:
        raise useless(f"the server broke off its answer (finish reason '{reason}')", "broken off")
    said_no = isinstance(refusal, str) and bool(refusal)
    refused = said_no or reason == "content_filter"
    if content is None:
        # A model that only reasons or is truncated before its first word, and a filter that removes
        # everything, would do so again: a retry is useless, and the answer is empty.
        if not (refused or calls or reasoning or (reason or "").lower() in CUT_OFF):
            raise useless("the server's answer has no content", "null content")
        content = ""
    return ChatResponse(
        content or (refusal if said_no else content),
        reason,
        prompt_tokens,
        completion_tokens,
        refused=refused,
        seconds=seconds,
        tool_calls=calls,
        cached_tokens=_cached_tokens(body),
        reasoning=reasoning,
        reasoning_tokens=reasoning_tokens,
    )


def text_of(content: Any) -> str | None:
    """The text of a message's `content`, a string or a list of parts; None without text.

    >>> text_of([{"type": "thinking"}, {"type": "text", "text": "ye"}, {"type": "text", "text": "s"}])
    'yes'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


def reasoning_of(message: Mapping[str, Any]) -> str:
    """The reasoning that a message carries apart from its text; "" without any.

    >>> reasoning_of({"content": "4", "reasoning_content": "2 + 2"})
    '2 + 2'
    >>> reasoning_of({"content": [{"type": "thinking", "thinking": "2 + 2"}, {"type": "text", "text": "4"}]})
    '2 + 2'
    """
    for name in _THOUGHTS:
        if isinstance(thought := message.get(name), str) and thought:
            return thought
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    thoughts = (part.get("thinking") for part in parts if isinstance(part, dict))  # Mistral nests texts
    return "".join(text_of(thought) or "" for thought in thoughts)


def _decoded(body: bytes, charset: str | None) -> str:
    """Decode as UTF-8, the encoding of JSON; if that fails, by the header's charset."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            return body.decode(charset or "utf-8", errors="replace")
        except LookupError:
            return body.decode(errors="replace")


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    """Parse the tool calls of a message; a call without a name gets "", so that the agent can answer it."""
    found = []
    for call in calls if isinstance(calls, list) else []:
        function = _object(_object(call).get("function"))
        name, arguments = function.get("name"), function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps({} if arguments is None else arguments)
        found.append(
            ToolCall(str(_object(call).get("id") or ""), name if isinstance(name, str) else "", arguments)
        )
    return tuple(found)


def _object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def _cached_tokens(body: Mapping[str, Any]) -> int | None:
    """The prompt tokens that came from the server's cache; None if not reported.

    >>> _cached_tokens({"usage": {"prompt_tokens_details": {"cached_tokens": 64}}})
    64
    """
    usage = _object(body.get("usage"))
    details = {"usage": _object(usage.get("prompt_tokens_details"))}  # OpenAI, Azure, vLLM, OpenRouter
    found = _tokens(details, "cached_tokens")
    for name in ("prompt_cache_hit_tokens", "cached_tokens"):  # DeepSeek; Moonshot
        found = _tokens(body, name) if found is None else found
    return found


def _reasoning_tokens(body: Mapping[str, Any]) -> int | None:
    """The tokens of the reasoning; None if not reported.

    >>> _reasoning_tokens({"usage": {"completion_tokens_details": {"reasoning_tokens": 64}}})
    64
    """
    details = {"usage": _object(_object(body.get("usage")).get("completion_tokens_details"))}
    found = _tokens(details, "reasoning_tokens")
    return _tokens(body, "reasoning_tokens") if found is None else found


def _completion_tokens(body: Mapping[str, Any], reasoning: int | None) -> int | None:
    """The tokens of the answer, reasoning included.

    Most servers include reasoning in `completion_tokens`; some (xAI) report it beside them. That is the case
    if the total is exactly prompt + completion + reasoning, or if reasoning exceeds completion. Then the two
    are added.

    >>> usage = {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 331}  # of xAI
    >>> _completion_tokens({"usage": usage}, 317), _completion_tokens({"usage": usage}, 1)
    (319, 2)
    """
    written = _tokens(body, "completion_tokens")
    read, total = _tokens(body, "prompt_tokens"), _tokens(body, "total_tokens")
    if not reasoning or written is None:
        return written
    is_beside = reasoning > written or (read is not None and total == read + written + reasoning)
    return written + reasoning if is_beside else written


def _tokens(body: Mapping[str, Any], name: str) -> int | None:
    """A count in the server's `usage`; None if it is missing or not a plausible number."""
    usage = body.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(count, float) and count.is_integer():
        count = int(count)
    usable = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS
    return count if usable else None


EVENT_STREAM = "text/event-stream"
GRACE = 0.5
"""Seconds to wait for the end of a stream's connection after its last event."""


async def read_stream(chunks: AsyncIterator[bytes], started: float) -> ChatResponse:
    """Parse a stream of server-sent events; chunks may end anywhere, even inside a character.

    Args:
        chunks: Bytes as they arrive.
        started: When the request was sent, by `time.perf_counter`.

    Raises:
        ModelError: As in `StreamedAnswer`.
    """
    answer = StreamedAnswer(started)
    rest: list[bytes] = []
    async for chunk in chunks:
        # Split bytes at line feeds only: `str.splitlines` also splits at U+2028 and others, which answers may
        # contain.
        first, *more = chunk.split(b"\n")
        rest.append(first)
        for part in more:
            answer.line(b"".join(rest).decode(errors="replace"))
            rest = [part]
        if answer.ended:
            break
    answer.line(b"".join(rest).decode(errors="replace"))
    response = answer.response()
    # A connection can be reused only if it was read to its end. The answer is complete, so failures of that
    # are ignored.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(GRACE):
            async for _ in chunks:
                pass
    return response


class StreamedAnswer:
    """Assembles an answer from the lines of a server-sent event stream.

    Args:
        started: When the request was sent, by `time.perf_counter`.

    Attributes:
        ended: Whether the stream has sent `[DONE]`.
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
        """Add one line.

        Raises:
            ModelError: The line is an error of the server, or is not valid.
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
        """The complete answer, after the stream has ended.

        Raises:
            ModelError: The stream ended early, or it had no content.
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
        """Add a fragment of a tool call: the first one has the name, the arguments come in parts."""
        index = piece.get("index")
        call = self._calls.setdefault(index if isinstance(index, int) else 0, {"id": "", "function": {}})
        call["id"] = piece.get("id") or call["id"]
        function, more = call["function"], piece.get("function") or {}
        function["name"] = more.get("name") or function.get("name")
        if isinstance(more.get("arguments"), str):
            function["arguments"] = function.get("arguments", "") + more["arguments"]
