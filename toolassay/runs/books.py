"""The books of a stage: the ledger beside its journal, what it may use, and what it used, in words."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.models import Attempt, ChatRequest, ModelOptions
from toolassay.runs.budget import Budget, Outstanding
from toolassay.runs.ledger import ANSWERS, FREE, Ledger, Totals, cost_of, percentiles, require_prices
from toolassay.runs.manifest import LEDGER, RetryPlan
from toolassay.runs.prices import LOCAL, Tariff, prices_of
from toolassay.screen import WARNING, Figures, Screen

if TYPE_CHECKING:
    from toolassay.runs.runner import RunSummary

NO_BUDGET = Budget()
FIRST = 10
"""Answers of a start after which a token limit that is too low shows."""
_NOTICED = 0.01  # seconds; a shorter wait is no queue
NO_PRICE = "unknown (no price; --prices FILE gives one)"


class Books:
    """Prices and limits, checked before anything is written; `open` then gives the ledger.

    It is the meter that models are made with: what it is told goes to the ledger that is open.

    Args:
        models: who will be asked.
        budget: what the run may use at most.
        prices: a table of prices; what is in it counts before all else.
        options: where the models are asked: a local address costs nothing.

    Raises:
        UsageError: the table is malformed, or a limit in dollars needs a price that is not known.
    """

    def __init__(
        self,
        models: Sequence[str],
        budget: Budget | None,
        prices: Path | None,
        options: ModelOptions | None = None,
    ) -> None:
        self._models = list(dict.fromkeys(models))
        self._budget = budget or NO_BUDGET
        self._ledger: Ledger | None = None
        self._before = Counter[str]()
        self._first_answers = FirstAnswers()
        paid = [model for model in self._models if model not in FREE]
        self.prices: Mapping[str, Tariff] = prices_of(paid, options, prices)
        require_prices(self._models, self.prices, self._budget)

    @contextmanager
    def open(self, run_folder: Path, screen: Screen, beside: Sequence[Path] = ()) -> Iterator[Ledger]:
        """The ledger of a run; however the block ends, the screen is told what the run has used so far.

        Args:
            run_folder: where it lies.
            screen: who is told.
            beside: the ledgers of other trials, which share the budget.

        Raises:
            UsageError: it is malformed, or another process has it open.
            ToolassayError: it cannot be written.
        """
        others = beside if self._budget else ()
        with Ledger(run_folder / LEDGER, prices=self.prices, budget=self._budget, beside=others) as ledger:
            self._ledger, self._before = ledger, Counter(ledger.totals.outcomes)
            self._first_answers = FirstAnswers(screen)
            try:
                yield ledger
            finally:
                if ledger.totals.requests > self._before.total():
                    self._tell(ledger.totals, screen)

    def before(self, model: str, request: ChatRequest) -> None:
        """Ask the ledger.

        Raises:
            ModelError: with outcome "budget stop": the budget does not allow it.
        """
        if self._ledger is not None:
            self._ledger.before(model, request)

    def commit(self, model: str, request: Outstanding) -> None:
        """Tell the ledger of a request that an earlier start has sent."""
        if self._ledger is not None:
            self._ledger.commit(model, request)

    def after(self, attempt: Attempt) -> None:
        """Tell the ledger."""
        if self._ledger is not None:
            self._ledger.after(attempt)
        self._first_answers.add(attempt)

    def figures(self, summary: RunSummary) -> Figures:
        """How far a run is, for those who watch its progress."""
        asked = sum(summary.outcomes.values())
        if self._ledger is None:
            return Figures(asked, summary.failed, 0)
        totals = self._ledger.totals
        used = "" if self._all_free else _used(totals)
        since = Counter(totals.outcomes)
        since.subtract(self._before)
        answers = sum(since[name] for name in ANSWERS)
        timeouts = since["timeout"] + since["time limit"]
        return Figures(asked, summary.failed, answers, timeouts, used)

    def cost_of(
        self,
        model: str,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        cached_tokens: int | None = None,
    ) -> float | None:
        """US dollars of an answer, as the ledger books it; None where the price is unknown."""
        tokens = prompt_tokens, completion_tokens, cached_tokens
        return cost_of(model, *tokens, prices=self.prices)

    @property
    def _all_free(self) -> bool:
        return all(model in FREE for model in self._models)

    def _tell(self, totals: Totals, screen: Screen) -> None:
        if self._all_free:
            screen.say(f"used by this run so far: {totals.requests} requests, answered without a server")
            if totals.seconds:
                screen.say(f"  seconds to an answer, local: {_times(totals.seconds, places=4)}")
            return
        screen.say("used by this run so far:")
        for line in usage_lines(totals):
            screen.say(line)
        for model, price in self.prices.items():
            if not price.local:
                screen.say(f"  price of {model}: {price.words}")


class FirstAnswers:
    """Warns once where the first ten answers of a start all ended at a token limit.

    Args:
        screen: shows the warning; None shows none.
    """

    def __init__(self, screen: Screen | None = None) -> None:
        self._screen = screen
        self._cut_off = self._only_thinking = 0

    def add(self, attempt: Attempt) -> None:
        """Look at one attempt; failures say nothing."""
        if self._screen is None or attempt.outcome not in ANSWERS:
            return
        if not attempt.cut_off:
            self._screen = None
            return
        self._cut_off += 1
        self._only_thinking += attempt.only_thinking
        if self._cut_off == FIRST:
            self._screen.say(f"{WARNING}{self._words}")
            self._screen = None

    @property
    def _words(self) -> str:
        thinking = ""
        if self._only_thinking:
            thinking = f"; in {self._only_thinking} of them thinking used up all tokens and no answer follows"
        return (
            f"the first {FIRST} answers all end at the token limit (finish reason length){thinking}. "
            "Raise it with --max_tokens N (or max_tokens in --extra_body); where the server's context is the "
            "limit, raise that (llama.cpp: --n_ctx, vLLM: --max-model-len). inference.py --retry_malformed, "
            "or the same generate command, asks them again"
        )


def usage_lines(totals: Totals) -> Iterator[str]:
    """What a run has used so far, for the screen."""
    retries = f", {totals.retries} of them again after a failure" if totals.retries else ""
    yield f"  requests: {totals.requests} sent{retries}"
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
    if totals.seconds:
        yield f"  seconds to an answer: {_times(totals.seconds)}"
    if totals.first_token_seconds:
        yield f"  seconds to its first token: {_times(totals.first_token_seconds)}"
    if totals.seconds_per_token:
        yield f"  seconds from token to token: {_times(totals.seconds_per_token, places=4)}"
    if max(totals.queued_seconds, default=0.0) >= _NOTICED:
        yield f"  seconds waiting for a turn, before sending: {_times(totals.queued_seconds)}"


def summary_facts(lines: int, answered_before: int, summary: RunSummary, ledger: Ledger) -> dict[str, Any]:
    """What `summary.json` says: how the last start ended, and what the whole run has used."""
    return {
        "lines": lines,
        "answered_before": answered_before,
        "outcomes": dict(sorted(summary.outcomes.items())),
        "stop": summary.stop,
        "used": ledger.to_json(),
    }


def report_failures(summary: RunSummary, screen: Screen) -> None:
    """Warn of requests without an answer."""
    if summary.failed:
        failures = "".join(f"\n  {failure}" for failure in summary.failures)
        screen.say(
            f"{WARNING}{summary.failed} requests have no answer: the same command asks them again{failures}"
        )


def report_stop(summary: RunSummary, screen: Screen, *, again: str = "") -> None:
    """Say that the budget ended the run, and how to go on."""
    if summary.stop is not None:
        flag = summary.stop.partition(" ")[0]
        screen.say(
            f"{WARNING}stopped: {summary.stop}; {summary.unasked} left. "
            f"The same command{again} with a higher {flag} goes on where this one stopped"
        )


def report_retries(retry: RetryPlan, what: str, screen: Screen) -> None:
    """Say what `--retry_malformed` brought, and what it left to another start."""
    if retry.wanted:
        screen.say(f"--retry_malformed: {retry.replaced} {what} have a new answer")
    if retry.left:
        screen.say(
            f"{WARNING}{retry.left} {what} without an answer were not asked: --max_tokens is not that of the "
            "run. The command of the run, without --retry_malformed, asks them"
        )


def _used(totals: Totals) -> str:
    """Tokens and money in a few words."""
    tokens = (
        f"{_short(totals.tokens)} tokens" if totals.tokens or not totals.unknown_tokens else "tokens unknown"
    )
    cost = totals.known_cost
    if cost is None:
        return f"{tokens}, cost unknown"
    if totals.local and totals.local == totals.requests:
        return f"{tokens}, $0 (local)"
    return f"{tokens}, ${cost:.4f}{' and more' if totals.unknown_cost else ''}"


def _short(count: int) -> str:
    """A number of at most four digits and a letter.

    >>> _short(950), _short(45_678), _short(7_000_000)
    ('950', '45.7k', '7.0M')
    """
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{letter}"
    return str(count)


def _money(totals: Totals) -> str:
    known = totals.known_cost
    if known is None and totals.requests:
        return NO_PRICE
    amount = f"${known or 0:.4f}"
    if totals.local:
        whose = "" if totals.local == totals.requests else f": {totals.local} requests"
        amount += f" ({LOCAL.words}{whose})"
    if totals.unknown_cost:
        return f"{amount} and what {totals.unknown_cost} requests of unknown cost come to"
    return amount


def _times(values: array[float], *, places: int = 2) -> str:
    found = percentiles(values) or {}
    return f"{found['p50']:.{places}f} (median), {found['p95']:.{places}f} (95 %)"
