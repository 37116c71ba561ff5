"""One spelling for texts that are compared: characters, quotes, dashes, number words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from text_to_num import alpha2digit

_QUOTES = dict.fromkeys(map(ord, '‘’‚‛′`´“”„‟″«»‹›「」『』"'), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
# Letters that are no letter and an accent for Unicode.
_LETTERS = str.maketrans("łŁøØđĐı⁄", "lLoOdDi/")
_SAME_CHARACTER: dict[int, str | None] = {**_QUOTES, **_DASHES, **_INVISIBLE}
_SPACES = re.compile(r"\s+")
_FRACTION_BEHIND = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")  # "17½" is no 171/2
_NOT = re.compile(r"\b(?P<verb>ca|wo|sha|[a-z]{2,6})n't\b")
_SHORT_VERBS = {"ca": "can", "wo": "will", "sha": "shall"}
_AREA = re.compile(r"\b(square|sq\.?|cubic) ?(met(?:er|re)s?|m|feet|foot|ft)\b\.?")
_POWERS = {"s": {"m": "m2", "f": "ft2"}.__getitem__, "c": {"m": "m3", "f": "ft3"}.__getitem__}
# "Two-week" counts weeks, "twenty-one" is one number.
_COUNTED = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]{3,5}teen|twenty|thirty|forty|fifty|sixty)-"
    r"(?!(?:one|two|three|four|five|six|seven|eight|nine|first|second|third|(?!month)[a-z]{3,6}th)\b)"
)
# Scripts without blanks between words: there a word may stand anywhere.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def plain(text: str) -> str:
    """A text without the differences that a person does not see: case, accents, quotes, dashes, blanks.

    >>> plain("The “Café”  – don’t")
    "the 'cafe' - do not"
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _FRACTION_BEHIND.sub(" ", text))
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


def stands_in(text: str, inside: str) -> bool:
    """Whether a text stands in another one as it is, and not merely as a part of words or numbers there.

    >>> stands_in("art", "a work of art."), stands_in("art", "an article"), stands_in("10", "at 10:15")
    (True, False, False)
    """
    start = inside.find(text)
    for _ in range(50):
        if start < 0 or not text:
            return False
        if _ends_before(text, inside, start) and _ends_after(text, inside, start + len(text)):
            return True
        start = inside.find(text, start + 1)
    return False


def _ends_before(text: str, inside: str, start: int) -> bool:
    if start == 0:
        return True
    before, first = inside[start - 1], text[0]
    if _is_word(before) and _is_word(first):
        return False
    beyond = inside[start - 2] if start > 1 else " "
    if first.isdigit() and before in ".,:-/+":
        # A part of a larger number, date or time; or a negative number.
        return not (beyond.isalnum() or (before in "-+." and beyond.isspace()))
    return not (before in ".-+_@" and beyond.isalnum() and _is_exact(text))


def _ends_after(text: str, inside: str, end: int) -> bool:
    if end >= len(inside):
        return True
    after, last = inside[end], text[-1]
    if _is_word(after) and _is_word(last):
        return False
    beyond = inside[end + 1] if end + 1 < len(inside) else " "
    if last.isdigit() and after in ".,:-/":
        return not beyond.isalnum()
    return not (after in ".-+_@/" and beyond.isalnum() and _is_exact(text))


def _is_word(character: str) -> bool:
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)


def _is_exact(text: str) -> bool:
    """Whether a text is an address, a file or a code, of which a part is another one."""
    return " " not in text and any(not c.isalpha() for c in text)
