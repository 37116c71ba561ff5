"""The words for months, weekdays, numbers and their parts; and one spelling for texts that are compared.

The spelling is without case, accents and kinds of quotes, with numbers in digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from text_to_num import alpha2digit

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NUMBERS = {name[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))}
# The one usual abbreviation of four letters.
MONTH_NUMBERS["sept"] = 9
WEEKDAY_ABBREVIATIONS = ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun")

# The beginnings of month and weekday names, as parts of regular expressions.
MONTH_STEMS = "|".join(name[:3] for name in MONTHS)
WEEKDAY_STEMS = "|".join(name[:3] for name in WEEKDAYS)

_UNDER_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
NUMBER_WORDS = _UNDER_TWENTY.split()
"""The words for 0 to 19; the index is the number."""
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# Keys as they are after `with_digits`, which turns "three quarters" into "3 quarters".
FRACTIONS = {"half": Decimal("0.5"), "quarter": Decimal("0.25")}
FRACTIONS |= dict.fromkeys(("3 quarter", "3 quarters"), Decimal("0.75"))


def longest_first(words: Iterable[str]) -> str:
    """The alternatives of a regular expression, so that no word hides a longer one that begins with it.

    >>> longest_first(["sep", "september", "sept"])
    'september|sept|sep'
    """
    return "|".join(sorted(words, key=len, reverse=True))


_QUOTES = dict.fromkeys(map(ord, '‘’‚‛′`´“”„‟″«»‹›「」『』"'), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
# Unicode does not decompose these letters into a base letter and an accent.
_LETTERS = str.maketrans("łŁøØđĐı⁄", "lLoOdDi/")
_SAME_CHARACTER: dict[int, str | None] = {**_QUOTES, **_DASHES, **_INVISIBLE}
# Runs of blanks and line breaks, each of which becomes one blank.
_SPACES = re.compile(r"\s+")
# NFKC writes "½" as "1/2": without a blank before it, "17½" would become "171/2". Not the "½" of " ½".
_BEFORE_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
# "don't" and "can't", but not "n't" alone.
_NOT = re.compile(r"\b(?P<verb>ca|wo|sha|[a-z]{2,6})n't\b")
_SHORT_VERBS = {"ca": "can", "wo": "will", "sha": "shall"}
# "square metres" and "sq. ft", but not "square".
_AREA = re.compile(r"\b(square|sq\.?|cubic) ?(met(?:er|re)s?|m|feet|foot|ft)\b\.?")
_POWERS = {"s": {"m": "m2", "f": "ft2"}.__getitem__, "c": {"m": "m3", "f": "ft3"}.__getitem__}
# "two-" of "two-week", which counts weeks, but not "twenty-" of "twenty-one", which is one number.
_COUNTED = re.compile(
    rf"\b({'|'.join(NUMBER_WORDS[1:13])}|[a-z]{{3,5}}teen|{'|'.join(TENS[:5])})-"
    rf"(?!(?:{'|'.join(NUMBER_WORDS[1:10])}|first|second|third|(?!month)[a-z]{{3,6}}th)\b)"
)


def plain(text: str) -> str:
    """A text without differences in case, accents, quotes, dashes and white space.

    >>> plain("The “Café”  – don’t")
    "the 'cafe' - do not"
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _BEFORE_FRACTION.sub(" ", text))
        text = text.translate(_SAME_CHARACTER).translate(_LETTERS)
    text = text.casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    if '"' in text or "`" in text:
        text = text.translate(_QUOTES)
    if "n't" in text:
        text = _NOT.sub(lambda match: f"{_SHORT_VERBS.get(match['verb'], match['verb'])} not", text)
    return _SPACES.sub(" ", text).strip()


@lru_cache(maxsize=4096)
def with_digits(text: str) -> str:
    """A plain text with its English number words in digits.

    >>> with_digits("twenty-one chairs on the third of may")
    '21 chairs on the 3rd of may'
    """
    try:
        text = text.replace("-and-a-", " and a ")
        if "sq" in text or "cubic" in text:
            text = _AREA.sub(lambda unit: _POWERS[unit[1][0]](unit[2][0]), text)
        return str(alpha2digit(_COUNTED.sub(r"\1 ", text), "en", 0))
    except (ValueError, OverflowError):  # pragma: no cover - a number that is too large for it
        return text
