"""Where a value comes from: the evidence of its schema, its description and its name, the strongest first.

The order: `enum`; `examples`; `format`; choices, examples and the form that the description names; the name;
a text of the `pattern`; the `default`; the type. What a source draws counts only if the schema allows it, so
that a name never overrides a type.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from toolassay.argument_schemas import ArgumentValidator
from toolassay.english.vocabulary import items
from toolassay.offline.own_tools.described_values import Described, described
from toolassay.offline.own_tools.pattern_texts import PatternError, is_usable, matching_text
from toolassay.offline.own_tools.value_makers import (
    FRACTIONS,
    NUMBERS,
    TEXTS,
    Kind,
    NumberKind,
    Subject,
    birth_day,
    spelled,
    spelling_of,
    temporal,
)
from toolassay.offline.own_tools.value_names import (
    PAGING,
    SECRET,
    UNLISTED,
    UNWRITABLE,
    described_key,
    head_of,
    number_key,
    text_key,
    unstatable,
    unstatable_text,
)
from toolassay.offline.own_tools.value_pools import World, common_values, pool
from toolassay.offline.own_tools.value_texts import (
    LONGEST,
    PROSE,
    form_class,
    is_code,
    is_example,
    is_speakable,
    value_text,
    varied,
)
from toolassay.text_values.vocabulary import word_set

_MOST_DRAWS = 8  # of one source

_FORMATS = {
    "date": "date", "date-time": "moment", "datetime": "moment", "time": "full time", "email": "email",
    "idn-email": "email", "uri": "url", "url": "url", "iri": "url", "uri-reference": "url", "uuid": "uuid",
    "guid": "uuid", "ipv4": "ip", "ip": "ip", "ipv6": "ipv6", "hostname": "domain", "idn-hostname": "domain",
    "phone": "phone", "phone-number": "phone", "timezone": "timezone", "duration": "iso duration",
    "currency": "currency", "country": "country", "country-code": "country code", "color": "hex color",
    "date-time-rfc3339": "moment", "decimal": "amount text", "mac": "mac", "slug": "identifier",
}  # fmt: skip
_UNSTATABLE_FORMATS = {"password": SECRET, "byte": UNWRITABLE, "binary": UNWRITABLE, "jwt": SECRET}
_UNSTATABLE_FORMATS |= {
    "regex": UNWRITABLE,
    "json": UNWRITABLE,
    "json-pointer": UNWRITABLE,
    "html": UNWRITABLE,
}
_UNSTATABLE_FORMATS |= {
    "unix-time": UNWRITABLE,
    "base64": UNWRITABLE,
    "xml": UNWRITABLE,
    "digest": UNWRITABLE,
}

# What a list of choices has for "no choice"; taken only if there is nothing else.
_EMPTY_CHOICES = frozenset(
    {"none", "null", "unknown", "other", "default", "unspecified", "undefined", "n/a", "any", "all"}
)


class Unstatable(NamedTuple):
    """Why no sentence can state a value."""

    why: str

    @property
    def reason(self) -> str:
        """The reason in words, to follow the name of the value."""
        return {
            SECRET: "is a secret",
            PAGING: "is a mark in a list that an earlier result gives",
            UNLISTED: "has choices that the schema does not list",
            UNWRITABLE: "is nothing that a person writes in a request",
        }[self.why]


@dataclass(frozen=True, slots=True)
class Keywords:
    """What the schema of a scalar says, its alternatives and parts merged.

    Attributes:
        type: "string", "integer", "number" or "boolean".
        enum: The only values; None if it has no list.
        patterns: Regular expressions, all of which it matches.
        merged: All keywords of which one value is enough: bounds, format, description, default, examples.
    """

    type: str
    enum: tuple[Any, ...] | None = None
    patterns: tuple[str, ...] = ()
    merged: Mapping[str, Any] | None = None

    def get(self, name: str) -> Any:
        """The value of a keyword, None without it."""
        return (self.merged or {}).get(name)


class Moment(NamedTuple):
    """A day and a time that are chosen together with those of related values."""

    day: date
    clock: time


class Drawn(NamedTuple):
    """A value with its kind and what decided it."""

    value: Any
    kind: Kind
    evidence: str


class Source(NamedTuple):
    """Draws values by one piece of evidence."""

    evidence: str
    kind: Kind
    draw: Callable[[World, Moment], Any]


class Slot:
    """A place for one scalar in the arguments of a tool.

    Args:
        names: The names on the way to it, without the numbers of items.
        keywords: What its schema says.
        subject: What it belongs to.
        about: Words of the tool's description.
        is_in_path: Whether it is a part of the path of a URL, where a thing has its number.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        keywords: Keywords,
        subject: Subject,
        about: tuple[str, ...] = (),
        *,
        is_in_path: bool = False,
    ) -> None:
        self.names = names
        self.keywords = keywords
        self.subject = subject
        self.about = about
        self.is_in_path = is_in_path
        self.described: Described = described(subject.description)

    @property
    def description(self) -> str:
        """The description of its schema, or empty."""
        return self.subject.description

    @cached_property
    def unstatable(self) -> Unstatable | None:
        """Why no sentence can state its values; None if one can."""
        if self.keywords.enum is not None or self.keywords.type == "boolean":
            return None
        form = self.keywords.get("format")
        why = _UNSTATABLE_FORMATS.get(form, "") if isinstance(form, str) else ""
        if self.keywords.type == "string":
            why = why or unstatable(self.subject.words)
            if why == UNLISTED and (self.examples or self.described.choices):
                why = ""
            if not why and not self._is_plain:
                why = unstatable_text(self.description)
            why = why or (UNWRITABLE if self.described.form == "unix time" else "")
            least = self.keywords.get("minLength")
            is_long = isinstance(least, int) and least > LONGEST
            if is_long or not all(map(is_usable, self.keywords.patterns)):
                why = UNWRITABLE
        elif number_key(self.subject.words) == "unix time" or self.described.form == "unix time":
            why = why or (UNWRITABLE if self.keywords.get("maximum") is None else "")
        return Unstatable(why) if why else None

    @property
    def _is_plain(self) -> bool:
        """Whether the name says what it is, whatever its description mentions."""
        return text_key(self.subject.words) in (
            "url", "path", "file name", "directory", "email", "image path", "document path", "table path",
            "city", "person", "title", "query", "glob",
        )  # fmt: skip

    @cached_property
    def is_mentionable(self) -> bool:
        """Whether a person would plausibly give this value where it is optional."""
        if self.unstatable is not None or self.keywords.type == "boolean":
            return False
        if self.is_closed:
            return True
        evidence = {source.evidence for source in self.sources} - {"type", "default", "pattern", "bounds"}
        return bool(evidence)

    @cached_property
    def is_closed(self) -> bool:
        """Whether its values are listed."""
        return self.keywords.enum is not None or bool(self.described.choices)

    @cached_property
    def key(self) -> str:
        """The kind that its name and its description give it."""
        if self.keywords.type != "string":
            return number_key(self.subject.words) or number_key(head_of(self.description))
        key = text_key(self.subject.words) or described_key(self.description) or self._key_of_context()
        said = self.description[:100]
        if key in ("person", "username", "name", "") and _SAYS_EMAIL.search(said):
            return "email"
        if key == "path" and not _OF_FOLDERS.isdisjoint(self.subject.tool):
            return "directory"
        # "/charges/{charge}" and "file: the ID of the file" want a number, not a name.
        if (key in _THINGS and _SAYS_ID.search(said)) or (self.is_in_path and key not in _OF_PATHS):
            return "code"
        return key

    def _key_of_context(self) -> str:
        """The kind of `from`, `to` and the like, by what the tool is about."""
        if self.subject.words[-1:] and self.subject.words[-1] in _DIRECTIONS:
            around = {*self.subject.tool, *self.about, *self.subject.parents}
            return next((key for words, key in _CONTEXTS if not words.isdisjoint(around)), "")
        return ""

    @cached_property
    def temporal(self) -> tuple[Kind, str] | None:
        """The kind and the spelling of a date or a time; None for other values."""
        return temporal(self.temporal_key) if self.temporal_key else None

    @cached_property
    def temporal_key(self) -> str:
        """The key of a date or a time; empty for other values."""
        if self.keywords.type != "string" or self.keywords.enum is not None:
            return ""
        form = self.keywords.get("format")
        known = _FORMATS.get(form, "") if isinstance(form, str) else ""
        shown = next(filter(None, map(spelling_of, self._example_texts)), "")
        spoken = str(self.keywords.get("x-form") or "")
        is_stated = known or spoken or shown or self.described.form
        if not is_stated and (self.described.choices or self._example_texts):
            return ""  # `time_range`: "`long_term` or `short_term`"
        for key in (known, spoken, shown, self.described.form, self.key):
            if key and key != "year text":
                is_birth = self.key == "birth date" and temporal(key) is not None
                if is_birth and not key.startswith("birth"):
                    return f"birth {key}"
                return key if temporal(key) else ""
        return ""

    @cached_property
    def examples(self) -> tuple[Any, ...]:
        """The examples of the schema that are values, then those of the description."""
        given = self.keywords.get("examples")
        found = [*(given if isinstance(given, list | tuple) else ()), self.keywords.get("example")]
        own = [one for one in found if one is not None and is_example(one)]
        # "for instance the number of attempts" shows no value.
        key = text_key(self.subject.words)
        said = [one for one in self.described.examples if not (key and PROSE.fullmatch(one))]
        if key in _SIGNS:
            said = [one for one in said if _SIGNS[key] in one]
        return tuple(own or [one for one in said if is_example(one)])

    @cached_property
    def _example_texts(self) -> list[str]:
        return [one for one in self.examples if isinstance(one, str)]

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """What draws values, the strongest evidence first."""
        if self.keywords.enum is not None:
            return (self._chosen("enum", self.keywords.enum),)
        if self.keywords.type == "boolean":
            return (Source("type", "flag", lambda world, moment: world.chance(0.5)),)
        makers = self._texts() if self.keywords.type == "string" else self._numbers()
        return tuple(makers)

    def draw(self, world: World, moment: Moment) -> Drawn | None:
        """A value that the schema allows and a sentence can state; None if none was found.

        Args:
            world: Of the call.
            moment: The day and time if this is a date or a time.
        """
        fallback: Drawn | None = None
        for source in self.sources:
            if fallback is not None and source.evidence in _WEAK:
                break
            for _ in range(_MOST_DRAWS):
                value = source.draw(world, moment)
                if value is None or not self.allows(value) or not is_speakable(value_text(value)):
                    continue
                drawn = Drawn(value, source.kind, source.evidence)
                clashes = world.clashes if source.kind in _COHERENT else world.is_taken
                if not clashes(value_text(value)):
                    return drawn
                fallback = fallback or drawn
        return fallback

    def allows(self, value: Any) -> bool:
        """Whether the keywords of the schema allow a value."""
        keywords = self.keywords
        if keywords.enum is not None:
            return any(value == one and type(value) is type(one) for one in keywords.enum)
        if keywords.type == "boolean":
            return isinstance(value, bool)
        if keywords.type == "string":
            return isinstance(value, str) and self._allows_text(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if keywords.type == "integer" and value != int(value):
            return False
        low, high = self._limits
        step = keywords.get("multipleOf")
        is_step = not isinstance(step, int | float) or step <= 0 or _fraction(value) % _fraction(step) == 0
        return (low is None or value >= low) and (high is None or value <= high) and is_step

    def _allows_text(self, text: str) -> bool:
        least, most = self.keywords.get("minLength"), self.keywords.get("maxLength")
        if (isinstance(least, int) and len(text) < least) or (isinstance(most, int) and len(text) > most):
            return False
        said = self.described
        if said.longest is not None and said.longest > 1 and len(text) > said.longest:
            return False
        if said.shortest is not None and said.shortest <= 60 and len(text) < said.shortest:
            return False
        return self._validator is None or not self._validator.problems({"value": text})

    @cached_property
    def _validator(self) -> ArgumentValidator | None:
        """For patterns and formats; None without them."""
        form = self.keywords.get("format")
        parts: list[dict[str, Any]] = [{"pattern": pattern} for pattern in self.keywords.patterns]
        parts += [{"format": form}] if isinstance(form, str) else []
        if not parts:
            return None
        try:
            return ArgumentValidator({"properties": {"value": {"allOf": parts}}})
        except ValueError:
            return None

    @cached_property
    def _limits(self) -> tuple[float | None, float | None]:
        """The lowest and highest number that the schema allows, both included."""
        low, high = _number(self.keywords.get("minimum")), _number(self.keywords.get("maximum"))
        above, below = (
            _number(self.keywords.get("exclusiveMinimum")),
            _number(self.keywords.get("exclusiveMaximum")),
        )
        small = 1 if self.keywords.type == "integer" else 0.01
        if above is not None:
            edge = math.floor(above) + 1 if self.keywords.type == "integer" else above + small
            low = edge if low is None else max(low, edge)
        if below is not None:
            edge = math.ceil(below) - 1 if self.keywords.type == "integer" else below - small
            high = edge if high is None else min(high, edge)
        return low, high

    def _chosen(self, evidence: str, values: Sequence[Any]) -> Source:
        """A source of the values of a closed list."""
        usable = [
            one for one in values if isinstance(one, str | int | float) and is_speakable(value_text(one))
        ]
        default = self.keywords.get("default")
        telling = [one for one in usable if str(one).casefold() not in _EMPTY_CHOICES]
        other = [one for one in telling or usable if one != default]
        kept = other or telling or usable
        key = TEXTS.get(self.key)
        if key is not None and len(kept) > 12:
            # Of all the currencies or countries, those that readers know.
            common = common_values(self.key)
            kept = [one for one in kept if one in common] or kept
        kind: Kind = "choice"
        if key is not None and key.kind in ("currency", "country", "language", "city"):
            kind = key.kind
        if kept and all(isinstance(one, bool) for one in kept):
            kind = "flag"

        def draw(world: World, moment: Moment) -> Any:
            if not kept:
                return None
            free = [one for one in kept if not world.is_taken(value_text(one))]
            return world.pick(free or kept)

        return Source(evidence, kind, draw)

    def _texts(self) -> Iterator[Source]:
        temporal_source = self._moments()
        if temporal_source is not None:
            yield temporal_source
        given = self.keywords.get("examples")
        from_schema = isinstance(given, list | tuple) or self.keywords.get("example") is not None
        examples = [one for one in self._example_texts if not spelling_of(one)]
        form = self.keywords.get("format")
        known = _FORMATS.get(form, "") if isinstance(form, str) else ""
        if examples and from_schema:
            yield self._shown("example", examples)
        if known in TEXTS:
            yield self._made("format", known)
        elif known == "iso duration":
            yield Source("format", "duration", lambda world, moment: f"PT{5 * world.between(2, 11)}M")
        if self.described.choices and self.key not in _OPEN_KINDS:
            yield self._chosen("description", self.described.choices)
        if self.described.form in TEXTS:
            yield self._made("description", self.described.form)
        if examples and not from_schema:
            yield self._shown("description", examples)
        low, high = self.described.low, self.described.high
        if low is not None and high is not None and low == int(low) and self.key not in _OPEN_KINDS:
            span = int(high) - int(low)
            yield Source(
                "description", "integer", lambda world, moment: str(int(low) + world.between(0, span))
            )
        if self.key in TEXTS:
            yield self._made("name", self.key)
        if self.keywords.patterns:
            first = self.keywords.patterns[0]
            yield Source("pattern", self._kind("code"), lambda world, moment: _by_pattern(first, world))
        default = self.keywords.get("default")
        if isinstance(default, str):
            yield Source("default", self._kind("word"), lambda world, moment: default)
        yield Source("type", self._kind("name"), lambda world, moment: self._plain_text(world))
        yield Source("bounds", "code", self._any_text)

    def _moments(self) -> Source | None:
        if self.temporal is None:
            return None
        kind, spelling = self.temporal
        form = self.keywords.get("format")
        shown = any(map(spelling_of, self._example_texts))
        evidence = "format" if isinstance(form, str) and form in _FORMATS else "example" if shown else "name"
        if evidence == "name" and temporal(self.described.form):
            evidence = "description"
        is_birth = self.temporal_key.startswith("birth")

        def draw(world: World, moment: Moment) -> str:
            return spelled(birth_day(world) if is_birth else moment.day, moment.clock, spelling)

        return Source(evidence, kind, draw)

    def _kind(self, otherwise: Kind) -> Kind:
        """The kind that the name gives, or another one."""
        known = TEXTS.get(self.key)
        return known.kind if known is not None else otherwise

    def _made(self, evidence: str, key: str) -> Source:
        kind, make = TEXTS[key]
        least = self.keywords.get("minLength")
        fewest = max(least if isinstance(least, int) else 0, min(self.described.shortest or 0, 60))

        def draw(world: World, moment: Moment) -> str:
            text = make(world, self.subject)
            for _ in range(3):
                if kind == "text" and len(text) < fewest:
                    more = make(world, self.subject)
                    text = f"{text}; {more[:1].lower()}{more[1:]}"
            return text

        return Source(evidence, kind, draw)

    def _shown(self, evidence: str, examples: Sequence[str]) -> Source:
        """A source of the examples, of variations of them, and of values of the same form from the pools."""
        key = self.key if self.key in TEXTS else self.described.form if self.described.form in TEXTS else ""
        kind = TEXTS[key].kind if key else "code" if all(map(is_code, examples)) else "name"

        def draw(world: World, moment: Moment) -> str:
            example = world.pick(examples)
            listed = example.split(",")
            if len(listed) > 1 and all(map(is_code, listed)):
                example = listed[0]  # a list in one text: one item of it is enough
            if is_code(example):
                return varied(example, world)
            is_open = len(examples) == 1 or key in _OPEN_KINDS  # "e.g. matt or gloss" is all that is known
            if key and is_open and len(examples) < 6 and world.chance(0.7):
                made = TEXTS[key].make(world, self.subject)
                if _is_address(example) or form_class(made) == form_class(example):
                    return made
            return example

        return Source(evidence, kind, draw)

    def _plain_text(self, world: World) -> str:
        most = self.keywords.get("maxLength")
        most = most if isinstance(most, int) else LONGEST
        short = [one for one in pool("names") if len(one) <= most]
        return (
            world.fresh(lambda: world.pick(short))
            if short
            else "".join(world.pick(string.ascii_uppercase) for _ in range(max(1, most)))
        )

    def _any_text(self, world: World, moment: Moment) -> str:
        """A text of letters that is as long as the bounds want."""
        least, most = self.keywords.get("minLength"), self.keywords.get("maxLength")
        length = max(least if isinstance(least, int) else 6, 1)
        length = min(length, most) if isinstance(most, int) else length
        return "".join(world.pick(string.ascii_lowercase) for _ in range(min(length, LONGEST)))

    def _numbers(self) -> Iterator[Source]:
        examples = [one for one in self.examples if _number(one) is not None and one not in (0, 1)]
        given = self.keywords.get("examples")
        from_schema = isinstance(given, list | tuple) or self.keywords.get("example") is not None
        numbers = [number for one in self.described.choices if (number := _as_number(one)) is not None]
        if examples and from_schema:
            yield Source("example", self._number_kind.kind, lambda world, moment: self._like(examples, world))
        if len(numbers) > 1 and len(numbers) == len(self.described.choices):
            yield self._chosen("description", numbers)
        if self.key == "latitude" or self.key == "longitude":
            yield Source("name", "number", self._coordinate)
        low, high = self._limits
        bounded = low is not None or high is not None
        said = self.described.low is not None or self.described.high is not None
        evidence = "bounds" if bounded else "description" if said else "name" if self.key else "type"
        if (
            self.key
            and self.key in (NUMBERS.keys() | FRACTIONS.keys())
            and (not bounded or self._is_inside())
        ):
            evidence = "name"
        default = _number(self.keywords.get("default"))
        if default is not None and default >= _LARGE and self.keywords.type == "integer":
            yield Source(
                evidence, self._number_kind.kind, lambda world, moment: self._near_default(default, world)
            )
        yield Source(evidence, self._number_kind.kind, lambda world, moment: self._in_range(world))
        if default is not None:
            yield Source("default", self._number_kind.kind, lambda world, moment: default)

    def _near_default(self, default: float, world: World) -> Any:
        """A round number of the size of the default: about 2,000 for 5,000."""
        size = 10 ** (len(str(int(default))) - 1)
        return int(world.pick((0.2, 0.4, 0.6, 1.2, 1.6)) * default // size * size) or size

    def _is_inside(self) -> bool:
        """Whether the range of the name lies in that of the schema."""
        low, high = self._limits
        kind = self._number_kind
        return (low is None or low <= kind.low) and (high is None or kind.high <= high)

    @cached_property
    def _number_kind(self) -> NumberKind:
        is_whole = self.keywords.type == "integer"
        if not is_whole and self.key in FRACTIONS:
            return FRACTIONS[self.key]
        found = NUMBERS.get(self.key, NUMBERS[""] if is_whole else FRACTIONS[""])
        if is_whole and found.step < 1:
            return NumberKind(1, 40)
        return found if is_whole or found.kind != "integer" else found._replace(kind="number")

    def _like(self, examples: Sequence[Any], world: World) -> Any:
        example = world.pick(examples)
        if self.key in ("code", "zip", "phone number") and isinstance(example, int):
            return int(varied(str(example), world))
        return example if world.chance(0.4) else self._in_range(world)

    def _coordinate(self, world: World, moment: Moment) -> float:
        place = world.place(self.subject.role)
        return float(place.latitude if self.key == "latitude" else place.longitude)

    def _in_range(self, world: World) -> Any:
        kind, (low, high) = self._number_kind, self._limits
        for bound_low, bound_high in ((self.described.low, self.described.high), (low, high)):
            within = _within(kind, bound_low, bound_high)
            if (
                bound_low is not None
                and bound_high is not None
                and within.high - within.low < 3 * within.step
            ):
                within = within._replace(low=bound_low, high=bound_high)  # more than what the name leaves
            kind = within
        step = _number(self.keywords.get("multipleOf"))
        if self.keywords.type == "integer":
            kind = kind._replace(low=math.ceil(kind.low), high=math.floor(kind.high))
        elif step is None and (kind.high - kind.low) / kind.step < 4:
            kind = kind._replace(step=0.05 if kind.high - kind.low <= 1 else 0.1)
        if step is not None and step > 0:
            whole = math.ceil(_fraction(kind.low) / _fraction(step))
            kind = kind._replace(step=step, low=float(whole * _fraction(step)))
        steps = max(0, (_fraction(kind.high) - _fraction(kind.low)) // _fraction(kind.step))
        number = _fraction(kind.low) + world.between(0, steps) * _fraction(kind.step)
        return int(number) if number.denominator == 1 else float(number)


def _within(kind: NumberKind, low: float | None, high: float | None) -> NumberKind:
    """A range inside of bounds: the part of it that they allow, else numbers near a bound.

    >>> _within(NumberKind(2, 40), 1, 5)[:2], _within(NumberKind(2, 40), 100, None)[:2]
    ((2, 5), (100, 138))
    """
    span = kind.high - kind.low
    if low is not None and kind.low < low:
        kind = kind._replace(low=low, high=kind.high if kind.high >= low else low + span)
    if high is not None and kind.high > high:
        nearest = high - span if low is None else max(low, high - span)
        kind = kind._replace(high=high, low=kind.low if kind.low <= high else nearest)
    return kind


_OF_FOLDERS = frozenset({"directory", "directories", "folder", "folders", "dir", "tree", "search", "find"})
# Kinds of things that have both a name and a number.
_THINGS = frozenset(items("kinds of things"))
# "The ID of the file", "its identifier"; not "idea".
_SAYS_ID = re.compile(r"\b(?:ID|Id|id|GID|identifier|Identifier)s?\b")
# "recipient email addresses", not "emailed".
_SAYS_EMAIL = re.compile(r"\be-?mail address", re.IGNORECASE)
# Kinds of values that a part of the path of a URL has as they are, without a number.
_OF_PATHS = frozenset(items("kinds in paths of URLs"))
# The weakest evidence, which is no better than a value that another call has, too.
_WEAK = frozenset({"pattern", "default", "type", "bounds"})
# Kinds of which the values of one call belong together.
_COHERENT: frozenset[Kind] = frozenset({"person", "email", "city", "country", "place"})
# Kinds whose values a description does not list: "`http://` or `https://`" are beginnings.
_OPEN_KINDS = frozenset(
    {"url", "email", "phone", "ip", "uuid", "path", "file name", "directory", "person", "code"}
)


def _is_address(text: str) -> bool:
    return "://" in text or "@" in text


# A sign that each value of a kind has.
_SIGNS = {"url": ":", "email": "@"}
_DIRECTIONS = word_set(
    "from to source target destination origin src dst dest start end first second a b old new"
)
_CONTEXTS: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(words.split()), key)
    for words, key in (
        ("currency currencies exchange forex fx money", "currency"),
        ("translate translation translator", "language"),
        ("file files directory folder path rename move copy paths", "path"),
        ("flight flights airport airports", "airport"),
        ("email emails mail e-mail smtp inbox", "email"),
        ("sms call whatsapp phone", "phone"),
        ("transfer account accounts payment wallet", "code"),
        ("branch branches merge commit commits diff git repository", "branch"),
        ("history period dates daily calendar", "date"),
        ("taxi cab uber transport", "venue"),
        (
            "route distance directions travel trip train trains bus ride ship shipping journey city cities",
            "city",
        ),
    )
)


def _number(value: Any) -> float | None:
    """A JSON number, None for other values."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None


# "-7.5" and "12", not "12 metres".
_LARGE = 1_000  # a default from which the size of a number is known
_FIGURES = re.compile(r"-?\d{1,12}(?:\.\d{1,6})?")


def _as_number(text: str) -> float | None:
    if not _FIGURES.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


def _fraction(number: float) -> Fraction:
    return Fraction(repr(number))


def _by_pattern(pattern: str, world: World) -> str | None:
    try:
        return matching_text(pattern, world.rng)
    except PatternError:
        return None
