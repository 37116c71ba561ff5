"""Whether a text of any spelling may be a date, a time or a number, in figures or in words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolassay.text_values.vocabulary import (
    MONTH_NUMBERS,
    WEEKDAY_ABBREVIATIONS,
    WEEKDAYS,
    plain,
    with_digits,
)

_DAYS = (
    "today tomorrow yesterday tonight now day days date weekday weekend weekends week weeks fortnight month "
    "months quarter year years daily weekly monthly yearly spring summer autumn fall winter christmas easter "
    "holiday holidays birthday eve following"
)
_CLOCK = (
    "noon midday midnight morning afternoon evening night sunrise sunset hour hours hr hrs minute minutes "
    "min mins second seconds am pm half quarter now tonight later"
)


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)


_DATE_WORDS = _any_word((*MONTH_NUMBERS, *WEEKDAYS, *WEEKDAY_ABBREVIATIONS, *_DAYS.split()))
_CLOCK_WORDS = _any_word(_CLOCK.split())
# "2026-05", "14/5", "14.5.26", "1.05", "2026", "5月14日", "'26", "3rd" and "14 mai", but not "14.5".
_DATE_FIGURES = re.compile(
    r"(?<!\d)(?:\d{4}\s?[-/.年]\s?\d{1,2}(?:\s?[-/.月]\s?\d{1,2})?|\d{1,2}\s?[-/]\s?\d{1,2}(?:\s?[-/]\s?\d{2,4})?|\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{2,4})?|\d{1,2}\.0[1-9]"
    r"|(?:18|19|20|21)\d{2}(?:[01]\d[0-3]\d)?|\d{1,2}月\d{1,2}日?|'\d{2}|\d{1,2}(?:st|nd|rd|th)|\d{1,2}\.?\s[^\W\d_]{3,})(?!\d)",
    re.IGNORECASE,
)
# "19:45", "7 pm", "7h" and "T19:45", but not "25:00" or "7".
_CLOCK_FIGURES = re.compile(
    r"(?<![\d-])(?:[01]?\d|2[0-4])(?:\s?[:.h]\s?[0-5]\d(?:[:.][0-5]\d)?|\s?(?:am|pm|a\.m\.|p\.m\.|h|o.clock|uhr)(?!\w))"
    r"|T[0-2]\d:?[0-5]\d",
    re.IGNORECASE,
)


def _is_foreign(text: str) -> bool:
    """Whether most letters are of a script whose words are not listed here."""
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and sum(ord(letter) > 0x2FF for letter in letters) > len(letters) / 2


def may_be_date(text: str) -> bool:
    """Whether a text may state a day, a month or a year.

    >>> [may_be_date(text) for text in ("2026-05-14", "next Friday", "the 3rd", "banana", "19:45")]
    [True, True, True, False, False]
    """
    text = text[:500]
    return bool(
        _DATE_FIGURES.search(_CLOCK_FIGURES.sub(" ", text) if ":" in text else text)
        or _DATE_WORDS.search(text)
        or _is_foreign(text)
    )


def may_be_time(text: str) -> bool:
    """Whether a text may state a time of day.

    >>> [may_be_time(text) for text in ("06:30", "half past six", "in two hours", "banana", "2026-05-14")]
    [True, True, True, False, False]
    """
    text = text[:500]
    return bool(
        _CLOCK_FIGURES.search(text)
        or _CLOCK_WORDS.search(text)
        or re.fullmatch(r"\s*\d{1,4}\s*", text)
        or _is_foreign(text)
        or (_DATE_WORDS.search(text) and not _DATE_FIGURES.search(text))
    )


# "half" and "a few", but not "one", which is a number in digits by then.
_QUANTITIES = "dozen dozens half quarter double triple single couple pair once twice few several all none no"
_QUANTITY = _any_word(_QUANTITIES.split())
_MOST_WORDS = 6


def may_be_number(text: str) -> bool:
    """Whether a text may state a number.

    >>> [may_be_number(text) for text in ("42", "about 20 euros", "two dozen", "banana", "a red fox")]
    [True, True, True, False, False]
    """
    if len(text) > 200 or len(text.split()) > _MOST_WORDS:
        return False
    digits = with_digits(plain(text))
    return any(map(str.isdigit, digits)) or bool(_QUANTITY.search(digits)) or _is_foreign(text)


def may_be_whole(text: str) -> bool:
    """Whether the number that a text states may be whole: no figures after a point but zeros or thousands.

    >>> [may_be_whole(text) for text in ("3", "1,000", "2.0", "2.5 kg", "three")]
    [True, True, True, False, True]
    """
    match = re.fullmatch(r"\D*?-?\d+[.](\d+)\D*", text.strip())
    return match is None or set(match[1]) == {"0"} or len(match[1]) == 3
