"""One maker for each kind of value: it draws a text or a number from the world of a call.

Every text is one that a sentence can hold and that the gates find in it: one line, no brackets of templates.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, NamedTuple
from uuid import UUID

from toolassay.offline.own_tools.value_names import head_of, owner_of, words_of
from toolassay.offline.own_tools.value_pools import (
    World,
    languages,
    pool,
    pool_of_query,
    pool_of_thing,
    singular,
)
from toolassay.text_values.vocabulary import word_set

Kind = Literal[
    "flag", "choice", "integer", "number", "money", "date", "moment", "time", "duration", "person", "email",
    "phone", "city", "country", "place", "url", "path", "code", "name", "query", "text", "word", "language",
    "currency",
]  # fmt: skip
"""What a value is, which decides how a sentence introduces it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a value belongs to, from the names around it.

    Attributes:
        words: The words of its own name.
        parents: The words of the objects that it is in, outermost first.
        tool: The words of the tool's id.
        description: Of the value.
    """

    words: tuple[str, ...]
    parents: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    description: str = ""

    @property
    def role(self) -> str:
        """Which person or place it is about: equal for `guest_name` and `guest_email`."""
        own = [word for word in self.words if singular(word) not in _OF_KIND]
        return " ".join((*self.parents, *own))

    @property
    def owner(self) -> tuple[str, ...]:
        """The words of the thing that it is a name, a title or a number of, as far as known."""
        own = tuple(word for word in self.words if singular(word) not in _OF_NAMES)
        return own or self.parents[-2:] or _thing_of(self.description) or self.noun_of_tool

    @property
    def noun_of_tool(self) -> tuple[str, ...]:
        """The words of the thing that the tool is about: "booking" of `get_booking_by_id`."""
        words = [word for word in self.tool if word not in _VERBS] or list(self.tool)
        for end in ("by", "for", "with", "in", "to", "from"):
            if end in words[1:]:
                words = words[: words.index(end, 1)]
        return tuple(words)[-2:]


def _thing_of(description: str) -> tuple[str, ...]:
    owner = owner_of(description)
    if owner:
        return owner
    head = tuple(word for word in head_of(description) if singular(word) not in _OF_NAMES)
    return head if pool_of_thing(head) else ()


_VERBS = word_set(
    "get list read create update delete partial put post patch fetch find search add remove set show make "
    "view retrieve check cancel bulk all new v v1 v2 v3 api"
)
_OF_KIND = word_set(
    "first last full given family middle surname forename name email mail e address phone mobile "
    "telephone number city town country code state region province postal zip postcode street "
    "timezone time zone lat latitude lng lon longitude id username login nick airport iata "
    "currency iso location house line place"
)
_OF_NAMES = word_set(
    "name title label id ids gid sid number no num key code ref reference identifier display full "
    "new old short long first unique query text string value alias the external internal public "
    "iri uri sku"
)

Maker = Callable[[World, Subject], str]
_HEX = "0123456789abcdef"


class TextKind(NamedTuple):
    """A kind of text: what it is for a sentence, and its maker."""

    kind: Kind
    make: Maker


def _from(name: str) -> Maker:
    return lambda world, subject: world.fresh(lambda: world.pick(pool(name)))


def _fresh(make: Callable[[World], str]) -> Maker:
    return lambda world, subject: world.fresh(lambda: make(world))


def _place(field: str) -> Maker:
    return lambda world, subject: str(getattr(world.place(subject.role), field))


def _language(field: str) -> Maker:
    return lambda world, subject: world.fresh(lambda: str(getattr(world.pick(languages()), field)))


def _email(world: World, subject: Subject) -> str:
    person = world.person(subject.role)
    domains = pool("mail domains")
    return f"{person.login}@{domains[len(person.full) % len(domains)]}"


def _phone(world: World, subject: Subject) -> str:
    def number() -> str:
        code = world.pick(("44", "49", "1", "33", "34", "47"))
        return f"+{code}{world.between(201, 799)}555{world.between(1000, 9899)}"

    return world.fresh(number)


def _username(world: World, subject: Subject) -> str:
    person = world.person(subject.role)
    login = person.login
    return login if len(login) % 3 else login.replace(".", "-")


def _street(world: World, subject: Subject) -> str:
    return world.fresh(lambda: f"{world.between(2, 98)} {world.pick(pool('streets'))}")


def _address(world: World, subject: Subject) -> str:
    place = world.place(subject.role)
    return world.fresh(lambda: f"{world.between(2, 98)} {world.pick(pool('streets'))}, {place.city}")


def _url(world: World, subject: Subject) -> str:
    endings = {
        "image": ".jpg", "photo": ".jpg", "picture": ".png", "logo": ".png", "icon": ".png", "avatar": ".png",
        "video": ".mp4", "audio": ".mp3", "pdf": ".pdf", "document": ".pdf", "file": ".pdf", "csv": ".csv",
    }  # fmt: skip
    around = (*subject.words, *head_of(subject.description))
    ending = next((endings[word] for word in map(singular, around) if word in endings), "")
    return world.fresh(
        lambda: f"https://www.{world.pick(pool('domains'))}/{world.pick(pool('slugs'))}{ending}"
    )


_EXTENSIONS: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = tuple(
    (word_set(words), tuple(endings.split()))
    for words, endings in (
        ("excel xlsx xls spreadsheet spreadsheets workbook worksheet sheet", "xlsx"),
        ("powerpoint ppt pptx presentation presentations slide slides", "pptx"),
        ("pdf pdfs", "pdf"),
        ("word docx doc paragraph heading", "docx"),
        ("csv", "csv"),
        ("json", "json"),
        ("yaml yml", "yaml"),
        ("markdown md note notes", "md"),
        ("html htm webpage", "html"),
        ("svg", "svg"),
        ("image images picture photo photos png jpg jpeg thumbnail screenshot avatar logo icon", "png jpg"),
        ("audio sound mp3 wav music recording podcast", "mp3 wav"),
        ("video videos mp4 movie clip", "mp4"),
        ("log logs", "log"),
        ("zip archive", "zip"),
        ("text txt", "txt"),
        ("code script python source repository repo git", "py md txt"),
        ("document documents", "docx pdf"),
    )
)


def _extensions(subject: Subject) -> Sequence[str]:
    """The endings of files by the words around: those of the name, its description, the tool."""
    around = (subject.words, words_of(subject.description[:100]), subject.tool)
    for words in around:
        for kinds, endings in _EXTENSIONS:
            if not kinds.isdisjoint(words):
                return endings
    return pool("extensions")


def _folder(world: World, subject: Subject) -> str:
    is_absolute = "absolute" in (*subject.words, *words_of(subject.description[:100]))
    return f"{'/srv/shared/' if is_absolute else ''}{world.pick(pool('folders'))}"


def _directory(world: World, subject: Subject) -> str:
    return world.fresh(lambda: _folder(world, subject))


def _path(world: World, subject: Subject) -> str:
    endings = _extensions(subject)
    return world.fresh(
        lambda: f"{_folder(world, subject)}/{world.pick(pool('file stems'))}.{world.pick(endings)}"
    )


def _file(world: World, subject: Subject) -> str:
    endings = _extensions(subject)
    return world.fresh(lambda: f"{world.pick(pool('file stems'))}.{world.pick(endings)}")


def _coordinates(world: World, subject: Subject) -> str:
    place = world.place(subject.role)
    return f"{place.latitude},{place.longitude}"


def _digits(world: World, count: int, alphabet: str = string.digits) -> str:
    return "".join(world.pick(alphabet) for _ in range(count))


def prefix_of(words: Sequence[str]) -> str:
    """Two letters for the numbers of a thing: "BK" for a booking.

    >>> prefix_of(["booking"]), prefix_of(["old", "order"]), prefix_of([])
    ('BK', 'OR', 'ID')
    """
    noun = "".join(one for one in (words[-1] if words else "") if "a" <= one <= "z")
    noun = singular(noun)
    if len(noun) < 2:
        return "ID"
    consonants = [one for one in noun[1:] if one not in "aeiou"]
    return f"{noun[0]}{consonants[0] if consonants else noun[1]}".upper()


def _code(world: World, subject: Subject) -> str:
    prefix = prefix_of(subject.owner)
    return world.fresh(lambda: f"{prefix}-{world.between(1000, 9899)}")


def _uuid(world: World, subject: Subject) -> str:
    return str(UUID(int=world.rng.getrandbits(128), version=4))


def _temperature_unit(world: World, subject: Subject) -> str:
    return str(world.pick(("Celsius", "Fahrenheit", "Kelvin")))


def _iban(world: World, subject: Subject) -> str:
    """A German one whose check digits are right (ISO 13616)."""
    account = f"{world.rng.randrange(10**8, 9 * 10**8)}{world.rng.randrange(10**8, 10**9)}0"[:18]
    check = 98 - int(f"{account}131400") % 97
    return f"DE{check:02d}{account}"


def _name(world: World, subject: Subject) -> str:
    name = pool_of_thing(subject.owner)
    if name == "people":
        return world.person(subject.role).full
    if name == "places":
        return world.place(subject.role).city
    return _from(name or "names")(world, subject)


def _title(world: World, subject: Subject) -> str:
    name = pool_of_thing(subject.owner) or pool_of_thing(subject.tool)
    if name in ("works", "projects", "events", "products", "dishes"):
        return _from(name)(world, subject)
    return _from("subjects")(world, subject)


def _query(world: World, subject: Subject) -> str:
    around = (*subject.tool, *subject.parents, *subject.words)
    name = pool_of_query(around)
    if name == "queries":
        name = pool_of_query([word for word in words_of(subject.description[:80]) if word != "search"])
    if name == "people":
        return world.person(subject.role).full
    if name == "places":
        return world.place(subject.role).city
    return _from(name)(world, subject)


def _room(world: World, subject: Subject) -> str:
    if "seat" in subject.words:
        return world.fresh(lambda: f"{world.between(3, 32)}{world.pick('ABCDEF')}")
    if "gate" in subject.words:
        return world.fresh(lambda: f"{world.pick('ABCD')}{world.between(3, 48)}")
    return world.fresh(lambda: str(100 * world.between(1, 6) + world.between(1, 28)))


def _expression(world: World, subject: Subject) -> str:
    return world.fresh(
        lambda: f"{world.between(12, 98)} {world.pick('*+-')} {world.between(3, 11)} + {world.between(2, 60)}"
    )


def _amount(world: World, subject: Subject) -> str:
    return world.fresh(lambda: f"{5 * world.between(4, 90)}.{world.pick(('00', '50', '90'))}")


def _small(world: World, subject: Subject) -> str:
    return world.fresh(lambda: str(world.between(2, 24)))


def _sha(world: World, subject: Subject) -> str:
    return world.fresh(lambda: _digits(world, 40, _HEX))


def _ip(world: World, subject: Subject) -> str:
    # The addresses that RFC 5737 keeps for documentation.
    return world.fresh(
        lambda: f"{world.pick(('192.0.2', '198.51.100', '203.0.113'))}.{world.between(2, 250)}"
    )


def _ipv6(world: World, subject: Subject) -> str:
    return world.fresh(lambda: f"2001:db8::{_digits(world, 3, '123456789abcdef')}:{world.between(1, 99)}")


def _first(world: World, subject: Subject) -> str:
    return world.person(subject.role).first


def _last(world: World, subject: Subject) -> str:
    return world.person(subject.role).last


def _full(world: World, subject: Subject) -> str:
    return world.person(subject.role).full


TEXTS: Mapping[str, TextKind] = {
    "email": TextKind("email", _email),
    "phone": TextKind("phone", _phone),
    "first name": TextKind("person", _first),
    "middle name": TextKind("person", lambda world, subject: world.pick(pool("months")[3:6])),
    "last name": TextKind("person", _last),
    "person": TextKind("person", _full),
    "username": TextKind("name", _username),
    "uuid": TextKind("code", _uuid),
    "iban": TextKind("code", _iban),
    "temperature unit": TextKind("word", _temperature_unit),
    "url": TextKind("url", _url),
    "ip": TextKind("code", _ip),
    "ipv6": TextKind("code", _ipv6),
    "mac": TextKind("code", _fresh(lambda world: ":".join(_digits(world, 2, _HEX) for _ in range(6)))),
    "domain": TextKind("name", _from("domains")),
    "country": TextKind("country", _place("country")),
    "country code": TextKind("country", _place("country_code")),
    "country code 3": TextKind("country", _place("country_code3")),
    "airport": TextKind("code", _place("airport")),
    "airline": TextKind("code", _from("airlines")),
    "flight": TextKind(
        "code", _fresh(lambda world: f"{world.pick(pool('airlines'))}{world.between(101, 998)}")
    ),
    "city": TextKind("city", _place("city")),
    "region": TextKind("place", _place("region")),
    "postal code": TextKind("code", _place("postal_code")),
    "street": TextKind("place", _street),
    "address": TextKind("place", _address),
    "timezone": TextKind("name", _place("timezone")),
    "currency": TextKind("currency", _from("currencies")),
    "language": TextKind("language", _language("name")),
    "language code": TextKind("language", _language("code")),
    "locale": TextKind("language", _language("locale")),
    "latitude": TextKind("number", _place("latitude")),
    "longitude": TextKind("number", _place("longitude")),
    "coordinates": TextKind("place", _coordinates),
    "month name": TextKind("date", _from("months")),
    "weekday": TextKind("date", _from("weekdays")),
    "year text": TextKind("date", _fresh(lambda world: str(world.between(2015, 2026)))),
    "duration": TextKind(
        "duration", _fresh(lambda world: f"{world.between(2, 9)} {world.pick(('hours', 'days', 'weeks'))}")
    ),
    "sha": TextKind("code", _sha),
    "branch": TextKind("name", _from("branches")),
    "repository": TextKind("name", _from("repositories")),
    "version tag": TextKind("code", _from("versions")),
    "package": TextKind("name", _from("packages")),
    "directory": TextKind("path", _directory),
    "repository path": TextKind(
        "path", _fresh(lambda world: f"projects/{world.pick(pool('repositories'))}")
    ),
    "cidr": TextKind(
        "code", _fresh(lambda world: f"10.{world.between(1, 240)}.{world.between(0, 240)}.0/24")
    ),
    "image path": TextKind("path", _path),
    "audio path": TextKind("path", _path),
    "video path": TextKind("path", _path),
    "document path": TextKind("path", _path),
    "table path": TextKind("path", _path),
    "path": TextKind("path", _path),
    "file name": TextKind("path", _file),
    "glob": TextKind("code", _fresh(lambda world: f"*.{world.pick(pool('extensions'))}")),
    "commit message": TextKind("text", _from("commit messages")),
    "query": TextKind("query", _query),
    "question": TextKind("text", _from("questions")),
    "prompt": TextKind("text", _from("prompts")),
    "subject": TextKind("text", _from("subjects")),
    "title": TextKind("name", _title),
    "message": TextKind("text", _from("messages")),
    "note": TextKind("text", _from("notes")),
    "comment": TextKind("text", _from("comments")),
    "reason": TextKind("text", _from("reasons")),
    "description": TextKind("text", _from("descriptions")),
    "passage": TextKind("text", _from("passages")),
    "status": TextKind("word", _from("statuses")),
    "priority": TextKind("word", _from("priorities")),
    "color": TextKind("word", _from("colors")),
    "hex color": TextKind("code", _fresh(lambda world: f"#{_digits(world, 6, '0123456789abcdef')}")),
    "color scheme": TextKind("word", lambda world, subject: world.pick(("dark", "light"))),
    "unit": TextKind("word", _from("units")),
    "size word": TextKind("word", _from("sizes")),
    "genre": TextKind("word", _from("genres")),
    "category": TextKind("word", _from("categories")),
    "tag": TextKind("word", _from("tags")),
    "role": TextKind("word", _from("roles")),
    "department": TextKind("name", _from("departments")),
    "job title": TextKind("word", _from("jobs")),
    "channel": TextKind("name", _from("channels")),
    "team": TextKind("name", _from("teams")),
    "company": TextKind("name", _from("companies")),
    "product": TextKind("name", _from("products")),
    "dish": TextKind("name", _from("dishes")),
    "venue": TextKind("place", _from("venues")),
    "event": TextKind("name", _from("events")),
    "project": TextKind("name", _from("projects")),
    "identifier": TextKind("name", _from("identifiers")),
    "ticker": TextKind("code", _from("tickers")),
    "coin": TextKind("code", _from("coins")),
    "room": TextKind("code", _room),
    "plate": TextKind(
        "code",
        _fresh(
            lambda world: f"{_digits(world, 2, 'BCDFGH')}{world.between(10, 99)} {_digits(world, 3, 'BCDF')}"

        ),
    ),
    "isbn": TextKind("code", _fresh(lambda world: _isbn(_digits(world, 9)))),
    "animal": TextKind("word", _from("animals")),
    "breed": TextKind("word", _from("breeds")),
    "allergen": TextKind("word", _from("allergens")),
    "thing type": TextKind("word", _from("thing types")),
    "type word": TextKind("word", _from("types")),
    "expression": TextKind("text", _expression),
    "command": TextKind("text", _from("commands")),
    "key press": TextKind("word", _from("keys")),
    "media type": TextKind("word", _from("media types")),
    "amount text": TextKind("money", _amount),
    "count text": TextKind("integer", _small),
    "ratio text": TextKind("word", lambda world, subject: world.pick(("16:9", "4:3", "1:1", "3:2"))),
    "code": TextKind("code", _code),
    "name": TextKind("name", _name),
}  # fmt: skip


def _isbn(digits: str) -> str:
    """An ISBN-13 of nine digits, with the check digit.

    >>> _isbn("030640615")
    '9780306406157'
    """
    body = f"978{digits}"
    total = sum(int(one) * (3 if place % 2 else 1) for place, one in enumerate(body))
    return f"{body}{-total % 10}"


TEMPORAL: Mapping[str, tuple[Kind, str]] = {
    "date": ("date", "%Y-%m-%d"),
    "birth date": ("date", "%Y-%m-%d"),
    "moment": ("moment", "%Y-%m-%dT%H:%M:%SZ"),
    "date time": ("moment", "%Y-%m-%dT%H:%M:%SZ"),
    "time": ("time", "%H:%M"),
    "full time": ("time", "%H:%M:%SZ"),
    "year month": ("date", "%Y-%m"),
}
"""Kinds of values that are drawn in an order, and how they are spelled, for `strftime`."""


def temporal(key: str) -> tuple[Kind, str] | None:
    """The kind and the spelling of a temporal key, `date %d/%m/%Y` included; None for other keys.

    >>> temporal("date %d/%m/%Y"), temporal("moment"), temporal("city")
    (('date', '%d/%m/%Y'), ('moment', '%Y-%m-%dT%H:%M:%SZ'), None)
    """
    kind, _, spelling = key.partition(" %")
    if spelling and kind in TEMPORAL:
        return TEMPORAL[kind][0], f"%{spelling}"
    return TEMPORAL.get(key)


# How dates and moments of examples may be spelled, in the order of trying.
_SPELLINGS = (
    ("date", "%Y-%m-%d"), ("moment", "%Y-%m-%dT%H:%M:%SZ"), ("moment", "%Y-%m-%dT%H:%M:%S.%fZ"),
    ("moment", "%Y-%m-%dT%H:%M:%S"), ("moment", "%Y-%m-%d %H:%M:%S"), ("moment", "%Y-%m-%dT%H:%M"),
    ("moment", "%Y-%m-%d %H:%M"), ("moment", "%Y-%m-%dT%H:%M:%S%z"), ("date", "%d/%m/%Y"),
    ("date", "%m/%d/%Y"),
    ("date", "%d.%m.%Y"), ("date", "%Y/%m/%d"), ("date", "%d-%m-%Y"), ("date", "%Y-%m"), ("time", "%H:%M"),
    ("time", "%H:%M:%S"), ("date", "%B %d, %Y"), ("date", "%d %B %Y"),
)  # fmt: skip


def spelling_of(example: str) -> str:
    """The temporal key of an example, `date %d/%m/%Y`; empty for other texts.

    >>> spelling_of("31/12/2025"), spelling_of("Oslo")
    ('date %d/%m/%Y', '')
    """
    if not 4 < len(example) < 36 or not any(one.isdecimal() for one in example):
        return ""
    for kind, spelling in _SPELLINGS:
        try:
            datetime.strptime(example, spelling)
        except ValueError:
            continue
        # What strptime reads as an offset is written as Z: "+0000" has no colon.
        plain = spelling.replace("%z", "Z").replace("%f", "000")
        return f"{kind} {plain}"
    return ""


def spelled(day: date, clock: time, spelling: str) -> str:
    """A day with a time, spelled for `strftime`."""
    return datetime.combine(day, clock).strftime(spelling)


def birth_day(world: World) -> date:
    """The birth date of an adult."""
    return date(1955, 1, 15) + timedelta(days=world.below(17_500))


class NumberKind(NamedTuple):
    """A kind of number: lowest and highest value, step, and what it is for a sentence."""

    low: float
    high: float
    step: float = 1
    kind: Kind = "integer"


NUMBERS: Mapping[str, NumberKind] = {
    "year": NumberKind(2015, 2026),
    "month": NumberKind(1, 12),
    "month count": NumberKind(2, 12),
    "day of month": NumberKind(1, 28),
    "nights": NumberKind(2, 7),
    "days": NumberKind(2, 14),
    "weeks": NumberKind(2, 8),
    "hours": NumberKind(2, 8),
    "minutes": NumberKind(10, 90, 5),
    "seconds": NumberKind(10, 60, 5),
    "milliseconds": NumberKind(500, 5000, 500),
    "hour": NumberKind(8, 20),
    "people": NumberKind(2, 6),
    "children": NumberKind(1, 3),
    "rooms": NumberKind(1, 4),
    "episode": NumberKind(1, 9),
    "position": NumberKind(2, 24),
    "limit": NumberKind(5, 25, 5),
    "age": NumberKind(19, 72),
    "rating": NumberKind(1, 5),
    "score": NumberKind(40, 98),
    "priority": NumberKind(1, 5),
    "percent": NumberKind(5, 60, 5),
    "ratio": NumberKind(0.15, 0.9, 0.05, "number"),
    "temperature": NumberKind(4, 31),
    "pixels": NumberKind(320, 1600, 80),
    "weight": NumberKind(1, 30),
    "distance": NumberKind(2, 50),
    "port": NumberKind(8000, 8999),
    "zip": NumberKind(10115, 98101),
    "phone number": NumberKind(2025550110, 2025559890),
    "money": NumberKind(20, 480, 5, "money"),
    "coordinate": NumberKind(10, 600, 5),
    "quantity": NumberKind(2, 6),
    "code": NumberKind(1001, 9899, 1, "code"),
    "": NumberKind(2, 40),
}
"""Whole numbers by kind, as `number_key` names it."""

FRACTIONS: Mapping[str, NumberKind] = {
    "money": NumberKind(20, 480, 0.5, "money"),
    "percent": NumberKind(2.5, 40, 2.5, "number"),
    "weight": NumberKind(0.5, 30, 0.5, "number"),
    "distance": NumberKind(1.5, 40, 0.5, "number"),
    "temperature": NumberKind(4.5, 31, 0.5, "number"),
    "rating": NumberKind(1, 5, 0.5, "number"),
    "hours": NumberKind(1.5, 8, 0.5, "number"),
    "quantity": NumberKind(2, 6, 1, "number"),
    "": NumberKind(2.5, 60, 0.5, "number"),
}
"""Numbers that need not be whole, where they differ from `NUMBERS`."""
