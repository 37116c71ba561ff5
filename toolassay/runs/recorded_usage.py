"""Cost and latency of finished or running runs, read from their files without a lock."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from toolassay.errors import UsageError
from toolassay.runs.journal import Journal, KeyIndex
from toolassay.runs.ledger import ANSWERS, FREE, Totals, booked, percentiles
from toolassay.runs.record import asked_again_phrase

Amount = TypeVar("Amount", int, float)


def recorded_journal(path: Path) -> Journal:
    """Open a journal read-only, without a lock; a torn last line is skipped.

    Raises:
        UsageError: The file is missing, or a line before the last one is broken.
    """
    if not path.is_file():
        raise UsageError("there is no journal", file=path, fix="check --llm and --prediction_dir")
    return Journal(path, read_only=True)


@dataclass(slots=True)
class ItemUsage:
    """What one item used, over all its requests.

    Attributes:
        seconds: Time of its answers at the server; None if unknown.
        dollars: Known cost, failed requests included; None if a cost is unknown.
        prompt_tokens: Tokens that were sent; None if unknown.
        completion_tokens: Tokens that were written; None if unknown.
        is_answered: Whether there is an answer.
    """

    seconds: float | None = 0.0
    dollars: float | None = 0.0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    is_answered: bool = False


def usage_by_item(ledger: Path) -> dict[str, ItemUsage]:
    """What each item used, by id as text; empty without a ledger, or if it does not name the items.

    Raises:
        UsageError: The ledger is broken.
    """
    usages: dict[str, ItemUsage] = {}
    for line in booked(ledger):
        if line.count is not None:
            return {}
        usage_of_item = usages.setdefault(item_id(line.item), ItemUsage())
        usage_of_item.dollars = _plus(usage_of_item.dollars, line.cost)
        if line.outcome in ANSWERS:
            usage_of_item.is_answered = True
            usage_of_item.seconds = _plus(usage_of_item.seconds, line.seconds)
            usage_of_item.prompt_tokens = _plus(usage_of_item.prompt_tokens, line.prompt_tokens)
            usage_of_item.completion_tokens = _plus(usage_of_item.completion_tokens, line.completion_tokens)
    return usages


def item_id(key: str) -> str:
    """The id as text of an item's key, which is JSON in a ledger.

    >>> item_id('"a-1"'), item_id("17"), item_id("a-1")
    ('a-1', '17', 'a-1')
    """
    return str(json.loads(key)) if key.startswith('"') else key


def _plus(first: Amount | None, second: Amount | None) -> Amount | None:
    return None if first is None or second is None else first + second


# Percentiles of the seconds of a task.
_OF_A_TASK = (50, 90, 95, 99)


@dataclass
class Spending:
    """Sums over the ledgers of a run and its further trials; each trial of a task counts as a task.

    Uses about 40 bytes of memory per task and 4 per call.

    Attributes:
        only: Items whose calls count; None for all.
        ledgers: Number of ledgers.
        totals: Totals over all calls.
        at_most: Known worst case, in US dollars, of the calls of unknown cost.
        local: Answers of built-in models.
        untimed: Calls without times, of lines with a `count`.
        seconds: Sum of the times of the answers, for each task; nan if one of them is unknown.
        answers: Number of answers, for each task.
    """

    only: Collection[str] | None = None
    ledgers: int = 0
    totals: Totals = field(default_factory=Totals)
    at_most: float = 0.0
    local: int = 0
    untimed: int = 0
    seconds: array[float] = field(default_factory=lambda: array("d"))
    answers: array[int] = field(default_factory=lambda: array("l"))

    def add(self, ledger: Path) -> None:
        """Add one ledger; a missing file is ignored.

        Raises:
            UsageError: A line before the last one is broken.
        """
        if not ledger.is_file():
            return
        self.ledgers += 1
        first = len(self.seconds)
        tasks = KeyIndex()
        for line in booked(ledger):
            if line.count is not None:
                self.untimed += line.count
                self.totals.add(line)
                continue
            if self.only is not None and line.item not in self.only:
                continue
            self.totals.add(line)
            self.at_most += line.at_most_cost
            position = tasks.get(line.item)
            if position is None:
                position = len(tasks)
                tasks.set(line.item, position)
                self.seconds.append(0.0)
                self.answers.append(0)
            if line.outcome in ANSWERS:
                self.seconds[first + position] += math.nan if line.seconds is None else line.seconds
                self.answers[first + position] += 1
                self.local += line.model in FREE

    def cost(self, *, tasks: int, correct: int) -> dict[str, Any] | None:
        """Cost and tokens, failed requests and retries included; None without a ledger.

        Args:
            tasks: Number of tasks that were run; used where untimed calls do not name their items.
            correct: Number of tasks that are correct.

        Returns:
            Field values for a metrics file. `usd` and the values derived from it are null if no price is
            known, `usd_per_correct_task` also if no task is correct. `usd_at_most` adds the worst case of
            the calls of unknown cost.
        """
        if not self.ledgers:
            return None
        totals = self.totals
        usd = self.totals.known_cost
        n = max(len(self.seconds), tasks) if self.untimed else len(self.seconds) or tasks
        per_task = None if usd is None or not n else usd / n
        says_tokens = totals.tokens or not totals.unknown_tokens
        return {
            "tasks": n,
            "usd": usd,
            "usd_per_task": _rounded(per_task),
            "usd_per_1000_tasks": _rounded(None if per_task is None else 1000 * per_task),
            "usd_per_correct_task": _rounded(None if usd is None or not correct else usd / correct),
            "usd_at_most": None if usd is None else round(usd + self.at_most, 8),
            "requests": totals.requests,
            "retries": totals.retries,
            "failures": {
                name: count for name, count in sorted(totals.outcomes.items()) if name not in ANSWERS
            },
            "requests_of_unknown_cost": totals.unknown_cost,
            "prompt_tokens": totals.prompt_tokens if says_tokens else None,
            "completion_tokens": totals.completion_tokens if says_tokens else None,
            "reasoning_tokens": totals.reasoning_tokens if says_tokens else None,
            "answers_of_unknown_tokens": totals.unknown_tokens,
        }

    def latency(self) -> dict[str, Any] | None:
        """Time and number of answers per task, over the tasks whose answers were all timed; None without any.

        The time of a task is the sum over its answers, each from sending to the last byte; it excludes
        queueing and failed attempts. The other times are per answer, median and 95th percentile, null if not
        measured: `seconds_per_answer` (to the last byte), `first_token_seconds` and
        `seconds_per_output_token` (streamed), and `queued_seconds` (wait before sending). `local` is true if
        built-in models gave all answers; their times do not compare with those of a server.
        """
        timed = [
            (time, n)
            for time, n in zip(self.seconds, self.answers, strict=True)
            if n and not math.isnan(time)
        ]
        seconds = array("d", (time for time, _ in timed))
        answers = array("d", (n for _, n in timed))
        if not seconds:
            return None
        times = self.totals.times
        return {
            "tasks": len(seconds),
            "local": self.local == sum(self.answers),
            "seconds_per_task": {"mean": _mean(seconds), **(percentiles(seconds, _OF_A_TASK) or {})},
            "answers_per_task": {"mean": _mean(answers), **(percentiles(answers, _OF_A_TASK) or {})},
            "seconds_per_answer": times.pop("seconds"),
            **times,
        }

    @property
    def notes(self) -> dict[str, str]:
        """Why `cost` or `latency` is null or incomplete."""
        if not self.ledgers:
            return dict.fromkeys(("cost", "latency"), "there is no ledger beside the predictions")
        totals = self.totals
        answers = sum(self.answers)
        notes = {}
        unknown_times = answers - len(totals.seconds)
        if totals.known_cost is None:
            notes["cost"] = "no price is known for the model: run with --prices FILE"
        elif totals.unknown_cost:
            notes["cost"] = (
                f"usd excludes {totals.unknown_cost} requests of unknown cost; usd_at_most includes their "
                "worst case"
            )
        elif totals.local:
            notes["cost"] = (
                f"local, no price for {totals.local} of {totals.requests} requests: set one with --prices "
                "FILE of toolassay infer"
            )
        if not answers:
            notes["latency"] = (
                "no answer was timed: run it again" if self.untimed else "no answer of a model yet"
            )
        elif unknown_times:
            notes["latency"] = (
                f"{unknown_times} of {answers} answers came in a batch (--batch), which does not report "
                "their times"
            )
        elif 0 < self.local < answers:
            notes["latency"] = f"{self.local} of {answers} answers are local, from built-in models"
        return notes


def spending(ledgers: Iterable[Path], only: Collection[str] | None = None) -> Spending:
    """Sum the given ledgers over the items `only` (None for all); missing ledgers are skipped.

    Raises:
        UsageError: A ledger is broken.
    """
    total = Spending(only)
    for ledger in ledgers:
        total.add(ledger)
    return total


def usage(
    ledgers: Sequence[Path],
    *,
    tasks: Sequence[int],
    correct: Sequence[int],
    only: Collection[str] | None = None,
) -> dict[str, Any]:
    """`cost`, `latency` and `notes` of a run and its further trials, for a metrics file.

    Trials without a ledger are left out. The note `answers` gives the number of answers that
    `--retry_malformed` replaced, if any.

    Args:
        ledgers: Ledger of each trial; may be missing.
        tasks: Number of tasks that were run, in each trial.
        correct: Number of correct tasks, in each trial.
        only: Items whose calls count; None for all.

    Raises:
        UsageError: A ledger is broken.
    """
    kept_numbers = [number for number, ledger in enumerate(ledgers) if ledger.is_file()]
    spent = spending((ledgers[number] for number in kept_numbers), only)
    again = [phrase for number in kept_numbers if (phrase := asked_again_phrase(ledgers[number].parent))]
    return {
        "cost": spent.cost(
            tasks=sum(tasks[number] for number in kept_numbers),
            correct=sum(correct[number] for number in kept_numbers),
        ),
        "latency": spent.latency(),
        "notes": spent.notes | ({"answers": "; ".join(again)} if again else {}),
    }


def _mean(values: array[float]) -> float:
    return round(sum(values) / len(values), 4)


def _rounded(dollars: float | None) -> float | None:
    """Round to 8 digits; None stays None."""
    return None if dollars is None else round(dollars, 8)
