"""The rows of a leaderboard, their order, and the words every format shows them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from toolassay.metrics.intervals import NOTHING, Interval
from toolassay.metrics.legend import legend
from toolassay.runs.recorded import RecordedUsage

Kind = Literal["strict", "compat", "published"]
HEADINGS = ("R1", "R2", "BsF", "n-F1", "e-F1", "t-F1", "v-F1")
"""The published columns, in the published order."""
ASCENDING = ("model", "cost", "latency", "side effects")
"""What stands the better the smaller it is."""
OTHER_SORTS = ("coverage", "cost", "latency", "model")
"""What rows can be sorted by beside their scores."""
UNKNOWN = "–"
CAPTION = (
    "Percent. strict: every labelled item counts, 0 where it is missing or malformed; with 95 % intervals. "
    "compat: as the published evaluator counts, items it cannot read left out."
)
PUBLISHED_CAPTION = (
    "published: the benchmark's own numbers, of its own requests, which compare with compat on those alone."
)


@dataclass(frozen=True)
class Row:
    """One model, counted one way.

    Attributes:
        model: its name.
        kind: how it was counted.
        scores: in percent, by heading; a heading without one is unknown.
        items: the labelled items (strict), those that both files have (compat); None where unknown.
        coverage: the share of them that was scored, in percent.
        usage: what the run used; None where nobody knows.
        signature: what strict scores were made with.
    """

    model: str
    kind: Kind
    scores: Mapping[str, Interval]
    items: int | None = None
    coverage: float | None = None
    usage: RecordedUsage | None = None
    signature: str = ""

    def score(self, heading: str) -> Interval:
        """The score under a heading."""
        return self.scores.get(heading, NOTHING)

    def key(self, column: str) -> float | str | None:
        """What the row is sorted by."""
        if column in ("model", "coverage"):
            return self.model if column == "model" else self.coverage
        if column not in OTHER_SORTS:
            return self.score(column).value
        if self.usage is None:
            return None
        return self.usage.cost_of_1000 if column == "cost" else self.usage.seconds


@dataclass(frozen=True)
class Board:
    """Rows in order, with what is to be said about them.

    Attributes:
        title: one line.
        rows: a model's rows stand together.
        remarks: what a reader has to know, one sentence each.
        headings: the columns of scores.
        caption: what the columns mean.
    """

    title: str
    rows: Sequence[Row]
    remarks: Sequence[str] = field(default_factory=tuple)
    headings: Sequence[str] = HEADINGS
    caption: str = CAPTION

    @property
    def captions(self) -> list[str]:
        """What the words mean, and the remarks."""
        return self.captions_of(self.headings)

    def captions_of(self, headings: Sequence[str]) -> list[str]:
        """The same where only these columns are shown."""
        published = [PUBLISHED_CAPTION] if any(row.kind == "published" for row in self.rows) else []
        meanings = [told] if (told := legend(headings)) else []
        return [self.caption, *meanings, *published, *self.remarks]

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        from toolassay.report.leaderboard.markdown import markdown_table

        return markdown_table(self)

    def first_rows(self) -> list[bool]:
        """Whether each row is the first of its model."""
        names = [(row.model, row.kind == "published") for row in self.rows]
        return [number == 0 or name != names[number - 1] for number, name in enumerate(names)]


def in_order(models: Sequence[Sequence[Row]], column: str) -> list[Row]:
    """The rows of all models, sorted by a column of each model's first row; the unknown comes last.

    Where that row is strict, published rows stand below all others: the two do not compare.

    >>> rows = [Row("b", "compat", {}), Row("a", "published", {"R1": Interval(50.0, None, None)})]
    >>> [row.model for row in in_order([[row] for row in rows], "R1")]
    ['a', 'b']
    """
    apart = any(rows[0].kind == "strict" for rows in models)

    def place(rows: Sequence[Row]) -> tuple[bool, bool, float | str, str]:
        value = rows[0].key(column)
        rank = value if column in ASCENDING else -value if isinstance(value, float | int) else None
        below = apart and rows[0].kind == "published"
        return below, value is None, 0.0 if rank is None else rank, rows[0].model

    known = [rows for rows in models if rows]
    return [row for rows in sorted(known, key=place) for row in rows]
