"""Sums over the attempts of a run: requests, tokens, money, time."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolassay.models.meter import Attempt

ANSWERS = ("answered", "refused")
"""Outcomes of an attempt that brought an answer."""


@dataclass(slots=True)
class Totals:
    """Sums over attempts. What the server did not say, or no price is known for, is counted as unknown.

    Attributes:
        requests: attempts that went out.
        outcomes: attempts by outcome.
        retries: attempts after the first of an item.
        prompt_tokens: as far as the server said.
        completion_tokens: likewise.
        unknown_tokens: answers whose tokens the server did not say.
        cached_tokens: of those of the prompts, what came from the server's cache, as far as it said.
        reasoning_tokens: of those of the completions, what was thinking, as far as the server said.
        cut_off: answers that ended at a token limit.
        cost: US dollars, as far as known.
        unknown_cost: attempts that may have cost something, nobody knows what.
        local: attempts that cost nothing because of their address.
        seconds: of each answering attempt, from sending to the last byte.
        first_token_seconds: of each answering attempt that was streamed.
        seconds_per_token: from one token to the next, of the same.
        queued_seconds: the wait for a turn before each answering attempt was sent; in none of the others.
    """

    requests: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cut_off: int = 0
    cost: float = 0.0
    unknown_cost: int = 0
    local: int = 0
    seconds: array[float] = field(default_factory=lambda: array("f"))
    first_token_seconds: array[float] = field(default_factory=lambda: array("f"))
    seconds_per_token: array[float] = field(default_factory=lambda: array("f"))
    queued_seconds: array[float] = field(default_factory=lambda: array("f"))

    @property
    def tokens(self) -> int:
        """Tokens read and written, as far as known."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, attempt: Attempt, cost: float | None, *, local: bool = False) -> None:
        """Count one attempt."""
        self.requests += 1
        self.outcomes[attempt.outcome] += 1
        self.retries += attempt.number > 1
        self.prompt_tokens += attempt.prompt_tokens or 0
        self.completion_tokens += attempt.completion_tokens or 0
        self.cached_tokens += attempt.cached_tokens or 0
        self.reasoning_tokens += attempt.reasoning_tokens or 0
        self.cut_off += attempt.cut_off
        self.local += local
        if cost is None:
            self.unknown_cost += 1
        else:
            self.cost += cost
        if attempt.outcome in ANSWERS:
            if cost is None or local:  # what is free for certain uses no tokens
                self.unknown_tokens += attempt.prompt_tokens is None or attempt.completion_tokens is None
            self.seconds.append(attempt.seconds)
            if attempt.first_token_seconds is not None:
                self.first_token_seconds.append(attempt.first_token_seconds)
            if (pace := attempt.seconds_per_token) is not None:
                self.seconds_per_token.append(pace)
            if attempt.queued_seconds is not None:
                self.queued_seconds.append(attempt.queued_seconds)

    def add_free(self, outcome: str, count: int) -> None:
        """Count attempts of an earlier start that cost nothing and used no tokens."""
        self.requests += count
        self.outcomes[outcome] += count

    def to_json(self) -> dict[str, Any]:
        """Everything, for a file; `cost_usd` is null where nothing is known."""
        return {
            "requests": self.requests,
            "outcomes": dict(sorted(self.outcomes.items())),
            "retries": self.retries,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "answers_cut_off": self.cut_off,
            "answers_of_unknown_tokens": self.unknown_tokens,
            "cost_usd": self.known_cost,
            "requests_of_unknown_cost": self.unknown_cost,
            "requests_at_local_address": self.local,
            **self.times,
        }

    @property
    def times(self) -> dict[str, dict[str, float] | None]:
        """Median and 95th percentile: of the server's seconds, and of those before sending."""
        return {
            "seconds": percentiles(self.seconds),
            "first_token_seconds": percentiles(self.first_token_seconds),
            "seconds_per_output_token": percentiles(self.seconds_per_token, digits=6),
            "queued_seconds": percentiles(self.queued_seconds),
        }

    @property
    def known_cost(self) -> float | None:
        """US dollars, rounded to millionths of a cent; None where the cost of no attempt is known."""
        return None if self.unknown_cost and self.unknown_cost == self.requests else round(self.cost, 8)


def percentiles(
    values: array[float], of: Sequence[int] = (50, 95), *, digits: int = 4
) -> dict[str, float] | None:
    """The median and the 95th percentile, or others (the nearest value from above); None of nothing.

    >>> percentiles(array("f", [1, 2, 3, 4]))
    {'p50': 2.0, 'p95': 4.0}
    """
    if not values:
        return None
    ranked = sorted(values)
    return {f"p{p}": round(ranked[math.ceil(p / 100 * len(ranked)) - 1], digits) for p in of}
