"""Times of day, in minutes since midnight, and lengths of time, in seconds and months."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from toolassay.text_values.vocabulary import FRACTIONS, longest_first

MINUTES_PER_DAY = 24 * 60
# "pm", "p.m." and "p m"; not the "pm" of "pmol".
_HALF = r"(?P<half>[ap])\.?\s?m\b\.?"
# "+02:00" is a zone, "-02:00" only after seconds: else "-" leads to the end of "19:00-21:30".
_ZONE = r"(?:\s?(?:z|utc|gmt)\b|(?:\+|(?<=:\d\d:\d\d)-)\d\d:?\d\d(?!\d))?"
_PATTERNS = (
    # "19:45", "7:45 pm" and "19:45:00z", but not the ratio "3:2".
    re.compile(
        rf"(?<![\w:.])(?P<hour>[0-2]?\d)[:h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.0+)?)?(?![\d:])"
        rf"(?:\s?{_HALF})?{_ZONE}"
    ),
    # "quarter to 6 pm", but not "quarter of an hour"; before the pattern that matches "6 pm" alone.
    re.compile(
        rf"\b(?P<amount>quarter|half|\d{{1,2}})(?: minutes?)? (?P<way>to|past|after|before|of|til)"
        rf" (?P<hour>\d{{1,2}}|noon|midnight)\b(?!:)(?:\s?{_HALF})?"
    ),
    # "7.45 pm" and "7 45 pm", but not "7.45".
    re.compile(rf"(?<![\w:.])(?P<hour>[01]?\d)[. ](?P<minute>[0-5]\d)\s?{_HALF}"),
    # "7 pm", but not "7 pmol".
    re.compile(rf"(?<![\w:.])(?P<hour>[01]?\d)\s?{_HALF}"),
    # "7 o'clock", but not "7 clocks" without the o.
    re.compile(rf"(?<![\w:.])(?P<hour>[0-2]?\d)\s?o'? ?clock(?:\s?{_HALF})?"),
    # "noon" and "midnight-ish", but not "noontide".
    re.compile(r"\b(?P<word>noon|mid-?day|midnight)(?:-?ish)?\b"),
)
# Numbers that may be times only in a request, where other values are numbers too.
_LENIENT = (
    # "1930", but not "19305".
    re.compile(r"(?<![\w:.])(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?![\w:/%]|[.,]\d)"),
    # "7", "7.45" and "7 45", but not "7%".
    re.compile(r"(?<![\w:.,$€£])(?P<hour>[0-2]?\d)(?:[. ](?P<minute>[0-5]\d))?(?![\w:/%]|[.,]\d)"),
    # "half 7", British for 7:30, but not "half 7%".
    re.compile(r"\bhalf (?P<hour>[01]?\d)(?P<way>)(?P<amount>)(?![\w:/%]|[.,]\d)"),
)


def find_times(text: str, *, lenient: bool = False) -> Iterator[tuple[re.Match[str], tuple[float, ...]]]:
    """Each time of day, with the minutes since midnight it may mean: two for "half past 6".

    Args:
        text: plain, with digits for number words.
        lenient: also yield each number that may be an hour, and read "10:30" as evening too: right for a
            request, wrong for a value.

    >>> [times for _, times in find_times("at 7:45 pm, half past 6, noon")]
    [(1185.0,), (390.0, 1110.0), (720.0,)]
    """
    certain: set[int] = set()
    for pattern in (*_PATTERNS, *(_LENIENT if lenient else ())):
        for match in pattern.finditer(text):
            parts = match.groupdict()
            hour_at = match.start("hour") if parts.get("hour") else match.start()
            if hour_at in certain:
                continue
            if times := _times(parts, strict=not lenient):
                # "6 to 9 pm" may be 6 minutes or three hours.
                if parts.get("half") and not (parts.get("amount") or "").isdigit():
                    certain.add(hour_at)
                yield match, times


def _times(parts: dict[str, str | None], *, strict: bool) -> tuple[float, ...]:
    word = parts.get("word") or (parts["hour"] if not (parts["hour"] or "0").isdigit() else None)
    if word:
        hour = 0 if word == "midnight" else 12
        minute = 0
        if parts.get("word"):
            return (float(hour * 60),) if hour else (0.0, float(MINUTES_PER_DAY))
    else:
        hour = int(parts["hour"] or 0)
        minute = int(parts.get("minute") or 0)
    if hour > 24 or (hour == 24 and minute):
        return ()
    half = parts.get("half")
    if half and hour > 12:
        half = None
    if half:
        hours: tuple[int, ...] = (hour % 12 + (12 if half == "p" else 0),)
    elif word or hour == 0 or hour > 12 or (parts["hour"] or "").startswith("0"):
        hours = (hour,)
    else:
        # A value of "10:30" is on the 24-hour clock; in a request it may be 22:30.
        hours = (hour,) if strict and hour > 9 and parts.get("minute") else (hour % 12, hour % 12 + 12)
        if hour == 12:
            hours = (12,) if strict and parts.get("minute") else (12, 0)
    shift: float = minute
    if "amount" in parts and not parts["amount"]:
        shift = 30  # "half seven"
    elif amount := parts.get("amount"):
        minutes = {"quarter": 15, "half": 30}.get(amount)
        minutes = int(amount) if minutes is None else minutes
        shift = minutes if parts["way"] in ("past", "after") else -minutes
    shift += int(parts.get("second") or 0) / 60
    return tuple(sorted((hour * 60 + shift) % MINUTES_PER_DAY for hour in hours))


COPIED_TIME = re.compile(
    r"\b(?:\d{1,2}:\d\d(?:\s*[ap]\.?m\b)?|\d{1,2}\s*[ap]\.?m\b|noon|midnight)", re.IGNORECASE
)
"""A time as a request words it, to be copied into an argument unread: "7:45 pm", "7pm", "noon"; not "7"."""

# Seconds.
_HOUR = 3600
_DAY = 86_400
# The size of each unit, in seconds or in months.
_SECONDS = {
    **dict.fromkeys(("second", "sec", "s"), 1),
    **dict.fromkeys(("minute", "min", "m"), 60),
    **dict.fromkeys(("hour", "hr", "h"), _HOUR),
    **dict.fromkeys(("day", "night", "d"), _DAY),
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
# The units, in seconds, in which a parameter may want a length as a bare number, and the largest such number.
_USUAL = (1, 60, _HOUR, _DAY, 7 * _DAY)
# The largest length, in any of these units, that a bare number can mean.
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
        readings = {self.seconds + 30 * _DAY * self.months}
        if self.months and self.months % 12 == 0:
            readings.add(self.seconds + 365 * _DAY * self.months / 12)
        return readings

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

    >>> [int(duration.seconds / 60) for _, _, duration in find_durations("an hour and a quarter, or 2 hours")]
    [75, 120]
    """
    row: tuple[int, int, int, Duration] | None = None
    for match in _ITEM.finditer(text):
        size, length = _length_of(match)
        if row and size < row[2] and _BETWEEN.fullmatch(text[row[1] : match.start()]):
            total = Duration(row[3].seconds + length.seconds, row[3].months + length.months)
            row = (row[0], match.end(), size, total)
            continue
        if row:
            yield row[0], row[1], row[3]
        row = (*match.span(), size, length)
    if row:
        yield row[0], row[1], row[3]


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
