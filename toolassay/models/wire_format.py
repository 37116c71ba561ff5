"""The JSON of chat completions: request bodies, responses, and streams of server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from toolassay.answers import CUT_OFF
from toolassay.files import readable
from toolassay.models.errors import ModelError
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import ChatRequest, ChatResponse, OfferedTools, ToolCall
from toolassay.models.retry import failure_inside

_MOST_TOKENS = 10**12  # a larger count is an error of the server and is ignored
# Fields of the reasoning: DeepSeek, llama.cpp and older vLLM; vLLM since 0.11.2 and OpenRouter.
_THOUGHTS = ("reasoning_content", "reasoning")
# Finish reasons with which servers and proxies report their own failure; the last is DeepSeek's.
_BROKEN_OFF = ("error", "abort", "insufficient_system_resource")
MAX_ANSWER = 2**24
"""Maximum bytes of an answer after decompression, and of a line of a stream."""
MAX_STREAM = 2**26
"""Maximum bytes of a stream, which repeats an envelope of a few hundred bytes with every token."""
MAX_ERROR = 2**20
"""Bytes that are read of an error's body; the rest is ignored."""


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
    usage: dict[str, Any] = _usage(body)
    charged = {name: usage[name] for name in ("prompt_tokens", "completion_tokens")}

    def useless(message: str, kind: str) -> ModelError:
        return ModelError(message, transient=True, kind=kind, **charged)

    choices = body.get("choices")
    if not choices and (failure := _reported(body)):
        raise failure_inside(failure)
    if choices == [] or (choices is None and "choices" in body):
        raise useless("the server's answer is empty (no choices)", "empty choices")
    try:
        choice = choices[0]  # type: ignore[index]
        message = choice["message"]
        content, refusal = text_of(message.get("content")), message.get("refusal")
        calls = _tool_calls(message.get("tool_calls"))
        reasoning = reasoning_of(message)
        is_text = isinstance(message.get("content"), str)
        extra = _extra(message, ("role", "tool_calls", "content" if is_text else ""))
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
        refused=refused,
        seconds=seconds,
        tool_calls=calls,
        reasoning=reasoning,
        **usage,
        extra=extra,
    )


def _reported(body: Mapping[str, Any]) -> Any:
    """The failure that a body or event reports, in any of the forms of servers; None without one.

    >>> _reported({"error": "no memory"}), _reported({"object": "error"}), _reported({"error_code": 0})
    ('no memory', {'object': 'error'}, None)
    """
    is_failure = any(value == "error" or (value and "error" in name) for name, value in body.items())
    return body.get("error") or (body if is_failure else None)


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
    for call in map(_object, calls if isinstance(calls, list) else []):
        function = _object(call.get("function"))
        name, arguments = function.get("name"), function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps({} if arguments is None else arguments)
        inner = _extra(function, ("name", "arguments"))
        known = ("id", "type" if call.get("type") == "function" else "")
        extra = _extra({**call, "function": inner or None}, known)
        found.append(
            ToolCall(str(call.get("id") or ""), name if isinstance(name, str) else "", arguments, extra)
        )
    return tuple(found)


