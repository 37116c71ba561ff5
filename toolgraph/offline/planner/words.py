"""The words of tool names, descriptions and requests, in one spelling, and where in a request they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A request is read up to here: what a person asks for is said in fewer words, and reading stays quick.
MAX_CHARACTERS = 20_000

# Words that say nothing about which tool is meant: articles, pronouns, prepositions, politeness.
STOP_WORDS = frozenset(
    "a an and are as at be been by can could did do does eg etc for from had has have help how i if in into "
    "is it its let like may me my need of on or our please she should so some specific than that the their "
    "them then there these they this those to tool us use used user using want was we were what when which "
    "who will with would you your".split()
)

_INSIDE_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_SUFFIXES = "ations ation ements ement ments ment ings ing ies ers ors ions er or ion ed es s e y".split()
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, stemmed; `start` is the position of its first character."""

    stem: str
    start: int


def stem(word: str) -> str:
    """A word without its ending, so that `booking`, `booked` and `books` are one (a light stemmer).

    >>> [stem(word) for word in ("booking", "booked", "cancellation", "cancelling", "bus")]
    ['book', 'book', 'cancel', 'cancel', 'bus']
    """
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
        word = word[:-1]
    return word


def words_of(text: str) -> list[Word]:
    """The telling words of a text in order; `snake_case` and `CamelCase` names fall into their words.

    >>> [word.stem for word in words_of("GetTVShow: book_flight for me")]
    ['get', 'tv', 'show', 'book', 'flight']
    """
    found = []
    for match in _WORD.finditer(text[:MAX_CHARACTERS]):
        start = match.start()
        for part in _INSIDE_NAME.split(match.group()):
            plain = part.casefold()
            if plain and plain not in STOP_WORDS:
                found.append(Word(stem(plain), start))
            start += len(part)
    return found


def terms_of(text: str) -> list[str]:
    """The stems of a text and its pairs of neighbouring stems.

    >>> terms_of("Book a flight")
    ['book', 'flight', 'book flight']
    """
    stems = [word.stem for word in words_of(text)]
    return stems + [f"{first} {second}" for first, second in zip(stems, stems[1:], strict=False)]
