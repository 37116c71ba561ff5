"""English for the writer: word lists (JSON files in `data/`), verb forms, articles, plurals, tool ids."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_list(name: str) -> Any:
    """The content of `data/{name}.json`."""
    return json.loads(files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))


# Where words of an id meet: "Get|TV|Show", but not inside "TV".
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# "invoice", "hour" and "uninstall", but not "user" or "union".
_VOWEL_SOUND = re.compile(r"(?i)^(?:[aeio]|u(?!ni[^n]|se|ti|r[aei]|k|ser)|hour|honest|heir|sms\b|mp3)")
# An acronym whose first letter sounds like a vowel: "SMS" (ess), but not "URL".
_LETTER_NAME = re.compile(r"^[AEFHILMNORSX](?=[A-Z0-9]|$)")


def id_words(tool_id: str) -> list[str]:
    """The words of an id, in lower case except acronyms.

    >>> id_words("GetTVShowDetail"), id_words("file_modify"), id_words("Text-to-Speech")
    (['get', 'TV', 'show', 'detail'], ['file', 'modify'], ['text', 'to', 'speech'])
    """
    spaced = _CAMEL.sub(" ", re.sub(r"[^\w]+|_", " ", tool_id))
    return [word if len(word) > 1 and word.isupper() else word.lower() for word in spaced.split()]


@cache
def verbs() -> frozenset[str]:
    """The verbs the writer knows, in base form."""
    return frozenset(str(read_list("verbs")["verbs"]).split())


@cache
def base_form(word: str) -> str | None:
    """The base form of a known verb or of its form in -s or -ing; None for other words.

    >>> base_form("Searches"), base_form("planning"), base_form("table")
    ('search', 'plan', None)
    """
    word = word.lower()
    guesses = [word]
    if word.endswith("ies"):
        guesses.append(word[:-3] + "y")
    if word.endswith("es"):
        guesses.append(word[:-2])
    if word.endswith("s"):
        guesses.append(word[:-1])
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        guesses += [stem, stem + "e", stem[:-1] if stem[-1] == stem[-2] else stem]
    return next((guess for guess in guesses if guess in verbs()), None)


@cache
def gerund(verb: str) -> str:
    """The form in -ing.

    >>> gerund("book"), gerund("make"), gerund("get")
    ('booking', 'making', 'getting')
    """
    if verb in read_list("verbs")["doubling"]:
        return f"{verb}{verb[-1]}ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + "ing"


@cache
def participle(verb: str) -> str:
    """The past participle, or a better adjective for the result ("found" for "search").

    >>> participle("translate"), participle("verify"), participle("crop"), participle("search")
    ('translated', 'verified', 'cropped', 'found')
    """
    lists = read_list("verbs")
    if verb in lists["irregular"]:
        return str(lists["irregular"][verb])
    if verb in lists["doubling"]:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def with_article(noun: str) -> str:
    """The noun phrase with "a" or "an".

    >>> with_article("invoice"), with_article("user"), with_article("SMS")
    ('an invoice', 'a user', 'an SMS')
    """
    acronym = bool(re.match(r"^[A-Z]{2,}", noun))
    vowel = _LETTER_NAME.match(noun) if acronym else _VOWEL_SOUND.match(noun)
    return f"{'an' if vowel else 'a'} {noun}"


def is_plural(noun: str) -> bool:
    """Whether a noun phrase looks plural.

    >>> is_plural("search results"), is_plural("bus"), is_plural("news analysis")
    (True, False, False)
    """
    return bool(re.search(r"[^siu]s$", noun)) or noun.endswith("ies")


def joined(items: list[str]) -> str:
    """Items with commas and "and".

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
