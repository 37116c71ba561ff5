"""Several tests at once, and still at most 5 % false alarms."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (1979): adjusted p-values, in the given order.

    Where none of the differences is real, the chance that any adjusted value lies below 0.05 is at most 5 %,
    however the tests hang together. None is no test, and stays None.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    tests = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for done, (p, place) in enumerate(tests):
        least = max(least, min(1.0, p * (len(tests) - done)))
        adjusted[place] = least
    return adjusted
