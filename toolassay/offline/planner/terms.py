"""Terms of tool names, descriptions and requests: words, stems, stop words, compounds, positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from toolassay.files.data_files import package_data

# Only so much of a request is parsed, which bounds the time; real requests are shorter.
MAX_CHARACTERS = 10_000

# Words that say nothing about the tool: articles, pronouns, prepositions, politeness.
WORDS = package_data(__package__, "words.json")
STOP_WORDS = frozenset(WORDS["stop"])
_IRREGULAR: dict[str, str] = WORDS["irregular"]
# Where words of a name meet: "get|TV|Show", but not inside "TV".
_INSIDE_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Letters and digits: "get" and "id" of "get_id"; not "_".
_WORD = re.compile(r"[^\W_]+")
_SUFFIXES = "ations ation ements ement ments ment ings ing ies ers ors ions er or ion ed es s e y"
_SUFFIX_LIST = tuple(_SUFFIXES.split())
# The fewest letters that stay of a word, so that "used" and "user" do not become "u".
_SHORTEST_STEM = 3


def stem(word: str) -> str:
    """A word without its ending (a light stemmer): `booking`, `booked` and `books` become one.

    >>> [stem(word) for word in ("booking", "booked", "cancellation", "cancelling", "people", "person")]
    ['book', 'book', 'cancel', 'cancel', 'person', 'person']
    """
    word = _IRREGULAR.get(word, word)
    for suffix in _SUFFIX_LIST:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
        word = word[:-1]
    return word


_ACTION = {stem(word): f"={words[0]}" for words in WORDS["same_action"] for word in words}


@dataclass(frozen=True, slots=True)
class StemmedWord:
    """A word of a text in lower case, with its stem and the position of its first character."""

    stem: str
    plain: str
    start: int


def words_of(text: str) -> list[StemmedWord]:
    """The words of a text without stop words, in order; `snake_case` and `CamelCase` names are split.

    >>> [word.stem for word in words_of("GetTVShow: book_flight for me")]
    ['get', 'tv', 'show', 'book', 'flight']
    """
    return [word for word in _all_words(text) if word.plain not in STOP_WORDS]


def terms_of(text: str) -> list[str]:
    """The terms by which texts are compared: stems, their actions, and pairs of neighbouring stems.

    >>> terms_of("Reserve a flight")
    ['reserv', '=book', 'reserv flight', 'flight']
    """
    return [term for term, _ in placed_terms(text)]


def placed_terms(text: str) -> Iterator[tuple[str, int]]:
    """The terms of a text in order, each with its character position."""
    words = words_of(text)
    for position, word in enumerate(words):
        yield word.stem, word.start
        if word.stem in _ACTION:
            yield _ACTION[word.stem], word.start
        if position + 1 < len(words):
            yield f"{word.stem} {words[position + 1].stem}", word.start


def compounds(text: str) -> Iterator[tuple[str, int]]:
    """Neighbouring words joined, so that "log in" finds `login`, each with its position.

    >>> list(compounds("log in now"))
    [('login', 0), ('innow', 4)]
    """
    for first, second in pairwise(_all_words(text)):
        yield stem(first.plain + second.plain), first.start


def action_of(word: StemmedWord) -> str:
    """The first word for the same action (`search` for `find`); empty if it is no common action."""
    return _ACTION.get(word.stem, "").removeprefix("=")


def _all_words(text: str) -> list[StemmedWord]:
    stemmed = []
    for match in _WORD.finditer(text[:MAX_CHARACTERS]):
        start = match.start()
        for part in _INSIDE_NAME.split(match.group()):
            if part:
                stemmed.append(StemmedWord(stem(part.casefold()), part.casefold(), start))
            start += len(part)
    return stemmed
