"""Who watches the calls: asked before each is sent, told of every attempt after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from toolassay.models.errors import UNREACHABLE
from toolassay.models.protocol import ChatRequest


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that went out, whatever came of it.

    `outcome` is "answered", "refused", or the kind of failure ("HTTP 429", "timeout", "reset", …). Tokens
    are None where the server did not say; cached ones are among those of the prompt. Times are in seconds.
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
