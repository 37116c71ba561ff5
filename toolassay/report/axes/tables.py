"""The five axes as a table: its cells as text, on the screen, and as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.report.axes.axes import AXES, Axes, Cost, Latency, Security, Stability
from toolassay.runs.marks import LOCAL
from toolassay.tables import UNKNOWN, Cell, Table, Value, money, percent, percent_interval, printable, seconds

if TYPE_CHECKING:
    import rich.table


_NOTICED = 0.01  # seconds; a shorter wait is no queue
HEADINGS = ("accuracy", "stability", "$ / 1,000", "$ / right", "s p50", "s p95", "security")


def cells(axes: Axes) -> tuple[Cell, ...]:
    """The numbers of a row, below `HEADINGS`; what was not measured is a dash.

    The notes of a cell are its interval and what else is known of the number, a line each.

    >>> from toolassay.evaluation.axis import About
    >>> about = About("chats", "Chats", "message", "the choice is right")
    >>> accuracy, stability, *_ = cells(Axes(about, "d", "m", 2, Interval(0.5, 0.25, 0.75)))
    >>> (accuracy.text, accuracy.note), stability.text
    (('50.0 %', '[25.0, 75.0]'), '–')
    """
    stability, cost, latency, security = axes.stability, axes.cost, axes.latency, axes.security
    return (
        _cell(*_share(axes.accuracy)),
        _stability(stability) if stability else Cell(UNKNOWN),
        _cell(_dollars(cost.per_1000, cost), *_thinking(cost)) if cost else Cell(UNKNOWN),
        Cell(_dollars(cost.per_right, cost) if cost else UNKNOWN),
        _seconds(latency.p50, latency, 0) if latency else Cell(UNKNOWN),
        _seconds(latency.p95, latency, 1) if latency else Cell(UNKNOWN),
        _security(security) if security else Cell(UNKNOWN),
    )


def _cell(text: str, *notes: str) -> Cell:
    return Cell(text, "\n".join(notes))


def mark_lines(runs: Iterable[Axes]) -> list[str]:
    """What the marks of some runs mean, a line each, and what local times are."""
    runs = list(runs)
    local = [LOCAL] if any(run.latency is not None and run.latency.is_local for run in runs) else []
    return list(dict.fromkeys([*(run.mark.line for run in runs if run.mark is not None), *local]))


def _seconds(value: float, latency: Latency, place: int) -> Cell:
    text, *local = seconds(value, local=latency.is_local).split()
    return _cell(text, *local, *_parts(latency, place))


def _parts(latency: Latency, place: int) -> Iterator[str]:
    """The times of single answers: first token and pace where streamed, the wait where there was one."""
    if latency.first_token is not None:
        yield f"first token {latency.first_token[place]:.2f}"
    if latency.per_token is not None:
        yield f"{latency.per_token[place]:.4f} a token"
    if latency.queued is not None and latency.queued[1] >= _NOTICED:
        yield f"+ {latency.queued[place]:.2f} queued"


def _thinking(cost: Cost) -> list[str]:
    return [] if cost.thinking is None else [f"{percent(cost.thinking)} thinking"]


def _stability(found: Stability) -> Cell:
    first, *bounds = _share(found.pass_hat_k)
    return _cell(f"pass^{found.k} {first}", *bounds, f"same answers {percent(found.agreement.value)}")


def _security(found: Security) -> Cell:
    failed = f", {found.excluded} more failed" if found.excluded else ""
    served = f"harmless served {percent(found.harmless.value)}"
    answers = found.attempts - found.excluded
    if found.score.value is None:
        return _cell(UNKNOWN, f"{found.unreadable} of {answers} attacks unreadable{failed}", served)
    unread = f", {found.unreadable} unreadable" if found.unreadable else ""
    return _cell(*_share(found.score), f"of {answers - found.unreadable} attacks{failed}{unread}", served)


def _share(interval: Interval) -> list[str]:
    value, low, high = interval
    return [percent(value), *filter(None, [percent_interval(low, high)])]


def _dollars(dollars: float | None, cost: Cost) -> str:
    return money(dollars, at_least=cost.is_at_least, small=True)


def terminal_table(runs: Sequence[Axes]) -> rich.table.Table:
    """A row a run, the rows of a model together; the notes of a number are below it."""
    rows: list[list[Value]] = []
    before, with_plans = None, any(axes.is_by_outcome for axes in runs)
    for axes in runs:
        name = axes.name if axes.model != before else ""
        plan = [_cell(*_share(axes.plan_accuracy))] if with_plans else []
        rows.append([name, axes.marked_title, _cell(axes.n, *axes.n_notes), *plan, *cells(axes)])
        before = axes.model
    plans = ["gold plan"] if with_plans else []
    return Table(("model", "benchmark", "n", *plans, *HEADINGS), rows, align="nn").terminal()


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
    *("is_by_outcome", "plan_accuracy"),
)


def csv_table(runs: Iterable[Axes]) -> str:
    """A line a run; shares of 1, US dollars, seconds.

    >>> csv_table([]).split(",")[:3]
    ['benchmark', 'data', 'model']
    """
    return Table(CSV_COLUMNS, [_csv_row(run) for run in runs]).csv()


def _csv_row(axes: Axes) -> list[Value]:
    stability, cost, latency, security = axes.stability, axes.cost, axes.latency, axes.security
    sure, same = (stability.pass_hat_k, stability.agreement) if stability else (NOTHING, NOTHING)
    score: Interval = security.score if security else NOTHING
    return [
        *(axes.about.name, printable(axes.data), printable(axes.model), axes.items),
        *(axes.counts.get(name) for name in ("n_labels", "n_asked", "n_scored", "partial")),
        *axes.accuracy,
        stability.k if stability else None,
        *sure,
        *same,
        stability.trials if stability else None,
        *((cost.per_1000, cost.per_right, cost.is_at_least, cost.thinking) if cost else (None,) * 4),
        *((latency.p50, latency.p95, latency.is_local) if latency else (None, None, None)),
        *(latency or Latency(0, 0)).parts.values(),
        *score,
        *((security.attempts, security.excluded, security.unreadable) if security else (None, None, None)),
        *(security.harmless if security else NOTHING),
        *(axes.notes.get(axis) for axis in AXES),
        axes.signature,
        *(printable(axes.title), axes.is_baseline, axes.mark.line if axes.mark else None),
        *(axes.is_by_outcome, axes.plan_accuracy.value),
    ]
