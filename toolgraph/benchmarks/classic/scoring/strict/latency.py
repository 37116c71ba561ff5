"""How long an answer takes: every one that was timed, and how many failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from toolgraph.benchmarks.classic.scoring.compat.spread import SLOWEST
from toolgraph.benchmarks.classic.scoring.strict.judged import Judged

_FAILURES = ("context overflow", "provider error", "budget stop", "not run")
_TIMEOUT = re.compile(r"no answer within|time[d -]*out", re.IGNORECASE)


def latency(judged: Sequence[Judged]) -> dict[str, Any]:
    """Seconds of every run that was timed, whatever came of it.

    Returns:
        `timed` (runs), `mean`, `max`, `p50`, `p90`, `p95`, `p99`; `first_token_p50` and `first_token_p95`
        (of answers sent token by token); `over_60_s`, which the published latency leaves out; `timeouts`,
        `failures` (no answer at all; the time-outs are among them) and `failure_share`.
    """
    rows = [one.row for one in judged if one.row is not None]
    times = sorted(row.seconds for row in rows if row.seconds is not None)
    first = [row.first_token_seconds for row in rows if row.first_token_seconds is not None]
    failures = [one for one in judged if one.outcome in _FAILURES]
    return {
        "timed": len(times),
        "mean": sum(times) / len(times) if times else None,
        "max": times[-1] if times else None,
        **percentiles(times, (50, 90, 95, 99)),
        **{f"first_token_{name}": value for name, value in percentiles(first, (50, 95)).items()},
        "over_60_s": sum(time > SLOWEST for time in times),
        "timeouts": sum(one.row is not None and bool(_TIMEOUT.search(one.row.error)) for one in failures),
        "failures": len(failures),
        "failure_share": len(failures) / len(judged) if judged else None,
    }


def percentiles(values: Iterable[float], which: Sequence[int]) -> dict[str, float | None]:
    """Percentiles of values; each is one of them, the nearest from above (no mean of two).

    >>> percentiles([1.0, 2.0, 3.0, 4.0], [50, 95])
    {'p50': 2.0, 'p95': 4.0}
    """
    ranked = sorted(values)
    places = {p: -(-p * len(ranked) // 100) - 1 for p in which}  # rounded up, in whole numbers
    return {f"p{p}": ranked[place] if ranked else None for p, place in places.items()}
