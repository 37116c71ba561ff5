"""The ledger of a run: one line per attempt, and what follows from the lines: totals, budget, words.

Whatever is known of requests, tokens, money and time is derived from these lines (`recorded_usage` does it
for runs that are not open).
"""

from __future__ import annotations

import math
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from toolassay.console.screen import WARNING, Screen
from toolassay.errors import ToolassayError, UsageError, as_called
from toolassay.files.locks import Closable
from toolassay.models import ChatRequest, ModelOptions
from toolassay.models.protocol import Attempt
from toolassay.models.registry import BUILT_IN
from toolassay.runs.budget import Budget, BudgetKeeper, Outstanding, Use
from toolassay.runs.journal import AppendOnlyLines, always, decoder_of
from toolassay.runs.prices import LOCAL, Tariff, prices_of

ANSWERS = ("answered", "refused")
"""Outcomes of attempts with an answer."""
FREE = BUILT_IN
"""Models that cost nothing and use no tokens."""
UNTIMED = frozenset({"generator", "critic"})
"""Roles in which the calls of free models get one line with their `count` at the end of a start, instead of
one line each, so that a million calls stay cheap. A crash loses only that line, which has no cost. In all
other roles free models are timed like served ones."""
NO_PRICE = "unknown (no price; --prices FILE gives one)"
FIRST = 10
"""Answers of a start after which a token limit that is too low shows."""
_NOTICED = 0.01  # seconds; a shorter wait is no queue


class LedgerLine(Attempt, kw_only=True):
    """A line of `ledger.jsonl`: an attempt, and what it cost.

    Attributes:
        number: As of the attempt; earlier versions counted from 0.
        time: When it ended, in seconds since 1970.
        cost: US dollars; None if the price or the tokens are unknown. 0 for an attempt that did not reach the
            server or that it rejected with an HTTP status of 400 or more.
        local: Whether it cost nothing because of a local address.
        at_most_tokens: Worst case at which an attempt with unknown tokens counts in the budget.
        at_most_cost: The same in US dollars.
        count: Number of calls of a free model that the line stands for (`UNTIMED`); None for a single call.
    """

    number: int = always(1, name="attempt")
    time: float = 0.0
    cost: float | None = always(None)
    local: bool = False
    at_most_tokens: float | None = None
    at_most_cost: float = 0.0
    count: int | None = None

    @classmethod
    def of(cls, attempt: Attempt, cost: float | None, **more: Any) -> LedgerLine:
        """The line of an attempt that has just ended."""
        line = cls(**structs.asdict(attempt), time=round(time.time(), 3), cost=cost, **more)
        line.seconds = line.seconds and round(line.seconds, 4)
        line.queued_seconds = line.queued_seconds and round(line.queued_seconds, 4)
        return line

    @property
    def at_most(self) -> Use | None:
        """The worst case, if the attempt counts at that."""
        return None if self.at_most_tokens is None else Use(1, self.at_most_tokens, self.at_most_cost)

    def __post_init__(self) -> None:
        self.number = self.number or 1


def _lines_of(lines: AppendOnlyLines) -> Iterator[LedgerLine]:
    return (line for _, line in lines.scan(lambda line: line, decoder_of(LedgerLine)))


def booked(path: Path) -> Iterator[LedgerLine]:
    """Yield the lines of a ledger, without lock or repair; none if the file is missing.

    Raises:
        UsageError: A line before the last one is broken.
    """
    with AppendOnlyLines(path, what="ledger", read_only=True) as lines:
        yield from _lines_of(lines)


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

    def add(self, line: LedgerLine) -> None:
        """Count a line; one with a `count` stands for calls that cost nothing and used no tokens."""
        if line.count is not None:
            self.requests += line.count
            self.outcomes[line.outcome] += line.count
            return
        self.requests += 1
        self.outcomes[line.outcome] += 1
        self.retries += line.number > 1
        self.prompt_tokens += line.prompt_tokens or 0
        self.completion_tokens += line.completion_tokens or 0
        self.cached_tokens += line.cached_tokens or 0
        self.reasoning_tokens += line.reasoning_tokens or 0
        self.cut_off += line.cut_off
        self.local += line.local
        self.unknown_cost += line.cost is None
        self.cost += line.cost or 0.0
        if line.outcome in ANSWERS:
            # A known cost means known tokens, or a built-in model without any.
            if line.cost is None or line.local:
                self.unknown_tokens += line.prompt_tokens is None or line.completion_tokens is None
            for times, value in (
                (self.seconds, line.seconds),
                (self.first_token_seconds, line.first_token_seconds),
                (self.seconds_per_token, line.seconds_per_token),
                (self.queued_seconds, line.queued_seconds),
            ):
                if value is not None:
                    times.append(value)

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


