"""The lengths of time in a text, and the numbers by which a plan may give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

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
_PARTS = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "3 quarter": Decimal("0.75")}
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
    return _PARTS[text.replace("-", " ").removesuffix("s")] if text else Decimal(0)
