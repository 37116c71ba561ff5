"""Whether a value fits a declared type: that of a parameter, or a resource type.

A text may state a number, a date or a list in words (`text_kinds`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from typing import Any

from toolassay.backinstruct.critics import same_tool
from toolassay.files.data_files import package_data
from toolassay.files.file_types import MEDIA
from toolassay.gates.references import FITS, Fit, doubtful, wrong
from toolassay.gates.text_kinds import (
    Content,
    content_of,
    may_be_date,
    may_be_number,
    may_be_time,
    may_be_whole,
)
from toolassay.text_values.dates import is_impossible_day
from toolassay.tools.type_names import Schema, choices_of, read_type, types_of

# Kinds of value: JSON types, and formats of texts.
_CALLED: dict[str, str] = package_data(__package__, "type_words.json")["called"]
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
    given = source.get("type")
    kinds = kinds_of_type(" | ".join(map(str, given)) if isinstance(given, list) else declared)
    form = str(source.get("format")).casefold().replace("url", "uri") if "format" in source else ""
    is_form = form in ("date", "time", "date-time", "email", "uri") and kinds <= {"string"}
    return frozenset({form}) if is_form else kinds


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
    reason = f"none of {', '.join(options[:8])}"
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str | int | float):
            return wrong(_form(item))
        text = same_tool(str(item)) if not isinstance(item, int) or abs(item) < 10**18 else "…"
        if text in known:
            continue
        is_inside = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in known if name)
        return doubtful(reason) if is_inside else wrong(reason)
    return FITS


def _kind_fit(value: Any, kind: str, source: Mapping[str, Any]) -> Fit:
    if isinstance(value, str):
        if (may_state := _MAY_STATE.get(kind)) is None:
            return FITS
        if kind in ("date", "date-time") and is_impossible_day(value):
            return wrong("a day that no calendar has")
        is_file = kind in _FIGURES and content_of(value).media
        return FITS if not is_file and may_state(value) else wrong(content_of(value).what)
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
    is_truth = isinstance(value, bool)
    is_object = isinstance(value, Mapping)
    has_kind = (is_truth and kind == "boolean") or (is_object and kind == "object")
    return FITS if has_kind else wrong(_form(value))


def _form(value: Any) -> str:
    forms = {bool: "a truth value", list: "a list", dict: "an object", type(None): "nothing"}
    return forms.get(type(value), f"a {type(value).__name__}")


_FAMILIES = package_data(__package__, "type_words.json")["families"]
_FAMILY = {word: family for family, words in _FAMILIES.items() for word in words}
_ANYTHING = "any anything media content data object resource attachment file"


@cache
def family_of(kind: str) -> str | None:
    """The family of a resource type: image, audio, video, text, url, document; None for any other.

    >>> family_of("Input Photo"), family_of("soil_sample")
    ('image', None)
    """
    words = re.findall(r"[a-z0-9]+", kind.casefold())
    return _FAMILY.get("".join(words), _FAMILY.get(words[-1]) if words else None)


def literal_fit(literal: str, kind: str, families: Collection[str] = MEDIA) -> Fit:
    """Whether a literal can be a resource of a type.

    Args:
        literal: as in the label.
        kind: the type as the library writes it.
        families: the families of the library's types. If images have a type of their own, an image is no
            invoice; if they have none, the invoice may be a photo.

    >>> literal_fit("example.wav", "image").what, literal_fit("a red fox", "text").fits
    ('an audio file', True)
    """
    family = family_of(kind)
    content = content_of(literal)
    if kind.casefold() in _ANYTHING.split() or family in content.kinds:
        return FITS
    if family in MEDIA:
        return _medium_fit(content, family or "", families)
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
    return doubtful(content.what) if content.media & {*families, "audio", "video"} else FITS


def _medium_fit(content: Content, family: str, families: Collection[str]) -> Fit:
    if "document" in content.kinds and family == "image":
        return FITS  # its pages may be pictures
    if "url" in content.kinds and not content.media:
        # If addresses have a type of their own, another tool may have to download the file first.
        return doubtful(content.what) if "url" in families else FITS
    is_name = content.is_name and content.kinds == {"text"}
    return doubtful(f"a text that names no {family} file") if is_name else wrong(content.what)
