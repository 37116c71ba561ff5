"""The types of a chat completion: request, response, attempt, and the protocols of models and meters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import msgspec

from toolassay.files.data_files import unescaped_json
from toolassay.models.errors import UNREACHABLE
from toolassay.models.json_answers import CUT_OFF
from toolassay.models.refused_parameters import Change

Message = Mapping[str, Any]
"""A message in OpenAI's form: `role`, `content`, and for tools `tool_calls` or `tool_call_id`."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat completion to request.

    Attributes:
        messages: The conversation.
        parameters: Copied into the request body unchanged (temperature, top_p, max_tokens, tools, …).
        timeout: The caller's limit in seconds on one attempt, from sending to the last byte. An attempt that
            exceeds it fails with kind "time limit" and is not retried. None: only the time-outs of
            `ModelOptions` apply.
        task: The structured task behind the prompt, for models that use it instead of reading the prompt
            (the offline models). Never sent to a server.
        role: Purpose of the call in the ledger: generator, planner, reformat, critic, judge or agent.
        item: Journal key of the item, for the ledger.
        change: Parameters to omit or rename, to find out what the endpoint refuses; set by the client.
    """

    messages: Sequence[Message]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    task: Any = None
    role: str = "planner"
    item: str = ""
    change: Change | None = None


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call of the model.

    Attributes:
        id: As the server sent it; may be empty.
        name: Name of the function.
        arguments: The text that the model wrote, which may not be valid JSON.
        extra: Further fields of the call, to send back with it.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = {}


class ChatResponse(msgspec.Struct, frozen=True, omit_defaults=True, rename={"text": "response"}):
    """One answer. Every figure is None if the server did not report it.

    Attributes:
        text: The text of the answer; may be empty beside `tool_calls`.
        finish_reason: As the server reports it.
        prompt_tokens: Tokens of the prompt, `cached_tokens` included.
        completion_tokens: Tokens of the answer, `reasoning_tokens` included.
        refused: Whether the answer is a refusal (finish reason "content_filter", or a `refusal` field).
        seconds: Duration of the attempt that got the answer.
        first_token_seconds: Time to the first token, of a streamed answer.
        attempts: Attempts that the answer took.
        tool_calls: Tool calls of the model, if the request offered `tools`.
        cached_tokens: Prompt tokens that came from the server's cache.
        reasoning: Reasoning that the server sent apart from the text; recorded.
        reasoning_tokens: Tokens of the reasoning.
        extra: Further fields of the message, to send back with it: servers may require their reasoning or
            its signature. `content` is among them if it is a list of parts.
        leaked: The answer as the server sent it, if its tool calls were repaired (`leaked_calls`).
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
    extra: Mapping[str, Any] = {}
    leaked: str = ""

    @property
    def is_cut_off(self) -> bool:
        """Whether the answer was truncated at a token limit.

        >>> ChatResponse("half an", "length").is_cut_off, ChatResponse("whole", "stop").is_cut_off
        (True, False)
        """
        return (self.finish_reason or "").lower() in CUT_OFF

    @property
    def is_only_thinking(self) -> bool:
        """Whether the answer consists of reasoning alone: no text, no tool call, no refusal."""
        thought = bool(self.reasoning or self.reasoning_tokens)
        return thought and not (self.text.strip() or self.tool_calls or self.refused)


def sent_back(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded message or tool call of the model as the server sent it; what is under `extra` is its own.

    >>> sent_back({"role": "assistant", "content": "4", "extra": {"reasoning_content": "2 + 2"}})
    {'role': 'assistant', 'content': '4', 'reasoning_content': '2 + 2'}
    """
    return {
        **{name: value for name, value in recorded.items() if name != "extra"},
        **recorded.get("extra", {}),
    }


class ChatModel(Protocol):
    """A model that answers chat requests.

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
        """Answer one request.

        Raises:
            ModelError: There is no answer.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class Transport(Protocol):
    """Sends a request over HTTP, without retries."""

    async def send(self, request: ChatRequest) -> ChatResponse:
        """Make one attempt.

        Raises:
            ModelError: There is no answer.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class Attempt(msgspec.Struct, omit_defaults=True):
    """One request that was sent, successful or not. Token counts are None if the server did not report them.

    Attributes:
        model: Name of the model.
        role: `ChatRequest.role`.
        item: `ChatRequest.item`.
        number: Number of the attempt at its request, from 1.
        outcome: "answered", "refused", or the kind of failure ("HTTP 429", "timeout", "reset", …).
        status: HTTP status.
        prompt_tokens: Tokens of the prompt, `cached_tokens` included.
        completion_tokens: Tokens of the answer, `reasoning_tokens` included.
        seconds: Time from sending to the last byte of the answer; None if unknown, as in a batch.
        first_token_seconds: Time from sending to the first token, of a streamed answer.
        cached_tokens: Prompt tokens that came from the server's cache.
        reasoning_tokens: Tokens of the reasoning.
        queued_seconds: Wait for the concurrency limit before sending; not part of `seconds`.
        cut_off: Whether the answer was truncated at a token limit.
        only_thinking: Whether the answer consists of reasoning alone.
        custom_id: Id of the request in its batch.
    """

    model: str
    role: str
    item: str
    number: int = msgspec.field(name="attempt")
    outcome: str
    status: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = 0.0
    first_token_seconds: float | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    queued_seconds: float | None = None
    cut_off: bool = False
    only_thinking: bool = False
    custom_id: str | None = None

    @property
    def seconds_per_token(self) -> float | None:
        """Mean time between two tokens of a streamed answer; None if it was not streamed or not counted.

        >>> Attempt("m", "agent", "1", 1, "answered", completion_tokens=11, seconds=3.0,
        ...         first_token_seconds=1.0).seconds_per_token
        0.2
        """
        if self.seconds is None or self.first_token_seconds is None or (self.completion_tokens or 0) < 2:
            return None
        assert self.completion_tokens is not None
        return max(0.0, self.seconds - self.first_token_seconds) / (self.completion_tokens - 1)

    @property
    def unbilled(self) -> bool:
        """Whether it certainly cost nothing: the server was unreachable or answered with an error."""
        return self.outcome == UNREACHABLE or (self.status is not None and self.status >= 400)


class Meter(Protocol):
    """Accounts for the attempts of a run and enforces its limits; see `toolassay.runs.Ledger`."""

    def before(self, model: str, request: ChatRequest) -> None:
        """Called before every attempt.

        Raises:
            ModelError: The attempt is not allowed; the outcome is "budget stop".
        """
        ...

    def after(self, attempt: Attempt) -> None:
        """Called after every attempt."""
        ...


class NoMeter:
    """A meter that allows every attempt and records none."""

    def before(self, model: str, request: ChatRequest) -> None:
        """Allow the attempt."""

    def after(self, attempt: Attempt) -> None:
        """Discard the attempt."""


class OfferedTools(list[dict[str, Any]]):
    """The `tools` that many requests share; serialised to JSON once. Must not be modified.

    >>> OfferedTools([{"type": "function"}]).text
    '[{"type": "function"}]'
    """

    @cached_property
    def text(self) -> str:
        """The tools as JSON, in ASCII."""
        return json.dumps(self)

    @cached_property
    def size(self) -> int:
        """Bytes of the JSON in UTF-8, from which tokens are estimated."""
        return len(unescaped_json(self).encode(errors="replace"))
