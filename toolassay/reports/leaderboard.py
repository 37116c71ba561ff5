"""Leaderboards: rows of models in order, and a table in each format. Scores are in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolassay.console.tables import (
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
from toolassay.errors import UsageError
from toolassay.evaluation.metrics_file import ColumnScores
from toolassay.metrics import legend
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.reports.axes import Cost, Latency
from toolassay.runs.outcomes import RowMark, legend_of, marked

Kind = Literal["strict", "compat", "published"]
OTHER_SORTS = ("coverage", "cost", "latency", "model")
"""The columns that rows can be sorted by, besides the scores."""
FORMATS = ("terminal", "markdown", "csv", "latex")
_ASCENDING = ("model", "cost", "latency", "side effects", "unwanted")  # smaller is better
_PUBLISHED = (
    "published: the benchmark's own numbers, of its own requests, which compare with compat on those alone."
)
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
        cost: the cost of the run, all trials; None where unknown.
        latency: the latency of the run, all trials; None where unknown.
        signature: the signature of strict scores.
        mark: a mark at the name, such as that of a baseline.
    """

    model: str
    kind: Kind
    counted: ColumnScores
    cost: Cost | None = None
    latency: Latency | None = None
    signature: str = ""
    mark: RowMark | None = None

    @property
    def is_baseline(self) -> bool:
        """Whether the model is a baseline, which is never ranked."""
        return self.mark is not None and self.mark.is_baseline

    @property
    def is_local(self) -> bool:
        """Whether its seconds are those of a model on this machine."""
        return self.latency is not None and self.latency.is_local

    def score(self, heading: str) -> Interval:
        """The score under a heading; without a value where it is unknown."""
        return self.counted.scores.get(heading, NOTHING)

    def key(self, column: str) -> float | str | None:
        """The value that a row is sorted by; None where it is unknown."""
        others = {
            "model": self.model,
            "coverage": self.counted.coverage,
            "cost": self.cost.per_1000 if self.cost else None,
            "latency": self.latency.p50 if self.latency else None,
        }
        return others[column] if column in others else self.score(column).value


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

    def table(self) -> Table:
        """Model, items and all columns that hold a number; a score is `value (low–high)`.

        A model's name, cost and time are in its first row only.
        """
        scores_of_rows = [row.counted.scores for row in self.rows]
        scores = [
            name
            for name in self.headings
            if any(scores.get(name, NOTHING).value is not None for scores in scores_of_rows)
        ]
        usage = ["$ / 1,000", "$"] * any(row.cost for row in self.rows)
        usage += ["s (median)"] * any(row.latency for row in self.rows)
        rows: list[list[Value]] = []
        before: tuple[str, bool] | None = None
        for row in self.rows:
            name = (row.model, row.kind == "published")
            is_first = name != before
            before = name
            cost = row.cost
            latency = row.latency
            strict = row.kind == "strict"
            n = row.counted.items
            at_least = cost is not None and cost.is_at_least
            usage_cells = {
                "$ / 1,000": money(cost.per_1000 if cost else None, at_least=at_least),
                "$": money(cost.usd if cost else None, at_least=at_least),
                "s (median)": seconds(latency.p50 if latency else None, local=row.is_local),
            }
            rows.append(
                [
                    *(marked(row.model, row.mark) if is_first else "", Cell(row.kind, bold=strict)),
                    row.counted.asked or (UNKNOWN if n is None else str(n)),
                    whole_percent(row.counted.coverage),
                    *(
                        Cell(number(value), bounds(low, high), bold=strict)
                        for value, low, high in map(row.score, scores)
                    ),
                    *(usage_cells[heading] if is_first else "" for heading in usage),
                ]
            )
        published = [_PUBLISHED] * any(row.kind == "published" for row in self.rows)
        marks = legend_of((row.mark for row in self.rows), is_local=any(row.is_local for row in self.rows))
        meanings = filter(None, [legend(scores)])
        captions = [self.caption, *meanings, *published, *marks, *self.remarks]
        return Table(("model", "scores", "n", "%", *scores, *usage), rows, "nl", self.title, captions)

    def csv(self) -> str:
        """Each score in three columns, the value and the bounds of its interval; nothing is left out."""
        scores = [f"{heading}{part}" for heading in self.headings for part in ("", "_low", "_high")]
        heads = ("model", "scores", "items", "asked", "coverage", *scores, "cost_usd", "cost_usd_per_1000")
        heads += ("cost_is_at_least", "seconds_p50", "seconds_are_local", "signature", "is_baseline", "note")
        rows: list[list[Value]] = []
        for row in self.rows:
            counted = row.counted
            cost = row.cost
            latency = row.latency
            rows.append(
                [
                    *(printable(row.model), row.kind, counted.items, counted.asked),
                    _rounded(counted.coverage),
                    *(_rounded(part) for heading in self.headings for part in row.score(heading)),
                    *((_rounded(cost.usd), _rounded(cost.per_1000)) if cost else (None, None)),
                    cost.is_at_least if cost else None,
                    *((latency.p50, latency.is_local) if latency else (None, None)),
                    *(row.signature, row.is_baseline, row.mark.line if row.mark is not None else None),
                ]
            )
        return Table(heads, rows).csv()

    @property
    def tables(self) -> list[Table]:
        """The board, and the models in several folders."""
        return [self.table(), *([self.ways] if self.ways else [])]

    def text(self, format: str) -> str:
        """The board in one of `FORMATS`, ending with a line break; on a terminal without colours.

        Raises:
            UsageError: The format is unknown.
        """
        match format:
            case "markdown":
                return "\n\n".join(table.markdown() for table in self.tables) + "\n"
            case "latex":
                return "\n".join(table.latex() for table in self.tables)
            case "terminal":
                return "\n".join(plain_text(table.terminal(), width=_SCREEN_WIDTH) for table in self.tables)
            case "csv":
                return self.csv()
        raise UsageError(f"unknown format '{format}'", fix=f"choose from {', '.join(FORMATS)}")


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

    def sort_key(
        rows: Sequence[LeaderboardRow],
    ) -> tuple[bool, bool, int, bool, bool, bool, float | str, str]:
        first = rows[0]
        value = first.key(column)
        is_published = first.kind == "published"
        sort_value = value
        if column not in _ASCENDING:  # the highest first
            sort_value = -value if isinstance(value, float | int) else None
        position = len(models) if is_published else ranking.get(first.model, len(models))
        ranked = first.is_baseline, apart and is_published, position, bool(first.counted.asked)
        return *ranked, value is None, column == "latency" and first.is_local, sort_value or 0.0, first.model

    return [row for rows in sorted(filter(None, models), key=sort_key) for row in rows]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _CSV_DIGITS)
