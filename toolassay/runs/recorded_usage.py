"""Usage of runs, read from their files without a lock: totals of a run, cost and latency of its tasks."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import read_json
from toolassay.runs.journal import AppendOnlyLines, Journal, KeyIndex, text_in
from toolassay.runs.ledger import ANSWERS, FREE, LEDGER, Totals, booked, percentiles
from toolassay.runs.starts import asked_again_phrase

SUMMARY = "summary.json"
ANSWERING = ("planner", "agent")
"""The roles whose time is that of an answer; a rewriting comes on top."""


def recorded_journal(path: Path) -> Journal:
    """A journal to be read only, without a lock; a torn last line is passed over.

    Raises:
        UsageError: there is no such file, or a line in the middle is broken.
    """
    if not path.is_file():
        raise UsageError("no journal can be read", file=path, fix="check --llm and --prediction_dir")
    return Journal(path, read_only=True)


@dataclass(frozen=True, slots=True)
class RecordedUsage:
    """What a run has used; None where nobody knows.

    Attributes:
        cost: US dollars, as far as known.
        unknown_cost: requests that may have cost something beside that.
        items: how many items the cost is that of.
        seconds: the median time to an answer.
        is_local: whether the answers were computed on this machine, by built-in models.
    """

    cost: float | None
    unknown_cost: int
    items: int
    seconds: float | None
    is_local: bool = False

    @property
    def cost_of_1000(self) -> float | None:
        """US dollars for 1,000 items.

        >>> RecordedUsage(0.3, 0, 50, None).cost_of_1000
        6.0
        """
        return None if self.cost is None or not self.items else 1000 * self.cost / self.items


def recorded_usage(run_folder: Path) -> RecordedUsage | None:
    """What the run in a folder has used: by its ledger, else by its summary; None where neither says.

    Raises:
        UsageError: a file is broken.
    """
    usage = _of_ledger(run_folder / LEDGER)
    return _of_summary(run_folder / SUMMARY) if usage is None else usage


def _of_ledger(path: Path) -> RecordedUsage | None:
    if not path.is_file():
        return None
    items: set[str] = set()
    seconds: array[float] = array("f")
    costs: Counter[bool] = Counter()
    answering: set[str] = set()
    total = 0.0
    lines = AppendOnlyLines(path, what="ledger", read_only=True)
    try:
        for _, line in lines.scan(_ledger_line):
            if "count" in line:  # of a model that costs nothing
                return None
            items.add(line["item"])
            cost = line.get("cost")
            costs[isinstance(cost, int | float)] += 1
            total += cost if isinstance(cost, int | float) else 0.0
            if line["outcome"] in ANSWERS and line["role"] in ANSWERING:
                seconds.append(line.get("seconds", 0.0))
                answering.add(line["model"])
    finally:
        lines.close()
    if not items:
        return None
    return RecordedUsage(
        total if costs[True] else None,
        costs[False],
        len(items),
        _median(percentiles(seconds)),
        bool(answering) and answering <= FREE,
    )


def _ledger_line(line: dict[str, Any]) -> dict[str, Any]:
    for name in ("model", "role", "item", "outcome"):
        text_in(line, name)
    return line


def _of_summary(path: Path) -> RecordedUsage | None:
    """What the models used that have no line in the ledger."""
    if not path.is_file():
        return None
    facts = read_json(path)
    try:
        used = facts["used"]
        if not used["requests"]:
            return None
        planner = next((part for part in used["by_model_and_role"] if part["role"] in ANSWERING), used)
        return RecordedUsage(
            used["cost_usd"],
            used["requests_of_unknown_cost"],
            facts["lines"],
            _median(planner["seconds"]),
            planner.get("model") in FREE,
        )
    except (KeyError, TypeError):
        raise UsageError("is not the summary of a run", file=path, fix="remove it") from None


def _median(times: Mapping[str, float] | None) -> float | None:
    return None if times is None else times["p50"]


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
