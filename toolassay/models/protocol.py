"""Chat models: the request, the tools it offers, the answer, and the `Meter` called for each attempt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from toolassay.answers import CUT_OFF
from toolassay.models.errors import UNREACHABLE

Message = Mapping[str, Any]
"""`role` and `content`; with tools also what a call and its result carry."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat completion to be made.

    `parameters` go into the request body as they are (temperature, top_p, max_tokens, tools, …).
    `task` is the work behind the words, for models that act on it instead of reading the prompt
    (the offline ones); a served model never sees it. `role` (generator, planner, reformat, critic,
    judge, agent) and `item` (its key in the journal) say in the ledger what the call was for. `timeout` is
    the caller's own limit in seconds on one attempt, from sending to the last byte: an attempt that it ends
    is a `ModelError` of kind "time limit", which is not tried again. None: only the time-outs of
    `ModelOptions` hold.
    """

    messages: Sequence[Message]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    task: Any = None
    role: str = "planner"
    item: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool the model asks for; `arguments` is the text it wrote, which may be no JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """One answer: its text, why it ended, and what it used (None where the server did not say).

    `refused` marks an answer that declines (finish reason "content_filter", or a `refusal` field).
    `seconds` is the time the answering attempt took, `first_token_seconds` that to its first token where
    the answer was streamed; `attempts` counts the tries it took. `tool_calls` are what the model wants
    called, where the request offered `tools`; the text may then be empty. `cached_tokens` of the prompt came
    from the server's cache. `reasoning` is what the model thought before it answered, where the server sends
    that apart from the text; it is recorded and never acted on. `reasoning_tokens` are part of
    `completion_tokens`.
    """

    text: str
    finish_reason: str | None = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    refused: bool = False
    seconds: float | None = None
    first_token_seconds: float | None = None
    attempts: int = 1
    tool_calls: tuple[ToolCall, ...] = ()
    cached_tokens: int | None = None
    reasoning: str = ""
    reasoning_tokens: int | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether the answer ended at a token limit.

        >>> ChatResponse("half an", "length").is_cut_off, ChatResponse("whole", "stop").is_cut_off
        (True, False)
        """
        return (self.finish_reason or "").lower() in CUT_OFF

    @property
    def is_only_thinking(self) -> bool:
        """Whether the model thought and then said nothing."""
        thought = bool(self.reasoning or self.reasoning_tokens)
        return thought and not (self.text.strip() or self.tool_calls or self.refused)


class ChatModel(Protocol):
    """Anything that answers chat requests.

    >>> class Echo:
    ...     name = "echo"
    ...
    ...     async def complete(self, request: ChatRequest) -> ChatResponse:
    ...         return ChatResponse(request.messages[-1]["content"])
    ...
    ...     async def close(self) -> None: ...
    """

    name: str

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request; raises `ModelError` where there is no answer."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Transport(Protocol):
    """Sends one request once."""

    async def send(self, request: ChatRequest) -> ChatResponse:
        """One attempt; raises `ModelError` where there is no answer."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that went out, whatever came of it.

    `outcome` is "answered", "refused", or the kind of failure ("HTTP 429", "timeout", "reset", …). Tokens
    are None where the server did not say; cached ones are among those of the prompt, those of thinking among
    the completion's. Times are in seconds: `seconds` from sending to the last byte of the answer,
    `first_token_seconds` to its first token (streamed answers), `queued_seconds` the wait for a turn before
    sending, which is in neither. `cut_off` marks an answer that ended at a token limit, `only_thinking` one
    without a word after the thoughts.
    """

    model: str
    role: str
    item: str
    number: int
    outcome: str
    status: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    first_token_seconds: float | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    queued_seconds: float | None = None
    cut_off: bool = False
    only_thinking: bool = False

    @property
    def seconds_per_token(self) -> float | None:
        """Seconds from one token of a streamed answer to the next; None where that is not known.

        >>> Attempt("m", "agent", "1", 1, "answered", completion_tokens=11, seconds=3.0,
        ...         first_token_seconds=1.0).seconds_per_token
        0.2
        """
        if self.first_token_seconds is None or (self.completion_tokens or 0) < 2:
            return None
        assert self.completion_tokens is not None
        return max(0.0, self.seconds - self.first_token_seconds) / (self.completion_tokens - 1)

    @property
    def unbilled(self) -> bool:
        """Whether it surely cost nothing: nobody was reached, or the server answered with an error."""
        return self.outcome == UNREACHABLE or (self.status is not None and self.status >= 400)


class Meter(Protocol):
    """Keeps the books of a run."""

    def before(self, model: str, request: ChatRequest) -> None:
        """Called before every attempt; raises `ModelError` with outcome "budget stop" to forbid it."""
        ...

    def after(self, attempt: Attempt) -> None:
        """Called after every attempt."""
        ...


class NoMeter:
    """Watches nothing."""

    def before(self, model: str, request: ChatRequest) -> None:
        """Allow everything."""

    def after(self, attempt: Attempt) -> None:
        """Forget it."""


class OfferedTools(list[dict[str, Any]]):
    """The `tools` of many requests, never changed: written as JSON once, not for each of them.

    >>> OfferedTools([{"type": "function"}]).text
    '[{"type": "function"}]'
    """

    @cached_property
    def text(self) -> str:
        """As JSON, in ASCII."""
        return json.dumps(self)

    @cached_property
    def size(self) -> int:
        """Bytes of their JSON in UTF-8, by which tokens are estimated."""
        return len(json.dumps(self, ensure_ascii=False).encode(errors="replace"))
