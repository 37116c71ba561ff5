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
