"""A leaderboard as Markdown, LaTeX, CSV and a table of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolassay.report.leaderboard.ranking import Board, LeaderboardRow
from toolassay.tables import (
    Cell,
    Table,
    Value,
    bounds,
    money,
    number,
    plain_text,
    printable,
    seconds,
    whole_percent,
)

if TYPE_CHECKING:
    import rich.table

    from toolassay.runs.recorded_usage import RecordedUsage

__all__ = ["csv_table", "latex_table", "markdown_table", "printable", "terminal_table"]

_USAGE = ("$ / 1,000", "$", "s (median)")
_CSV_DIGITS = 10  # more is the noise of multiplying by 100
_CSV_USAGE = ("cost_usd", "cost_usd_per_1000", "requests_of_unknown_cost", "seconds_p50", "seconds_are_local")
_SCREEN_WIDTH = 140  # characters of a table in a text file: seven scores with their intervals


def _table(board: Board, scores: Sequence[str], usage: Sequence[str], captions: Sequence[str]) -> Table:
    """The board with some of its columns; a model's name and usage are in its first row only."""
    rows: list[list[Value]] = []
    for row, is_first in zip(board.rows, board.first_rows(), strict=True):
        used = _used(row)
        rows.append(
            [
                *(row.name if is_first else "", Cell(row.kind, bold=row.kind == "strict")),
                *(row.n, whole_percent(row.coverage)),
                *(_score(row, heading) for heading in scores),
                *(used[heading] if is_first else "" for heading in usage),
            ]
        )
    headings = ("model", "scores", "n", "%", *scores, *usage)
    return Table(headings, rows, align="nl", title=board.title, captions=captions)


def _score(row: LeaderboardRow, heading: str) -> Cell:
    value, low, high = row.score(heading)
    return Cell(number(value), bounds(low, high), bold=row.kind == "strict")


def _used(row: LeaderboardRow) -> dict[str, str]:
    """By heading: US dollars for 1,000 items and for the whole run, and the median seconds to an answer."""
    from toolassay.runs.recorded_usage import RecordedUsage

    usage = row.usage or RecordedUsage(None, 0, 0, None)
    at_least = usage.unknown_cost > 0
    cells = (
        money(usage.cost_of_1000, at_least=at_least),
        money(usage.cost, at_least=at_least),
        seconds(usage.seconds, local=usage.is_local),
    )
    return {**dict(zip(_USAGE, cells, strict=True)), "s": cells[-1]}


def board_table(board: Board) -> Table:
    """The board with all columns; a score is `value (low–high)`."""
    return _table(board, board.headings, _USAGE, board.captions)


def markdown_table(board: Board) -> str:
    """The board in GitHub's Markdown, ending with a line break; a score is `value (low–high)`."""
    return board_table(board).markdown() + "\n"


def latex_table(board: Board) -> str:
    """The board as a `table`; the bounds of intervals are small beside the scores."""
    return _table(board, board.headings, ("$ / 1,000", "s"), board.captions).latex()


def csv_table(board: Board) -> str:
    """The board as CSV: each score in three columns, the value and the bounds of its interval."""
    scores = [name for heading in board.headings for name in (heading, f"{heading}_low", f"{heading}_high")]
    rows = [
        [
            *(printable(row.model), row.kind, row.items, row.asked, _rounded(row.coverage)),
            *(_rounded(part) for heading in board.headings for part in row.score(heading)),
            *(_csv_used(row.usage) if row.usage is not None else [None] * len(_CSV_USAGE)),
            *(row.signature, row.is_baseline, row.mark.line if row.mark is not None else None),
        ]
        for row in board.rows
    ]
    heads = ("model", "scores", "items", "asked", "coverage", *scores, *_CSV_USAGE)
    return Table((*heads, "signature", "is_baseline", "note"), rows).csv()


def _csv_used(usage: RecordedUsage) -> list[float | None]:
    cost = (usage.cost, usage.cost_of_1000)
    local = usage.is_local if usage.seconds is not None else None
    return [*map(_rounded, cost), usage.unknown_cost, usage.seconds, local]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _CSV_DIGITS)


def terminal_table(board: Board) -> rich.table.Table:
    """The board as a table of rich; the bounds of an interval are below its score.

    A column without any known value is left out.
    """
    scores = [
        heading
        for heading in board.headings
        if any(row.score(heading).value is not None for row in board.rows)
    ]
    usage = _USAGE if any(row.usage is not None for row in board.rows) else ()
    return _table(board, scores, usage, [*map(_foldable, board.captions_of(scores))]).terminal()


def _foldable(caption: str) -> str:
    """A caption; a signature in it gets blanks between its parts, at which a narrow screen folds it."""
    return caption.replace("|", "| ") if caption.startswith("signature: ") else caption


def terminal_text(board: Board) -> str:
    """The same without colours, for a file."""
    return plain_text(terminal_table(board), width=_SCREEN_WIDTH)
