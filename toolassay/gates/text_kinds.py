"""What a text may be by its spelling: a date, a time, a number, a file, an address or plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from toolassay.files.data_files import package_data
from toolassay.files.file_types import FILE_KINDS, MEDIA
from toolassay.text_values.vocabulary import (
    MONTH_NUMBERS,
    WEEKDAY_ABBREVIATIONS,
    WEEKDAYS,
    plain,
    with_digits,
)

_LISTS = package_data(__package__, "type_words.json")


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)


_DATE_WORDS = _any_word((*MONTH_NUMBERS, *WEEKDAYS, *WEEKDAY_ABBREVIATIONS, *_LISTS["days"]))
_CLOCK_WORDS = _any_word(_LISTS["clock"])
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
_QUANTITY = _any_word(_LISTS["quantities"])
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


_WHAT = {"image": "an image", "audio": "an audio", "video": "a video"}
_WHAT |= {"document": "a document", "text": "a text"}
_WRAPPING = " \t\r\n'\"`<>[](){}“”‘’«»,;:!?."
# The extension of "example.wav" and ".png", but not of "v1.2/readme".
_ENDING = re.compile(r"[^\s./\\?#][^/\\?#\n]*\.([A-Za-z0-9]{1,7})$|^\.([A-Za-z0-9]{1,7})$")
# "s3://bucket/a", but not "mailto:a@x.org".
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
# "data:image/png;base64,…", but not "data:application/pdf,…".
_DATA = re.compile(r"data:(image|audio|video|text)/[^\s,;]+[;,]", re.IGNORECASE)
# "x.org/a" and "x.org:80", but not "a..b" or "x".
_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,24}(?::\d+)?(?:[/?#]\S*)?")
_LONGEST_NAME = 255


class Content(NamedTuple):
    """What a literal may be.

    Attributes:
        kinds: of image, audio, video, document, text, url; several if the spelling leaves it open.
        what: the same in words, such as "an audio file".
        is_name: whether it is one word, which may name anything.
    """

    kinds: frozenset[str]
    what: str
    is_name: bool = False

    @property
    def media(self) -> frozenset[str]:
        """The media, unless it may be a text that names one."""
        return frozenset() if "text" in self.kinds else self.kinds & MEDIA


@lru_cache(maxsize=1_024)  # a value is compared with every input of its tool, and by several gates
def content_of(literal: str) -> Content:
    """The content of a literal; quotation marks, brackets and punctuation around it do not count.

    >>> sorted(content_of("example.WAV").kinds), sorted(content_of("https://x.org/a.png?s=1").kinds)
    (['audio'], ['image', 'url'])
    >>> content_of("I like apples").what, sorted(content_of("look at example.jpg").kinds)
    ('a plain text', ['image', 'text'])
    """
    text = literal.strip(_WRAPPING)
    if match := _DATA.match(text):
        kind = match[1].casefold()
        return Content(frozenset({kind, "url"}), f"{_WHAT[kind]} as data")
    if _SCHEME.fullmatch(text):
        return _address(text)
    if len(text) > _LONGEST_NAME:
        return Content(frozenset({"text"}), "a plain text")
    kinds = _kinds_by_ending(text)
    one_word = not re.search(r"\s", text)
    is_host = one_word and _HOST.fullmatch(text) is not None
    if is_host and (not kinds or "/" in text or text.casefold().startswith("www.")):
        return _address(f"http://{text}")
    if not kinds:
        return Content(frozenset({"text"}), "a plain text", one_word)
    if one_word:
        return Content(kinds, f"{_in_words(kinds)} file")
    return Content(kinds | {"text"}, f"a text that ends with the name of {_in_words(kinds)} file")


def _address(text: str) -> Content:
    try:
        kinds = _kinds_by_ending(urlsplit(text).path.rstrip("/")) & MEDIA
    except ValueError:
        kinds = frozenset()
    if kinds:
        return Content(kinds | {"url"}, f"the address of {_in_words(kinds)} file")
    return Content(frozenset({"url", "text"}), "a web address")


def _kinds_by_ending(text: str) -> frozenset[str]:
    match = _ENDING.search(text.rsplit("/", 1)[-1][-_LONGEST_NAME:])
    ending = (match[1] or match[2]).casefold() if match else ""
    return frozenset(FILE_KINDS.get(ending, ()))


def _in_words(kinds: frozenset[str]) -> str:
    """The words "an image", or for several kinds "an audio or video"."""
    first, *others = [kind for kind in _WHAT if kind in kinds]
    return " or ".join([_WHAT[first], *others])
