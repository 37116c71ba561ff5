"""How long an answer takes: every one that was timed, and how many failed."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from math import fsum
from typing import Any

from toolassay.benchmarks.classic.scoring.compat.spread import SLOWEST
from toolassay.benchmarks.classic.scoring.strict.judged import Judged
from toolassay.runs.totals import percentiles

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
    times = array("d", (row.seconds for row in rows if row.seconds is not None))
    first = array("d", (time for row in rows if (time := row.first_token_seconds) is not None))
    failures = [one for one in judged if one.outcome in _FAILURES]
    return {
        "timed": len(times),
        "mean": fsum(times) / len(times) if times else None,
        "max": max(times, default=None),
        **_percentiles(times, (50, 90, 95, 99)),
        **{f"first_token_{name}": value for name, value in _percentiles(first, (50, 95)).items()},
        "over_60_s": sum(time > SLOWEST for time in times),
        "timeouts": sum(one.row is not None and bool(_TIMEOUT.search(one.row.error)) for one in failures),
        "failures": len(failures),
        "failure_share": len(failures) / len(judged) if judged else None,
    }


def _percentiles(times: array[float], which: tuple[int, ...]) -> dict[str, float | None]:
    found = percentiles(times, which) or {}
    return {f"p{p}": found.get(f"p{p}") for p in which}
