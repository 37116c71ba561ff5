"""Times of day in a text, in minutes since midnight, and durations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

_HALF = r"(?P<half>[ap])\.?\s?m\b\.?"
# A "-" is the end of "19:00-21:30", and only behind seconds a zone.
_ZONE = r"(?:\s?(?:z|utc|gmt)\b|(?:\+|(?<=:\d\d:\d\d)-)\d\d:?\d\d(?!\d))?"
_AT = r"(?:at|by|around|about|from|until|till|before|after|between)"
_PATTERNS = (
    re.compile(
        rf"(?<![\w:.])(?P<hour>[0-2]?\d)[:h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.0+)?)?(?![\d:])"
        rf"(?:\s?{_HALF})?{_ZONE}"
    ),
    # Before "6 pm" alone is read out of it.
    re.compile(
        rf"\b(?P<amount>quarter|half|\d{{1,2}})(?: minutes?)? (?P<way>to|past|after|before|of|til)"
        rf" (?P<hour>\d{{1,2}}|noon|midnight)\b(?!:)(?:\s?{_HALF})?"
    ),
    re.compile(rf"(?<![\w:.])(?P<hour>[01]?\d)[. ](?P<minute>[0-5]\d)\s?{_HALF}"),
    re.compile(rf"(?<![\w:.])(?P<hour>[01]?\d)\s?{_HALF}"),
    re.compile(rf"(?<![\w:.])(?P<hour>[0-2]?\d)\s?o'? ?clock(?:\s?{_HALF})?"),
    re.compile(r"(?<![\w:.])(?P<hour>[01]\d|2[0-4])(?P<minute>[0-5]\d)\s?(?:hours|hrs|h)\b"),
    re.compile(r"\b(?P<word>noon|mid-?day|midnight)(?:-?ish)?\b"),
)
# Hours that only their surroundings tell from other numbers: for what a request says, not for a value.
_LOOSE = (
    re.compile(
        rf"(?:\b{_AT}\s|(?<![\w:.])(?=0))(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?![\w:/%-]|[.,]\d)"
    ),
    re.compile(
        r"(?:(?<=\b\d{4} and )|(?<=\b\d{4} to )|(?<=\b\d{4} till )|(?<=\b\d{4} until )|(?<=\b\d{4}-)"
        r"|(?<=\b\d{4} - ))"
        r"(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?![\w:/%-]|[.,]\d)"
    ),
    re.compile(rf"\b{_AT}\s(?P<hour>[0-2]?\d)\.(?P<minute>[0-5]\d)(?![\w%]|\.\d)"),
    re.compile(rf"\b{_AT}\s?(?P<hour>[0-2]?\d)(?: (?P<minute>[0-5]\d))?(?![\w:/%]|[.,]\d)"),
    re.compile(
        r"\b(?:from|between|at|by)\s[0-2]?\d(?::[0-5]\d)?\s?(?:[ap]\.?m\b\.?)?\s?(?:-|to|and|or|until|till)\s?"
        r"(?P<hour>[0-2]?\d)(?![\w:/%]|[.,]\d)"
    ),
    re.compile(r"(?<![\w:.])(?P<hour>[01]?\d)(?=\s?(?:-|to|and|or)\s?[0-2]?\d(?::[0-5]\d)?\s?[ap]\.?m\b)"),
    re.compile(r"(?<![\w:.,$€£])(?P<hour>[0-2]?\d)\.(?P<minute>[0-5]\d)(?![\w%]|[.,]\d)"),
    re.compile(r"(?<![\w:.,])(?<!\d )(?P<hour>1?\d) (?P<minute>[0-5]\d)(?![\w:%]|[.,]\d|\s\d)"),
    re.compile(r"(?<![\w:.,])(?P<hour>[01]?\d)(?:\s?-?\s?ish\b|\s?(?P<half>[ap])\b)"),
    re.compile(r"(?<![\w:./-])(?P<hour>[012]?\d)(?=\s?-\s?[012]?\d(?![\w:/%-]|[.,]\d))"),
    re.compile(r"(?<=\d)\s?-\s?(?P<hour>[012]?\d)(?![\w:/%-]|[.,]\d)"),
    re.compile(r"\bhalf (?P<hour>[01]?\d)(?P<way>)(?P<amount>)(?![\w:/%]|[.,]\d)"),
    re.compile(r"(?<![\w:.])(?P<hour>[0-2]?\d) (?=(?:in the (?:mor|aftern|even)[a-z]+|at night|sharp)\b)"),
)
_PART_OF_DAY = re.compile(
    r",? ?(?:sharp |o'clock )?"
    r"(?:(?:in the|this) (?:(?P<morning>morning)|afternoon|evening)|(?P<night>at night)|tonight)\b"
)
_MINUTES_OF_DAY = 24 * 60


def times_in(text: str, *, loose: bool = False) -> Iterator[tuple[re.Match[str], tuple[float, ...]]]:
    """Each time of day in a text (plain, number words in digits), with the minutes it may mean.

    >>> [times for _, times in times_in("at 7:45 pm, half past 6, noon")]
    [(1185.0,), (390.0, 1110.0), (720.0,)]
    """
    sure: set[int] = set()
    for pattern in (*_PATTERNS, *(_LOOSE if loose else ())):
        for match in pattern.finditer(text):
            parts = {**match.groupdict(), **_half_behind(match, text)}
            hour_at = match.start("hour") if parts.get("hour") else match.start()
            if hour_at in sure:
                continue
            if times := _times(parts, strict=not loose):
                # "6 to 9 pm" may be 6 minutes or three hours.
                if parts.get("half") and not (parts.get("amount") or "").isdigit():
                    sure.add(hour_at)
                yield match, times


def _half_behind(match: re.Match[str], text: str) -> dict[str, str]:
    """The half of the day that is told behind a time: "in the morning", "tonight"."""
    parts = match.groupdict()
    behind = None if parts.get("half") or parts.get("word") else _PART_OF_DAY.match(text, match.end())
    if behind is None or not (parts["hour"] or "").isdigit():
        return {}
    hour = int(parts["hour"] or 0)
    return {"half": "a" if behind["morning"] or (behind["night"] and not 5 < hour < 12) else "p"}


def _times(parts: dict[str, str | None], *, strict: bool) -> tuple[float, ...]:
    word = parts.get("word") or (parts["hour"] if not (parts["hour"] or "0").isdigit() else None)
    if word:
        hour, minute = (0 if word == "midnight" else 12), 0
        if parts.get("word"):
            return (float(hour * 60),) if hour else (0.0, float(_MINUTES_OF_DAY))
    else:
        hour, minute = int(parts["hour"] or 0), int(parts.get("minute") or 0)
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
        # A value of "10:30" is written on the clock of 24 hours.
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
    return tuple(sorted((one * 60 + shift) % _MINUTES_OF_DAY for one in hours))


_HOUR, _DAY = 3600, 86_400
# The size of a unit in seconds, or in months.
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
_DURATION_PARTS = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "3 quarter": Decimal("0.75")}
_PART = "half|quarter|3[ -]quarters?"
_WORDS = "|".join(sorted({*_SECONDS, *_MONTHS} - _LETTERS, key=len, reverse=True))
_ONE = r"an?(?: (?:whole|full|good|single))?|next|last|past"
_ITEM = re.compile(
    rf"(?<![\w.,])(?:(?:an? |1 )?(?P<part>{_PART})(?: of)?(?: an?| 1)?(?:[ -](?={_WORDS}))"
    rf"|(?P<count>\d{{1,7}}(?:[.,]\d{{1,4}})?|{_ONE}|(?:a )?couple(?: of)?|(?=(?:{_WORDS})[ -]long\b))"
    rf"(?: and (?:an? )?(?P<plus>{_PART}))?[ -]?)"
    rf"(?P<unit>(?:{_WORDS})(?:s(?!\w)|(?=ly\b))?|(?<=\d)[smhd]|(?<=\d )[hs])(?:ly)?(?![a-z])"
    rf"(?: and (?:an? )?(?P<more>{_PART})\b(?! (?:of (?:the|it|my)|an?|past|to)\b))?"
)
_BETWEEN = re.compile(r",? and |, | ?")
_MINUTES = re.compile(r" ?(?:and )?(?P<minutes>[0-5]\d)(?![\w:.%]|,\d)")
_ISO = re.compile(r"\bp(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?\b")
_USUAL = (1, 60, _HOUR, _DAY, 7 * _DAY)
_MOST = 100_000


class Duration(NamedTuple):
    """A length of time: whole months cannot be told in seconds, so they stand apart.

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
        """Whether it is as long as another one."""
        return self == other or not self.all_seconds.isdisjoint(other.all_seconds)

    def numbers(self) -> Iterator[Decimal]:
        """What it is in each usual unit, where that is a number of at most two decimals."""
        if self.months and not self.seconds:
            yield from (self.months, self.months / 12, 52 * self.months / 12)
        for seconds in self.all_seconds:
            for size in _USUAL:
                number = seconds / size
                if Decimal("0.1") <= number <= _MOST and number == round(number, 2):
                    yield number


