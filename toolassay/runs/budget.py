"""Limits and estimates of a run's requests, tokens and cost.

`BudgetKeeper` reserves the worst case of each request before it is sent; `Estimate` computes the upper
bound of a run before it starts.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from toolassay.declarations import Option
from toolassay.files.data_files import unescaped_json
from toolassay.models import ChatRequest, ModelError
from toolassay.models.protocol import Attempt, OfferedTools
from toolassay.runs.prices import Tariff

BYTES_A_TOKEN = 4.0
"""Assumed length of a token until the server has reported one. In bytes, because 100 Chinese characters are
more tokens than 100 Latin ones."""
COMPLETION = 4096
"""Assumed maximum tokens of an answer whose request sets no limit."""
_LIMITS = ("max_tokens", "max_completion_tokens")
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a whole run, earlier starts included; None means no limit."""

    section = "Limits and cost"

    cost: Annotated[
        float | None,
        Option("Maximum cost of a run in US dollars, over all starts.", "max_cost", minimum=0, common=True),
    ] = None
    tokens: Annotated[
        int | None,
        Option("Maximum tokens of prompts and answers of a run.", "max_tokens_total", minimum=1),
    ] = None
    requests: Annotated[
        int | None,
        Option("Maximum requests of a run, failed ones included.", "max_requests", minimum=1),
    ] = None

    def __bool__(self) -> bool:
        return (self.cost, self.tokens, self.requests) != (None, None, None)


@dataclass(slots=True)
class Use:
    """Requests, tokens and US dollars that are spent or reserved."""

    requests: int = 0
    tokens: float = 0
    cost: float = 0.0

    def add(self, other: Use, sign: int = 1) -> None:
        """Add `other`, or subtract it with `sign=-1`."""
        self.requests += sign * other.requests
        self.tokens += sign * other.tokens
        self.cost += sign * other.cost


class Outstanding(NamedTuple):
    """What is known of a request before its answer.

    Attributes:
        role: `ChatRequest.role`.
        item: `ChatRequest.item`.
        size: Bytes of its prompt.
        limit: Maximum tokens of the answer.
    """

    role: str
    item: str
    size: int
    limit: int


@dataclass
class BudgetKeeper:
    """Checks before each request that its worst case fits the budget, and replaces it by the actual use.

    The worst case is the tokens of the prompt plus `max_tokens` for each of `n` answers. The tokens of a
    prompt are its bytes divided by the fewest bytes per token of earlier prompts of that model and role, at
    first 4.
    A request that may have been billed without a report of its tokens (a time-out, a broken connection, an
    answer without usage) stays counted at its worst case.

    Attributes:
        budget: The limits.
        prices: Prices by model.
        spent: The use so far.
    """

    budget: Budget
    prices: Mapping[str, Tariff]
    spent: Use = field(default_factory=Use)
    _reserved: Use = field(default_factory=Use)
    _in_flight: dict[_Key, deque[tuple[Use, int]]] = field(default_factory=lambda: defaultdict(deque))
    _ratio: dict[tuple[str, str], float] = field(default_factory=dict)

    def reserve(self, model: str, request: ChatRequest) -> None:
        """Reserve the worst case of a request.

        Raises:
            ModelError: It exceeds the budget; the outcome is "budget stop".
        """
        longest = completion_limit(request.parameters)
        outstanding = Outstanding(request.role, request.item, size_of(request), longest)
        use = self._worst(model, outstanding)
        spent = self.spent
        reserved = self._reserved
        budget = self.budget
        for flag, limit, needed_total in (
            ("max_requests", budget.requests, spent.requests + reserved.requests + use.requests),
            ("max_tokens_total", budget.tokens, spent.tokens + reserved.tokens + use.tokens),
            ("max_cost", budget.cost, spent.cost + reserved.cost + use.cost),
        ):
            if limit is not None and needed_total > limit * (1 + 1e-9):
                raise ModelError(
                    f"--{flag} {limit:g} leaves no room for another request", outcome="budget stop"
                )
        self.commit(model, outstanding)

    def commit(self, model: str, outstanding: Outstanding) -> None:
        """Reserve the worst case of a request that is already sent, whatever the limits are."""
        use = self._worst(model, outstanding)
        self._reserved.add(use)
        self._in_flight[model, outstanding.role, outstanding.item].append((use, outstanding.size))

    def _worst(self, model: str, outstanding: Outstanding) -> Use:
        prompt = outstanding.size / self._ratio.get((model, outstanding.role), BYTES_A_TOKEN)
        price = self.prices.get(model)
        return Use(1, prompt + outstanding.limit, price.of(prompt, outstanding.limit) if price else 0.0)

    def settle(self, attempt: Attempt, cost: float | None, at_most: Use | None = None) -> Use | None:
        """Replace the reservation of an attempt by its actual use.

        Args:
            attempt: The attempt.
            cost: Its cost in US dollars, if known.
            at_most: Its worst case, for an attempt of an earlier start.

        Returns:
            The worst case if the attempt stays counted at that, else None.
        """
        # Which of the reservations of an item is removed does not affect their sum.
        waiting = self._in_flight[attempt.model, attempt.role, attempt.item]
        reserved, size = waiting.popleft() if waiting else (None, 0)
        if not waiting:
            del self._in_flight[attempt.model, attempt.role, attempt.item]
        if reserved is not None:
            self._reserved.add(reserved, -1)
        use = Use(1)
        worst = None
        if attempt.prompt_tokens is not None and attempt.completion_tokens is not None:
            use = Use(1, attempt.prompt_tokens + attempt.completion_tokens, cost or 0.0)
            if attempt.prompt_tokens > 0 and size > 0:
                seen = size / attempt.prompt_tokens
                by = (attempt.model, attempt.role)
                self._ratio[by] = min(seen, self._ratio.get(by, seen))
        elif not attempt.unbilled:
            worst = reserved or at_most
            use = worst or use
        self.spent.add(use)
        return worst


