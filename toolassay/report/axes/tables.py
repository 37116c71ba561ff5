"""The five axes as a table: its cells as text, on the screen, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.report.axes.axes import AXES, Axes, Cost, Latency, Security, Stability
from toolassay.report.leaderboard.tables import printable
from toolassay.runs.marks import LOCAL

if TYPE_CHECKING:
    from rich.table import Table


UNKNOWN = "–"
_NOTICED = 0.01  # seconds; a shorter wait is no queue
Lines = tuple[str, ...]
"""A cell: a number, and below it its interval and what else is said of it."""
HEADINGS = ("accuracy", "stability", "$ / 1,000", "$ / right", "s p50", "s p95", "security")


def cells(axes: Axes) -> tuple[Lines, ...]:
    """The numbers of a row, below `HEADINGS`; what was not measured is a dash.

    >>> from toolassay.evaluation.axis import About
    >>> about = About("chats", "Chats", "message", "the choice is right")
    >>> cells(Axes(about, "d", "m", 2, Interval(0.5, 0.25, 0.75)))[:2]
    (('50.0 %', '[25.0, 75.0]'), ('–',))
    """
    nothing = (UNKNOWN,)
    stability, cost, latency, security = axes.stability, axes.cost, axes.latency, axes.security
    return (
        _share(axes.accuracy),
        _stability(stability) if stability else nothing,
        (_dollars(cost.per_1000, cost), *_thinking(cost)) if cost else nothing,
        (_dollars(cost.per_right, cost),) if cost else nothing,
        (*_seconds(latency.p50, latency), *_parts(latency, 0)) if latency else nothing,
        (*_seconds(latency.p95, latency), *_parts(latency, 1)) if latency else nothing,
        _security(security) if security else nothing,
    )


def mark_lines(runs: Iterable[Axes]) -> list[str]:
    """What the marks of some runs mean, a line each, and what local times are."""
    runs = list(runs)
    local = [LOCAL] if any(run.latency is not None and run.latency.is_local for run in runs) else []
    return list(dict.fromkeys([*(run.mark.line for run in runs if run.mark is not None), *local]))


def _seconds(seconds: float, latency: Latency) -> Lines:
    if not latency.is_local:
        return (f"{seconds:.2f}",)
    return (f"{seconds:.4f}" if seconds >= 0.0001 else "<0.0001", "local")


def _parts(latency: Latency, place: int) -> Iterator[str]:
    """The times of single answers: first token and pace where streamed, the wait where there was one."""
    if latency.first_token is not None:
        yield f"first token {latency.first_token[place]:.2f}"
    if latency.per_token is not None:
        yield f"{latency.per_token[place]:.4f} a token"
    if latency.queued is not None and latency.queued[1] >= _NOTICED:
        yield f"+ {latency.queued[place]:.2f} queued"


def _thinking(cost: Cost) -> Lines:
    return () if cost.thinking is None else (f"{_percent(cost.thinking)} thinking",)


def _stability(found: Stability) -> Lines:
    first, *bounds = _share(found.pass_hat_k)
    return (f"pass^{found.k} {first}", *bounds, f"same answers {_percent(found.agreement.value)}")


def _security(found: Security) -> Lines:
    failed = f", {found.excluded} more failed" if found.excluded else ""
    served = f"harmless served {_percent(found.harmless.value)}"
    answers = found.attempts - found.excluded
    if found.score.value is None:
        return (UNKNOWN, f"{found.unreadable} of {answers} attacks unreadable{failed}", served)
    unread = f", {found.unreadable} unreadable" if found.unreadable else ""
    return (*_share(found.score), f"of {answers - found.unreadable} attacks{failed}{unread}", served)


def _share(interval: Interval) -> Lines:
    value, low, high = interval
    bounds = () if low is None or high is None else (f"[{100 * low:.1f}, {100 * high:.1f}]",)
    return (_percent(value), *bounds)


def _percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def money(dollars: float) -> str:
    """US dollars, small ones with more digits.

    >>> money(0.0), money(0.00123), money(1.5), money(1234.5)
    ('0', '0.0012', '1.50', '1,234.50')
    """
    if not dollars:
        return "0"
    return f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.2g}"


def _dollars(dollars: float | None, cost: Cost) -> str:
    return UNKNOWN if dollars is None else f"{'≥ ' if cost.is_at_least else ''}{money(dollars)}"


_NAME_WIDTH = 24  # characters of a name before it is folded, at least


def terminal_table(runs: Sequence[Axes]) -> Table:
    """A row a run, the rows of a model together; below a number its interval, and what else is said of it."""
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table

    rows = [_terminal_row(axes) for axes in runs]
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    for place, heading in enumerate(("model", "benchmark", "n", *HEADINGS)):
        lines = [line for row in rows for line in row[place]]
        widest = max(map(cell_len, [heading, *lines]))
        if place < 2:
            table.add_column(heading, overflow="fold", min_width=min(widest, _NAME_WIDTH))
        else:
            table.add_column(heading, justify="right", no_wrap=True, min_width=widest)
    before = None
    for axes, (model, *others) in zip(runs, rows, strict=True):
        table.add_row(_dimmed(model) if axes.model != before else "", *map(_dimmed, others))
        before = axes.model
    return table


def _terminal_row(axes: Axes) -> list[Lines]:
    return [(printable(axes.name),), (printable(axes.marked_title),), (axes.n,), *cells(axes)]


def _dimmed(lines: Lines) -> str:
    from rich.markup import escape

    first, *more = map(escape, lines)
    return "\n".join((first, *(f"[dim]{line}[/]" for line in more)))


CSV_COLUMNS = (
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
    writer.writerow(CSV_COLUMNS)
    writer.writerows(map(_csv_row, runs))
    return text.getvalue()


def _csv_row(axes: Axes) -> list[object]:
    stability, cost, latency, security = axes.stability, axes.cost, axes.latency, axes.security
    sure, same = (stability.pass_hat_k, stability.agreement) if stability else (NOTHING, NOTHING)
    score: Interval = security.score if security else NOTHING
    return [
        *(axes.about.name, printable(axes.data), printable(axes.model), axes.items),
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
