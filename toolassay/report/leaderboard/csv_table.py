"""A leaderboard as CSV, for further work: numbers as they are, in percent, unknown ones empty."""

from __future__ import annotations

import csv
import io

from toolassay.report.leaderboard import words
from toolassay.report.leaderboard.board import Board
from toolassay.runs.recorded import RecordedUsage

_DIGITS = 10  # more is the noise of multiplying by 100


def csv_table(board: Board) -> str:
    """The board as CSV: each score in three columns, the value and the bounds of its interval."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    scores = [name for heading in board.headings for name in (heading, f"{heading}_low", f"{heading}_high")]
    used = ["cost_usd", "cost_usd_per_1000", "requests_of_unknown_cost", "seconds_p50", "seconds_are_local"]
    more = [*scores, *used, "signature", "is_baseline", "note"]
    writer.writerow(["model", "scores", "items", "asked", "coverage", *more])
    for row in board.rows:
        numbers = [number for heading in board.headings for number in row.score(heading)]
        writer.writerow(
            [
                words.printable(row.model),
                row.kind,
                row.items,
                row.asked,
                *map(_rounded, (row.coverage, *numbers)),
                *(_used(row.usage) if row.usage is not None else [None] * len(used)),
                row.signature,
                row.is_baseline,
                row.mark.line if row.mark is not None else None,
            ]
        )
    return text.getvalue()


def _used(usage: RecordedUsage) -> list[float | None]:
    cost = (usage.cost, usage.cost_of_1000)
    local = usage.is_local if usage.seconds is not None else None
    return [*map(_rounded, cost), usage.unknown_cost, usage.seconds, local]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
