"""The times of day in a text, in minutes since midnight."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_DAY = 24 * 60


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
            return (float(hour * 60),) if hour else (0.0, float(_DAY))
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
    return tuple(sorted((one * 60 + shift) % _DAY for one in hours))
