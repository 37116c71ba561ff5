"""A comparison of models as tables for the screen and as Markdown, in percent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolassay.evaluation.comparison import Comparison, ModelComparison, ScoreComparison
from toolassay.evaluation.items import OUTCOMES
from toolassay.metrics.confidence_interval import Interval
from toolassay.tables import UNKNOWN, Cell, Table, percent
from toolassay.text_formatting import count_of

if TYPE_CHECKING:
    import rich.table

_COLOURS = {"better": "green", "worse": "red"}
WIDE = 96
"""Characters of a screen on which every column has room."""


_NARROW_VERDICT = len("no difference")  # a narrow screen folds the longest verdict behind these words


def comparison_tables(comparison: Comparison, *, width: int = WIDE) -> Iterator[rich.table.Table]:
    """A table for each model against the baseline; the last says below what the words mean.

    Args:
        comparison: what was found.
        width: of the screen, in characters; narrow ones lose the uncorrected p.
    """
    for model in comparison.models:
        captions = _captions(comparison) if model is comparison.models[-1] else []
        yield _table(comparison, model, captions, is_wide=width >= WIDE)


def comparison_table(comparison: Comparison) -> Table:
    """All models in one table, for a notebook."""
    columns = ("A", "B", "difference", "p", "Holm p", "verdict", "finds")
    rows = [
        [comparison.shown(model.model), cells["score"], *(cells[column] for column in columns)]
        for model in comparison.models
        for cells in map(_cells, model.scores)
    ]
    title = f"each model (B) against {comparison.shown(comparison.models[0].baseline)} (A)"
    return Table(("model", "score", *columns), rows, "nnttttttt", title, _captions(comparison))


def _table(
    comparison: Comparison, model: ModelComparison, captions: list[str], *, is_wide: bool
) -> rich.table.Table:
    clusters = max((score.n_clusters for score in model.scores), default=0)
    # Where the scores do not all rest on the same items, each says on how many.
    with_n = any(score.n != model.n_compared for score in model.scores)
    numbers = [*(["n"] if with_n else []), "A", "B", "difference", *(["p"] if is_wide else []), "Holm p"]
    headings = ["score", *numbers, "verdict", "finds"]
    cells = map(_cells, model.scores)
    table = Table(
        headings,
        [[score[heading] for heading in headings] for score in cells],
        align="l" + "r" * len(numbers) + "n",
        title=f"{comparison.shown(model.model)} (B) against {comparison.shown(model.baseline)} (A): "
        f"{comparison.group}, {_items(model)} in {count_of(clusters, 'cluster')}",
        captions=captions,
    ).terminal(padding=1 if is_wide else 0)
    if not is_wide:
        table.columns[headings.index("verdict")].min_width = _NARROW_VERDICT
    return table


def _items(model: ModelComparison) -> str:
    """How many items are compared, and of how many where some were not asked of both."""
    if model.n_compared == model.n_labels:
        return f"{model.n_compared:,} items"
    return f"{model.n_compared:,} of {model.n_labels:,} items asked of both"


def _cells(score: ScoreComparison) -> dict[str, str | Cell]:
    """The cell below each heading."""
    return {
        "score": score.metric,
        "n": f"{score.n:,}",
        "A": _percent(score.baseline),
        "B": _percent(score.value),
        "difference": _difference(score.difference),
        "p": _p_value(score.p),
        "Holm p": _p_value(score.p_holm),
        "verdict": Cell(score.verdict, colour=_COLOURS.get(score.verdict, "")),
        "finds": _percent(score.smallest_detectable),
    }


def _captions(comparison: Comparison) -> list[str]:
    scores = [score for model in comparison.models for score in model.scores]
    tested = [score.metric in OUTCOMES for score in scores if score.p is not None]
    count = f"{len(tested)} test(s) here"
    if 0 < sum(tested) < len(tested):
        count = f"{sum(tested)} test(s) of outcomes and {len(tested) - sum(tested)} of plans here, apart"
    exact = [score.metric for score in scores if score.test == "mcnemar"]
    by = f" (exact McNemar: {', '.join(dict.fromkeys(exact))})" if exact else ""
    legend = (
        "Percent; difference with its 95 % bootstrap interval; p by approximate randomisation"
        f"{by}; Holm p: corrected for the {count}, below 0.05 is a verdict; finds: the "
        "difference that so many items find in 80 of 100 cases, before that correction. "
        f"{comparison.resamples:,} resamples of whole clusters ({comparison.clusters}), "
        f"seed {comparison.seed}."
    )
    return [legend, *dict.fromkeys(mark.line for mark in comparison.marks.values())]


def _difference(difference: Interval) -> str:
    if difference.value is None:
        return UNKNOWN
    text = _percent(difference.value)
    if difference.value > 0:
        text = f"+{text}"
    if difference.low is None or difference.high is None:
        return text
    return f"{text} [{_percent(difference.low)}, {_percent(difference.high)}]"


def _percent(share: float | None) -> str:
    return percent(share, 2, sign="")


def _p_value(p: float | None) -> str:
    """Never shown as 0, nor rounded across 0.05."""
    if p is None:
        return UNKNOWN
    return "<0.001" if p < 0.001 else f"{p:.4f}" if 0.0495 <= p < 0.0505 else f"{p:.3f}"