def _extra(sent: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The fields that a server sent besides the known ones. It may require them back, but refuse null."""
    more = {name: value for name, value in sent.items() if value is not None and name not in known}
    return map_texts(more, readable)  # type: ignore[no-any-return]


def change_texts(response: ChatResponse, change: Callable[[str], str]) -> ChatResponse:
    """Copy an answer with every text of the model in it changed."""

    def changed(answer: Any, *names: str) -> Any:
        return replace(answer, **{name: map_texts(getattr(answer, name), change) for name in names})

    calls = tuple(changed(call, "id", "name", "arguments", "extra") for call in response.tool_calls)
    return replace(changed(response, "text", "reasoning", "leaked", "extra"), tool_calls=calls)  # type: ignore[no-any-return]


def map_texts(value: Any, change: Callable[[str], str], levels: int = 100) -> Any:
    """Copy a JSON value with every text in it changed.

    Raises:
        RecursionError: It is nested deeper than `levels`.
    """
    if isinstance(value, str):
        return change(value)
    if not isinstance(value, (dict, list)):
        return value
    if not levels:
        raise RecursionError
    if isinstance(value, list):
        return [map_texts(item, change, levels - 1) for item in value]
    return {change(name): map_texts(item, change, levels - 1) for name, item in value.items()}


def _object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def _usage(body: Mapping[str, Any]) -> dict[str, int | None]:
    """The token counts that a server reports; None for one that is missing or not a plausible number.

    Most servers include reasoning in `completion_tokens`; some (xAI) report it beside them. That is the case
    if the total is exactly prompt + completion + reasoning, or if reasoning exceeds completion. Then the two
    are added.

    >>> _usage({"usage": {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 331,
    ...                   "completion_tokens_details": {"reasoning_tokens": 317}}})["completion_tokens"]
    319
    """
    usage = _object(body.get("usage"))
    read, written, total = (_count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    details = _object(usage.get("prompt_tokens_details"))  # OpenAI, Azure, vLLM, OpenRouter
    # The others are DeepSeek's and Moonshot's.
    cached = (details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens"))
    details = _object(usage.get("completion_tokens_details"))
    thought = _first_count(details.get("reasoning_tokens"), usage.get("reasoning_tokens"))
    if thought and written is not None:
        is_beside = thought > written or (read is not None and total == read + written + thought)
        written += thought if is_beside else 0
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "cached_tokens": _first_count(*cached),
        "reasoning_tokens": thought,
    }


def _first_count(*values: Any) -> int | None:
    return next((count for value in values if (count := _count(value)) is not None), None)


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


EVENT_STREAM = "text/event-stream"
GRACE = 0.5
"""Seconds to wait for the rest of a stream (token counts, end of the connection) after its finish reason."""


async def read_error(chunks: AsyncIterator[bytes], charset: str | None) -> str:
    """The beginning of an error's body."""
    return _decoded(await _read_bytes(chunks, MAX_ERROR), charset)


async def read_response(
    chunks: AsyncIterator[bytes], started: float, content_type: str, charset: str | None
) -> ChatResponse:
    """Parse the body of a response with status 200, whether it is a stream or not.

    Args:
        chunks: The body as it arrives, decompressed.
        started: When the request was sent, by `time.perf_counter`.
        content_type: Content-Type header.
        charset: Encoding in it.

    Raises:
        ModelError: As in `read_completion` or `StreamedAnswer`, or the body is too long.
    """
    if content_type.startswith(EVENT_STREAM):
        return await _read_stream(chunks, started)
    body = await _read_bytes(chunks, MAX_ANSWER + 1)
    if len(body) > MAX_ANSWER:
        raise _too_long(MAX_ANSWER)
    return read_completion(body, time.perf_counter() - started, charset=charset)


async def _read_bytes(chunks: AsyncIterator[bytes], most: int) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) >= most:
            break
        # A chunk that is already here does not suspend: without this, time-outs and signals would wait for
        # the end of a compressed body.
        await asyncio.sleep(0)
    return bytes(body[:most])


def _too_long(most: int) -> ModelError:
    message = f"the server's answer is longer than {most // 2**20} MiB"
    return ModelError(message, transient=True, kind="too long")


async def _read_stream(chunks: AsyncIterator[bytes], started: float) -> ChatResponse:
    """Parse server-sent events; chunks may end anywhere, even inside a character.

    An answer is complete with its finish reason, even if the connection then hangs or breaks.
    """
    answer = StreamedAnswer(started)
    size, rest = 0, bytearray()
    try:
        async with asyncio.timeout(None) as timer:
            async for chunk in chunks:
                size += len(chunk)
                # Split bytes at line feeds only: `str.splitlines` also splits at U+2028 and others, which
                # answers may contain.
                first, *more = chunk.split(b"\n")
                rest += first
                if size > MAX_STREAM or len(rest) > MAX_ANSWER:
                    raise _too_long(min(size, MAX_STREAM))
                for part in more:
                    answer.line(rest.decode(errors="replace"))
                    rest = bytearray(part)
                if answer.is_complete and timer.when() is None:
                    # A connection can be reused only if it was read to its end.
                    timer.reschedule(asyncio.get_running_loop().time() + GRACE)
                await asyncio.sleep(0)
            answer.line(rest.decode(errors="replace"))
    except Exception:
        if not answer.is_complete:
            raise
    return answer.response()


