"""A parsed request of the office workplace (Styles et al., 2024): days, times, people, quotes, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from toolassay.text_values.dates import find_dates_near
from toolassay.text_values.times import find_durations, find_times
from toolassay.text_values.vocabulary import with_digits

T = TypeVar("T")

# Texts in quotes, but not the apostrophes of "it's Ann's".
_QUOTED = re.compile(r'"([^"]*)"|(?<!\w)\'([^\']*)\'(?!\w)')
# "over 30", but not "over 30 days", nor the 3 of it.
_THRESHOLD = re.compile(
    r"\b(above|below|over|under|more than|less than) (\d+(?:\.\d+)?)(?![\d.]*(?:%| ?days))"
)
# The figure of "by 5%" and "2.5%"; not that of "5 %".
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_METRICS = {
    "number of engaged users": "user_engaged",
    "average session duration": "session_duration_seconds",
    "number of visits": "total_visits",
}
TRAFFIC_SOURCES = ("direct", "referral", "search engine", "social media")


class ParsedRequest:
    """A request and the values in it.

    Args:
        request: as written.
        now: the moment at which it was written.
        people: the addresses of the colleagues in it, in order.

    Attributes:
        bare: the request in lower case, without the quoted texts.
        quoted: the quoted texts, in order.
        texts: those in double quotes.
        days: the days outside quotes, in order, each in the year nearest to `today`.
        past: the days before today, in order.
        times: the times of day that are sure, as HH:MM:SS, in order.
        minutes: the first length of time, in minutes.
        metrics: the metrics by their column names, each once, in order.
        sources: the traffic sources, each once, in order.
        threshold: whether a metric must be above (or below) a number, and that number.
        percent: the first percentage.
    """

    def __init__(self, request: str, now: datetime, people: tuple[str, ...] = ()) -> None:
        self.request = request
        self.today = now.date()
        self.people = people
        bare = self.bare = _QUOTED.sub("''", request).lower()
        self.quoted = [double or single for double, single in _QUOTED.findall(request)]
        self.texts: list[str] = re.findall(r'"([^"]*)"', request)
        self.days = list(find_dates_near(bare, self.today))
        self.past = [day for day in self.days if day < self.today]
        clock = sorted((match.start(), times[0]) for match, times in find_times(bare) if len(times) == 1)
        self.times = [f"{int(time // 60):02}:{int(time % 60):02}:00" for _, time in clock]
        lengths = (
            int(duration.seconds // 60)
            for _, _, duration in find_durations(with_digits(bare))
            if not duration.months
        )
        self.minutes = next((length for length in lengths if length < 24 * 60), None)
        self.metrics = _in_order(bare, _METRICS)
        self.sources = self.named(TRAFFIC_SOURCES)
        above = _THRESHOLD.search(bare)
        percent = _PERCENT.search(bare)
        self.threshold = above and (above[1] in ("above", "over", "more than"), float(above[2]))
        self.percent = percent and float(percent[1])

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
        mention = re.search(rf"\b{re.escape(address.partition('.')[0])}\b", bare, re.IGNORECASE)
        if mention:
            places[address] = mention.start()
    return tuple(sorted(places, key=places.__getitem__))


def _in_order(text: str, values: dict[str, str]) -> list[str]:
    places = {value: match.start() for word, value in values.items() if (match := re.search(word, text))}
    return sorted(places, key=places.__getitem__)


def first_of(values: Iterable[T]) -> T:
    """The first item. Unlike `next`, it does not end the generator that calls it if there is none.

    Raises:
        LookupError: there is none.
    """
    for value in values:
        return value
    raise LookupError("nothing was found")