def size_of(request: ChatRequest) -> int:
    """Bytes of a prompt: the texts of its messages, and tools and other fields as JSON."""
    tools = request.parameters.get("tools")
    if isinstance(tools, OfferedTools):
        size = tools.size
    else:
        size = bytes_of(unescaped_json(tools)) if tools else 0
    for message in request.messages:
        content = message.get("content")
        plain = isinstance(content, str) and len(message) == 2
        size += bytes_of(content if plain else unescaped_json(message))  # type: ignore[arg-type]
    return size


def bytes_of(text: str) -> int:
    """Length of a text in UTF-8; lone surrogates count as one byte."""
    return len(text.encode(errors="replace"))


def completion_limit(parameters: Mapping[str, Any]) -> int:
    """Maximum tokens of all answers to a request, from its `max_tokens`, `max_completion_tokens` and `n`.

    >>> completion_limit({"max_completion_tokens": 500}), completion_limit({}), completion_limit({"n": 2})
    (500, 4096, 8192)
    """
    limits = [_count(parameters.get(name)) for name in _LIMITS]
    most = max((limit for limit in limits if limit is not None), default=COMPLETION)
    return most * max(1, _count(parameters.get("n")) or 1)


def _count(value: Any) -> int | None:
    """The value if it is a whole number of at least 0, else None; servers use -1 for "no limit"."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass(frozen=True, slots=True)
class ExpectedUsage:
    """Upper bound of what a run will use; `cost` in US dollars is None if no price is known.

    >>> (ExpectedUsage(1, 10, 5, 0.5) + ExpectedUsage(1, 10, 5, None)).words
    '2 requests, about 20 tokens to read, up to 10 to write'
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    def __add__(self, other: ExpectedUsage) -> ExpectedUsage:
        unknown = self.cost is None or other.cost is None
        return ExpectedUsage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if unknown else (self.cost or 0.0) + (other.cost or 0.0),
        )

    @property
    def words(self) -> str:
        """The figures as one sentence."""
        money = "" if self.cost is None else f", up to about ${self.cost:.4f}"
        return (
            f"{self.requests} requests, about {self.prompt_tokens} tokens to read, "
            f"up to {self.completion_tokens} to write{money}"
        )


@dataclass
class Estimate:
    """Sums over the requests that are still to be sent and over those that were answered.

    Attributes:
        limit: Maximum tokens of one answer.
        requests: Number of requests still to be sent.
        answers: Number of answers with reported tokens.
        first: The first request to be sent, where it was rendered.

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
    first: ChatRequest | None = None
    _measured: int = field(default=0, init=False)
    _sizes: int = field(default=0, init=False)
    _answered_sizes: int = field(default=0, init=False)
    _answered_prompts: int = field(default=0, init=False)
    _answered_completions: int = field(default=0, init=False)

    def add(self, size: int | None = None) -> None:
        """Count a request to be sent.

        Args:
            size: Bytes of its prompt; None assumes the mean of the others.
        """
        self.requests += 1
        if size is not None:
            self._measured += 1
            self._sizes += size

    def answered(self, size: int, prompt_tokens: Any, completion_tokens: Any) -> None:
        """Learn from an answered request; it is ignored if the server did not report its tokens.

        Args:
            size: Bytes of its prompt.
            prompt_tokens: Reported tokens of the prompt.
            completion_tokens: Reported tokens of the answer.
        """
        if not isinstance(prompt_tokens, int) or not isinstance(completion_tokens, int) or prompt_tokens <= 0:
            return
        self.answers += 1
        self._answered_sizes += size
        self._answered_prompts += prompt_tokens
        self._answered_completions += completion_tokens

    @property
    def bytes_a_token(self) -> float:
        """Mean bytes per token of the answered prompts; `BYTES_A_TOKEN` without any."""
        if not self._answered_sizes:
            return BYTES_A_TOKEN
        return self._answered_sizes / self._answered_prompts

    @property
    def prompt_tokens(self) -> int:
        """Estimated prompt tokens of all requests to be sent."""
        if not self._measured:
            return 0
        return round(self._sizes / self._measured * self.requests / self.bytes_a_token)

    @property
    def most_completion_tokens(self) -> int:
        """Completion tokens if every answer reaches `limit`."""
        return self.requests * self.limit

    @property
    def likely_completion_tokens(self) -> int | None:
        """Completion tokens if answers are as long as the mean so far; None without answers."""
        if not self.answers:
            return None
        return round(self._answered_completions / self.answers * self.requests)

    def expected(self, price: Tariff | None, answers: int = 1) -> ExpectedUsage:
        """Upper bound of tokens and cost.

        Args:
            price: Price of the model; None if unknown.
            answers: Requests of each task of an agent; each one repeats the answers before it.
        """
        n = self.requests
        longest = [(self.prompt_tokens / n if n else 0.0) + step * self.limit for step in range(answers)]
        cost = None if price is None else n * sum(price.of(read, self.limit) for read in longest if n)
        return ExpectedUsage(n * answers, round(n * sum(longest)), n * answers * self.limit, cost)

    def cost(self, price: Tariff, *, most: bool) -> float:
        """Estimated US dollars, without cached prompts.

        Args:
            price: Price of the model.
            most: Whether to assume the longest answers instead of likely ones.
        """
        if not self.requests:
            return 0.0
        likely = self.likely_completion_tokens
        completion = self.most_completion_tokens if most or likely is None else likely
        # The price of the mean request times their number, because prices may rise with a prompt's length.
        return self.requests * price.of(self.prompt_tokens / self.requests, completion / self.requests)