class StreamedAnswer:
    """Assembles an answer from the lines of a server-sent event stream.

    Args:
        started: When the request was sent, by `time.perf_counter`.
    """

    def __init__(self, started: float) -> None:
        self._ended = False
        self._started = started
        self._reason: str | None = None
        self._usage: Any = None
        self._first: float | None = None
        self._event = ""
        self._unknown: Any = None  # an event that is no chunk: a failure unless a finish reason follows
        self._unchecked = MAX_ANSWER
        self._restart()

    def _restart(self) -> None:
        self._message: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Any]] = []
        self._known: dict[int | str, dict[str, Any]] = {}  # the latest call by index and by id

    @property
    def is_complete(self) -> bool:
        """Whether the stream has sent a finish reason or `[DONE]`."""
        return self._ended or self._reason is not None

    def line(self, line: str) -> None:
        """Add one line. After the finish reason the answer is complete, and errors are ignored.

        Raises:
            ModelError: The line is an error of the server, or is not valid.
        """
        line = line.strip()
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
            choices, usage = event.get("choices"), event.get("usage")
            failure = event if is_failure else _reported(event)
            for choice in choices if isinstance(choices, list) else ():
                failure = failure or choice.get("error")  # OpenRouter
            if failure and self._reason is None:
                error = failure_inside(failure)
                # In the middle of an answer no status means that the request is wrong.
                error.transient |= self._first is not None and error.outcome == "provider error"
                raise error
            if not (isinstance(choices, list) or usage):
                self._unknown = self._unknown or event
            self._usage = usage or self._usage
            for choice in choices or []:
                delta, message = choice.get("delta"), choice.get("message") or {}
                if not delta and (text_of(message.get("content")) or message.get("tool_calls")):
                    self._restart()  # an event with the message so far
                self._add(delta or message)
                self._reason = choice.get("finish_reason") or self._reason
        except (ValueError, AttributeError, TypeError, RecursionError):
            said = f"the server's stream cannot be read: {data[:200]}"
            if self._reason is None:
                raise ModelError(said, transient=True, kind="unreadable") from None

    def response(self) -> ChatResponse:
        """The complete answer, after the stream has ended.

        Raises:
            ModelError: The stream ended early, or it had no content.
        """
        if self._unknown and self._reason is None:
            raise failure_inside(self._unknown)
        if not self.is_complete:
            raise ModelError("the stream ended in the middle", transient=True, kind="truncated")
        message = dict(self._message)
        for name, pieces in self._texts.items():
            text, parts = "".join(pieces), message.get(name)
            message[name] = [*parts, {"type": "text", "text": text}] if isinstance(parts, list) else text
        calls: list[dict[str, Any]] = []
        for call in self._calls:
            function = call["function"]
            function["arguments"] = "".join(function["arguments"]) or None
            # Without arguments, after a call of the same tool: a last fragment with an id of its own.
            before = calls[-1]["function"] if calls else {}
            if (
                (function["arguments"] or "").strip()
                or not before.get("arguments")
                or before["name"] != function["name"]
            ):
                calls.append(call)
        choice = {"message": {**message, "tool_calls": calls}, "finish_reason": self._reason}
        whole = {"choices": [choice], "usage": self._usage}
        read = read_body(whole, time.perf_counter() - self._started)
        return replace(read, first_token_seconds=self._first)

    def _add(self, delta: dict[str, Any]) -> None:
        """Add a delta to the message: texts are joined, lists extended, objects merged."""
        content, calls = delta.get("content"), delta.get("tool_calls")
        if self._first is None and (content or delta.get("refusal") or calls or reasoning_of(delta)):
            self._first = time.perf_counter() - self._started
        for call in calls or []:
            self._add_call(call)
        for name, value in delta.items():
            if isinstance(value, str) and name not in _ONCE:
                self._texts.setdefault(name, []).append(value)
            elif name != "tool_calls":
                _update(self._message, {name: value})

    def _add_call(self, piece: dict[str, Any]) -> None:
        """Add a fragment of a tool call to the call that it continues, or begin a new call.

        The index alone decides little: some servers number all calls 0, or none. Some repeat the name in each
        fragment, with a new id, and some repeat whole calls at the end.
        """
        function = piece.get("function") or {}
        index, id, name, given = (
            piece.get("index"),
            piece.get("id"),
            function.get("name"),
            function.get("arguments"),
        )
        given = given if isinstance(given, str) else "" if given is None else json.dumps(given)
        last = self._calls[-1] if self._calls else None
        call = self._known.get(index) if isinstance(index, int) else last
        call = call and self._known.get(id or "", call)
        if call and name and (known := call["function"].get("name")):
            is_other = bool(id) and id != call["id"]
            if name != known:
                call = call if id and not is_other else None
            elif self._has_whole_arguments(call) or (is_other and index is None):
                if not is_other and given == "".join(call["function"]["arguments"]):
                    return
                call = None
        if call is None:
            call = {"id": None, "function": {"arguments": []}}
            self._calls.append(call)
        self._known |= {key: call for key in (index, id) if key is not None and key != ""}
        function = {**function, "arguments": [given]}
        _update(call, {**piece, "index": None, "id": call["id"] or id, "function": function})

    def _has_whole_arguments(self, call: dict[str, Any]) -> bool:
        """Whether the arguments so far are complete JSON; False after 16 MiB of such checks."""
        pieces = call["function"]["arguments"]
        pieces[:] = [text := "".join(pieces)]  # so that the next check joins two pieces, not all
        self._unchecked -= len(text)
        try:
            is_closed = self._unchecked >= 0 and text.rstrip().endswith(("}", "]", '"'))
            return is_closed and json.loads(text) is not None
        except (ValueError, RecursionError):
            return False


_ONCE = ("role", "name", "id", "type")
"""Texts of a message that some servers repeat in every delta."""


def _update(old: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Merge an object into another: lists are extended, null and "" are ignored, others are replaced."""
    for name, value in new.items():
        before = old.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            _update(before, value)
        elif isinstance(value, list) and isinstance(before, list):
            before += value
        elif value is not None and (value != "" or name not in old):
            old[name] = value
