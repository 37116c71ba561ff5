"""Days: as far as a text states them, relative to another day, as calendars have them, as requests copy them.

Libraries for dates guess what is missing ("10" is the tenth of this month for dateutil). A plan is compared
with what a request states and no more, so a `Day` holds only the parts that are there.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from toolassay.text_values.vocabulary import (
    MONTH_NUMBERS,
    MONTH_STEMS,
    MONTHS,
    WEEKDAY_STEMS,
    WEEKDAYS,
    longest_first,
)

_MONTHS = MONTH_NUMBERS | {"juli": 7}
_MONTH = rf"(?P<month>{longest_first(_MONTHS)})\b\.?"
_YEAR = r"(?:\s?,?\s?(?P<year>(?:19|20|21)\d\d|'\d\d)\b(?!:))?"
_TH = r"(?:st|nd|rd|th)?"
_TO = r"\s?(?:-|to|and|until|till|through|or|,)\s?(?:the\s)?"
_ON = rf"(?:(?:{WEEKDAY_STEMS})[a-z]{{0,6}},? (?:the )?)?"
_DAYS = rf"(?P<day>\d{{1,2}}){_TH}(?:{_TO}{_ON}(?P<last>\d{{1,2}}){_TH})?"
# In order of precedence: a later pattern does not match inside an earlier match.
_PATTERNS = (
    # "2026-10-17", but not "2026-10/17".
    re.compile(r"(?<![\w.])(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)"),
    # "20261017", but not the start of "202610171".
    re.compile(r"(?<![\w.])(?P<year>20\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)(?![\d.])"),
    # "17.10.2026" and "10/17/26", but not "17.10".
    re.compile(
        r"(?<![\w.])(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)(?!\d)"
    ),
    # "17th of october 2026" and "3 to 5 may", but not "17 octopuses".
    re.compile(rf"(?<![\w.]){_DAYS}\s?[-.]?\s?(?:of\s)?{_MONTH}(?:\s?[-/]\s?(?=\d{{4}}))?{_YEAR}"),
    # "oct 17, 2026", but not the "may 10" of "may 10:15" or "may 10 pm".
    re.compile(rf"\b{_MONTH}\s?-?(?:the\s)?{_DAYS}(?![\d:.]\d|\d|\s?[ap]\.?m){_YEAR}"),
    # "october 2026", but not "october".
    re.compile(rf"\b{_MONTH}\s?(?:of\s)?,?\s?(?P<year>(?:19|20|21)\d\d)\b"),
    # "10/17", but not "10/17.5".
    re.compile(r"(?<![\w./])(?P<one>\d{1,2})/(?P<two>\d{1,2})(?![\w/]|\.\d)"),
)
# Days that only a request states like this: in a value the same figures may be a number.
_LENIENT = (
    # "07-01", but not "2027-07-01".
    re.compile(r"(?<![\w./-])(?P<one>\d\d)-(?P<two>\d\d)(?![\w/-]|[.:]\d)"),
    # "24.12." and "24.12", but not "24.5".
    re.compile(r"(?<![\w./-])(?P<day>\d{1,2})\.(?P<month>0\d|1[0-2]|\d(?=\.))\.?(?![\w/-]|[.:]\d)"),
    # The "3" of "3, 4 and 5 may", but not of "3 cats and 5 may".
    re.compile(
        rf"(?P<day>\d{{1,2}}){_TH}(?=(?:\s?(?:,|/|&|and|or){{1,2}}\s(?:the\s)?\d{{1,2}}{_TH}){{1,8}}"
        rf"\s(?:of\s)?{_MONTH})"
    ),
    # "5 may 26", but not "5 may 10:30".
    re.compile(rf"(?<![\w.])(?P<day>\d{{1,2}}){_TH}\s?{_MONTH}\s?(?P<year>\d\d)\b(?!:|\s?[ap]\.?m)"),
)
_FEASTS = {
    name: day
    for day, names in {
        (1, 1): "new year's day, new year's, new year",
        (1, 6): "epiphany",
        (1, 25): "burns night",
        (2, 2): "groundhog day",
        (2, 14): "valentine's day, valentine's",
        (3, 8): "women's day",
        (3, 17): "st patrick's day",
        (4, 1): "april fools, april fool's day",
        (4, 22): "earth day",
        (4, 23): "st george's day",
        (5, 1): "may day",
        (5, 5): "cinco de mayo",
        (6, 19): "juneteenth",
        (7, 1): "canada day",
        (7, 4): "independence day",
        (7, 14): "bastille day",
        (10, 31): "halloween",
        (11, 1): "all saints' day",
        (11, 5): "bonfire night, guy fawkes night",
        (12, 6): "st nicholas' day",
        (12, 24): "christmas eve, xmas eve",
        (12, 25): "christmas day, christmas, xmas",
        (12, 26): "boxing day, st stephen's day",
        (12, 31): "new year's eve, hogmanay",
    }.items()
    for name in names.split(", ")
}
_FEAST_NAMES = "|".join(
    name.replace("'", "'?").replace("st ", r"st\.? ") for name in sorted(_FEASTS, key=len, reverse=True)
)
# "christmas", but not the "christmas" of "christmas eve", which has its own entry.
_FEAST = re.compile(rf"\b(?P<feast>{_FEAST_NAMES})(?!\w)(?! eve|'s eve)")
_FEAST_KEYS = {re.sub(r"[.']", "", name): day for name, day in _FEASTS.items()}
# "in 2026" and "it is 2026", but not "2026 chairs".
_OTHER_YEAR = re.compile(
    r"\b(?:in|of|it's|it is|year|year is|for|during|spring|summer|autumn|fall|winter|season)"
    r" ((?:19|20|21)\d\d)\b"
)
# "24.12.", "2027-05" and "05/2027", but not "24.12.2027".
_SHORT = re.compile(
    r"(?P<one>\d{1,2})[-/.](?P<two>\d{1,2})\.?|(?P<year>(?:19|20|21)\d\d)[-/](?P<month>\d{1,2})"
    r"|(?P<monthfirst>\d{1,2})[-/](?P<lastyear>(?:19|20|21)\d\d)"
)
RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|weekend|(?:next|this|coming|last|following)\s(?:week|month|year)"
    r"|in\s\w+\s(?:days?|weeks?|months?)|\w+\s(?:days?|weeks?|months?)\s(?:from|later|ago)"
    rf"|(?:{'|'.join(f'{day[:3]}(?:{day[3:]})?' for day in WEEKDAYS)})s?)\b"
)
"""A day that depends on the day of speaking: "next week", "in 3 days", "fri"; not "christmas"."""
_OFFSETS = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "day after tomorrow": 2}
# "in 3 days" and "2 weeks from now", but not "for 3 days".
_IN_DAYS = re.compile(r"\b(?:in (\d+) (day|week)s?|(\d+) (day|week)s? (?:from|later))\b")


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
        lenient: also yield, after the others, what is a day only in a request: "07-01", "24.12.", a feast.

    >>> [days for _, days in find_days("on 3/4/2026 or oct 17th")]
    [(Day(year=2026, month=3, day=4), Day(year=2026, month=4, day=3)), (Day(year=None, month=10, day=17),)]
    >>> [days for _, days in find_days("on christmas day or 24.12.", lenient=True)]
    [(Day(year=None, month=12, day=25),), (Day(year=None, month=12, day=24),)]
    """
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            if days := tuple(dict.fromkeys(_days(match.groupdict()))):
                if len(taken) < 200:  # bounds the work on texts that are lists of dates
                    taken.append(match.span())
                yield match, days
    if lenient:
        for match in _FEAST.finditer(text):
            yield match, (Day(None, *_FEAST_KEYS[re.sub(r"[.']", "", match["feast"])]),)
        for pattern in _LENIENT:
            for match in pattern.finditer(text):
                if days := tuple(_days(match.groupdict())):
                    yield match, days