class Ledger(Closable):
    """The `Meter` of a run: books each attempt in `ledger.jsonl`, within a budget. It is opened by `with`.

    Opening an existing ledger restores its totals, so a budget holds for the whole run over all starts.

    Args:
        path: The file.
        prices: Prices by model.
        budget: Limits of the run.
        beside: Other ledgers that count in the budget, those of further trials.
        screen: Shows at the end what the run has used so far, and early that a token limit is too low.

    Attributes:
        prices: Prices by model.
        totals: Totals of all attempts.
        by_call: Totals by model and role.
        before_start: Attempts of earlier starts by outcome.

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
        beside: Iterable[Path] = (),
        screen: Screen | None = None,
    ) -> None:
        self.totals = Totals()
        self.by_call: dict[tuple[str, str], Totals] = {}
        self.before_start = Counter[str]()
        self.prices = prices
        self._path = path
        self._beside = beside if budget else ()
        self._screen = screen
        self._numbered = budget is not None and budget.requests is not None
        self._budget = BudgetKeeper(budget or Budget(), prices)
        self._free_calls: Counter[tuple[str, str, str]] = Counter()
        self._first: list[Attempt] = []

    def __enter__(self) -> Ledger:
        self._lines = AppendOnlyLines(self._path, what="ledger")
        try:
            for beside in self._beside:
                for line in booked(beside):
                    self._spend(line)
            for line in _lines_of(self._lines):
                self._count(line)
        except BaseException:
            self._lines.close()
            raise
        self.before_start = Counter(self.totals.outcomes)
        return self

    def before(self, model: str, request: ChatRequest) -> None:
        """Reserve the worst case of a request.

        Raises:
            ModelError: It exceeds the budget; the outcome is "budget stop".
        """
        if model in FREE:  # no tokens and no cost, so only the number of requests can be limited
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
        price = self.prices.get(attempt.model)
        tokens = attempt.prompt_tokens, attempt.completion_tokens, attempt.cached_tokens
        cost = cost_of(attempt.model, *tokens, prices=self.prices)
        if cost is None and price is not None and attempt.unbilled:
            cost = 0.0
        line = LedgerLine.of(attempt, cost, local=price is not None and price.local)
        worst = self._count(line)
        if self._numbered or attempt.model not in FREE or attempt.role not in UNTIMED:
            if worst is not None:
                line.at_most_tokens = round(worst.tokens)
                line.at_most_cost = round(worst.cost, 10)
            self._lines.append(msgspec.to_builtins(line))
        else:
            self._free_calls[attempt.model, attempt.role, attempt.outcome] += 1
        if self._screen is not None and attempt.outcome in ANSWERS and len(self._first) < FIRST:
            self._first.append(attempt)
            if len(self._first) == FIRST and all(attempt.cut_off for attempt in self._first):
                thinking = sum(attempt.only_thinking for attempt in self._first)
                also = f"; in {thinking} of them thinking used up all tokens and no answer follows"
                self._screen.say(
                    f"{WARNING}the first {FIRST} answers all end at the token limit (finish reason length)"
                    f"{also if thinking else ''}. Raise it with --max_tokens N (or in --extra_body)"
                    "; where the server's context is the limit, raise that (llama.cpp: --n_ctx, vLLM: "
                    f"--max-model-len). {as_called('infer', retry_malformed=True)}, or the same generate "
                    "command, asks them again"
                )

    def close(self) -> None:
        """Write the lines of the untimed calls of free models, close the file, and show what was used."""
        with suppress(ToolassayError):  # these lines have no cost, so losing them is harmless
            for (model, role, outcome), count in sorted(self._free_calls.items()):
                calls = Attempt(model, role, "", 1, outcome)
                self._lines.append(msgspec.to_builtins(LedgerLine.of(calls, 0.0, count=count)))
        self._free_calls.clear()
        self._lines.close()
        if self._screen is not None and self.totals.requests > self.before_start.total():
            for text in self._words():
                self._screen.say(text)

    @property
    def used(self) -> str:
        """Tokens and money in a few words; empty if only built-in models were asked."""
        if self._is_free:
            return ""
        totals = self.totals
        cost = self.totals.known_cost
        is_known = totals.tokens or not totals.unknown_tokens
        tokens = f"{totals.tokens:,} tokens" if is_known else "tokens unknown"
        if cost is None:
            return f"{tokens}, cost unknown"
        if totals.local and totals.local == totals.requests:
            return f"{tokens}, $0 (local)"
        return f"{tokens}, ${cost:.4f}{' and more' if totals.unknown_cost else ''}"

    def to_json(self) -> dict[str, Any]:
        """The totals, also by model and role, and the prices."""
        parts = [
            {"model": model, "role": role, **totals.to_json()}
            for (model, role), totals in sorted(self.by_call.items())
        ]
        prices = {model: self.prices[model].words for model, _ in self.by_call if model in self.prices}
        return {**self.totals.to_json(), "prices": prices, "by_model_and_role": parts}

    def _count(self, line: LedgerLine) -> Use | None:
        """Add a line to all sums; the worst case if it counts at that in the budget."""
        for totals in (self.totals, self.by_call.setdefault((line.model, line.role), Totals())):
            totals.add(line)
        return self._spend(line)

    def _spend(self, line: LedgerLine) -> Use | None:
        if line.count is None:
            return self._budget.settle(line, line.cost, line.at_most)
        self._budget.spent.add(Use(line.count))
        return None

    @property
    def _is_free(self) -> bool:
        return all(model in FREE for model, _ in self.by_call)

    def _words(self) -> Iterator[str]:
        totals = self.totals
        if self._is_free:
            yield f"used by this run so far: {totals.requests} requests, answered without a server"
            if totals.seconds:
                yield f"  seconds to an answer, local: {_times(totals.seconds, places=4)}"
            return
        retries = f", {totals.retries} of them again after a failure" if totals.retries else ""
        yield f"used by this run so far:\n  requests: {totals.requests} sent{retries}"
        failed = [f"{count} {name}" for name, count in totals.outcomes.most_common() if name not in ANSWERS]
        if failed:
            yield f"  requests not answered: {', '.join(failed)}"
        unknown = f" and those of {totals.unknown_tokens} answers, not said" if totals.unknown_tokens else ""
        cached = f" ({totals.cached_tokens} of them cached)" if totals.cached_tokens else ""
        thought = f" ({totals.reasoning_tokens} of them thinking)" if totals.reasoning_tokens else ""
        written = f"{totals.completion_tokens} written{thought}"
        yield f"  tokens: {totals.prompt_tokens} read{cached}, {written}{unknown}"
        if totals.cut_off:
            yield f"  answers cut off at the token limit: {totals.cut_off}"
        yield f"  money: {_money(totals)}"
        has_queued = max(totals.queued_seconds, default=0.0) >= _NOTICED
        for what, values, places in (
            ("to an answer", totals.seconds, 2),
            ("to its first token", totals.first_token_seconds, 2),
            ("from token to token", totals.seconds_per_token, 4),
            ("waiting for a turn, before sending", totals.queued_seconds if has_queued else None, 2),
        ):
            if values:
                yield f"  seconds {what}: {_times(values, places=places)}"
        for model, price in self.prices.items():
            if not price.local:
                yield f"  price of {model}: {price.words}"


def cost_of(
    model: str,
    prompt_tokens: int | None,
    completion_tokens: int | None,
    cached_tokens: int | None = None,
    *,
    prices: Mapping[str, Tariff],
) -> float | None:
    """US dollars of an answer, as in the ledger; None if its tokens or the price are unknown.

    >>> from toolassay.runs.prices import Price
    >>> cost_of("m", 1000, 100, prices={"m": Price(2.5, 10, "2025-06-01")})
    0.0035
    """
    if model in FREE:
        return 0.0
    price = prices.get(model)
    if price is not None and price.local:
        return 0.0
    if price is None or prompt_tokens is None or completion_tokens is None:
        return None
    return round(price.of(prompt_tokens, completion_tokens, cached_tokens), 10)


def prices_within(
    models: Sequence[str], budget: Budget | None, table: Path | None, options: ModelOptions | None = None
) -> Mapping[str, Tariff]:
    """The prices of a run's models.

    Args:
        models: All that may be asked.
        budget: Limits of the run; one in dollars needs every price.
        table: A table of prices; it takes precedence.
        options: With the address of the server: a local one costs nothing.

    Raises:
        UsageError: The table is malformed, or a price is missing.
    """
    prices = prices_of([model for model in dict.fromkeys(models) if model not in FREE], options, table)
    for model in models if budget is not None and budget.cost is not None else ():
        if model not in prices and model not in FREE:
            raise UsageError(
                f"--max_cost needs a price, and none is known for '{model}' at this address",
                fix="pass a table with --prices FILE (your own model may cost 0), or use --max_tokens_total",
            )
    return prices


def _money(totals: Totals) -> str:
    known_cost = totals.known_cost
    if known_cost is None and totals.requests:
        return NO_PRICE
    amount = f"${known_cost or 0:.4f}"
    if totals.local:
        whose = "" if totals.local == totals.requests else f": {totals.local} requests"
        amount += f" ({LOCAL.words}{whose})"
    if totals.unknown_cost:
        return f"{amount} and what {totals.unknown_cost} requests of unknown cost come to"
    return amount


def _times(values: array[float], *, places: int) -> str:
    quantiles = percentiles(values) or {}
    return f"{quantiles['p50']:.{places}f} (median), {quantiles['p95']:.{places}f} (95 %)"
