"""The ledger of a run: one line per attempt, and the sums of requests, tokens, dollars and time."""

from __future__ import annotations

import contextlib
import math
import time
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from toolassay.errors import ToolassayError, UsageError
from toolassay.models import ChatRequest
from toolassay.models.protocol import Attempt
from toolassay.models.registry import BUILT_IN
from toolassay.runs.budget import Budget, BudgetKeeper, Use
from toolassay.runs.journal import AppendOnlyLines, text_in
from toolassay.runs.prices import Tariff

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


LEDGER = "ledger.jsonl"
FREE = BUILT_IN
"""Models that cost nothing and use no tokens."""
UNTIMED = frozenset({"generator", "critic"})
"""Roles in which calls of free models get no line each, for a million of them must stay cheap, but one line
for all of a start, with their `count`, when it ends. A crash costs that line; there is no money in it. In all
other roles they are timed as those of a served model are."""


class Ledger:
    """A `Meter` that writes `ledger.jsonl` and keeps to a budget.

    A line holds time (seconds since 1970), model, role, item, number of the attempt, outcome, status,
    prompt_tokens, completion_tokens, seconds, first_token_seconds and cost (US dollars; null where no
    price is known, or the server did not say what was used); where it did not say, at_most_tokens and
    at_most_cost are what the attempt is counted with in a budget. An attempt that reached nobody, or that
    the server refused with an HTTP status of 400 or more, costs nothing. cached_tokens, where the server said
    them, are those of the prompt that came from its cache; reasoning_tokens, likewise, are those of the
    completion that were thinking. queued_seconds is the wait for a turn before sending, which is not in
    `seconds`. `local` is true where nothing is charged because of the address; cut_off where an answer ended
    at a token limit, only_thinking where it has no word after the thoughts. Opening it again reads the sums
    back, so that a budget holds for the whole run, however often it was started.

    Args:
        path: the file.
        prices: by model.
        budget: what the run may use at most.
        free: models that cost nothing; where requests are not limited, their calls of one start in an untimed
            role get one line.
        beside: other ledgers that count in the budget: those of further trials.

    Raises:
        UsageError: another process has it open, or a line in the middle is broken.
        ToolassayError: it cannot be written.
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
        """Set the worst case of a request aside.

        Raises:
            ModelError: with outcome "budget stop": the budget does not allow it.
        """
        if model in self._free:  # no tokens, no money: only their number can be limited
            if not self._numbered:
                return
            request = replace(request, messages=(), parameters={"max_tokens": 0})
        self._budget.reserve(model, request)

    def after(self, attempt: Attempt) -> None:
        """Write an attempt down.

        Raises:
            ToolassayError: the disk is full.
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
        """Write the calls of free models down, and let go of the file."""
        with contextlib.suppress(ToolassayError):  # no money is in them
            for (model, role, outcome), count in sorted(self._free_calls.items()):
                line = _line(Attempt(model, role, "", 1, outcome), 0.0, None)
                self._lines.append({**line, "count": count})
        self._free_calls.clear()
        self._lines.close()

    def to_json(self) -> dict[str, Any]:
        """The sums, in all and by model and role."""
        parts = [
            {"model": model, "role": role, **totals.to_json()}
            for (model, role), totals in sorted(self.by_call.items())
        ]
        prices = {model: self._prices[model].words for model, _ in self.by_call if model in self._prices}
        return {**self.totals.to_json(), "prices": prices, "by_model_and_role": parts}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _count(
        self, attempt: Attempt, cost: float | None, at_most: Use | None = None, *, local: bool = False
    ) -> Use | None:
        for totals in self._sums(attempt.model, attempt.role):
            totals.add(attempt, cost, local=local)
        return self._budget.settle(attempt, cost, at_most)

    def _count_many(self, attempt: Attempt, count: int) -> None:
        """Count the calls of a free model in an earlier start, all like this one."""
        for totals in self._sums(attempt.model, attempt.role):
            totals.add_free(attempt.outcome, count)
        self._budget.spent.add(Use(count))

    def _sums(self, model: str, role: str) -> tuple[Totals, Totals]:
        return self.totals, self.by_call.setdefault((model, role), Totals())

    def _cost(self, attempt: Attempt) -> float | None:
        tokens = attempt.prompt_tokens, attempt.completion_tokens
        cost = cost_of(attempt.model, *tokens, attempt.cached_tokens, prices=self._prices, free=self._free)
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
    """US dollars of an answer, as the ledger books it; None where tokens or price are not known.

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
        attempt: what was tried.
        cost: US dollars; None where nobody knows.
        at_most: what it is counted with in a budget where nobody knows.
        calls: of how many calls of a free model the line is; None of a single one.
        local: whether it cost nothing because of the address.
    """

    attempt: Attempt
    cost: float | None
    at_most: Use | None
    calls: int | None
    local: bool = False


def booked(path: Path) -> Iterator[Booked]:
    """The lines of a ledger, read without a lock and without mending anything; none where there is no file.

    Raises:
        UsageError: a line in the middle is broken.
    """
    lines = AppendOnlyLines(path, what="ledger", read_only=True)
    try:
        for _, line in lines.scan(_read):
            yield line
    finally:
        lines.close()


def require_prices(models: Collection[str], prices: Mapping[str, Tariff], budget: Budget) -> None:
    """Refuse a limit in dollars for a model whose price nobody knows.

    Raises:
        UsageError: names the model.
    """
    if budget.cost is None:
        return
    for model in models:
        if model not in prices and model not in FREE:
            raise UsageError(
                f"--max_cost needs a price, and none is known for '{model}' at this address",
                fix="give a table with --prices FILE (a model of your own may cost 0), or use "
                "--max_tokens_total",
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
        "seconds": round(attempt.seconds, 4),
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
        seconds=float(line.get("seconds", 0.0)),
        first_token_seconds=_number(line.get("first_token_seconds")),
        cached_tokens=_whole(line.get("cached_tokens")),
        reasoning_tokens=_whole(line.get("reasoning_tokens")),
        queued_seconds=_number(line.get("queued_seconds")),
        cut_off=line.get("cut_off") is True,
        only_thinking=line.get("only_thinking") is True,
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
