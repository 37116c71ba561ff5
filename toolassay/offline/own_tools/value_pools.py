"""Plain values of everyday things, and the world of one call: its people, places and days.

The pools are in `data/pools.json`. A world remembers what it gave, so that a person's name and address agree,
a country fits its city, and no value occurs twice.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")

_FRESH_DRAWS = 12
_FIRST_DAY = date(2026, 1, 12)
_DAYS = 290  # the last first day is 29 October, so that what follows is in the same year


@cache
def _pools() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        files(__package__).joinpath("data", "pools.json").read_text(encoding="utf-8")
    )
    return found


def pool(name: str) -> Sequence[str]:
    """The texts of a pool: "queries", "products", …"""
    return tuple(_pools()[name])


class Person(NamedTuple):
    """A person of the pools."""

    first: str
    last: str

    @property
    def full(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"

    @property
    def login(self) -> str:
        """A user name: "amara.okafor"."""
        return _plain(f"{self.first}.{self.last}")


class Place(NamedTuple):
    """A city with what depends on it; codes of the country are ISO 3166-1, coordinates decimal degrees."""

    city: str
    country: str
    country_code: str
    country_code3: str
    airport: str
    latitude: str
    longitude: str
    timezone: str
    currency: str
    postal_code: str
    region: str


class Language(NamedTuple):
    """A language: its name, ISO 639-1 code, a locale, and its ISO 639-2 code."""

    name: str
    code: str
    locale: str
    code3: str


@cache
def people() -> tuple[Person, ...]:
    """The people of the pools."""
    return tuple(Person(*row) for row in _pools()["people"])


@cache
def places() -> tuple[Place, ...]:
    """The cities of the pools."""
    return tuple(Place(*row) for row in _pools()["places"])


@cache
def languages() -> tuple[Language, ...]:
    """The languages of the pools."""
    return tuple(Language(*row) for row in _pools()["languages"])


@cache
def _things() -> dict[str, str]:
    return {noun: name for name, nouns in _pools()["things"].items() for noun in nouns}


@cache
def _query_words() -> dict[str, str]:
    return {noun: name for name, nouns in _pools()["query words"].items() for noun in nouns}


def pool_of_thing(words: Sequence[str]) -> str | None:
    """The pool with names for a thing, by the last word that names one; None if no word does.

    >>> pool_of_thing(["hotel", "guests"]), pool_of_thing(["flux"])
    ('people', None)
    """
    known = _things()
    return next((known[one] for word in reversed(words) if (one := singular(word)) in known), None)


def pool_of_query(words: Sequence[str]) -> str:
    """The pool with search terms for a tool, by the last word of its id that says what it searches.

    >>> pool_of_query(["search", "movies"]), pool_of_query(["look", "up"])
    ('works', 'queries')
    """
    known = _query_words()
    return next((known[word] for word in reversed(words) if word in known), "queries")


_NO_PLURALS = frozenset({"series", "news", "status", "address", "canvas", "bus", "gps", "sms", "dns"})


def singular(word: str) -> str:
    """A noun in the singular, as far as its ending tells.

    >>> [singular(word) for word in ("guests", "entries", "addresses", "status", "class")]
    ['guest', 'entry', 'address', 'status', 'class']
    """
    small = word.casefold()
    if small in _NO_PLURALS or small.endswith(("ss", "us", "is")) or len(small) < 4:
        return small
    if small.endswith("ies") and len(small) > 4:
        return small[:-3] + "y"
    if small.endswith(("sses", "shes", "ches", "xes")):
        return small[:-2]
    return small.removesuffix("s")


def overlaps(one: str, other: str) -> bool:
    """Whether a text contains the other one; of numbers only whole ones count.

    >>> overlaps("Oslo", "Oslo Airport"), overlaps("2", "12"), overlaps("2", "2 May")
    (True, False, True)
    """
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    if short not in long:
        return False
    if not _NUMBER.fullmatch(short):
        return True
    return re.search(rf"(?<![\w.-]){re.escape(short)}(?![\w-]|\.\d)", long) is not None


# "12" and "-4.5", not "12th".
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _plain(text: str) -> str:
    """A text in ASCII, lower case and without blanks, as in addresses."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(one for one in decomposed if one.isascii() and (one.isalnum() or one in ".-_"))


class World:
    """What one call is about.

    Args:
        rng: The random numbers of this request alone.
        taken: Texts of values that the request states already.

    Attributes:
        earlier: The texts that earlier calls have taken.
        texts: The texts that are taken, those of this call included.
        day: The first day of the call; later ones follow within weeks.
    """

    def __init__(self, rng: Random, taken: Sequence[str] = ()) -> None:
        self.rng = rng
        self.earlier = tuple(taken)
        self.texts = list(taken)
        self.day = _FIRST_DAY + timedelta(days=self.below(_DAYS))
        self._people: dict[str, Person] = {}
        self._places: dict[str, Place] = {}

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        return int(self.rng.random() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def is_taken(self, text: str) -> bool:
        """Whether a text repeats or contains a taken one, or is contained in one."""
        return any(overlaps(text, one) for one in self.texts)

    def clashes(self, text: str) -> bool:
        """Whether a text overlaps one of an earlier call, or is one of this call.

        Of one person, `Nora` and `nora.hughes@example.org` may be in one call.
        """
        return text in self.texts or any(overlaps(text, one) for one in self.earlier)

    def fresh(self, make: Callable[[], str]) -> str:
        """A text that is not taken, unless a few draws find none."""
        text = make()
        for _ in range(_FRESH_DRAWS):
            if not self.is_taken(text):
                break
            text = make()
        return text

    def person(self, role: str) -> Person:
        """The person with a role in this call; others have other roles."""
        if role not in self._people:
            given = {one.first for one in self._people.values()} | {one.last for one in self._people.values()}
            free = [one for one in people() if one.first not in given and one.last not in given]
            untaken = [one for one in free if not self.is_taken(one.first) and not self.is_taken(one.last)]
            self._people[role] = self.pick(untaken or free or people())
        return self._people[role]

    def place(self, role: str) -> Place:
        """The city with a role in this call; others are elsewhere, if possible in other countries."""
        if role not in self._places:
            given = self._places.values()
            free = [one for one in places() if one.country not in {other.country for other in given}]
            untaken = [
                one for one in free if not any(self.is_taken(text) for text in (one.city, one.country))
            ]
            self._places[role] = self.pick(untaken or free or places())
        return self._places[role]


def common_values(key: str) -> frozenset[str]:
    """The values of a kind that everybody knows: countries and currencies; none of other kinds."""
    fields = {
        "country": "country",
        "country code": "country_code",
        "country code 3": "country_code3",
        "timezone": "timezone",
    }
    if key in fields:
        return frozenset(str(getattr(place, fields[key])) for place in places())
    return frozenset(pool("currencies")) if key == "currency" else frozenset()
