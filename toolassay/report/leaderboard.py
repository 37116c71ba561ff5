"""Leaderboards: rows of models in order, and a table in each format. Scores are in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from toolassay.evaluation.metrics_file import ColumnScores
from toolassay.metrics import legend
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.runs.outcomes import LOCAL, RowMark, marked
from toolassay.tables import (
    UNKNOWN,
    Cell,
    Result,
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

Kind = Literal["strict", "compat", "published"]
OTHER_SORTS = ("coverage", "cost", "latency", "model")
"""The columns that rows can be sorted by, besides the scores."""
_ASCENDING = ("model", "cost", "latency", "side effects", "unwanted")  # smaller is better
_PUBLISHED = (
    "published: the benchmark's own numbers, of its own requests, which compare with compat on those alone."
)
_USAGE = ("$ / 1,000", "$", "s (median)")
_CSV_DIGITS = 10  # more is the noise of multiplying by 100
_SCREEN_WIDTH = 140  # characters of a table in a text file: seven scores with their intervals


@dataclass(frozen=True)
class LeaderboardRow:
    """The scores of one model, counted one way.

    Attributes:
        model: the name of the model.
        kind: how items were counted.
        counted: the scores in percent, by heading; the number of labelled items (strict) or of items in both
            files (compat); the share of them that was scored.
        usage: cost and time of the run; None where unknown.
        signature: the signature of strict scores.
        mark: a mark at the name, such as that of a baseline.
    """

    model: str
    kind: Kind
    counted: ColumnScores
    usage: RecordedUsage | None = None
    signature: str = ""
    mark: RowMark | None = None

    @property
    def is_baseline(self) -> bool:
        """Whether the model is a baseline, which is never ranked."""
        return self.mark is not None and self.mark.is_baseline

    @property
    def is_local(self) -> bool:
        """Whether its seconds are those of a model on this machine."""
        return self.usage is not None and self.usage.is_local and self.usage.seconds is not None

    def score(self, heading: str) -> Interval:
        """The score under a heading; without a value where it is unknown."""
        return self.counted.scores.get(heading, NOTHING)

    def key(self, column: str) -> float | str | None:
        """The value that a row is sorted by; None where it is unknown."""
        own = {"model": self.model, "coverage": self.counted.coverage}
        used = {"cost": self.usage.cost_of_1000, "latency": self.usage.seconds} if self.usage else {}
        return {**own, **used}[column] if column in {**own, **used} else self.score(column).value


@dataclass(frozen=True, repr=False)
class Board(Result):
    """A leaderboard.

    Attributes:
        title: one line.
        rows: in order; the rows of one model follow each other.
        headings: the columns of scores.
        caption: what the columns mean.
        remarks: what a reader has to know, one sentence each.
        ways: models with predictions in several folders, side by side; None if there are none.
    """

    title: str
    rows: Sequence[LeaderboardRow]
    headings: Sequence[str]
    caption: str
    remarks: Sequence[str] = ()
    ways: Table | None = None

    def captions(self, headings: Sequence[str]) -> list[str]:
        """Explanations of these columns and of the marks, then the remarks."""
        published = [_PUBLISHED] if any(row.kind == "published" for row in self.rows) else []
        meanings = [meaning] if (meaning := legend(headings)) else []
        local = [LOCAL] if any(row.is_local for row in self.rows) else []
        marks = dict.fromkeys(row.mark.line for row in self.rows if row.mark is not None)
        return [self.caption, *meanings, *published, *local, *marks, *self.remarks]

    def table(self) -> Table:
        """All columns; a score is `value (low–high)`."""
        return _table(self, self.headings, _USAGE, self.captions(self.headings))

    def csv(self) -> str:
        """Scores and the bounds of their intervals in columns of their own."""
        return csv_table(self)


def ordered_rows(
    models: Sequence[Sequence[LeaderboardRow]], column: str, ranking: Mapping[str, int]
) -> list[LeaderboardRow]:
    """The rows of all models: those of the ranking in its order, then the others by a column.

    Three kinds of models are not ranked among the others. Partial runs are below complete ones. If the first
    row of any model is strict, published rows are below all others, as they do not compare. Baselines are
    last. By latency, local times come after those of servers.

    Args:
        models: the rows of each model.
        column: a heading of scores, or one of `OTHER_SORTS`, of the first row; unknown values come last.
        ranking: the position of each ranked model; empty to sort all by the column.

    >>> row, known = LeaderboardRow("b", "compat", ColumnScores(None, None, {})), Interval(50.0, None, None)
    >>> rows = [row, LeaderboardRow("a", "published", ColumnScores(None, None, {"R1": known}))]
    >>> [row.model for row in ordered_rows([[row] for row in rows], "R1", {})]
    ['a', 'b']
    """
    apart = any(rows[0].kind == "strict" for rows in models if rows)

    def place(rows: Sequence[LeaderboardRow]) -> tuple[bool, bool, int, bool, bool, bool, float | str, str]:
        first = rows[0]
        value, is_published = first.key(column), first.kind == "published"
        known = value if column in _ASCENDING else -value if isinstance(value, float | int) else None
        position = len(models) if is_published else ranking.get(first.model, len(models))
        ranked = first.is_baseline, apart and is_published, position, bool(first.counted.asked)
        return *ranked, value is None, column == "latency" and first.is_local, known or 0.0, first.model

    return [row for rows in sorted(filter(None, models), key=place) for row in rows]


def _table(board: Board, scores: Sequence[str], usage: Sequence[str], captions: Sequence[str]) -> Table:
    """The board with some of its columns; a model's name and usage are in its first row only."""
    rows: list[list[Value]] = []
    before: tuple[str, bool] | None = None
    for row in board.rows:
        name = (row.model, row.kind == "published")
        is_first, before = name != before, name
        strict, n = row.kind == "strict", row.counted.items
        used = _used(row.usage) if is_first else {}
        rows.append(
            [
                *(marked(row.model, row.mark) if is_first else "", Cell(row.kind, bold=strict)),
                *(
                    row.counted.asked or (UNKNOWN if n is None else str(n)),
                    whole_percent(row.counted.coverage),
                ),
                *(
                    Cell(number(value), bounds(low, high), bold=strict)
                    for value, low, high in map(row.score, scores)
                ),
                *(used.get(heading, "") for heading in usage),
            ]
        )
    headings = ("model", "scores", "n", "%", *scores, *usage)
    return Table(headings, rows, align="nl", title=board.title, captions=captions)


