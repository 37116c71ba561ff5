"""Days: as far as a text states them, relative to another day, as calendars have them, as requests copy them.

Libraries for dates guess what is missing ("10" is the tenth of this month for dateutil). A plan is compared
with what a request states and no more, so a `Day` holds only the parts that are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import NamedTuple

from toolassay.files.data_files import package_data
from toolassay.text_values.vocabulary import (
    MONTH_NUMBERS,
    MONTH_STEMS,
    MONTHS,
    WEEKDAY_STEMS,
    WEEKDAYS,
    longest_first,
)

_MONTHS = MONTH_NUMBERS | {"juli": 7}
# "october", "oct." and "sept"; not "octopus".
_MONTH = rf"(?P<month>{longest_first(_MONTHS)})\b\.?"
# " 2026", ", 2026" and " '26"; not the "2030" of "2030:15" or a bare "26".
_YEAR = r"(?:\s?,?\s?(?P<year>(?:19|20|21)\d\d|'\d\d)\b(?!:))?"
# The ending of "17th" and "1st"; may be missing.
_TH = r"(?:st|nd|rd|th)?"
# Between two days: "-", " to ", " or the "; not "of".
_TO = r"\s?(?:-|to|and|until|till|through|or|,)\s?(?:the\s)?"
# "friday, " and "fri the " before a second day; may be missing.
_ON = rf"(?:(?:{WEEKDAY_STEMS})[a-z]{{0,6}},? (?:the )?)?"
# "17", "17th" and "3 to 5"; the caller's pattern keeps it out of longer numbers.
_DAYS = rf"(?P<day>\d{{1,2}}){_TH}(?:{_TO}{_ON}(?P<last>\d{{1,2}}){_TH})?"
# In order of precedence: a later pattern does not match inside an earlier match.
_PATTERNS = (
    # "2026-10-17", but not "2026-10/17".
    re.compile(r"(?<![\w.])(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)"),
    # "17.10.2026" and "10/17/26", but not "17.10".
    re.compile(
        r"(?<![\w.])(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)(?!\d)"
    ),
    # "17th of october 2026" and "3 to 5 may", but not "17 octopuses" or the "15 may" of "10:15 may".
    re.compile(rf"(?<![\w.:]){_DAYS}\s?[-.]?\s?(?:of\s)?{_MONTH}(?:\s?[-/]\s?(?=\d{{4}}))?{_YEAR}"),
    # "oct 17, 2026", but not the "may 10" of "may 10:15" or "may 10 pm".
    re.compile(rf"\b{_MONTH}\s?-?(?:the\s)?{_DAYS}(?![\d:.]\d|\d|\s?[ap]\.?m){_YEAR}"),
    # "october 2026", but not "october".
    re.compile(rf"\b{_MONTH}\s?(?:of\s)?,?\s?(?P<year>(?:19|20|21)\d\d)\b"),
    # "10/2026" and "10-2026", but not "17.10-2026".
    re.compile(r"(?<![\w./-])(?P<month>\d{1,2})[-/](?P<year>(?:19|20)\d\d)(?![\w/-])"),
)
# A day only in a request, as in a value the same figures may be a number: "10/17", but not "10/17.5".
_LENIENT = re.compile(r"(?<![\w./])(?P<one>\d{1,2})/(?P<two>\d{1,2})(?![\w/]|\.\d)")
_FEASTS: dict[str, tuple[int, int]] = package_data(__package__, "data/feasts.json")
# "christmas", but not the "christmas" of "christmas eve", which has its own entry.
_FEAST = re.compile(rf"\b(?P<feast>{longest_first(_FEASTS)})(?!\w)")


class Day(NamedTuple):
    """A day, or a month, with the parts that are stated.

    >>> Day(None, 10, 17).agrees_with(Day(2026, 10, 17)), Day(2026, 10, 18).agrees_with(Day(None, 10, 17))
    (True, False)
    """

    year: int | None
    month: int
    day: int | None

    def agrees_with(self, other: Day) -> bool:
        """Whether another mention states this day. A year that one of them omits may be any."""
        same_year = self.year is None or other.year is None or self.year == other.year
        return same_year and self.month == other.month and self.day in (None, other.day)

    def moved(self, days: int, months: int = 0) -> Day:
        """The day that is so much later; itself where no calendar has that day.

        >>> Day(2027, 4, 30).moved(2), Day(None, 12, 31).moved(-1, 2)
        (Day(year=2027, month=5, day=2), Day(year=None, month=12, day=31))
        """
        years, month = divmod(self.month - 1 + months, 12)
        with suppress(ValueError, OverflowError):
            # 2024 is a leap year: without a year, 29 February is a day.
            end = date((self.year or 2024) + years, month + 1, self.day or 0) + timedelta(days)
            return Day(self.year and end.year, end.month, end.day)
        return self

    @property
    def whole_date(self) -> date | None:
        """The date; None if a part is missing or no calendar has the day."""
        try:
            return date(self.year or 0, self.month, self.day or 0)
        except ValueError:
            return None

    @property
    def weekday(self) -> str | None:
        """The English name of its weekday; None without a whole date."""
        return WEEKDAYS[self.whole_date.weekday()] if self.whole_date else None


def find_days(text: str, *, lenient: bool = False) -> Iterator[tuple[re.Match[str], tuple[Day, ...]]]:
    """Each mention of a day or month, with the days it may mean: two for "3/4/2026".

    Args:
        text: plain, with digits for number words.
        lenient: also yield, after the others, what is a day only in a request: "10/17", a feast.

    >>> [days for _, days in find_days("on 3/4/2026 or oct 17th")]
    [(Day(year=2026, month=3, day=4), Day(year=2026, month=4, day=3)), (Day(year=None, month=10, day=17),)]
    >>> [days for _, days in find_days("on christmas day or 12/24", lenient=True)]
    [(Day(year=None, month=12, day=25),), (Day(year=None, month=12, day=24),)]
    """
    yield from (mention for mention in _mentions(text) if mention[1])
    if lenient:
        for match in _FEAST.finditer(text):
            yield match, (Day(None, *_FEASTS[match["feast"]]),)
        for match in _LENIENT.finditer(text):
            if days := tuple(_days(match.groupdict())):
                yield match, days


def _mentions(text: str) -> Iterator[tuple[re.Match[str], tuple[Day, ...]]]:
    """As `find_days`, with no days where a mention is of a day that no calendar has."""
    taken_spans: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken_spans):
                continue
            days = tuple(dict.fromkeys(_days(match.groupdict())))
            if days and len(taken_spans) < 200:  # bounds the work on texts that are lists of dates
                taken_spans.append(match.span())
            yield match, days


def _days(parts: dict[str, str | None]) -> Iterator[Day]:
    written_year = (parts.get("year") or "").strip("'")
    year = int(written_year) if written_year else None
    if year is not None and len(written_year) == 2:  # "'24"
        year += 2000
    if parts.get("one"):
        first = int(parts["one"] or 0)
        second = int(parts["two"] or 0)
        candidates = [Day(year, first, second), Day(year, second, first)]
    else:
        word = parts["month"] or ""
        month = int(word) if word.isdigit() else _MONTHS[word]
        if not 1 <= month <= 12:
            return
        days = [int(day) for day in (parts.get("day"), parts.get("last")) if day]
        candidates = [Day(year, month, day) for day in days] or [Day(year, month, None)]
    for day in candidates:
        # 2024 is a leap year: without a year, 29 February is a day.
        if day.day is None or day._replace(year=day.year or 2024).whole_date:
            yield day


def is_impossible_day(text: str) -> bool:
    """Whether a text of any spelling states a day that no calendar has, however its figures are ordered.

    >>> [is_impossible_day(text) for text in ("2026-02-31", "2026-13-05", "31 June", "29 February")]
    [True, True, True, False]
    >>> [is_impossible_day(text) for text in ("2027-02-29", "29.02.2027", "2028-02-29", "31/12/2026")]
    [True, True, False, False]
    """
    return any(not days for _, days in _mentions(text[:500].casefold()))


# "May", "Sept." and "October"; also "mayor", which the number beside it rules out in `COPIED_DATE`.
_MONTH_NAME = rf"(?:{MONTH_STEMS})[a-z]{{0,6}}\.?"
# "5" and "5th"; not "fifth".
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
# ", 2026" and " 2026"; not ", 26"; may be missing.
_AFTER_COMMA = r"(?:,?\s+(?:19|20)\d\d)?"
COPIED_DATE = re.compile(
    rf"\b(?:{_MONTH_NAME}\s+{_ORDINAL}{_AFTER_COMMA}|{_ORDINAL}\s+(?:of\s+)?{_MONTH_NAME}{_AFTER_COMMA}"
    rf"|\d{{4}}-\d\d?-\d\d?|\d\d?[/.]\d\d?[/.]\d{{2,4}}|(?:(?:next|this)\s+)?(?:{'|'.join(WEEKDAYS)})"
    r"|today|tomorrow|tonight|(?:next|this)\s+(?:week|month|year|weekend))\b",
    re.IGNORECASE,
)
"""A date as a request words it, to be copied unread: "5th of May", "next Friday"; not "10/17"."""


# "november 29" and "tomorrow", but not "nov 29".
_NAMED_DAY = re.compile(
    rf"\b({'|'.join(MONTHS)}) (\d{{1,2}})\b|\b(yesterday|today|tomorrow)\b", re.IGNORECASE
)


def find_dates_near(text: str, today: date) -> Iterator[date]:
    """The dates of a lower-case text: a month's name and a number, in the year nearest to today.

    >>> [str(day) for day in find_dates_near("january 2, or tomorrow", date(2023, 11, 30))]
    ['2024-01-02', '2023-12-01']
    """
    for match in _NAMED_DAY.finditer(text):
        if match[3]:
            yield today + timedelta(days=("yesterday", "today", "tomorrow").index(match[3]) - 1)
            continue
        years = (today.year - 1, today.year, today.year + 1)
        days = (Day(year, MONTH_NUMBERS[match[1].lower()], int(match[2])).whole_date for year in years)
        if candidates := [day for day in days if day]:
            yield min(candidates, key=lambda day: abs(day - today))