def years_in(text: str) -> set[int]:
    """The years that a plain text states apart from a day.

    >>> years_in("on christmas eve; it is 2026")
    {2026}
    """
    return {int(match[1]) for match in _OTHER_YEAR.finditer(text)}


def parse_short_day(text: str) -> tuple[Day, ...]:
    """The days that a text of two numbers may mean; empty if it can be none.

    >>> parse_short_day("2027-05"), parse_short_day("7.95")
    ((Day(year=2027, month=5, day=None),), ())
    """
    match = _SHORT.fullmatch(text)
    if match is None:
        return ()
    parts = match.groupdict()
    if parts["monthfirst"]:
        parts |= {"month": parts["monthfirst"], "year": parts["lastyear"]}
    return tuple(_days(parts))


def relative_days_in(text: str, base: Day) -> set[Day]:
    """The days that a plain text states relative to another day: tomorrow, Friday, in 3 days."""
    start = base.whole_date
    if start is None:
        return set()
    offsets = {days for words, days in _OFFSETS.items() if words in text}
    for place, name in enumerate(WEEKDAYS):
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
    short = (parts.get("year") or "").strip("'")
    year = int(short) + (2000 if len(short) == 2 else 0) if short else None
    if parts.get("one"):
        one, two = int(parts["one"] or 0), int(parts["two"] or 0)
        candidates = [Day(year, one, two), Day(year, two, one)]
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


