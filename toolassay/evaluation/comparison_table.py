"""A comparison of models as tables for the screen and as Markdown, in percent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from toolassay.evaluation.comparison import Comparison, ModelComparison, ScoreComparison
from toolassay.metrics.confidence_interval import Interval
from toolassay.text_formatting import count_of

_COLOURS = {"better": "green", "worse": "red"}
WIDE = 96
"""Characters of a screen on which every column has room."""


def comparison_tables(comparison: Comparison, *, width: int = WIDE) -> Iterator[Table]:
    """A table for each model against the baseline; the last says below what the words mean.

    Args:
        comparison: what was found.
        width: of the screen, in characters; narrow ones lose the uncorrected p.
    """
    for model in comparison.models:
        is_last = model is comparison.models[-1]
        caption = _caption(comparison) if is_last else None
        yield _table(comparison, model, caption, is_wide=width >= WIDE)


def comparison_markdown(comparison: Comparison) -> str:
    """The same in Markdown, for a notebook."""
    columns = ("A", "B", "difference", "p", "Holm p", "verdict", "finds")
    lines: list[str] = []
    for model in comparison.models:
        lines += [
            f"**{_plain(comparison.shown(model.model))}** (B) against "
            f"**{_plain(comparison.shown(model.baseline))}** (A): {_items(model)}",
            "",
            f"| score | {' | '.join(columns)} |",
            f"| --- |{' ---: |' * len(columns)}",
        ]
        for score in model.scores:
            cells = _cells(score)
            told = " | ".join(_plain(cells[column]) for column in columns)
            lines.append(f"| {_plain(score.metric)} | {told} |")
        lines.append("")
    return "\n".join([*lines, _plain(_caption(comparison)), ""])


def _plain(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> _plain("node_f1|<0.001")
    'node\\_f1\\|\\<0.001'
    """
    return re.sub(r"([\\`*_\[\]<>|~&#!$@])", r"\\\1", text)


def _table(comparison: Comparison, model: ModelComparison, caption: str | None, *, is_wide: bool) -> Table:
    clusters = max((score.n_clusters for score in model.scores), default=0)
    table = Table(
        title=escape(
            f"{comparison.shown(model.model)} (B) against {comparison.shown(model.baseline)} (A): "
            f"{comparison.group}, {_items(model)} in {count_of(clusters, 'cluster')}"
        ),
        caption=caption,
        box=box.SIMPLE_HEAD,
        padding=(0, 1 if is_wide else 0),
        collapse_padding=True,
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    # Where the scores do not all rest on the same items, each says on how many.
    with_n = any(score.n != model.n_compared for score in model.scores)
    numbers = [*(["n"] if with_n else []), "A", "B", "difference", *(["p"] if is_wide else []), "Holm p"]
    rows = [_cells(score) for score in model.scores]
    table.add_column("score", no_wrap=True)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True, min_width=_widest(heading, rows))
    table.add_column("verdict", min_width=_widest("verdict", rows) if is_wide else len("no difference"))
    table.add_column("finds", justify="right", no_wrap=True)
    for score, cells in zip(model.scores, rows, strict=True):
        colour = _COLOURS.get(score.verdict)
        table.add_row(
            escape(score.metric),
            *(escape(cells[heading]) for heading in numbers),
            f"[{colour}]{score.verdict}" if colour else score.verdict,
            cells["finds"],
        )
    return table


def _items(model: ModelComparison) -> str:
    """How many items are compared, and of how many where some were not asked of both."""
    if model.n_compared == model.n_labels:
        return f"{model.n_compared:,} items"
    return f"{model.n_compared:,} of {model.n_labels:,} items asked of both"


def _cells(score: ScoreComparison) -> dict[str, str]:
    """What stands under each heading."""
    return {
        "n": f"{score.n:,}",
        "A": _percent(score.baseline),
        "B": _percent(score.value),
        "difference": _difference(score.difference),
        "p": _p_value(score.p),
        "Holm p": _p_value(score.p_holm),
        "verdict": score.verdict,
        "finds": _percent(score.smallest_detectable),
    }


def _widest(heading: str, rows: Sequence[dict[str, str]]) -> int:
    return max(len(heading), *(len(cells[heading]) for cells in rows))


def _caption(comparison: Comparison) -> str:
    scores = [score for model in comparison.models for score in model.scores]
    count = sum(score.p is not None for score in scores)
    exact = [score.metric for score in scores if score.test == "mcnemar"]
    by = f" (exact McNemar: {', '.join(dict.fromkeys(exact))})" if exact else ""
    return (
        "Percent; difference with its 95 % bootstrap interval; p by approximate randomisation"
        f"{by}; Holm p: corrected for the {count} test(s) here, below 0.05 is a verdict; finds: the "
        "difference that so many items find in 80 of 100 cases, before that correction. "
        f"{comparison.resamples:,} resamples of whole clusters ({comparison.clusters}), "
        f"seed {comparison.seed}."
        + "".join(f"\n{line}" for line in dict.fromkeys(mark.line for mark in comparison.marks.values()))
    )


def _difference(difference: Interval) -> str:
    if difference.value is None:
        return "–"
    text = _percent(difference.value)
    if difference.value > 0:
        text = f"+{text}"
    if difference.low is None or difference.high is None:
        return text
    return f"{text} [{_percent(difference.low)}, {_percent(difference.high)}]"


def _percent(value: float | None) -> str:
    if value is None:
        return "–"
    text = f"{100 * value:.2f}"
    return "0.00" if text == "-0.00" else text


def _p_value(p: float | None) -> str:
    """Never shown as 0, nor rounded across 0.05."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.4f}" if 0.0495 <= p < 0.0505 else f"{p:.3f}"
