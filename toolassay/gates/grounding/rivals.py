"""Rivals of a value: what the request states of the same kind and no argument of the plan has.

A missing date beside a date that nothing uses is a contradiction. A missing date alone may follow from
something that the rules do not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

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
    find = _FINDERS.get(kind)
    return list(dict.fromkeys(find(missing, source, used))) if find else []


def _emails(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    yield from _others(source.emails, used.emails)


def _urls(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    mentioned = (identifiers.url_key(match.group()) for match in identifiers.URL.finditer(source.plain))
    yield from _others(mentioned, used.urls)


def _files(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    ending = missing.rpartition(".")[2]
    yield from (name for name in _others(source.files, used.files) if name.rpartition(".")[2] == ending)


def _days(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    if _DERIVED_DAYS.search(source.plain):
        return
    wanted = SourceText(missing).days
    for day, words in source.days.items():
        # A birthday is no rival of its anniversary.
        is_anniversary = any((day.month, day.day) == (own.month, own.day) for own in wanted)
        if day.day and not is_anniversary and not any(day.agrees_with(other) for other in used.days):
            yield words.strip(" ,")


def _times(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    if _DERIVED_TIMES.search(source.plain):
        return
    for time in source.times:
        if time not in used.times and (time + 720) % 1440 not in used.times:
            yield f"{int(time) // 60:02}:{int(time) % 60:02}"


def _phones(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    yield from (one for one in source.phone_numbers if not identifiers.is_phone_of(one, used.phone_numbers))


def _codes(missing: str, source: SourceText, used: SourceText) -> Iterator[str]:
    shape = identifiers.code_key(missing).translate(_SHAPE)
    for match in identifiers.CODE.finditer(source.plain):
        key = identifiers.code_key(match.group())
        if key.translate(_SHAPE) == shape and key not in used.codes:
            yield match.group()


def _others(stated: Collection[str] | Iterator[str], used: Collection[str]) -> Iterator[str]:
    return (one for one in stated if one not in used)


_FINDERS: dict[str, Callable[[str, SourceText, SourceText], Iterator[str]]] = {
    "email": _emails,
    "url": _urls,
    "file": _files,
    "day": _days,
    "time": _times,
    "phone": _phones,
    "code": _codes,
}
