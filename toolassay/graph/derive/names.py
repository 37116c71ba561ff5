"""Names of fields and tools as the words they are made of, and what they identify.

The lists of words are in `words.json`.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from toolassay.identifiers import singular, words

Words = tuple[str, ...]


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
    known = _data()["abbreviations"]
    singles = (word if word in known else singular(word) for word in words(name))
    return tuple(known.get(word, word) for word in singles)


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
    found = words_of(name)
    if "or" in found:
        found = found[: found.index("or")]
    if found and found[-1] in _ATTRIBUTES:
        return Meaning(found[:-1], found[-1])
    if len(found) > 1 and found[0] in IDENTITIES:
        return Meaning(found[1:], found[0])
    return Meaning(found, "")


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
    found = words_of(name.rpartition(".")[2] or name)
    return tuple(word for word in found if word not in word_list("empty names") and not word.isdigit())


def is_transparent(name: str) -> bool:
    """Whether the fields of an object with this name belong to the object around it: `metadata`."""
    found = words_of(name)
    return len(found) == 1 and found[0] in word_list("transparent")


@lru_cache(maxsize=200_000)
def is_control(name: str) -> bool:
    """Whether an argument says how to answer, or is free text, rather than naming a thing of the service.

    >>> is_control("perPage"), is_control("movie_id"), is_control("sort_order")
    (True, False, True)
    """
    found = words(name)
    ends = len(found) > 1 and found[-1] in word_list("control endings")
    return ends or "_".join(found) in word_list("controls")
