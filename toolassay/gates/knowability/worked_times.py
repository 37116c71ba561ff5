"""Times of day that a text tells by another one: "at nine, and again half an hour later"."""

from __future__ import annotations

import re
from collections.abc import Collection

from toolassay.gates.knowability.durations import durations_in

_BEHIND = re.compile(r",? (?P<way>later|after|afterwards|earlier|before|beforehand|prior|past|ahead)\b")
_LATER = frozenset({"later", "after", "afterwards", "past"})
_MOST_TEXT = 20_000
_DAY = 24 * 60


def shifted_times(text: str, times: Collection[float]) -> set[float]:
    """The times (minutes since midnight) that lie before or after others as a plain text says.

    >>> sorted(shifted_times("at 9:00, and again half an hour later", [540.0]))
    [570.0]
    """
    found: set[float] = set()
    if not times:
        return found
    text = text[:_MOST_TEXT]
    for _, end, length in durations_in(text):
        if length.months or not (way := _BEHIND.match(text, end)):
            continue
        minutes = float(length.seconds) / 60 * (1 if way["way"] in _LATER else -1)
        if abs(minutes) < _DAY:
            found |= {(time + minutes) % _DAY for time in times}
    return found
