"""The values in a WorkBench request: days, times, people, quoted texts, figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeVar

T = TypeVar("T")

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_DAY = re.compile(rf"\b({'|'.join(_MONTHS)}) (\d{{1,2}})\b|\b(yesterday|today|tomorrow)\b", re.IGNORECASE)
_TIME = re.compile(r"\b(\d{1,2})(?::(\d\d))? ?(am|pm)\b|\bnoon\b", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]*)"|(?<!\w)\'([^\']*)\'(?!\w)')
# "over 30", but not "over 30 days", nor the 3 of it.
_THRESHOLD = re.compile(
    r"\b(above|below|over|under|more than|less than) (\d+(?:\.\d+)?)(?![\d.]*(?:%| ?days))"
)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_METRICS = {
    "number of engaged users": "user_engaged",
    "average session duration": "session_duration_seconds",
    "number of visits": "total_visits",
}
_SOURCES = ("direct", "referral", "search engine", "social media")
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "an": 1, "a": 1, "half": 0.5}
_LENGTH = re.compile(
    r"\b(\d+|one|two|three|four|an?|half an)[ -](?:and a half )?(minute|hour)s?\b( and a half)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ParsedRequest:
    """A request, read once.

    Args:
        request: as it was written.
        now: the moment it was.
        people: first names of colleagues in it, in order.
    """

    request: str
    now: datetime
    people: tuple[str, ...] = ()

    @property
    def bare(self) -> str:
        """The request in small letters, without what stands in quotes."""
        return _QUOTED.sub("''", self.request).lower()

    @property
    def quoted(self) -> list[str]:
        """What stands in quotes."""
        return [double or single for double, single in _QUOTED.findall(self.request)]

    @property
    def days(self) -> list[date]:
        """The days that are named outside of quotes, in order; a month without year is the nearest."""
        days = [self._day(found) for found in _DAY.finditer(self.bare)]
        return [day for day in days if day is not None]

    @property
    def today(self) -> date:
        """The day it is."""
        return self.now.date()

    @property
    def times(self) -> list[str]:
        """The times of day, as HH:MM:SS."""
        return [_clock(found) for found in _TIME.finditer(self.bare)]

    @property
    def minutes(self) -> int | None:
        """The first length of time."""
        found = _LENGTH.search(self.bare)
        if found is None:
            return None
        word = found[1]
        count = int(word) if word.isdigit() else 0.5 if word.startswith("half") else _NUMBERS[word]
        if "and a half" in found[0]:
            count += 0.5
        return round(count * (60 if found[2] == "hour" else 1))

    @property
    def metrics(self) -> list[str]:
        """The figures of analytics, by their names there, each once, in order."""
        return _in_order(self.bare, _METRICS)

    @property
    def sources(self) -> list[str]:
        """The traffic sources, each once, in order."""
        return _in_order(self.request.lower(), {name: name for name in _SOURCES})

    @property
    def threshold(self) -> tuple[bool, float] | None:
        """Whether a figure is to be above a number, and the number."""
        found = _THRESHOLD.search(self.bare)
        return None if found is None else (found[1] in ("above", "over", "more than"), float(found[2]))

    @property
    def percent(self) -> float | None:
        """The first percentage."""
        found = _PERCENT.search(self.bare)
        return None if found is None else float(found[1])

    def has(self, *words: str) -> bool:
        """Whether one of these stands outside of quotes."""
        return any(re.search(rf"\b{word}\b", self.bare) for word in words)

    def named(self, words: Iterable[str]) -> list[str]:
        """Those of these that stand in the request, in order; case does not count."""
        return _in_order(self.request.lower(), {word.lower(): word for word in words})

    def _day(self, found: re.Match[str]) -> date | None:
        if found[3]:
            return self.today + timedelta(days=("yesterday", "today", "tomorrow").index(found[3]) - 1)
        month, number = _MONTHS.index(found[1].lower()) + 1, int(found[2])
        candidates = []
        for year in (self.today.year - 1, self.today.year, self.today.year + 1):
            try:
                candidates.append(date(year, month, number))
            except ValueError:
                continue
        return min(candidates, key=lambda day: abs(day - self.today), default=None)


def people_in(request: str, addresses: Iterable[str]) -> tuple[str, ...]:
    """The addresses whose first name stands in a request outside of quotes, in order."""
    bare = _QUOTED.sub("''", request)
    places = {}
    for address in addresses:
        found = re.search(rf"\b{re.escape(address.partition('.')[0])}\b", bare, re.IGNORECASE)
        if found:
            places[address] = found.start()
    return tuple(sorted(places, key=places.__getitem__))


def _clock(found: re.Match[str]) -> str:
    if found[1] is None:
        return "12:00:00"
    hour = int(found[1]) % 12 + (12 if found[3] == "pm" else 0)
    return f"{hour:02}:{found[2] or '00'}:00"


def _in_order(text: str, values: dict[str, str]) -> list[str]:
    places = {value: found.start() for word, value in values.items() if (found := re.search(word, text))}
    return sorted(places, key=places.__getitem__)


def first_of(found: Iterable[T]) -> T:
    """The first of what was found; within a generator, unlike `next`, nothing found is no end.

    Raises:
        LookupError: nothing was found.
    """
    for one in found:
        return one
    raise LookupError("nothing was found")
