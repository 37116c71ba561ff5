"""What a run left behind, read without a lock and without mending anything."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import read_json
from toolassay.runs.journal import Journal
from toolassay.runs.ledger import FREE, LEDGER
from toolassay.runs.lines import AppendOnlyLines, text_in
from toolassay.runs.totals import ANSWERS, percentiles

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
