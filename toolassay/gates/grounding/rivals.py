"""Rivals of a value: what the request states of the same kind and no argument of the plan has.

A missing date beside a date that nothing uses is a contradiction. A missing date alone may follow from
something that the rules do not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from toolassay.gates.grounding import identifiers
from toolassay.gates.grounding.source_text import SourceText

# From these words other days follow: "the week after", "three nights", "at the end of March".
_DERIVED_DAYS = re.compile(
    r"\b(?:later|after|before|following|next|previous|earlier|end|start|beginning|last|first|weeks?|weekends?"
    r"|fortnight|nights?|days|months?|quarter|half|every|each|until|eve|today|tomorrow|tonight|yesterday"
    r"|from now|hence|ago|prior|within|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|through)\b"
)
# From these other times: "an hour earlier", "for 90 minutes".
_DERIVED_TIMES = re.compile(
    r"\b(?:later|after|before|earlier|for|until|hours?|minutes?|mins?|half|quarter|utc|gmt|zone|local|same)\b"
)
_SHAPE = str.maketrans("0123456789", "9999999999")


def rivals(kind: str, missing: str, source: SourceText, used: SourceText) -> list[str]:
    """The values of a kind that the source states and that the plan does not use.

    Args:
        kind: "email", "url", "file", "day", "time", "phone" or "code".
        missing: The value of the plan that the source does not have.
        source: The request.
        used: All values of the plan, one per line.

    >>> source, used = SourceText("Fly on 3 May 2027, mail a@x.org"), SourceText("2027-05-04")
    >>> rivals("day", "2027-05-04", source, used), rivals("file", "a.pdf", source, used)
    (['3 may 2027'], [])
    >>> rivals("day", "2027-05-10", SourceText("Fly a week after 3 May 2027"), used)
    []
    """
    found: Iterable[str] = ()
    if kind == "email":
        found = (one for one in source.emails if one not in used.emails)
    elif kind == "url":
        mentioned = (identifiers.url_key(match.group()) for match in identifiers.URL.finditer(source.plain))
        found = (one for one in mentioned if one not in used.urls)
    elif kind == "file":
        ending = missing.rpartition(".")[2]
        files = (one for one in source.files if one.rpartition(".")[2] == ending)
        found = (one for one in files if one not in used.files)
    elif kind == "phone":
        numbers = used.phone_numbers
        found = (one for one in source.phone_numbers if not identifiers.is_phone_of(one, numbers))
    elif kind == "code":
        found = _codes(missing, source, used)
    elif kind == "day" and not _DERIVED_DAYS.search(source.plain):
        found = _days(missing, source, used)
    elif kind == "time" and not _DERIVED_TIMES.search(source.plain):
        times = (time for time in source.times if not {time, (time + 720) % 1440} & set(used.times))
        found = (f"{int(time) // 60:02}:{int(time) % 60:02}" for time in times)
    return list(dict.fromkeys(found))


def _days(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    wanted = SourceText(missing).days
    for day, words in source.days.items():
        # A birthday is no rival of its anniversary.
        is_anniversary = any((day.month, day.day) == (own.month, own.day) for own in wanted)
        if day.day and not is_anniversary and not any(day.agrees_with(other) for other in used.days):
            yield words.strip(" ,")


def _codes(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    shape = identifiers.code_key(missing).translate(_SHAPE)
    for match in identifiers.CODE.finditer(source.plain):
        key = identifiers.code_key(match.group())
        if key.translate(_SHAPE) == shape and key not in used.codes:
            yield match.group()
