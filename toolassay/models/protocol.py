"""What a chat model is to this project: something that answers a `ChatRequest`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolassay.answers import CUT_OFF

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
