"""What a chat model is to this project: something that answers a `ChatRequest`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat completion to be made.

    `parameters` go into the request body as they are (temperature, top_p, max_tokens, …).
    `task` is the work behind the words, for models that act on it instead of reading the prompt
    (the offline ones); a served model never sees it.
    """

    messages: Sequence[Message]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 300.0
    task: Any = None


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """One answer: its text, why it ended, and what it used (None where the server did not say)."""

    text: str
    finish_reason: str | None = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


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
