"""The books of a run: one line an attempt, whoever made it, and the sums over all of them."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from toolassay.errors import ToolassayError, UsageError
from toolassay.models import ChatRequest
from toolassay.models.meter import Attempt
from toolassay.models.registry import BUILT_IN
from toolassay.runs.budget import Budget, BudgetKeeper, Use
from toolassay.runs.lines import AppendOnlyLines, text_in
from toolassay.runs.prices import Tariff
from toolassay.runs.totals import Totals

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
