"""Whether a value fits a declared type: that of a parameter, or a resource type.

A text may state a number, a date or a list in words. What a text is for a resource type follows from its
spelling: the ending of a file name, an address, or plain words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from toolassay.backinstruct.critics import same_tool
from toolassay.files import package_data
from toolassay.gates.references import FITS, Fit, doubtful, wrong
from toolassay.text_values.dates import is_impossible_day
from toolassay.text_values.vocabulary import (
    MONTH_NUMBERS,
    WEEKDAY_ABBREVIATIONS,
    WEEKDAYS,
    plain,
    with_digits,
)
from toolassay.type_names import Schema, choices_of, read_type, types_of

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


MEDIA = frozenset({"image", "audio", "video"})
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
    kinds, one_word = _kinds_by_ending(text), not re.search(r"\s", text)
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
    return frozenset(kind for kind, endings in _LISTS["endings"].items() if ending in endings)


def _in_words(kinds: frozenset[str]) -> str:
    """The words "an image", or for several kinds "an audio or video"."""
    first, *others = [kind for kind in _WHAT if kind in kinds]
    return " or ".join([_WHAT[first], *others])


# Kinds of value: JSON types, and formats of texts.
_CALLED = {
    "string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
    "array": "a list", "object": "an object", "date": "a date", "time": "a time",
    "date-time": "a date and time", "email": "an e-mail address", "uri": "a web address",
    "phone": "a phone number",
}  # fmt: skip
# Types that say what a text means, beside those of JSON Schema.
_MEANINGS: dict[str, Schema] = {"enum": {"type": "string"}, "phone": {"type": "string", "format": "phone"}}
_TRUTH_WORDS = "true false yes no on off 1 0 y n t f enabled disabled enable disable"
# What a text of each kind may state; of other kinds any text. A list or an object may be written in words.
_MAY_STATE: dict[str, Callable[[str], bool]] = {
    "number": may_be_number,
    "integer": lambda text: may_be_number(text) and may_be_whole(text),
    "boolean": lambda text: text.strip(" .!'\"").casefold() in _TRUTH_WORDS.split(),
    "date": may_be_date,
    "time": may_be_time,
    "date-time": lambda text: may_be_date(text) or may_be_time(text),
    "email": lambda text: re.search(r"\S@\S", text[:500]) is not None,
    "uri": lambda text: "url" in content_of(text).kinds or re.search(r"://|\bwww\.", text) is not None,
    "phone": lambda text: sum(character.isdigit() for character in text[:200]) >= 3,
}
# "example2.mp3" has a digit, but is no number.
_FIGURES = frozenset(_MAY_STATE) - {"email", "uri"}


@cache
def kinds_of_type(declared: str) -> frozenset[str]:
    """The kinds of value that a declared type allows: JSON types, and formats of texts; none if unknown.

    >>> sorted(kinds_of_type("Optional[int]")), sorted(kinds_of_type("date | list[str]"))
    (['integer'], ['array', 'date'])
    >>> kinds_of_type("soil sample")
    frozenset()
    """
    schema = read_type(declared, _MEANINGS.get) or {}
    kinds = {*types_of(schema)} - {"null"}
    form = schema.get("format")
    return frozenset(form if kind == "string" and form in _CALLED else kind for kind in kinds)


def _kinds(declared: str, source: Mapping[str, Any]) -> frozenset[str]:
    given, form = source.get("type"), str(source.get("format")).casefold().replace("url", "uri")
    kinds = kinds_of_type(" | ".join(map(str, given if isinstance(given, list) else [declared])))
    return (
        frozenset({form})
        if form in ("date", "time", "date-time", "email", "uri") and kinds <= {"string"}
        else kinds
    )


def type_in_words(declared: str, source: Mapping[str, Any]) -> str:
    """The expected value in words: "a number or a text"."""
    kinds = _kinds(declared, source)
    return " or ".join(words for kind, words in _CALLED.items() if kind in kinds) or f"a {declared}"


def value_fit(value: Any, declared: str, source: Mapping[str, Any]) -> Fit:
    """Whether a value that is no reference fits a declared type; an unknown type fits any value.

    Args:
        value: as in the label.
        declared: the type as the library writes it.
        source: the parameter's object in the library, with `enum`, `format`, `items` as in JSON Schema.

    >>> value_fit("42", "integer", {}).fits, value_fit("banana", "date", {}).what
    (True, 'a plain text')
    """
    if options := options_of(declared, source):
        return _option_fit(value, options)
    fits = [_kind_fit(value, kind, source) for kind in _kinds(declared, source)]
    return min(fits, key=lambda fit: fit.cost, default=FITS)


def options_of(declared: str, source: Mapping[str, Any]) -> list[str]:
    """The values that a declaration restricts a parameter to; empty if it does not.

    >>> options_of("enum: low, high", {}), options_of("string", {"enum": ["a", None]})
    (['low', 'high'], ['a'])
    """
    for key in ("enum", "options", "choices", "allowed_values", "values"):
        given = source.get(key)
        if isinstance(given, list) and all(isinstance(item, str | int | float | None) for item in given):
            return [str(item) for item in given if item is not None]
    return _choices_of(declared)


_choices_of = lru_cache(maxsize=4096)(choices_of)


def _option_fit(value: Any, options: list[str]) -> Fit:
    known = {same_tool(option) for option in options}
    what = f"none of {', '.join(options[:8])}"
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str | int | float):
            return wrong(_form(item))
        text = same_tool(str(item)) if not isinstance(item, int) or abs(item) < 10**18 else "…"
        if text in known:
            continue
        is_inside = any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in known if one)
        return doubtful(what) if is_inside else wrong(what)
    return FITS


def _kind_fit(value: Any, kind: str, source: Mapping[str, Any]) -> Fit:
    if isinstance(value, str):
        content = content_of(value)
        if kind in ("date", "date-time") and is_impossible_day(value):
            return wrong("a day that no calendar has")
        may_state = _MAY_STATE.get(kind)
        is_file = kind in _FIGURES and content.media
        return FITS if not is_file and (may_state is None or may_state(value)) else wrong(content.what)
    if isinstance(value, list) and kind == "array":
        items = source.get("items")
        inner = items.get("type") if isinstance(items, Mapping) else None
        if not isinstance(inner, str) or not isinstance(items, Mapping):
            return FITS
        fits = [value_fit(item, inner, items) for item in value[:100] if not isinstance(item, list)]
        worst = max(fits, key=lambda fit: fit.cost, default=FITS)
        return worst if worst.fits else worst._replace(what=f"a list with {worst.what} in it")
    if isinstance(value, float) and not math.isfinite(value):
        return wrong("no number")
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_whole = kind == "integer" and value == int(value)
        if kind == "number" or is_whole or (kind == "boolean" and value in (0, 1)):
            return FITS
        is_written = kind in ("string", "date", "time", "date-time", "phone")
        return doubtful("a number") if is_written else wrong("a number")
    is_truth, is_object = isinstance(value, bool), isinstance(value, Mapping)
    has_kind = (is_truth and kind == "boolean") or (is_object and kind == "object")
    return FITS if has_kind else wrong(_form(value))


def _form(value: Any) -> str:
    forms = {bool: "a truth value", list: "a list", dict: "an object", type(None): "nothing"}
    return forms.get(type(value), f"a {type(value).__name__}")


_FAMILY = {word: family for family, words in _LISTS["families"].items() for word in words}
_ANYTHING = "any anything media content data object resource attachment file"


@cache
def family_of(kind: str) -> str | None:
    """The family of a resource type: image, audio, video, text, url, document; None for any other.

    >>> family_of("Input Photo"), family_of("soil_sample")
    ('image', None)
    """
    words = re.findall(r"[a-z0-9]+", kind.casefold())
    return _FAMILY.get("".join(words), _FAMILY.get(words[-1]) if words else None)


def literal_fit(literal: str, kind: str, others: Collection[str] = MEDIA) -> Fit:
    """Whether a literal can be a resource of a type.

    Args:
        literal: as in the label.
        kind: the type as the library writes it.
        others: the families of the library's types. If images have a type of their own, an image is no
            invoice; if they have none, the invoice may be a photo.

    >>> literal_fit("example.wav", "image").what, literal_fit("a red fox", "text").fits
    ('an audio file', True)
    """
    family, content = family_of(kind), content_of(literal)
    if kind.casefold() in _ANYTHING.split() or family in content.kinds:
        return FITS
    if family in MEDIA:
        return _medium_fit(content, family or "", others)
    if family == "url":
        return wrong(content.what)
    if family is None and kinds_of_type(kind):
        return wrong(content.what) if content.media else value_fit(literal, kind, {})
    if not content.media:
        return FITS
    if family == "text":
        return doubtful(content.what) if "url" in content.kinds else wrong(content.what)
    # A file of some medium where the type names no medium.
    if family == "document" and content.media <= {"audio", "video"}:
        return wrong(content.what)
    return doubtful(content.what) if content.media & {*others, "audio", "video"} else FITS


def _medium_fit(content: Content, family: str, others: Collection[str]) -> Fit:
    if "document" in content.kinds and family == "image":
        return FITS  # its pages may be pictures
    if "url" in content.kinds and not content.media:
        # If addresses have a type of their own, another tool may have to download the file first.
        return doubtful(content.what) if "url" in others else FITS
    is_name = content.is_name and content.kinds == {"text"}
    return doubtful(f"a text that names no {family} file") if is_name else wrong(content.what)
