"""Argument values compared by what they mean: numbers by value, text without its quotes, the rest as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from decimal import Decimal
from typing import Any

_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_QUOTES = "'\"`‘’“”"
_EXACT = 2.0**53  # beyond, a float does not tell whole numbers apart
_EXTENSION = re.compile(
    r"\.(?:(?P<image>jpe?g|png|gif|bmp|tiff?|svg|ico|webp)"
    r"|(?P<audio>mp3|wav|wma|ogg|aac|flac|aiff|au|m4a)"
    r"|(?P<video>mp4|avi|mov|flv|wmv|mkv|webm|m4v|mpe?g))(?![a-z0-9]|\.[a-z])",
    re.IGNORECASE,
)


def comparable(value: Any) -> Hashable:
    """A value that equals another exactly if the two mean the same.

    Surrounding blanks and quotes are dropped; 7, 7.0 and "7" are one number (but "07" is text); true and
    "True" are one; other text is case-sensitive; lists and objects compare as JSON.

    >>> comparable(" '7' ") == comparable(7.0), comparable("07") == comparable(7), comparable({"a": [1]})
    (True, False, '{"a": [1]}')
    """
    if isinstance(value, str):
        return comparable_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if value == value else "NaN"
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """With whole numbers in lists and objects spelled in one way: 7.0 is 7."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value


def comparable_text(value: str) -> Hashable:
    """`comparable` for texts."""
    text = _unquoted(value)
    if len(text) > 5 and text[0].isalpha():
        return text
    if len(text) <= 5 and text.casefold() in ("true", "false"):
        return text.casefold()
    if len(text) <= 40 and _NUMBER.fullmatch(text):
        return Decimal(text)
    return text


def _unquoted(value: str) -> str:
    """A text without the blanks and pairs of quotes around it, however many there are."""
    start, end = 0, len(value)
    while True:
        while start < end and value[start].isspace():
            start += 1
        while start < end and value[end - 1].isspace():
            end -= 1
        if end - start < 2 or value[start] not in _QUOTES or value[end - 1] not in _QUOTES:
            return value[start:end]
        start, end = start + 1, end - 1


def resource_type(text: str) -> str:
    """The resource a literal names: by its file extension at the end of a word, any case; else text.

    >>> resource_type("see photo.JPG!"), resource_type("https://www.author.com"), resource_type("a.wav")
    ('image', 'text', 'audio')
    """
    found = _EXTENSION.search(text) if "." in text else None
    return "text" if found is None else str(found.lastgroup)
