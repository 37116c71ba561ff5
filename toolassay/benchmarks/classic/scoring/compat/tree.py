"""The published tree of metrics: an axis, a domain, a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolassay.benchmarks.classic.scoring.compat.accuracy import accuracy
from toolassay.benchmarks.classic.scoring.compat.spread import cost, latency, timed
from toolassay.benchmarks.classic.scoring.compat.stability import stability
from toolassay.benchmarks.classic.scoring.rows import Row

_AXES: Mapping[str, Callable[[Sequence[Row]], Mapping[str, float | None]]] = {
    "cost": cost,
    "latency": latency,
    "accuracy": accuracy,
    "stability": stability,
}


def compat_metrics(rows: Iterable[Row]) -> dict[str, Any]:
    """Cost, latency, accuracy and stability, of all rows (`domain:all`) and of each domain's.

    Args:
        rows: in any order.

    Returns:
        `n_rows`, the four axes, and `notes`: for an axis that cannot be computed (its value is None), why.
        As published, an axis is all or nothing, and a domain without a timed row is not under latency.
    """
    ordered = sorted(rows, key=lambda row: row.sorting)
    metrics: dict[str, Any] = {"n_rows": len(ordered)}
    notes: dict[str, str] = {}
    for axis, measure in _AXES.items():
        counted = [row for row in ordered if timed(row)] if axis == "latency" else ordered
        found: dict[str, Any] = {}
        for domain, chosen in _parts(counted):
            try:
                found[domain] = dict(measure(chosen))
            except ValueError as error:
                notes[axis] = f"{domain}: {error}"
                break
        metrics[axis] = None if axis in notes else found
    return {**metrics, "notes": notes}


def _parts(rows: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    yield "domain:all", rows
    for name in sorted({row.domain for row in rows}):
        yield f"domain:{name}", [row for row in rows if row.domain == name]
