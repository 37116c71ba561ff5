"""The rows of a leaderboard, their order, and the captions of every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from toolassay.metrics import legend
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.runs.marks import BASELINE, LOCAL, RowMark, marked
from toolassay.tables import UNKNOWN, Result, Table

if TYPE_CHECKING:
    from toolassay.runs.recorded_usage import RecordedUsage

Kind = Literal["strict", "compat", "published"]
HEADINGS = ("R1", "R2", "BsF", "n-F1", "e-F1", "t-F1", "v-F1")
"""The published columns, in the published order."""
ASCENDING = ("model", "cost", "latency", "side effects", "unwanted")
"""The columns in which smaller is better."""
OTHER_SORTS = ("coverage", "cost", "latency", "model")
"""The columns that rows can be sorted by, besides the scores."""
CAPTION = (
    "Percent. strict: every item that was asked counts, 0 where malformed or refused; with 95 % intervals. "
    "compat: as the published evaluator counts, items it cannot read left out."
)
PUBLISHED_CAPTION = (
    "published: the benchmark's own numbers, of its own requests, which compare with compat on those alone."
)


@dataclass(frozen=True)
class LeaderboardRow:
    """The scores of one model, counted one way.

    Attributes:
        model: the name of the model.
        kind: how items were counted.
        scores: in percent, by heading; a heading without a score is unknown.
        items: the number of labelled items (strict) or of items in both files (compat); None where unknown.
        coverage: the share of them that was scored, in percent.
        usage: cost and time of the run; None where unknown.
        signature: the signature of strict scores.
        asked: how much of the data a partial run covers, such as "20 of 300 asked"; empty for a complete run.
        mark: a mark at the name, such as that of a baseline.
    """

    model: str
    kind: Kind
    scores: Mapping[str, Interval]
    items: int | None = None
    coverage: float | None = None
    usage: RecordedUsage | None = None
    signature: str = ""
    asked: str = ""

    @property
    def n(self) -> str:
        """The number of items, for a cell."""
        return self.asked or (UNKNOWN if self.items is None else str(self.items))

    mark: RowMark | None = None

    @property
    def name(self) -> str:
        """The name of the model with its mark."""
        return marked(self.model, self.mark)

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
        return self.scores.get(heading, NOTHING)

    def key(self, column: str) -> float | str | None:
        """The value that a row is sorted by; None where it is unknown."""
        if column in ("model", "coverage"):
            return self.model if column == "model" else self.coverage
        if column not in OTHER_SORTS:
            return self.score(column).value
        if self.usage is None:
            return None
        return self.usage.cost_of_1000 if column == "cost" else self.usage.seconds


@dataclass(frozen=True, repr=False)
class Board(Result):
    """A leaderboard.

    Attributes:
        title: one line.
        rows: in order; the rows of one model follow each other.
        remarks: what a reader has to know, one sentence each.
        headings: the columns of scores.
        caption: what the columns mean.
    """

    title: str
    rows: Sequence[LeaderboardRow]
    remarks: Sequence[str] = field(default_factory=tuple)
    headings: Sequence[str] = HEADINGS
    caption: str = CAPTION

    @property
    def captions(self) -> list[str]:
        """Explanations of columns and marks, then the remarks."""
        return self.captions_of(self.headings)

    def captions_of(self, headings: Sequence[str]) -> list[str]:
        """The captions of a table with these columns only."""
        published = [PUBLISHED_CAPTION] if any(row.kind == "published" for row in self.rows) else []
        meanings = [meaning] if (meaning := legend(headings)) else []
        local = [LOCAL] if any(row.is_local for row in self.rows) else []
        marks = dict.fromkeys(row.mark.line for row in self.rows if row.mark is not None)
        return [self.caption, *meanings, *published, *local, *marks, *self.remarks]

    def table(self) -> Table:
        """Scores with their intervals, cost and time."""
        from toolassay.report.leaderboard.tables import board_table

        return board_table(self)

    def csv(self) -> str:
        """Scores and the bounds of their intervals in columns of their own."""
        from toolassay.report.leaderboard.tables import csv_table

        return csv_table(self)

    def first_rows(self) -> list[bool]:
        """Whether each row is the first of its model."""
        names = [(row.model, row.kind == "published") for row in self.rows]
        return [number == 0 or name != names[number - 1] for number, name in enumerate(names)]


def in_order(models: Sequence[Sequence[LeaderboardRow]], column: str) -> list[LeaderboardRow]:
    """The rows of all models, sorted by a column of each model's first row; unknown values come last.

    Three kinds of models are not ranked among the others. Partial runs are below complete ones. If the first
    row of any model is strict, published rows are below all others, as they do not compare. Baselines are
    last. By latency, local times come after those of servers.

    Args:
        models: the rows of each model.
        column: a heading of scores, or one of `OTHER_SORTS`.

    >>> low = LeaderboardRow("b", "compat", {})
    >>> rows = [low, LeaderboardRow("a", "published", {"R1": Interval(50.0, None, None)})]
    >>> [row.model for row in in_order([[row] for row in rows], "R1")]
    ['a', 'b']
    """
    apart = any(rows[0].kind == "strict" for rows in models)

    def place(rows: Sequence[LeaderboardRow]) -> tuple[int, bool, bool, bool, bool, float | str, str]:
        first = rows[0]
        value = first.key(column)
        rank = value if column in ASCENDING else -value if isinstance(value, float | int) else None
        below = apart and first.kind == "published"
        local = column == "latency" and first.is_local
        known = 0.0 if rank is None else rank
        # Of built-in programs, the baselines are last.
        built_in = first.is_baseline + (first.mark == BASELINE)
        return built_in, below, bool(first.asked), value is None, local, known, first.model

    known = [rows for rows in models if rows]
    return [row for rows in sorted(known, key=place) for row in rows]
