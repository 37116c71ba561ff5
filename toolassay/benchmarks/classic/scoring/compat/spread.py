"""The published description of a column of numbers, and the two axes that are made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolassay.benchmarks.classic.scoring.rows import Row

SLOWEST = 60.0
"""Seconds; what took longer is left out of the published latency."""


def spread(name: str, values: Iterable[float | None]) -> dict[str, float | None]:
    """Mean, sample standard deviation, smallest, largest and sum of what is known, to six decimals.

    >>> spread("cost", [1.0, None, 2.0])["cost_mean"]
    1.5
    >>> spread("cost", [])
    {'cost_mean': None, 'cost_std': None, 'cost_min': None, 'cost_max': None, 'cost_total': 0.0}
    """
    import numpy as np

    found = np.array([value for value in values if value is not None], dtype=np.float64)
    n = len(found)
    numbers = {
        "mean": found.mean() if n else None,
        "std": found.std(ddof=1) if n > 1 else None,
        "min": found.min() if n else None,
        "max": found.max() if n else None,
        "total": found.sum(),
    }
    return {
        f"{name}_{what}": None if number is None else float(np.round(number, 6))
        for what, number in numbers.items()
    }


def cost(rows: Sequence[Row]) -> dict[str, float | None]:
    """US dollars and tokens of a row: of one message in one trial."""
    return {
        **spread("cost", (row.cost for row in rows)),
        **spread("tokens_input", (row.tokens_input for row in rows)),
        **spread("tokens_output", (row.tokens_output for row in rows)),
    }


def latency(rows: Sequence[Row]) -> dict[str, float | None]:
    """Seconds to an answer of the rows that are `timed`."""
    return spread("time_to_pred", (row.seconds for row in rows if timed(row)))


def timed(row: Row) -> bool:
    """Whether a row counts for the published latency: its time is known, and no more than `SLOWEST`."""
    return row.seconds is not None and row.seconds <= SLOWEST
