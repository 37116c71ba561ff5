"""The cells of the table as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolassay.metrics.intervals import Interval
from toolassay.offline.marks import LOCAL
from toolassay.report.axes.axes import Axes, Cost, Latency, Security, Stability

UNKNOWN = "–"
_NOTICED = 0.01  # seconds; a shorter wait is no queue
Lines = tuple[str, ...]
"""A cell: a number, and below it its interval and what else is said of it."""
HEADINGS = ("accuracy", "stability", "$ / 1,000", "$ / right", "s p50", "s p95", "security")


def cells(axes: Axes) -> tuple[Lines, ...]:
    """The numbers of a row, below `HEADINGS`; what was not measured is a dash.

    >>> cells(Axes("classic", "d", "m", 2, Interval(0.5, 0.25, 0.75)))[:2]
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
