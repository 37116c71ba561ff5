"""The axes as CSV, for further work: numbers as they are, unknown ones empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from toolassay.metrics.intervals import NOTHING, Interval
from toolassay.report.axes.axes import AXES, Axes, Latency
from toolassay.report.leaderboard.words import printable

COLUMNS = (
    *("benchmark", "data", "model", "items"),
    *("n_labels", "n_asked", "n_scored", "partial"),
    *(f"accuracy{end}" for end in ("", "_low", "_high")),
    "stability_k",
    *(f"stability{end}" for end in ("", "_low", "_high")),
    *(f"answer_agreement{end}" for end in ("", "_low", "_high")),
    "trials",
    *("usd_per_1000_items", "usd_per_right_item", "usd_is_at_least", "thinking_share_of_tokens_written"),
    *("seconds_p50", "seconds_p95", "seconds_are_local"),
    *Latency(0, 0).parts,
    *(f"security{end}" for end in ("", "_low", "_high")),
    *("attempts", "excluded", "unreadable"),
    *(f"harmless_served{end}" for end in ("", "_low", "_high")),
    *(f"{axis}_note" for axis in AXES),
    "signature",
    *("title", "is_baseline", "note"),
)


def csv_table(runs: Iterable[Axes]) -> str:
    """A line a run; shares of 1, US dollars, seconds.

    >>> csv_table([]).split(",")[:3]
    ['benchmark', 'data', 'model']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_row, runs))
    return text.getvalue()


def _row(axes: Axes) -> list[object]:
    stability, cost, latency, security = axes.stability, axes.cost, axes.latency, axes.security
    sure, same = (stability.pass_hat_k, stability.agreement) if stability else (NOTHING, NOTHING)
    score: Interval = security.score if security else NOTHING
    return [
        *(axes.benchmark, printable(axes.data), printable(axes.model), axes.items),
        *(axes.counts.get(name) for name in ("n_labels", "n_asked", "n_scored", "partial")),
        *axes.accuracy,
        stability and stability.k,
        *sure,
        *same,
        stability and stability.trials,
        *((cost.per_1000, cost.per_right, cost.is_at_least, cost.thinking) if cost else (None,) * 4),
        *((latency.p50, latency.p95, latency.is_local) if latency else (None, None, None)),
        *(latency or Latency(0, 0)).parts.values(),
        *score,
        *((security.attempts, security.excluded, security.unreadable) if security else (None, None, None)),
        *(security.harmless if security else NOTHING),
        *(axes.notes.get(axis) for axis in AXES),
        axes.signature,
        *(printable(axes.title), axes.is_baseline, axes.mark.line if axes.mark else None),
    ]
