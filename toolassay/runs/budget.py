"""What a run may use at most, checked before each request with what is in flight reserved."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolassay.models import ChatRequest, ModelError
from toolassay.models.meter import Attempt
from toolassay.models.offered import OfferedTools
from toolassay.runs.prices import Tariff

BYTES_A_TOKEN = 4.0
"""How long a token is taken to be until the server has said it; in bytes, for 100 Chinese characters are more
tokens than 100 Latin ones."""
COMPLETION = 4096
"""Tokens an answer is taken to have at most where the request sets no limit."""
_LIMITS = ("max_tokens", "max_completion_tokens")
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a whole run, earlier starts of it included; None is no limit.

    Attributes:
        cost: US dollars.
        tokens: read and written.
        requests: sent, those that failed included.
    """

    cost: float | None = None
    tokens: int | None = None
    requests: int | None = None

    def __bool__(self) -> bool:
        return (self.cost, self.tokens, self.requests) != (None, None, None)


@dataclass(slots=True)
class Use:
    """Requests, tokens and dollars, spent or reserved."""

    requests: int = 0
    tokens: float = 0
    cost: float = 0.0

    def add(self, other: Use, sign: int = 1) -> None:
        """Add another use, or take it away."""
        self.requests += sign * other.requests
        self.tokens += sign * other.tokens
        self.cost += sign * other.cost


@dataclass(slots=True)
class _Reservation:
    use: Use
    size: int


@dataclass
class BudgetKeeper:
    """Says before each request whether its worst case still fits, and learns from each what it used.

    The worst case is the prompt (its bytes by the fewest to a token that prompts of that model and role
    had so far, at first 4) and the whole of `max_tokens`, for each of `n` answers. What may have been billed
    without the server saying how much (a timeout, a broken connection, an answer without usage) is counted
    at its worst case.
    """

    budget: Budget
    prices: Mapping[str, Tariff]
    spent: Use = field(default_factory=Use)
    _reserved: Use = field(default_factory=Use)
    _in_flight: dict[_Key, deque[_Reservation]] = field(default_factory=lambda: defaultdict(deque))
    _ratio: dict[tuple[str, str], float] = field(default_factory=dict)

    def reserve(self, model: str, request: ChatRequest) -> None:
        """Set the worst case of a request aside.

        Raises:
            ModelError: with outcome "budget stop": it does not fit.
        """
        size = size_of(request)
        prompt = size / self._ratio.get((model, request.role), BYTES_A_TOKEN)
        completion = completion_limit(request.parameters)
        price = self.prices.get(model)
        use = Use(1, prompt + completion, price.of(prompt, completion) if price else 0.0)
        self._check(use)
        self._reserved.add(use)
        self._in_flight[model, request.role, request.item].append(_Reservation(use, size))

    def settle(self, attempt: Attempt, cost: float | None, at_most: Use | None = None) -> Use | None:
        """Replace what was set aside by what was used.

        Args:
            attempt: what came of the request.
            cost: what it cost, if known.
            at_most: its worst case, for an attempt of an earlier start.

        Returns:
            The worst case, where that is what it is counted with.
        """
        reservation = self._release((attempt.model, attempt.role, attempt.item))
        use, worst = Use(1), None
        if attempt.prompt_tokens is not None and attempt.completion_tokens is not None:
            use = Use(1, attempt.prompt_tokens + attempt.completion_tokens, cost or 0.0)
            if reservation is not None and attempt.prompt_tokens > 0 and reservation.size > 0:
                seen, by = reservation.size / attempt.prompt_tokens, (attempt.model, attempt.role)
                self._ratio[by] = min(seen, self._ratio.get(by, seen))
        elif not attempt.unbilled:
            worst = reservation.use if reservation is not None else at_most
            use = worst or use
        self.spent.add(use)
        return worst

    def _release(self, key: _Key) -> _Reservation | None:
        """Give up the oldest reservation of that name; which of several makes no difference to their sum."""
        waiting = self._in_flight.get(key)
        if not waiting:
            return None
        reservation = waiting.popleft()
        if not waiting:
            del self._in_flight[key]
        self._reserved.add(reservation.use, -1)
        return reservation

    def _check(self, use: Use) -> None:
        spent, reserved, budget = self.spent, self._reserved, self.budget
        for flag, limit, needed in (
            ("max_requests", budget.requests, spent.requests + reserved.requests + use.requests),
            ("max_tokens_total", budget.tokens, spent.tokens + reserved.tokens + use.tokens),
            ("max_cost", budget.cost, spent.cost + reserved.cost + use.cost),
        ):
            if limit is not None and needed > limit * (1 + 1e-9):
                raise ModelError(
                    f"--{flag} {limit:g} leaves no room for another request", outcome="budget stop"
                )


def size_of(request: ChatRequest) -> int:
    """The bytes of a prompt: its texts, and whatever else stands in it as JSON."""
    tools = request.parameters.get("tools")
    if isinstance(tools, OfferedTools):
        size = tools.size
    else:
        size = bytes_of(json.dumps(tools, ensure_ascii=False)) if tools else 0
    for message in request.messages:
        content = message.get("content")
        plain = isinstance(content, str) and len(message) == 2
        size += bytes_of(content if plain else json.dumps(message, ensure_ascii=False))  # type: ignore[arg-type]
    return size


def bytes_of(text: str) -> int:
    """The length of a text as it travels: 100 Chinese characters are more tokens than 100 Latin ones."""
    return len(text.encode(errors="replace"))


def completion_limit(parameters: Mapping[str, Any]) -> int:
    """The most tokens that all answers to a request can have, by its parameters.

    >>> completion_limit({"max_completion_tokens": 500}), completion_limit({}), completion_limit({"n": 2})
    (500, 4096, 8192)
    """
    given = [_count(parameters.get(name)) for name in _LIMITS]
    most = max((limit for limit in given if limit is not None), default=COMPLETION)
    return most * max(1, _count(parameters.get("n")) or 1)


def _count(value: Any) -> int | None:
    """A number of something; None for what is none, such as the -1 by which servers mean no limit."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
