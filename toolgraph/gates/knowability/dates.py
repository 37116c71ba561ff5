"""The days and times of day in a text, as far as the text says them.

Libraries that read dates guess what is not said ("10" is the tenth of this month for dateutil). A plan is to
be held against what was said and no more, so days are read here with the parts that are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTHS = {name[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))}
_MONTHS |= {"sept": 9, "juli": 7}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:\s?,?\s?(?P<year>(?:19|20|21)\d\d)\b(?!:))?"
_TH = r"(?:st|nd|rd|th)?"
_TO = r"\s?(?:-|to|and|until|till|through|or|,)\s?(?:the\s)?"
_DAYS = rf"(?P<day>\d{{1,2}}){_TH}(?:{_TO}(?P<last>\d{{1,2}}){_TH})?"
_PATTERNS = (
    re.compile(r"(?<![\w.])(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<![\w.])(?P<year>20\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)(?![\d.])"),
    re.compile(
        r"(?<![\w.])(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)(?!\d)"
    ),
    re.compile(rf"(?<![\w.]){_DAYS}\s?[-.]?\s?(?:of\s)?{_MONTH}(?:\s?[-/]\s?(?=\d{{4}}))?{_YEAR}"),
    re.compile(rf"\b{_MONTH}\s?-?(?:the\s)?{_DAYS}(?![\d:.]\d|\d|\s?[ap]\.?m){_YEAR}"),
    re.compile(rf"\b{_MONTH}\s?(?:of\s)?,?\s?(?P<year>(?:19|20|21)\d\d)\b"),
    re.compile(r"(?<![\w./])(?P<one>\d{1,2})/(?P<two>\d{1,2})(?![\w/]|\.\d)"),
)
RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|weekend|(?:next|this|coming|last|following)\s(?:week|month|year)"
    r"|in\s\w+\s(?:days?|weeks?|months?)|\w+\s(?:days?|weeks?|months?)\s(?:from|later|ago)"
    rf"|(?:{'|'.join(f'{day[:3]}(?:{day[3:]})?' for day in _WEEKDAYS)})s?)\b"
)
_OFFSETS = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "day after tomorrow": 2}
_IN_DAYS = re.compile(r"\b(?:in (\d+) (day|week)s?|(\d+) (day|week)s? (?:from|later))\b")


class Day(NamedTuple):
    """A day as far as it is said.

    >>> Day(None, 10, 17).is_said_by(Day(2026, 10, 17)), Day(2026, 10, 18).is_said_by(Day(None, 10, 17))
    (True, False)
    """

    year: int | None
    month: int
    day: int | None

    def is_said_by(self, other: Day) -> bool:
        """Whether another mention says this day; a year that one of them leaves out may be any."""
        same_year = self.year is None or other.year is None or self.year == other.year
        return same_year and self.month == other.month and self.day in (None, other.day)

    @property
    def weekday(self) -> str | None:
        """Its day of the week, where the year is known."""
        whole = _whole(self)
        return _WEEKDAYS[whole.weekday()] if whole else None


def days_in(text: str) -> Iterator[tuple[re.Match[str], tuple[Day, ...]]]:
    """Each mention of a day or month in a text (plain, number words in digits), with what it may mean.

    >>> [days for _, days in days_in("on 3/4/2026 or oct 17th")]
    [(Day(year=2026, month=3, day=4), Day(year=2026, month=4, day=3)), (Day(year=None, month=10, day=17),)]
    """
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            days = tuple(dict.fromkeys(_days(match.groupdict())))
            if days:
                if len(taken) < 200:
                    taken.append(match.span())
                yield match, days


def days_from(text: str, base: Day) -> set[Day]:
    """The days that a text says relative to another day: tomorrow, Friday, in 3 days."""
    start = _whole(base)
    if start is None:
        return set()
    offsets = {days for words, days in _OFFSETS.items() if words in text}
    for place, name in enumerate(_WEEKDAYS):
        if re.search(rf"\b{name}\b", text):
            ahead = (place - start.weekday()) % 7
            offsets |= {ahead, ahead + 7}
    for match in _IN_DAYS.finditer(text):
        count, unit = match[1] or match[3], match[2] or match[4]
        if len(count) < 4:
            offsets.add(int(count) * (7 if unit == "week" else 1))
    if "next week" in text:
        offsets.add(7)
    found = set()
    for offset in offsets:
        try:
            day = start + timedelta(days=offset)
        except OverflowError:
            continue
        found.add(Day(day.year, day.month, day.day))
    return found


def _days(parts: dict[str, str | None]) -> Iterator[Day]:
    said_year = parts.get("year")
    year = int(said_year) if said_year else None
    if year is not None and len(said_year or "") == 2:
        year += 2000
    if parts.get("one"):
        one, two = int(parts["one"] or 0), int(parts["two"] or 0)
        candidates = [Day(year, one, two), Day(year, two, one)]
    else:
        word = parts["month"] or ""
        month = int(word) if word.isdigit() else _MONTHS[word]
        days = [int(day) for day in (parts.get("day"), parts.get("last")) if day]
        candidates = [Day(year, month, day) for day in days] or [Day(year, month, None)]
    for day in candidates:
        if day.day is None or _whole(day._replace(year=day.year or 2024)):
            yield day


def _whole(day: Day) -> date | None:
    try:
        return date(day.year or 0, day.month, day.day or 0)
    except ValueError:
        return None
