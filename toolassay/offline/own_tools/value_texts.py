"""How a value reads: its text, whether a sentence can hold it, codes that are like an example."""

from __future__ import annotations

import json
import re
import string
from typing import Any

from toolassay.offline.own_tools.value_pools import World

LONGEST = 200
"""Characters that a person would write as one value."""
_LONGEST_EXAMPLE = 80

# An example that only holds the place of a value: "YOUR_ID", "<name>", "string", "{{id}}", "xxx", zeros.
_PLACEHOLDER = re.compile(
    r"(?i:string|text|value|examples?|foo|bar|baz|null|none|nil|n/?a|x{3,}.*|\.{2,}|undefined|object|test|abc|lorem.*)"
    r"|.*(?i:\byour\b|your_|placeholder).*|[A-Z]+(?:_[A-Z]+)*_ID|[0-]+|https?://(?:www\.)?example\.(?:com|org|net)/?"
)
# Words without a digit or a capital: "number of attempts"; not "asc" or "New York".
PROSE = re.compile(r"[a-z-]+(?: [a-z-]+)+")


def is_example(value: Any) -> bool:
    if isinstance(value, str):
        usable = len(value) <= _LONGEST_EXAMPLE and is_speakable(value)
        return usable and not _PLACEHOLDER.fullmatch(value)
    return isinstance(value, int | float)


def is_code(text: str) -> bool:
    """Whether a text is a number of something rather than words: "cus_4QFJ", "MG12"; not "Oslo", "1.5 km"."""
    has_digits = sum(one.isdecimal() for one in text) > 2 and not _YEAR.fullmatch(text)
    is_address = "://" in text or "@" in text or "/" in text
    return has_digits and " " not in text and "," not in text and not is_address


# "2017", not "1300".
_YEAR = re.compile(r"(?:19|20)\d\d")


def form_class(text: str) -> str:
    """The form of a text: "aa" for a lower-case word, "AA" in capitals, with signs and digits marked."""
    letters = "".join(one for one in text if one.isalpha())
    case = "A" if letters.isupper() else "a" if letters.islower() else "Aa"
    signs = "".join(
        sorted({one for one in text if one in "@:/._-,+"} | {"0" for one in text if one.isdecimal()})
    )
    length = str(len(text)) if len(text) < 4 else ""
    return f"{case}{signs}{' ' if ' ' in text else ''}{length}"


def varied(example: str, world: World) -> str:
    """A code like an example: other digits and letters of the same form; words and what begins it stay.

    >>> from random import Random
    >>> varied("se-28529731", World(Random(1)))[:3], varied("spotify:track:4iV5W9u", World(Random(1)))[:14]
    ('se-', 'spotify:track:')
    """
    return _TOKEN.sub(lambda match: _varied_token(match[0], world), example)


# The letters and digits between signs: "4iV5W9u" of "spotify:track:4iV5W9u".
_TOKEN = re.compile(r"[A-Za-z0-9]+")
# A token whose letters only begin it: "MG12"; not "4iV5" or "MG12ab".
_NUMBERED = re.compile(r"[A-Za-z]+[0-9]+")


def _varied_token(token: str, world: World) -> str:
    if token.isalpha():
        return token
    keeps_letters = _NUMBERED.fullmatch(token) is not None
    is_hex = all(one in "0123456789abcdef" for one in token.casefold())
    written = ""
    for place, one in enumerate(token):
        if one.isdecimal():
            is_first = one != "0" and not token[:place][-1:].isdecimal()
            written += world.pick("123456789" if is_first else string.digits)
        elif keeps_letters:
            written += one
        else:
            letters = "abcdef" if is_hex else string.ascii_lowercase
            written += world.pick(letters.upper() if one.isupper() else letters)
    return written


def value_text(value: Any) -> str:
    """A scalar as JSON shows it, without the quotation marks of a text.

    >>> value_text(True), value_text(12.5), value_text("Oslo")
    ('true', '12.5', 'Oslo')
    """
    return value if isinstance(value, str) else json.dumps(value)


_BAD_SIGNS = re.compile(r"[\n\r\t|{}<>\x00-\x1f\u2028\u2029…]")


def is_speakable(text: str) -> bool:
    r"""Whether a sentence can hold a text verbatim, between quotation marks.

    >>> is_speakable("Oslo"), is_speakable("it's \"new\""), is_speakable("ends."), is_speakable("<a>")
    (True, False, False, False)
    """
    if not text or text != text.strip() or len(text) > LONGEST or _BAD_SIGNS.search(text):
        return False
    if "'" in text and '"' in text:
        return False
    return any(one.isalnum() for one in text) and not text.endswith((".", ",", ";", ":"))
