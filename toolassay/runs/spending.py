"""What a task of a run costs and how long it takes, by the ledger: of any benchmark, streamed."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.runs.key_index import KeyIndex
from toolassay.runs.ledger import FREE, booked
from toolassay.runs.starts import asked_again_phrase
from toolassay.runs.totals import ANSWERS, Totals, percentiles

_OF_A_TASK = (50, 90, 95, 99)


@dataclass
class Spending:
    """Sums over the ledgers of a run and its further trials; each trial of a task counts as a task.

    Memory holds some 40 bytes a task and 4 a call.

    Attributes:
        only: the items whose calls count; None for all.
        ledgers: how many there were.
        totals: over all calls, whoever made them.
        at_most: US dollars that the calls of unknown cost can have cost, as far as that is known.
        local: answers of built-in models, which are computed on this machine.
        untimed: calls that were only counted.
        seconds: for each task, the time of its answers.
        answers: for each task, how many there were.
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
        """Read one ledger; nothing where there is none.

        Raises:
            UsageError: a line in the middle is broken.
        """
        if not ledger.is_file():
            return
        self.ledgers += 1
        first = len(self.seconds)
        # Sums bear it that two of very many names are taken for one; a ledger need not be looked up for that.
        tasks = KeyIndex(lambda offset, key: True)
        for attempt, cost, at_most, count, local in booked(ledger):
            if count is not None:
                self.totals.add_free(attempt.outcome, count)
                self.untimed += count
                continue
            if self.only is not None and attempt.item not in self.only:
                continue
            self.totals.add(attempt, cost, local=local)
            self.at_most += at_most.cost if at_most is not None else 0.0
            place = tasks.number(attempt.item)
            if place is None:
                place = len(tasks)
                tasks.set(attempt.item, place)
                self.seconds.append(0.0)
                self.answers.append(0)
            if attempt.outcome in ANSWERS:
                self.seconds[first + place] += attempt.seconds
                self.answers[first + place] += 1
                self.local += attempt.model in FREE

    def cost(self, *, tasks: int, correct: int) -> dict[str, Any] | None:
        """US dollars and tokens, failed and repeated requests included; None without a ledger.

        Args:
            tasks: that were done, where calls of a free model do not say of which they were.
            correct: tasks done right.

        Returns:
            `usd` and what follows from it are null where no price is known, `usd_per_correct_task` also
            where nothing is correct. `usd_at_most` counts what a server did not say at its worst case.
        """
        if not self.ledgers:
            return None
        totals, usd = self.totals, self.totals.known_cost
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
        """Seconds and answers a task, over the tasks with an answer; None where no call was timed.

        The seconds of a task are those of its answers, one after the other, each from sending to the last
        byte; waiting for a turn and failed tries are not in them. The other times are of single answers,
        median and 95th percentile, null where no answer says them: `seconds_per_answer` (to the last byte),
        `first_token_seconds` and `seconds_per_output_token` (streamed), and `queued_seconds`, the wait for a
        turn before sending. `local` says whether all answers were computed on this machine, by built-in
        models: such times do not compare with those of a server.
        """
        seconds = array("d", (time for time, n in zip(self.seconds, self.answers, strict=True) if n))
        answers = array("d", (n for n in self.answers if n))
        if not seconds:
            return None
        times = self.totals.times
        return {
            "tasks": len(seconds),
            "local": self.local == sum(answers),
            "seconds_per_task": {"mean": _mean(seconds), **(percentiles(seconds, _OF_A_TASK) or {})},
            "answers_per_task": {"mean": _mean(answers), **(percentiles(answers, _OF_A_TASK) or {})},
            "seconds_per_answer": times.pop("seconds"),
            **times,
        }

    @property
    def notes(self) -> dict[str, str]:
        """Why `cost` or `latency` is null, or a cost is not the whole."""
        if not self.ledgers:
            reason = "there is no ledger beside the predictions"
            return {"cost": reason, "latency": reason}
        totals, notes = self.totals, {}
        if totals.known_cost is None:
            notes["cost"] = "no price is known for the model: run with --prices FILE"
        elif totals.unknown_cost:
            notes["cost"] = (
                f"usd is without {totals.unknown_cost} requests whose cost nobody knows; usd_at_most is with "
                "their worst case"
            )
        elif totals.local:
            whose = (
                ""
                if totals.local == totals.requests
                else f" for {totals.local} of {totals.requests} requests"
            )
            notes["cost"] = f"local, no price{whose}: --prices FILE of inference.py sets one"
        answers = sum(self.answers)
        if self.untimed and self.untimed == totals.requests:
            notes["latency"] = "calls of built-in models were not timed when this run was made: run it again"
        elif not answers:
            notes["latency"] = "no answer yet"
        elif 0 < self.local < answers:
            notes["latency"] = f"{self.local} of {answers} answers are local, by built-in models"
        return notes


def spending(ledgers: Iterable[Path], only: Collection[str] | None = None) -> Spending:
    """What the runs with these ledgers used, for the items `only`; ledgers that are not there are skipped.

    Raises:
        UsageError: a ledger is broken.
    """
    found = Spending(only)
    for ledger in ledgers:
        found.add(ledger)
    return found


def usage(
    ledgers: Sequence[Path],
    *,
    tasks: Sequence[int],
    correct: Sequence[int],
    only: Collection[str] | None = None,
) -> dict[str, Any]:
    """`cost`, `latency` and `notes` of a run and its further trials, of those that have a ledger.

    The note `answers` says how many answers came from asking again, if any did.

    Args:
        ledgers: of each trial, whether it is there or not.
        tasks: that were done in each.
        correct: tasks done right in each.
        only: the items whose calls count; None for all.

    Raises:
        UsageError: a ledger is broken.
    """
    kept = [number for number, ledger in enumerate(ledgers) if ledger.is_file()]
    used = spending((ledgers[number] for number in kept), only)
    again = [phrase for number in kept if (phrase := asked_again_phrase(ledgers[number].parent))]
    return {
        "cost": used.cost(
            tasks=sum(tasks[number] for number in kept), correct=sum(correct[number] for number in kept)
        ),
        "latency": used.latency(),
        "notes": used.notes | ({"answers": "; ".join(again)} if again else {}),
    }


def _mean(values: array[float]) -> float:
    return round(sum(values) / len(values), 4)


def _rounded(dollars: float | None) -> float | None:
    """To millionths of a cent."""
    return None if dollars is None else round(dollars, 8)
