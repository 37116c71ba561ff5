"""What requests will use, before they are sent: from their prompts, and from the answers there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolassay.runs.budget import BYTES_A_TOKEN, COMPLETION
from toolassay.runs.prices import Price


@dataclass
class Estimate:
    """Sums over the requests still to be sent, and over those that were answered.

    Attributes:
        limit: tokens that one answer has at most.
        requests: still to be sent.
        answers: there already, with tokens that the server said.

    >>> estimate = Estimate(limit=2000)
    >>> estimate.add(400)
    >>> estimate.prompt_tokens, estimate.most_completion_tokens, estimate.likely_completion_tokens
    (100, 2000, None)
    >>> estimate.answered(400, 200, 50)
    >>> estimate.prompt_tokens, estimate.likely_completion_tokens
    (200, 50)
    """

    limit: int = COMPLETION
    requests: int = 0
    answers: int = 0
    _measured: int = field(default=0, init=False)
    _sizes: int = field(default=0, init=False)
    _answered_sizes: int = field(default=0, init=False)
    _answered_prompts: int = field(default=0, init=False)
    _answered_completions: int = field(default=0, init=False)

    def add(self, size: int | None = None) -> None:
        """Count a request to be sent, its prompt in bytes; one not measured is like the others."""
        self.requests += 1
        if size is not None:
            self._measured += 1
            self._sizes += size

    def answered(self, size: int, prompt_tokens: Any, completion_tokens: Any) -> None:
        """Learn from a request that was answered; nothing where the server did not say its tokens."""
        if not isinstance(prompt_tokens, int) or not isinstance(completion_tokens, int) or prompt_tokens <= 0:
            return
        self.answers += 1
        self._answered_sizes += size
        self._answered_prompts += prompt_tokens
        self._answered_completions += completion_tokens

    @property
    def bytes_a_token(self) -> float:
        """By the answers there are, else the usual estimate."""
        if not self._answered_sizes:
            return BYTES_A_TOKEN
        return self._answered_sizes / self._answered_prompts

    @property
    def prompt_tokens(self) -> int:
        """Of all requests to be sent, about."""
        if not self._measured:
            return 0
        return round(self._sizes / self._measured * self.requests / self.bytes_a_token)

    @property
    def most_completion_tokens(self) -> int:
        """If every answer is as long as it may be."""
        return self.requests * self.limit

    @property
    def likely_completion_tokens(self) -> int | None:
        """If answers are as long as those there are; None where there are none."""
        if not self.answers:
            return None
        return round(self._answered_completions / self.answers * self.requests)

    def cost(self, price: Price, *, most: bool) -> float:
        """US dollars: with the longest answers, or with likely ones."""
        likely = self.likely_completion_tokens
        completion = self.most_completion_tokens if most or likely is None else likely
        return price.of(self.prompt_tokens, completion)
