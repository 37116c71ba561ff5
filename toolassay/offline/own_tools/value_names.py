"""What the name of a value says: its kind, as a key of `value_makers`, or why no person would write it.

Names are matched as whole words, the last ones first: `guest_email` is an e-mail address, `email_id` a code.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from toolassay.offline.writer.english import id_words

Rules = tuple[tuple[re.Pattern[str], str], ...]


@lru_cache(maxsize=65_536)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case; numbers at its end are left out.

    >>> words_of("checkInDate2"), words_of("guest_names[]")
    (('check', 'in', 'date'), ('guest', 'names'))
    """
    words = [word.casefold() for word in id_words(name[:120])]
    words = [stem for word in words if (stem := word.rstrip("0123456789"))] or words
    return tuple(words)


@cache
def _rules(section: str) -> Rules:
    """The rules of a section of `data/value_names.txt`; see its head."""
    text = files(__package__).joinpath("data", "value_names.txt").read_text(encoding="utf-8")
    body = text.split(f"\n[{section}]\n", 1)[1].split("\n[", 1)[0]
    before = "(?:.* )?" if section in ("unstatable", "texts") else ""
    pairs = [row.split(": ", 1) for row in body.strip().splitlines() if row and not row.startswith("#")]
    if section == "descriptions":
        return tuple((re.compile(pattern, re.IGNORECASE), key) for key, pattern in pairs)
    return tuple((re.compile(rf"{before}(?:{pattern})$"), key) for key, pattern in pairs)


def _key(section: str, words: tuple[str, ...]) -> str:
    text = " ".join(words[-8:])
    return next((key for pattern, key in _rules(section) if pattern.match(text)), "")


SECRET, PAGING, UNWRITABLE, UNLISTED, ORDERING = "secret", "paging", "unwritable", "unlisted", "ordering"


@lru_cache(maxsize=65_536)
def unstatable(words: tuple[str, ...]) -> str:
    """Why no person writes a value of this name: `SECRET`, `PAGING`, `UNWRITABLE`, `UNLISTED`; else empty.

    >>> unstatable(words_of("api_key")), unstatable(words_of("next_page_token")), unstatable(words_of("city"))
    ('secret', 'paging', '')
    """
    return "" if words[:1] == ("id",) else _key("unstatable", words)


@lru_cache(maxsize=65_536)
def response_key(words: tuple[str, ...]) -> str:
    """Whether a name is of the form, the size or the order of a response, or of how a call is made.

    >>> response_key(words_of("per_page")), response_key(words_of("sort_by")), response_key(words_of("city"))
    ('paging', 'ordering', '')
    """
    return _key("response", words)


@lru_cache(maxsize=65_536)
def text_key(words: tuple[str, ...]) -> str:
    """The kind of a text with this name, as a key of `value_makers`; empty if unknown.

    >>> text_key(words_of("guestEmail")), text_key(words_of("email_id")), text_key(words_of("flux"))
    ('email', 'code', '')
    """
    return _key("texts", words)


@lru_cache(maxsize=65_536)
def number_key(words: tuple[str, ...]) -> str:
    """The kind of a number with this name; empty if unknown.

    >>> number_key(words_of("nights")), number_key(words_of("invoice_number"))
    ('nights', 'code')
    """
    return _key("numbers", words)


def unstatable_text(description: str) -> str:
    """Why no person writes a text with this description, as `unstatable`.

    >>> unstatable_text("Base64-encoded image"), unstatable_text("Name of the image")
    ('unwritable', '')
    """
    beginning = description[:300]
    return next((why for pattern, why in _rules("descriptions") if pattern.search(beginning)), "")


# The first noun phrase of a description: "The new title" of "The new title of the page."
_HEAD = re.compile(
    r"(?:(?:the|an?|your|its|their|optional|required|unique|full|new|current|valid|specific|exact|given|desired"
    r"|globally)\s+)*"
    r"(?P<head>[\w'/-]+(?:\s+(?!(?:of|for|that|which|to|in|on|from|with|by|where|used|is|at|whose|as|or|and|when"
    r"|you|this)\b)[\w'/-]+){0,4})",
    re.IGNORECASE,
)
# The thing that a noun belongs to: "repository" of "of the repository to delete".
_OF = re.compile(
    r"\b(?:of|for|identifying)\s+(?:(?:the|an?|this|your|each|every|one|new|given|specific)\s+)*"
    r"(?P<thing>[A-Za-z][\w-]{1,30}"
    r"(?:\s+(?!(?:to|in|on|from|with|by|that|which|is|as|or|and|you|at)\b)[A-Za-z][\w-]{1,30})?)",
    re.IGNORECASE,
)


@lru_cache(maxsize=16_384)
def head_of(description: str) -> tuple[str, ...]:
    """The words of the first noun phrase of a description.

    >>> head_of("The new title of the page."), head_of("Destination city")
    (('title',), ('destination', 'city'))
    """
    match = _HEAD.match(description[:120].strip(" *_`\"'([-"))
    return words_of(match["head"]) if match else ()


@lru_cache(maxsize=16_384)
def owner_of(description: str) -> tuple[str, ...]:
    """The words of the thing that the first noun belongs to: "page" of "the title of the page"; or none."""
    match = _OF.search(description[:160])
    return words_of(match["thing"]) if match else ()


# Kinds of words that begin descriptions of other things, too: "The group that …", "List of …".
_WEAK = frozenset(
    {"status", "priority", "unit", "size word", "type word", "thing type", "category", "tag", "role", "room"}
    | {
        "project",
        "event",
        "venue",
        "team",
        "channel",
        "identifier",
        "animal",
        "weekday",
        "month name",
        "command",
    }
    | {
        "year text",
        "count text",
        "amount text",
        "ratio text",
        "expression",
        "plate",
        "media type",
        "genre",
        "glob",
    }
)


def described_key(description: str) -> str:
    """The kind of a text by the first noun phrase of its description; empty if unknown.

    >>> described_key("The destination city"), described_key("Whether to wait")
    ('city', '')
    """
    head = head_of(description)
    # "The end date upto which …": words behind the noun are left out.
    keys = (text_key(head[: len(head) - fewer]) for fewer in range(min(3, len(head))))
    key = next(filter(None, keys), "")
    return "" if key in _WEAK else key
