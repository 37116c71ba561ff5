"""Parses dates and times as agents write them."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from toolassay.benchmarks.workbench.tools.tool import ToolFailure

_LONGEST = 200
_TEXTS_KEPT = 4_096  # a search by time parses every row of a table: less than 2 MB
# Matches the start of "9:30" and "13:00 sharp"; not "9am" or "Dec 1, 9:30".
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_NEVER = frozenset({"NaT", "nat", "NAT", "nan", "NaN", "NAN"})  # pandas reads these as "not a time"


def parse_moment(text: Any, now: datetime) -> datetime | None:
    """Parse a date or time as leniently as the published program (pandas) does.

    A date alone is its midnight. A time alone, such as 13:00, is on the day the published program runs, which
    is after all data; here it is in the year 9999. Two differences: `now` and `today` are the sandbox's, and
    quarters ("2023Q4") are not accepted.

    Args:
        text: what the agent wrote.
        now: the sandbox's current time.

    Returns:
        The time; None for words such as "nan", which compare as neither before nor after anything.

    Raises:
        ToolFailure: the text is not a date or time.

    >>> parse_moment("Dec 1, 2023 9am", datetime(2023, 11, 30))
    datetime.datetime(2023, 12, 1, 9, 0)
    """
    if isinstance(text, str) and len(text) <= _LONGEST:
        found = _moment(text, now)
        if not isinstance(found, _NotAMoment):
            return found
    raise ToolFailure(f"not a date or time: {str(text)[:100]!r}; write YYYY-MM-DD HH:MM:SS")


class _NotAMoment:
    """The result for a text that is not a date or time."""


@lru_cache(_TEXTS_KEPT)
def _moment(text: str, now: datetime) -> datetime | _NotAMoment | None:
    if text in _NEVER:
        return None
    if text in ("now", "today"):
        return now
    try:
        if "W" not in text:  # pandas rejects ISO weeks such as 2023-W48; fromisoformat accepts them
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    found = None if _is_small_number(text) else _parsed(text)
    return _NotAMoment() if found is None else found


def _is_small_number(text: str) -> bool:
    """Whether the text is a number below 1000. dateutil would read it as a day, which pandas does not."""
    try:
        return not text.startswith("0") and float(text) < 1000
    except ValueError:
        return False


def _parsed(text: str) -> datetime | None:
    from dateutil import parser

    # dateutil fills missing parts from the default. Parsing with two defaults shows which parts were missing.
    try:
        found: datetime = parser.parse(text, default=datetime(1, 1, 1))
        again: datetime = parser.parse(text, default=datetime(2, 2, 2, 2))
    except (ValueError, OverflowError, TypeError):
        return None
    if found.year == again.year or found.month == again.month or found.day == again.day:
        return found
    if found.hour != again.hour:
        return None  # neither a date nor an hour, e.g. only a weekday
    return found.replace(year=9999) if _CLOCK.match(text) else found
