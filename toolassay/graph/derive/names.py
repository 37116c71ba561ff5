"""Names of fields and tools as the words they are made of, and what they identify.

The lists of words are in `words.json`.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

Words = tuple[str, ...]

# The words of a name: "movieId", "movieIDs", "movie_ids", "HTTPServer", "sha256". Not punctuation.
_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# Endings that may be those of an irregular plural: "people", "children", "indices", "criteria".
_PLURALS = ("s", "ren", "ople", "ices", "ia", "ae")


@cache
def word_list(name: str) -> frozenset[str]:
    """A list of `words.json`."""
    return frozenset(_data()[name])


def word_groups(name: str) -> dict[str, list[str]]:
    """The lists of `words.json` under one name."""
    groups: dict[str, list[str]] = _data()[name]
    return groups


@cache
def _data() -> dict[str, Any]:
    text = files("toolassay.graph.derive").joinpath("words.json").read_text("utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


@lru_cache(maxsize=200_000)
def words_of(name: str) -> Words:
    """The words of a name in lower case and singular, abbreviations spelled out.

    >>> words_of("movieIds"), words_of("repo-path"), words_of("with_companies")
    (('movie', 'id'), ('repository', 'path'), ('with', 'company'))
    """
    return tuple(_word(word.lower()) for word in _WORD.findall(name))


@lru_cache(maxsize=50_000)
def _word(word: str) -> str:
    """A word in singular, spelled out: "repo" and "repos" are both a "repository"."""
    known = _data()["abbreviations"]
    single = word if word in known else _singular(word)
    return str(known.get(single, single))


def _singular(word: str) -> str:
    from simplemma import lemmatize

    if len(word) < 3 or not word.endswith(_PLURALS) or word in word_list("singular"):
        return word
    if word[:-1] in IDENTITIES or word[:-1] in ("url", "uri"):
        return word[:-1]
    found = lemmatize(word, lang="en")
    if found != word or not word.endswith("s"):
        return found.lower()
    if word.endswith(("ss", "us", "is")):
        return word
    # Words that no dictionary has, such as "configmaps" and "storageclasses".
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "ches", "shes", "xes")) else word[:-1]


IDENTITIES = word_list("identities")
"""Words for a value that identifies a thing and has no other meaning."""
_ATTRIBUTES = IDENTITIES | word_list("attributes")


class Meaning(NamedTuple):
    """What a name refers to: an `attribute` of a `thing`, e.g. the id of a movie.

    `attribute` is empty if the name is only that of the thing (`owner`, `channel`), `thing` if the name is
    only that of the attribute (`id`), so that its place must say of what.
    """

    thing: Words
    attribute: str


@lru_cache(maxsize=200_000)
def meaning_of(name: str) -> Meaning:
    """What a name refers to.

    >>> [tuple(meaning_of(name)) for name in ("movie_id", "idMovie", "id", "channel", "issueIdOrKey")]
    [(('movie',), 'id'), (('movie',), 'id'), ((), 'id'), (('channel',), ''), (('issue',), 'id')]
    """
    words = words_of(name)
    if "or" in words:
        words = words[: words.index("or")]
    if words and words[-1] in _ATTRIBUTES:
        return Meaning(words[:-1], words[-1])
    if len(words) > 1 and words[0] in IDENTITIES:
        return Meaning(words[1:], words[0])
    return Meaning(words, "")


def attribute_fit(given: str, taken: str) -> float:
    """How well the attribute `given` in a result fits the attribute `taken` as argument, from 0 to 1.

    >>> attribute_fit("id", "id"), attribute_fit("uuid", "id"), attribute_fit("title", "id")
    (1.0, 0.9, 0.0)
    """
    if given == taken:
        return 1.0 if taken else 0.9
    if given in IDENTITIES:
        if taken in IDENTITIES:
            return 0.9
        if not taken:
            return 0.95
        given = "id"
    fits = _data()["fits"].get("id" if taken in IDENTITIES else taken, {})
    return float(fits.get(given, 0.0))


@lru_cache(maxsize=200_000)
def same_thing(one: Words, other: Words) -> float:
    """How likely two things are the same, from 0 to 1.

    >>> same_thing(("movie",), ("movie",)), same_thing(("parent", "task"), ("task",))
    (1.0, 0.95)
    >>> same_thing(("access", "token"), ("device", "token"))
    0.0
    """
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    if not short or long[len(long) - len(short) :] != short:
        return 0.0
    rest = long[: len(long) - len(short)]
    # Words that do not make it another thing: a parent task is a task.
    return 0.95 if word_list("modifiers").issuperset(rest) else 0.75


@lru_cache(maxsize=200_000)
def thing_of(name: str) -> Words:
    """The thing that a schema or a container is of; empty if the name says nothing.

    >>> thing_of("movie-list-object"), thing_of("results"), thing_of("io.k8s.api.core.v1.PodList")
    (('movie',), (), ('pod',))
    """
    words = words_of(name.rpartition(".")[2] or name)
    return tuple(word for word in words if word not in word_list("empty names") and not word.isdigit())


def is_transparent(name: str) -> bool:
    """Whether the fields of an object with this name belong to the object around it: `metadata`."""
    words = words_of(name)
    return len(words) == 1 and words[0] in word_list("transparent")


@lru_cache(maxsize=200_000)
def is_control(name: str) -> bool:
    """Whether an argument says how to answer, or is free text, rather than naming a thing of the service.

    >>> is_control("perPage"), is_control("movie_id"), is_control("sort_order")
    (True, False, True)
    """
    words = [word.lower() for word in _WORD.findall(name)]
    ends = len(words) > 1 and words[-1] in word_list("control endings")
    return ends or "_".join(words) in word_list("controls")