def _used(usage: RecordedUsage | None) -> dict[str, str]:
    """By heading: US dollars for 1,000 items and for the whole run, and the median seconds to an answer."""
    if usage is None:
        return dict.fromkeys((*_USAGE, "s"), UNKNOWN)
    at_least = usage.unknown_cost > 0
    each, whole = (money(value, at_least=at_least) for value in (usage.cost_of_1000, usage.cost))
    time = seconds(usage.seconds, local=usage.is_local)
    return {**dict(zip(_USAGE, (each, whole, time), strict=True)), "s": time}


def markdown_table(board: Board) -> str:
    """The board in GitHub's Markdown, ending with a line break; a score is `value (low–high)`."""
    tables = [board.table(), *([board.ways] if board.ways else [])]
    return "\n\n".join(table.markdown() for table in tables) + "\n"


def latex_table(board: Board) -> str:
    """The board as a `table`; the bounds of intervals are small beside the scores."""
    return _table(board, board.headings, ("$ / 1,000", "s"), board.captions(board.headings)).latex()


def csv_table(board: Board) -> str:
    """The board as CSV: each score in three columns, the value and the bounds of its interval."""
    scores = [name for heading in board.headings for name in (heading, f"{heading}_low", f"{heading}_high")]
    usage = ("cost_usd", "cost_usd_per_1000", "requests_of_unknown_cost", "seconds_p50", "seconds_are_local")
    rows: list[list[Value]] = []
    for row in board.rows:
        used: list[Value] = [None] * len(usage)
        if (one := row.usage) is not None:
            local = one.is_local if one.seconds is not None else None
            used = [_rounded(one.cost), _rounded(one.cost_of_1000), one.unknown_cost, one.seconds, local]
        counted = row.counted
        rows.append(
            [
                *(printable(row.model), row.kind, counted.items, counted.asked, _rounded(counted.coverage)),
                *(_rounded(part) for heading in board.headings for part in row.score(heading)),
                *used,
                *(row.signature, row.is_baseline, row.mark.line if row.mark is not None else None),
            ]
        )
    heads = ("model", "scores", "items", "asked", "coverage", *scores, *usage)
    return Table((*heads, "signature", "is_baseline", "note"), rows).csv()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _CSV_DIGITS)


def terminal_table(board: Board) -> rich.table.Table:
    """The board as a table of rich; the bounds of an interval are below its score.

    A column without any known value is left out.
    """
    scores = [name for name in board.headings if any(row.score(name).value is not None for row in board.rows)]
    usage = _USAGE if any(row.usage is not None for row in board.rows) else ()
    # A signature gets blanks between its parts, at which a narrow screen folds it.
    captions = [
        one.replace("|", "| ") if one.startswith("signature: ") else one for one in board.captions(scores)
    ]
    return _table(board, scores, usage, captions).terminal()


def terminal_text(board: Board) -> str:
    """The same without colours, for a file."""
    tables = [terminal_table(board), *([board.ways.terminal()] if board.ways else [])]
    return "\n".join(plain_text(table, width=_SCREEN_WIDTH) for table in tables)
