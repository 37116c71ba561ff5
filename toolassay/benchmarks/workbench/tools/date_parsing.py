"""Dates and times as an agent may write them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from toolassay.benchmarks.workbench.tools.tool import ToolFailure

_LONGEST = 200
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_NEVER = frozenset({"NaT", "nat", "NAT", "nan", "NaN", "NAN"})


def moment(text: Any, now: datetime) -> datetime | None:
    """The moment that a text names, as leniently as the published program (pandas) reads it.

    A day alone is its midnight. A time alone such as 13:00 is on the day the published program is run, which
    is after everything in the tables; here it is in the year 9999. Otherwise than there, `now` and `today`
    are the sandbox's, and quarters ("2023Q4") are not read.

    Args:
        text: what the agent wrote.
        now: the moment it is in the sandbox.

    Returns:
        The moment; None for words that mean none, such as "nan": nothing is before or after it.

    Raises:
        ToolFailure: the text names no moment.

    >>> moment("Dec 1, 2023 9am", datetime(2023, 11, 30))
    datetime.datetime(2023, 12, 1, 9, 0)
    """
    if isinstance(text, str) and len(text) <= _LONGEST:
        if text in _NEVER:
            return None
        if text in ("now", "today"):
            return now
        try:
            if "W" not in text:  # weeks of the ISO calendar are not read
                return datetime.fromisoformat(text)
        except ValueError:
            pass
        found = None if _is_small_number(text) else _parsed(text)
        if found is not None:
            return found
    raise ToolFailure(f"not a date or time: {str(text)[:100]!r}; write YYYY-MM-DD HH:MM:SS")


def _is_small_number(text: str) -> bool:
    try:
        return not text.startswith("0") and float(text) < 1000
    except ValueError:
        return False


def _parsed(text: str) -> datetime | None:
    from dateutil import parser

    # What is not in the text comes from the default: two of them show what was in it.
    try:
        found: datetime = parser.parse(text, default=datetime(1, 1, 1))
        again: datetime = parser.parse(text, default=datetime(2, 2, 2, 2))
    except (ValueError, OverflowError, TypeError):
        return None
    if found.year == again.year or found.month == again.month or found.day == again.day:
        return found
    if found.hour != again.hour:
        return None  # a day of the week, or less
    return found.replace(year=9999) if _CLOCK.match(text) else found
