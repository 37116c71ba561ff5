"""Rounds of reading on five libraries each that no earlier round had: nothing was corrected within one.

    python -m measurements.last_round

`last_round/1.jsonl` and `2.jsonl` have samples as they were released, with request and calls, and the
verdicts of two readers on five questions and on the facts. The first line is of the libraries: how plans ran,
seeds, declined, and held back by gates, controls and critics. Writer, critic and readers were contexts of one
large language model; in the second round each answered many prompts one after the other. A reader saw the
samples, not the other's verdicts. No person has read them.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from toolassay.console.tables import Table, percent
from toolassay.metrics.confidence_interval import proportion_interval

ROUNDS = Path(__file__).resolve().with_suffix("")
QUESTIONS = ("natural", "grounded", "plan", "links", "values")
T_95_OF_4 = 2.776  # quantile 97.5 % of Student's t with four degrees of freedom: five libraries
HEADS = (
    "library",
    "ran on",
    "seeds",
    "declined",
    "held back",
    "read",
    "publishable for both",
    "for the first",
    "for the second",
    "facts right for both",
)


def is_yes(verdict: dict[str, Any]) -> bool:
    """Whether a reader says yes to all questions."""
    return all(verdict[question] for question in QUESTIONS)


def share(part: int, whole: int) -> str:
    """A share with Wilson's interval."""
    interval = proportion_interval(part, whole)
    return f"{part} of {whole}: {percent(interval.value)} [{percent(interval.low)}, {percent(interval.high)}]"


def row(name: str, ran_on: str, counts: Sequence[int], lines: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """A row of the table."""
    first, second = ([line["verdicts"][reader] for line in lines] for reader in (0, 1))
    both = sum(is_yes(one) and is_yes(two) for one, two in zip(first, second, strict=True))
    facts = sum(one["facts"] and two["facts"] for one, two in zip(first, second, strict=True))
    numbers = (*counts, len(lines), both, sum(map(is_yes, first)), sum(map(is_yes, second)), facts)
    return (name, ran_on, *map(str, numbers))


def show(path: Path) -> None:
    """Print what was read in a round."""
    about, *lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    libraries: dict[str, list[Any]] = about["libraries"]
    by_library: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_library[line["library"]].append(line)
    rows = []
    totals = [0, 0, 0]
    for name, (ran_on, *counts) in libraries.items():
        rows.append(row(name, ran_on, counts, by_library[name]))
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    rows.append(row("all", "", totals, lines))
    print(Table(HEADS, rows, "llrrrrrrrr").markdown())
    pairs = [line["verdicts"] for line in lines]
    agreed = ", ".join(
        f"{question} {sum(one[question] == two[question] for one, two in pairs)}"
        for question in (*QUESTIONS, "facts", "alternative")
    )
    print(f"\nThe readers agree, of {len(lines)} samples: {agreed}.")
    noted = " and ".join(str(sum(pair[reader]["alternative"] for pair in pairs)) for reader in (0, 1))
    print(f"\nA further plan, as good as the known ones, is noted for {noted}.")
    for reader, name in enumerate(("first", "second")):
        of_reader = sum(is_yes(pair[reader]) for pair in pairs)
        shares = [
            statistics.fmean(is_yes(line["verdicts"][reader]) for line in by_library[library])
            for library in libraries
        ]
        mean = statistics.fmean(shares)
        margin = T_95_OF_4 * statistics.stdev(shares) / sqrt(len(shares))
        low, high = percent(mean - margin), percent(min(1.0, mean + margin))
        print(f"\nPublishable for the {name} reader: {share(of_reader, len(lines))} (Wilson).")
        print(f"Mean of the libraries: {percent(mean)}, t interval {low} to {high}.")


def main() -> int:
    """Print the rounds."""
    for path in sorted(ROUNDS.glob("*.jsonl")):
        print(f"\nRound {path.stem}\n")
        show(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
