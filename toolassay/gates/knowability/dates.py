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
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:\s?,?\s?(?P<year>(?:19|20|21)\d\d|'\d\d)\b(?!:))?"
_TH = r"(?:st|nd|rd|th)?"
_TO = r"\s?(?:-|to|and|until|till|through|or|,)\s?(?:the\s)?"
_ON = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? (?:the )?)?"
_DAYS = rf"(?P<day>\d{{1,2}}){_TH}(?:{_TO}{_ON}(?P<last>\d{{1,2}}){_TH})?"
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
# Days that only a request may say so: in values these are numbers, too.
_LOOSE = (
    re.compile(r"(?<![\w./-])(?P<one>\d\d)-(?P<two>\d\d)(?![\w/-]|[.:]\d)"),
    re.compile(r"(?<![\w./-])(?P<day>\d{1,2})\.(?P<month>0\d|1[0-2]|\d(?=\.))\.?(?![\w/-]|[.:]\d)"),
    re.compile(
        rf"(?P<day>\d{{1,2}}){_TH}(?=(?:\s?(?:,|/|&|and|or){{1,2}}\s(?:the\s)?\d{{1,2}}{_TH}){{1,8}}"
        rf"\s(?:of\s)?{_MONTH})"
    ),
    re.compile(rf"(?<![\w.])(?P<day>\d{{1,2}}){_TH}\s?{_MONTH}\s?(?P<year>\d\d)\b(?!:|\s?[ap]\.?m)"),
)
_FEASTS = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "boxing day": (12, 26),
    "christmas": (12, 25),
    "xmas eve": (12, 24),
    "xmas": (12, 25),
    "st stephen's day": (12, 26),
    "new year's eve": (12, 31),
    "hogmanay": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "new year": (1, 1),
    "epiphany": (1, 6),
    "burns night": (1, 25),
    "groundhog day": (2, 2),
    "valentine's day": (2, 14),
    "valentine's": (2, 14),
    "women's day": (3, 8),
    "st patrick's day": (3, 17),
    "april fools": (4, 1),
    "april fool's day": (4, 1),
    "earth day": (4, 22),
    "st george's day": (4, 23),
    "may day": (5, 1),
    "cinco de mayo": (5, 5),
    "juneteenth": (6, 19),
    "canada day": (7, 1),
    "independence day": (7, 4),
    "bastille day": (7, 14),
    "halloween": (10, 31),
    "all saints' day": (11, 1),
    "bonfire night": (11, 5),
    "guy fawkes night": (11, 5),
    "st nicholas' day": (12, 6),
}
_FEAST_NAMES = "|".join(
    name.replace("'", "'?").replace("st ", r"st\.? ") for name in sorted(_FEASTS, key=len, reverse=True)
)
_FEAST = re.compile(rf"\b(?P<feast>{_FEAST_NAMES})(?!\w)(?! eve|'s eve)")
_FEAST_KEYS = {re.sub(r"[.']", "", name): day for name, day in _FEASTS.items()}
_OTHER_YEAR = re.compile(
    r"\b(?:in|of|it's|it is|year|year is|for|during|spring|summer|autumn|fall|winter|season)"
    r" ((?:19|20|21)\d\d)\b"
)
_SHORT = re.compile(
    r"(?P<one>\d{1,2})[-/.](?P<two>\d{1,2})\.?|(?P<year>(?:19|20|21)\d\d)[-/](?P<month>\d{1,2})"
    r"|(?P<monthfirst>\d{1,2})[-/](?P<lastyear>(?:19|20|21)\d\d)"
)
RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|weekend|(?:next|this|coming|last|following)\s(?:week|month|year)"
    r"|in\s\w+\s(?:days?|weeks?|months?)|\w+\s(?:days?|weeks?|months?)\s(?:from|later|ago)"
    rf"|(?:{'|'.join(f'{day[:3]}(?:{day[3:]})?' for day in WEEKDAYS)})s?)\b"
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
        return WEEKDAYS[whole.weekday()] if whole else None


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


def loose_days_in(text: str) -> Iterator[tuple[re.Match[str], tuple[Day, ...]]]:
    """The mentions that are days only where nothing else tells the day: "07-01", "24.12.", a feast.

    >>> [days for _, days in loose_days_in("on christmas day or 24.12.")]
    [(Day(year=None, month=12, day=25),), (Day(year=None, month=12, day=24),)]
    """
    for match in _FEAST.finditer(text):
        yield match, (Day(None, *_FEAST_KEYS[re.sub(r"[.']", "", match["feast"])]),)
    for pattern in _LOOSE:
        for match in pattern.finditer(text):
            if days := tuple(_days(match.groupdict())):
                yield match, days


def years_in(text: str) -> set[int]:
    """The years that a text says apart from a day.

    >>> years_in("on christmas eve; it is 2026")
    {2026}
    """
    return {int(match[1]) for match in _OTHER_YEAR.finditer(text)}


def short_day(text: str) -> tuple[Day, ...]:
    """The days that a value may be that is nothing but two numbers; empty where it is no day.

    >>> short_day("2027-05"), short_day("7.95")
    ((Day(year=2027, month=5, day=None),), ())
    """
    match = _SHORT.fullmatch(text)
    if match is None:
        return ()
    parts = match.groupdict()
    if parts["monthfirst"]:
        parts |= {"month": parts["monthfirst"], "year": parts["lastyear"]}
    return tuple(_days(parts))


def days_from(text: str, base: Day) -> set[Day]:
    """The days that a text says relative to another day: tomorrow, Friday, in 3 days."""
    start = _whole(base)
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
    said_year = parts.get("year")
    short = (said_year or "").strip("'")
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
        if day.day is None or _whole(day._replace(year=day.year or 2024)):
            yield day


def _whole(day: Day) -> date | None:
    try:
        return date(day.year or 0, day.month, day.day or 0)
    except ValueError:
        return None