def durations_in(text: str) -> Iterator[tuple[int, int, Duration]]:
    """Each length of time in a text (plain, number words in digits): where it starts and ends, and itself.

    >>> [int(duration.seconds / 60) for _, _, duration in durations_in("an hour and a quarter, or 1h30")]
    [75, 60, 90]
    """
    for match in _ISO.finditer(text):
        if any(match.groups()):
            sizes = zip((_DAY, _HOUR, 60, 1), match.groups(), strict=True)
            yield *match.span(), Duration(sum((size * Decimal(n or 0) for size, n in sizes), Decimal(0)))
    row: tuple[int, int, int, Duration] | None = None
    for match in _ITEM.finditer(text):
        size, length = _read(match)
        if row and size < row[2] and _BETWEEN.fullmatch(text[row[1] : match.start()]):
            total = Duration(row[3].seconds + length.seconds, row[3].months + length.months)
            row = (row[0], match.end(), size, total)
            continue
        if row:
            yield from _whole(row, text)
        row = (*match.span(), size, length)
    if row:
        yield from _whole(row, text)


def lengths_as_numbers(durations: Iterable[Duration]) -> set[Decimal]:
    """All numbers by which these lengths of time may be given.

    >>> sorted(map(float, lengths_as_numbers([Duration(Decimal(2700))])))
    [0.75, 45.0, 2700.0]
    """
    return {number for duration in durations for number in duration.numbers()}


def _whole(row: tuple[int, int, int, Duration], text: str) -> Iterator[tuple[int, int, Duration]]:
    start, end, size, length = row
    yield start, end, length
    if size == _HOUR and (rest := _MINUTES.match(text, end)):
        yield start, rest.end(), Duration(length.seconds + 60 * Decimal(rest["minutes"]), length.months)


def _read(match: re.Match[str]) -> tuple[int, Duration]:
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
    return _DURATION_PARTS[text.replace("-", " ").removesuffix("s")] if text else Decimal(0)
