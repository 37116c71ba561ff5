"""Lengths of time in a text, in seconds and months."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from toolassay.text_values.vocabulary import FRACTIONS, NUMBER_WORDS, longest_first

_HOUR, _DAY = 3600, 86_400
# The size of each unit, in seconds or in months.
_SECONDS = {
    **dict.fromkeys(("second", "sec", "s"), 1),
    **dict.fromkeys(("minute", "min", "m"), 60),
    **dict.fromkeys(("hour", "hr", "h"), _HOUR),
    **dict.fromkeys(("day", "d"), _DAY),
    **dict.fromkeys(("week", "wk"), 7 * _DAY),
    "fortnight": 14 * _DAY,
}
_MONTHS = {"month": 1, "year": 12, "yr": 12}
_LETTERS = {"s", "m", "h", "d"}
_PART = "half|quarter|3[ -]quarters?"
_WORDS = longest_first({*_SECONDS, *_MONTHS} - _LETTERS)
# Words that count as 1.
_ONE = r"an?(?: (?:whole|full|good|single))?|next|last|past"
# "an hour and a half", "3 quarters of an hour", "90min" and "week-long", but not "5 metres".
_ITEM = re.compile(
    rf"(?<![\w.,])(?:(?:an? |1 )?(?P<part>{_PART})(?: of)?(?: an?| 1)?(?:[ -](?={_WORDS}))"
    rf"|(?P<count>\d{{1,7}}(?:[.,]\d{{1,4}})?|{_ONE}|(?:a )?couple(?: of)?|(?=(?:{_WORDS})[ -]long\b))"
    rf"(?: and (?:an? )?(?P<plus>{_PART}))?[ -]?)"
    rf"(?P<unit>(?:{_WORDS})(?:s(?!\w)|(?=ly\b))?|(?<=\d)[smhd]|(?<=\d )[hs])(?:ly)?(?![a-z])"
    rf"(?: and (?:an? )?(?P<more>{_PART})\b(?! (?:of (?:the|it|my)|an?|past|to)\b))?"
)
# What joins "2 hours" and "30 minutes" to one length; not " or ".
_BETWEEN = re.compile(r",? and |, | ?")
# The "30" of "1h30", but not of "1 hour 30%".
_MINUTES = re.compile(r" ?(?:and )?(?P<minutes>[0-5]\d)(?![\w:.%]|,\d)")
# ISO 8601, in lower case: "pt1h30m" and "p2d", but not "pt30".
_ISO = re.compile(r"\bp(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?\b")
# The units, in seconds, in which a parameter may want a length as a bare number, and the largest such number.
_USUAL = (1, 60, _HOUR, _DAY, 7 * _DAY)
_MOST = 100_000


class Duration(NamedTuple):
    """A length of time: seconds, and months apart, as a month has no fixed number of seconds.

    >>> Duration(Decimal(90 * 86_400)).is_same(Duration(Decimal(0), Decimal(3)))
    True
    """

    seconds: Decimal
    months: Decimal = Decimal(0)

    @property
    def all_seconds(self) -> set[Decimal]:
        """The seconds it may be, at 30 days a month and 365 a year."""
        found = {self.seconds + 30 * _DAY * self.months}
        if self.months and self.months % 12 == 0:
            found.add(self.seconds + 365 * _DAY * self.months / 12)
        return found

    def is_same(self, other: Duration) -> bool:
        """Whether both may be equally long."""
        return self == other or not self.all_seconds.isdisjoint(other.all_seconds)

    def numbers(self) -> Iterator[Decimal]:
        """The length in seconds to weeks, months and years, where that needs no more than two decimals."""
        if self.months and not self.seconds:
            yield from (self.months, self.months / 12, 52 * self.months / 12)
        for seconds in self.all_seconds:
            for size in _USUAL:
                number = seconds / size
                if Decimal("0.1") <= number <= _MOST and number == round(number, 2):
                    yield number


def find_durations(text: str) -> Iterator[tuple[int, int, Duration]]:
    """The start, the end and the value of each length of time in a plain text with digits for number words.

    "1 hour 30" is found twice, as it may be one hour alone.

    >>> [int(duration.seconds / 60) for _, _, duration in find_durations("an hour and a quarter, or 1h30")]
    [75, 60, 90]
    """
    for match in _ISO.finditer(text):
        if any(match.groups()):
            sizes = zip((_DAY, _HOUR, 60, 1), match.groups(), strict=True)
            yield *match.span(), Duration(sum((size * Decimal(n or 0) for size, n in sizes), Decimal(0)))
    row: tuple[int, int, int, Duration] | None = None
    for match in _ITEM.finditer(text):
        size, length = _length_of(match)
        if row and size < row[2] and _BETWEEN.fullmatch(text[row[1] : match.start()]):
            total = Duration(row[3].seconds + length.seconds, row[3].months + length.months)
            row = (row[0], match.end(), size, total)
            continue
        if row:
            yield from _with_minutes(row, text)
        row = (*match.span(), size, length)
    if row:
        yield from _with_minutes(row, text)


def _with_minutes(row: tuple[int, int, int, Duration], text: str) -> Iterator[tuple[int, int, Duration]]:
    start, end, size, length = row
    yield start, end, length
    if size == _HOUR and (rest := _MINUTES.match(text, end)):
        yield start, rest.end(), Duration(length.seconds + 60 * Decimal(rest["minutes"]), length.months)


def _length_of(match: re.Match[str]) -> tuple[int, Duration]:
    count = match["count"] or ""
    if match["part"]:
        number = _part(match["part"])
    elif count[:1].isdigit():
        number = Decimal(count.replace(",", "."))
    else:
        number = Decimal(2 if "couple" in count else 1)
    number += _part(match["plus"]) + _part(match["more"])
    unit = match["unit"] if match["unit"] in _LETTERS else match["unit"].removesuffix("s")
    if unit in _MONTHS:
        return _MONTHS[unit] * 30 * _DAY, Duration(Decimal(0), number * _MONTHS[unit])
    return _SECONDS[unit], Duration(number * _SECONDS[unit])


def _part(text: str | None) -> Decimal:
    return FRACTIONS[text.replace("-", " ")] if text else Decimal(0)


_SPOKEN_COUNTS = {
    **{word: n for n, word in enumerate(NUMBER_WORDS[:5]) if n},
    "an": 1,
    "a": 1,
    "half an": 0.5,
}
# "half an hour", "90-minute" and "an hour and a half", but not "five hours".
_SPOKEN = re.compile(
    rf"\b(\d+|{'|'.join(NUMBER_WORDS[1:5])}|an?|half an)[ -](?:and a half )?(minute|hour)s?\b( and a half)?",
    re.IGNORECASE,
)


def find_minutes(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Each length of a meeting in a lower-case text, in minutes.

    >>> [minutes for _, minutes in find_minutes("an hour and a half, or 30-minute")]
    [90, 30]
    """
    for match in _SPOKEN.finditer(text):
        count: float = int(match[1]) if match[1].isdigit() else _SPOKEN_COUNTS[match[1]]
        if "and a half" in match[0]:
            count += 0.5
        yield match, round(count * (60 if match[2] == "hour" else 1))
