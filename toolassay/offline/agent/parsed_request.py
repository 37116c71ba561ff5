"""A parsed request of the office workplace (Styles et al., 2024): days, times, people, quotes, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeVar

from toolassay.text_values.dates import find_dates_near
from toolassay.text_values.times import find_clock_texts, find_minutes

T = TypeVar("T")

# Texts in quotes, but not the apostrophes of "it's Ann's".
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
TRAFFIC_SOURCES = ("direct", "referral", "search engine", "social media")


@dataclass(frozen=True)
class ParsedRequest:
    """A request and the values in it.

    Args:
        request: as written.
        now: the moment at which it was written.
        people: the addresses of the colleagues in it, in order.
    """

    request: str
    now: datetime
    people: tuple[str, ...] = ()

    @property
    def bare(self) -> str:
        """The request in lower case, without the quoted texts."""
        return _QUOTED.sub("''", self.request).lower()

    @property
    def quoted(self) -> list[str]:
        """The quoted texts, in order."""
        return [double or single for double, single in _QUOTED.findall(self.request)]

    @property
    def days(self) -> list[date]:
        """The days outside quotes, in order, each in the year nearest to today."""
        return list(find_dates_near(self.bare, self.today))

    @property
    def today(self) -> date:
        return self.now.date()

    @property
    def times(self) -> list[str]:
        """The times of day, as HH:MM:SS, in order."""
        return list(find_clock_texts(self.bare))

    @property
    def minutes(self) -> int | None:
        """The first length of time, in minutes."""
        return next((minutes for _, minutes in find_minutes(self.bare)), None)

    @property
    def metrics(self) -> list[str]:
        """The metrics by their column names, each once, in order."""
        return _in_order(self.bare, _METRICS)

    @property
    def sources(self) -> list[str]:
        """The traffic sources, each once, in order."""
        return _in_order(self.request.lower(), {name: name for name in TRAFFIC_SOURCES})

    @property
    def threshold(self) -> tuple[bool, float] | None:
        """Whether a metric must be above (or below) a number, and that number."""
        found = _THRESHOLD.search(self.bare)
        return None if found is None else (found[1] in ("above", "over", "more than"), float(found[2]))

    @property
    def percent(self) -> float | None:
        found = _PERCENT.search(self.bare)
        return None if found is None else float(found[1])

    def has(self, *words: str) -> bool:
        """Whether one of these regular expressions matches whole words outside quotes."""
        return any(re.search(rf"\b{word}\b", self.bare) for word in words)

    def named(self, words: Iterable[str]) -> list[str]:
        """Those of these words that are in the request, in its order, in any case."""
        return _in_order(self.request.lower(), {word.lower(): word for word in words})


def people_in(request: str, addresses: Iterable[str]) -> tuple[str, ...]:
    """The addresses whose first name is in a request outside quotes, in order."""
    bare = _QUOTED.sub("''", request)
    places = {}
    for address in addresses:
        found = re.search(rf"\b{re.escape(address.partition('.')[0])}\b", bare, re.IGNORECASE)
        if found:
            places[address] = found.start()
    return tuple(sorted(places, key=places.__getitem__))


def _in_order(text: str, values: dict[str, str]) -> list[str]:
    places = {value: found.start() for word, value in values.items() if (found := re.search(word, text))}
    return sorted(places, key=places.__getitem__)


def first_of(found: Iterable[T]) -> T:
    """The first item. Unlike `next`, it does not end the generator that calls it if there is none.

    Raises:
        LookupError: there is none.
    """
    for one in found:
        return one
    raise LookupError("nothing was found")