_LEAP_YEAR = 2000
# "2026-02-31", but not the "2026-02-31" of "12026-02-31" or "2026-02-31-7".
_YEAR_FIRST = re.compile(
    r"(?<![\d-])(?P<year>(?:19|20)\d\d)(?P<dash>[-/.])(?P<month>\d{1,2})(?P=dash)(?P<day>\d{1,2})(?!\d|-\d)"
)
# "31/02/2026", but not "31/02/26".
_YEAR_LAST = re.compile(
    r"(?<![\d.-])(?P<one>\d{1,2})(?P<dash>[-/.])(?P<two>\d{1,2})(?P=dash)(?P<year>(?:19|20)\d\d)(?!\d)"
)
_NAME = rf"(?P<name>{longest_first(MONTH_NUMBERS)})"
# "31st of June", but not the "15 May" of "10:15 May".
_DAY_AND_MONTH = re.compile(
    rf"(?<![\d:.,-])(?P<day>\d\d?)(?:st|nd|rd|th)?(?: of)? {_NAME}(?!\w)", re.IGNORECASE
)
# "June 31", but not the "June 31" of "June 31.5".
_MONTH_AND_DAY = re.compile(
    rf"(?<!\w){_NAME}\.? (?P<day>\d\d?)(?:st|nd|rd|th)?(?![\w:]|[.,-]\d)", re.IGNORECASE
)


def is_impossible_day(text: str) -> bool:
    """Whether a text of any spelling states a day that no calendar has, however its figures are ordered.

    >>> [is_impossible_day(text) for text in ("2026-02-31", "2026-13-05", "31 June", "29 February")]
    [True, True, True, False]
    >>> [is_impossible_day(text) for text in ("2027-02-29", "29.02.2027", "2028-02-29", "31/12/2026")]
    [True, True, False, False]
    """
    text = text[:500]
    days = [_exists(int(m["month"]), int(m["day"]), int(m["year"])) for m in _YEAR_FIRST.finditer(text)]
    for match in _YEAR_LAST.finditer(text):
        one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
        days.append(_exists(one, two, year) or _exists(two, one, year))
    for match in (*_DAY_AND_MONTH.finditer(text), *_MONTH_AND_DAY.finditer(text)):
        days.append(_exists(MONTH_NUMBERS[match["name"].casefold()], int(match["day"])))
    return bool(days) and not all(days)


def _exists(month: int, day: int, year: int = _LEAP_YEAR) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


_MONTH_NAME = rf"(?:{MONTH_STEMS})[a-z]{{0,6}}\.?"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
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
