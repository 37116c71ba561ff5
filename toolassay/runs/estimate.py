"""What requests will use, before they are sent: from their prompts, and from the answers there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolassay.runs.budget import BYTES_A_TOKEN, COMPLETION
from toolassay.runs.prices import Tariff


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run will use at most; `cost` is None where no price is known.

    >>> (Expected(1, 10, 5, 0.5) + Expected(1, 10, 5, None)).words
    '2 requests, about 20 tokens to read, up to 10 to write'
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    def __add__(self, other: Expected) -> Expected:
        unknown = self.cost is None or other.cost is None
        return Expected(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if unknown else (self.cost or 0.0) + (other.cost or 0.0),
        )

    @property
    def words(self) -> str:
        """In one sentence."""
        money = "" if self.cost is None else f", up to about ${self.cost:.4f}"
        return (
            f"{self.requests} requests, about {self.prompt_tokens} tokens to read, "
            f"up to {self.completion_tokens} to write{money}"
        )


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

    def expected(self, price: Tariff | None, answers: int = 1) -> Expected:
        """What this comes to at most.

        Args:
            price: of the model; None where it is not known.
            answers: to each request, of an agent whose every request repeats the answers before it.
        """
        n = self.requests
        longest = [(self.prompt_tokens / n if n else 0.0) + step * self.limit for step in range(answers)]
        cost = None if price is None else n * sum(price.of(read, self.limit) for read in longest if n)
        return Expected(n * answers, round(n * sum(longest)), n * answers * self.limit, cost)

    def cost(self, price: Tariff, *, most: bool) -> float:
        """US dollars: with the longest answers, or with likely ones; none of the prompts cached."""
        if not self.requests:
            return 0.0
        likely = self.likely_completion_tokens
        completion = self.most_completion_tokens if most or likely is None else likely
        # Request by request: a price may rise with the length of one prompt.
        return self.requests * price.of(self.prompt_tokens / self.requests, completion / self.requests)
