"""The ledger of a run: one line per attempt, and the totals of requests, tokens, cost and time."""

from __future__ import annotations

import contextlib
import math
import time
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import ToolassayError, UsageError
from toolassay.locks import Closable
from toolassay.models import ChatRequest
from toolassay.models.protocol import Attempt
from toolassay.models.registry import BUILT_IN
from toolassay.runs.budget import Budget, BudgetKeeper, Outstanding, Use
from toolassay.runs.journal import AppendOnlyLines, text_in
from toolassay.runs.prices import Tariff

ANSWERS = ("answered", "refused")
"""Outcomes of attempts with an answer."""


@dataclass(slots=True)
class Totals:
    """Sums over attempts. Token counts include only what servers reported, costs only known prices.

    Attributes:
        requests: Number of attempts.
        outcomes: Attempts by outcome.
        retries: Attempts after the first one of a request.
        prompt_tokens: Tokens of the prompts, `cached_tokens` included.
        completion_tokens: Tokens of the answers, `reasoning_tokens` included.
        unknown_tokens: Answers without reported tokens.
        cached_tokens: Prompt tokens that came from the server's cache.
        reasoning_tokens: Tokens of the reasoning.
        cut_off: Answers that were truncated at a token limit.
        cost: US dollars.
        unknown_cost: Attempts of unknown cost.
        local: Attempts that cost nothing because of a local address.
        seconds: Time from sending to the last byte, for each attempt with an answer whose time is known.
        first_token_seconds: Time to the first token, for each streamed answer.
        seconds_per_token: Mean time between two tokens, for each streamed answer.
        queued_seconds: Wait before sending, for each attempt with an answer; not part of the other times.
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
        """Known tokens of prompts and answers."""
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
            if cost is None or local:  # a known cost means known tokens, or a built-in model without any
                self.unknown_tokens += attempt.prompt_tokens is None or attempt.completion_tokens is None
            if attempt.seconds is not None:
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
        """All totals, for a file; `cost_usd` is null if no cost is known."""
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
        """Median and 95th percentile of each of the four times; None for a time without values."""
        return {
            "seconds": percentiles(self.seconds),
            "first_token_seconds": percentiles(self.first_token_seconds),
            "seconds_per_output_token": percentiles(self.seconds_per_token, digits=6),
            "queued_seconds": percentiles(self.queued_seconds),
        }

    @property
    def known_cost(self) -> float | None:
        """US dollars, rounded to 8 digits; None if the cost of no attempt is known."""
        return None if self.unknown_cost and self.unknown_cost == self.requests else round(self.cost, 8)


def percentiles(
    values: array[float], of: Sequence[int] = (50, 95), *, digits: int = 4
) -> dict[str, float] | None:
    """Percentiles by the nearest-rank method; None without values.

    Args:
        values: The values.
        of: Percentiles to compute [default: the median and the 95th].
        digits: Decimal places of the result.

    >>> percentiles(array("f", [1, 2, 3, 4]))
    {'p50': 2.0, 'p95': 4.0}
    """
    if not values:
        return None
    ranked = sorted(values)
    return {f"p{p}": round(ranked[math.ceil(p / 100 * len(ranked)) - 1], digits) for p in of}


FREE = BUILT_IN
"""Models that cost nothing and use no tokens."""
UNTIMED = frozenset({"generator", "critic"})
"""Roles in which the calls of free models get one line with their `count` at the end of a start, instead of
one line each, so that a million calls stay cheap. A crash loses only that line, which has no cost. In all
other roles free models are timed like served ones."""


class Ledger(Closable):
    """A `Meter` that writes `ledger.jsonl` and enforces a budget.

    Fields of a line: `time` (seconds since 1970), `attempt` (its number), those of `Attempt`, and

    - `cost`: US dollars; null if the price or the tokens are unknown. 0 for an attempt that did not reach the
      server or that it rejected with an HTTP status of 400 or more.
    - `at_most_tokens`, `at_most_cost`: the worst case at which an attempt with unknown tokens counts in the
      budget.
    - `local`: true if the attempt costs nothing because of a local address.
    - `count`: number of calls that the line stands for (`UNTIMED`).

    Opening an existing ledger restores its totals, so a budget holds for the whole run over all starts.

    Args:
        path: The file.
        prices: Prices by model.
        budget: Limits of the run.
        free: Models that cost nothing.
        beside: Other ledgers that count in the budget, those of further trials.

    Attributes:
        totals: Totals of all attempts.
        by_call: Totals by model and role.

    Raises:
        UsageError: Another process has the ledger open, or a line before the last one is broken.
        ToolassayError: It cannot be written.
    """

    def __init__(
        self,
        path: Path,
        *,
        prices: Mapping[str, Tariff],
        budget: Budget | None = None,
        free: Collection[str] = FREE,
        beside: Iterable[Path] = (),
    ) -> None:
        self.totals = Totals()
        self.by_call: dict[tuple[str, str], Totals] = {}
        self._prices = prices
        self._free = free
        self._numbered = budget is not None and budget.requests is not None
        self._lines = AppendOnlyLines(path, what="ledger")
        self._budget = BudgetKeeper(budget or Budget(), prices)
        self._free_calls: Counter[tuple[str, str, str]] = Counter()
        try:
            for path in beside:
                for attempt, cost, at_most, count, _ in booked(path):
                    if count is None:
                        self._budget.settle(attempt, cost, at_most)
                    else:
                        self._budget.spent.add(Use(count))
            for _, (attempt, cost, at_most, count, local) in self._lines.scan(_read):
                if count is None:
                    self._count(attempt, cost, at_most, local=local)
                else:
                    self._count_many(attempt, count)
        except BaseException:
            self.close()
            raise

    def before(self, model: str, request: ChatRequest) -> None:
        """Reserve the worst case of a request.

        Raises:
            ModelError: It exceeds the budget; the outcome is "budget stop".
        """
        if model in self._free:  # no tokens and no cost, so only the number of requests can be limited
            if not self._numbered:
                return
            request = replace(request, messages=(), parameters={"max_tokens": 0})
        self._budget.reserve(model, request)

    def commit(self, model: str, request: Outstanding) -> None:
        """Reserve the worst case of a request that an earlier start has sent, whatever the limits are."""
        self._budget.commit(model, request)

    def after(self, attempt: Attempt) -> None:
        """Write the line of an attempt.

        Raises:
            ToolassayError: The disk is full.
        """
        cost = self._cost(attempt)
        price = self._prices.get(attempt.model)
        local = price is not None and price.local
        at_most = self._count(attempt, cost, local=local)
        if self._numbered or attempt.model not in self._free or attempt.role not in UNTIMED:
            self._lines.append(_line(attempt, cost, at_most, local=local))
        else:
            self._free_calls[attempt.model, attempt.role, attempt.outcome] += 1

    def close(self) -> None:
        """Write the lines of the untimed calls of free models, and close the file."""
        with contextlib.suppress(ToolassayError):  # these lines have no cost, so losing them is harmless
            for (model, role, outcome), count in sorted(self._free_calls.items()):
                line = _line(Attempt(model, role, "", 1, outcome), 0.0, None)
                self._lines.append({**line, "count": count})
        self._free_calls.clear()
        self._lines.close()

    def to_json(self) -> dict[str, Any]:
        """The totals, also by model and role, and the prices."""
        parts = [
            {"model": model, "role": role, **totals.to_json()}
            for (model, role), totals in sorted(self.by_call.items())
        ]
        prices = {model: self._prices[model].words for model, _ in self.by_call if model in self._prices}
        return {**self.totals.to_json(), "prices": prices, "by_model_and_role": parts}

    def _count(
        self, attempt: Attempt, cost: float | None, at_most: Use | None = None, *, local: bool = False
    ) -> Use | None:
        for totals in self._sums(attempt.model, attempt.role):
            totals.add(attempt, cost, local=local)
        return self._budget.settle(attempt, cost, at_most)

    def _count_many(self, attempt: Attempt, count: int) -> None:
        """Count `count` calls of a free model in an earlier start, all with this model, role and outcome."""
        for totals in self._sums(attempt.model, attempt.role):
            totals.add_free(attempt.outcome, count)
        self._budget.spent.add(Use(count))

    def _sums(self, model: str, role: str) -> tuple[Totals, Totals]:
        return self.totals, self.by_call.setdefault((model, role), Totals())

    def _cost(self, attempt: Attempt) -> float | None:
        tokens = attempt.prompt_tokens, attempt.completion_tokens
        cost = cost_of(
            attempt.model,
            *tokens,
            attempt.cached_tokens,
            prices=self._prices,
            free=self._free,
        )
        unbilled = cost is None and attempt.model in self._prices and attempt.unbilled
        return 0.0 if unbilled else cost


def cost_of(
    model: str,
    prompt_tokens: int | None,
    completion_tokens: int | None,
    cached_tokens: int | None = None,
    *,
    prices: Mapping[str, Tariff],
    free: Collection[str] = FREE,
) -> float | None:
    """US dollars of an answer, as in the ledger; None if its tokens or the price are unknown.

    >>> from toolassay.runs.prices import Price
    >>> cost_of("m", 1000, 100, prices={"m": Price(2.5, 10, "2025-06-01")})
    0.0035
    """
    if model in free:
        return 0.0
    price = prices.get(model)
    if price is not None and price.local:
        return 0.0
    if price is None or prompt_tokens is None or completion_tokens is None:
        return None
    return round(price.of(prompt_tokens, completion_tokens, cached_tokens), 10)


class Booked(NamedTuple):
    """A line of a ledger.

    Attributes:
        attempt: The attempt.
        cost: US dollars; None if unknown.
        at_most: Worst case at which an attempt of unknown cost counts in a budget.
        calls: Number of calls of a free model that the line stands for; None for a single call.
        local: Whether it cost nothing because of a local address.
    """

    attempt: Attempt
    cost: float | None
    at_most: Use | None
    calls: int | None
    local: bool = False


def booked(path: Path) -> Iterator[Booked]:
    """Yield the lines of a ledger, without lock or repair; none if the file is missing.

    Raises:
        UsageError: A line before the last one is broken.
    """
    lines = AppendOnlyLines(path, what="ledger", read_only=True)
    try:
        for _, line in lines.scan(_read):
            yield line
    finally:
        lines.close()


def require_prices(models: Collection[str], prices: Mapping[str, Tariff], budget: Budget) -> None:
    """Check that every model has a price if the budget limits the cost.

    Raises:
        UsageError: A model has none.
    """
    if budget.cost is None:
        return
    for model in models:
        if model not in prices and model not in FREE:
            raise UsageError(
                f"--max_cost needs a price, and none is known for '{model}' at this address",
                fix="pass a table with --prices FILE (your own model may cost 0), or use --max_tokens_total",
            )


def _line(
    attempt: Attempt, cost: float | None, at_most: Use | None, *, local: bool = False
) -> dict[str, Any]:
    line = {
        "time": round(time.time(), 3),
        "model": attempt.model,
        "role": attempt.role,
        "item": attempt.item,
        "attempt": attempt.number,
        "outcome": attempt.outcome,
        "status": attempt.status,
        "prompt_tokens": attempt.prompt_tokens,
        "completion_tokens": attempt.completion_tokens,
        "seconds": None if attempt.seconds is None else round(attempt.seconds, 4),
        "first_token_seconds": attempt.first_token_seconds,
        "cost": cost,
    }
    if attempt.cached_tokens is not None:
        line["cached_tokens"] = attempt.cached_tokens
    if attempt.reasoning_tokens is not None:
        line["reasoning_tokens"] = attempt.reasoning_tokens
    if attempt.queued_seconds is not None:
        line["queued_seconds"] = round(attempt.queued_seconds, 4)
    if attempt.cut_off:
        line["cut_off"] = True
    if attempt.only_thinking:
        line["only_thinking"] = True
    if attempt.custom_id is not None:
        line["custom_id"] = attempt.custom_id
    if local:
        line["local"] = True
    if at_most is not None:
        line |= {"at_most_tokens": round(at_most.tokens), "at_most_cost": round(at_most.cost, 10)}
    return line


def _read(line: Mapping[str, Any]) -> Booked:
    attempt = Attempt(
        model=text_in(line, "model"),
        role=text_in(line, "role"),
        item=text_in(line, "item"),
        number=_whole(line.get("attempt", 1)) or 1,
        outcome=text_in(line, "outcome"),
        status=_whole(line.get("status")),
        prompt_tokens=_whole(line.get("prompt_tokens")),
        completion_tokens=_whole(line.get("completion_tokens")),
        seconds=_number(line.get("seconds", 0.0)),
        first_token_seconds=_number(line.get("first_token_seconds")),
        cached_tokens=_whole(line.get("cached_tokens")),
        reasoning_tokens=_whole(line.get("reasoning_tokens")),
        queued_seconds=_number(line.get("queued_seconds")),
        cut_off=line.get("cut_off") is True,
        only_thinking=line.get("only_thinking") is True,
        custom_id=None if line.get("custom_id") is None else text_in(line, "custom_id"),
    )
    at_most = None
    if "at_most_tokens" in line:
        at_most = Use(1, float(line["at_most_tokens"]), float(line["at_most_cost"]))
    local = line.get("local") is True
    return Booked(attempt, _number(line.get("cost")), at_most, _whole(line.get("count")), local)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
