"""Facts about a tool: its path, its action and object, and the form and names of its fields.

Names are compared as the words they are made of; the lists of words are in `words.json`. The arguments and
the fields of results are found by `given_fields`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain, groupby, zip_longest
from typing import Any, NamedTuple

from toolassay.files.data_files import package_data
from toolassay.tools.identifiers import singular, words
from toolassay.tools.library import Tool

Words = tuple[str, ...]


@cache
def word_list(name: str) -> frozenset[str]:
    """A list of `words.json`."""
    return frozenset(package_data(__package__, "words.json")[name])


def word_groups(name: str) -> dict[str, list[str]]:
    """The lists of `words.json` under one name."""
    groups: dict[str, list[str]] = package_data(__package__, "words.json")[name]
    return groups


@lru_cache(maxsize=200_000)
def words_of(name: str) -> Words:
    """The words of a name in lower case and singular, abbreviations spelled out.

    >>> words_of("movieIds"), words_of("repo-path"), words_of("with_companies")
    (('movie', 'id'), ('repository', 'path'), ('with', 'company'))
    """
    abbreviations = package_data(__package__, "words.json")["abbreviations"]
    singles = (word if word in abbreviations else singular(word) for word in words(name))
    return tuple(abbreviations.get(word, word) for word in singles)


IDENTITIES = word_list("identities")
"""Words for a value that identifies a thing and has no other meaning."""
OF_USERS = frozenset({"login", "username"})
"""Attributes of a user, also where they are in something else: the `username` of a post."""
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
    >>> tuple(meaning_of("name_or_id"))
    ((), 'id')
    """
    name_words = words_of(name)
    if "or" in name_words:
        before, after = name_words[: name_words.index("or")], name_words[name_words.index("or") + 1 :]
        # "name_or_id" takes an id, too, and an id names one thing.
        is_id = after[-1:] and after[-1] in IDENTITIES and before[-1:] and before[-1] not in IDENTITIES
        name_words = (*before[:-1], after[-1]) if is_id else before
    while len(name_words) > 1 and name_words[-1] in word_list("quantifiers"):  # "tags.any"
        name_words = name_words[:-1]
    if name_words and name_words[-1] in _ATTRIBUTES:
        return Meaning(name_words[:-1], name_words[-1])
    if len(name_words) > 1 and name_words[0] in IDENTITIES:
        return Meaning(name_words[1:], name_words[0])
    return Meaning(name_words, "")


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
    fits = package_data(__package__, "words.json")["fits"].get("id" if taken in IDENTITIES else taken, {})
    return float(fits.get(given, 0.0))


@lru_cache(maxsize=200_000)
def same_thing(thing: Words, other: Words) -> float:
    """How likely two things are the same, from 0 to 1.

    >>> same_thing(("movie",), ("movie",)), same_thing(("parent", "task"), ("task",))
    (1.0, 0.95)
    >>> same_thing(("access", "token"), ("device", "token"))
    0.0
    """
    if thing == other:
        return 1.0
    short, long = sorted((thing, other), key=len)
    if not short or long[len(long) - len(short) :] != short:
        return 0.0
    extra = long[: len(long) - len(short)]
    # Words that do not make it another thing: a parent task is a task.
    return 0.95 if word_list("modifiers").issuperset(extra) else 0.75


@lru_cache(maxsize=200_000)
def thing_of(name: str) -> Words:
    """The thing that a schema or a container is of; empty if the name says nothing.

    >>> thing_of("movie-list-object"), thing_of("results"), thing_of("io.k8s.api.core.v1.PodList")
    (('movie',), (), ('pod',))
    """
    thing_words = words_of(name.rpartition(".")[2] or name)
    empty = word_list("empty names")
    kept = [word for word in thing_words if word not in empty and not word.isdigit()]
    # "posts" are posts, the "post" of "PostUser" is a method; "created_by" is a person.
    if thing_words[-1:] in (("post",), ("by",)):
        kept += thing_words[-1:]
    while len(kept) > 1 and kept[0] in word_list("ages"):
        del kept[0]
    return tuple(kept)


def is_transparent(name: str) -> bool:
    """Whether the fields of an object with this name belong to the object around it: `metadata`."""
    name_words = words_of(name)
    return len(name_words) == 1 and name_words[0] in word_list("transparent")


@lru_cache(maxsize=200_000)
def is_control(name: str) -> bool:
    """Whether an argument says how to answer, or is free text, rather than naming a thing of the service.

    >>> is_control("perPage"), is_control("movie_id"), is_control("sort_order")
    (True, False, True)
    """
    name_words = words(name)
    ends = len(name_words) > 1 and name_words[-1] in word_list("control endings")
    return ends or "_".join(name_words) in word_list("controls")


Values = frozenset[Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """An argument of a tool that may come from another tool.

    Attributes:
        path: Its path, e.g. `filter.movie_id`.
        thing: The thing that it refers to, by its name, or by its place if the name is only an attribute.
        attribute: The attribute of the thing, e.g. "id"; empty if the name is only that of the thing.
        kinds: Its JSON types; those of its items if it is a list. Empty if unknown.
        format: Its format; "" without one.
        values: Its `enum`; empty without one.
        required: Whether the tool needs it.
        listed: Whether it is a list.
        route: For a parameter in the path of an operation, the fixed parts of the path before it.
        description: What the tool says about it.
        full: The thing with the words before it in the tool's name: the alert of "get_secret_scanning_alert".
        is_said: Whether the meaning is that of the description, rather than that of the name.
        is_written: Whether it is a value to write, such as a phone number, rather than a reference to a thing
            that the library has.
    """

    path: str
    thing: Words
    attribute: str
    kinds: frozenset[str]
    format: str
    values: Values
    required: bool
    listed: bool
    route: tuple[str, ...]
    description: str = field(compare=False)
    full: Words = ()
    is_said: bool = False
    is_written: bool = False

    @property
    def key(self) -> tuple[Words, str, bool]:
        """What two arguments with the same value have in common."""
        return self.thing, self.attribute, self.listed

    @property
    def collection(self) -> tuple[str, ...]:
        """The path to the collection that has the thing; empty for the season in "/standings/{season}"."""
        is_in = bool(self.route) and words_of_part(self.route[-1])[1][-1:] == self.thing[-1:]
        return self.route if is_in else ()

    @property
    def meaning(self) -> str:
        """The argument in words: "the id of a movie"."""
        return in_words(self.thing, self.attribute)


IDENTIFYING = IDENTITIES | {"name", "slug", "key"}
"""Attributes by which an object without a known name may be recognised."""

BY_PATH = 0.95
"""The certainty of an owner known by the last part of the operation's path."""
BY_PATH_BEFORE = 0.9
"""That of one known by the part before it."""
BY_CONTAINER = 0.93
"""The certainty of an owner known by the name of the object or list around a field."""


class Owner(NamedTuple):
    """A thing that an object in a result may be, how certain that is, and why.

    `full` has the words before it, if `thing` is the end of a longer name.
    """

    thing: Words
    certainty: float
    why: str
    full: Words = ()


def owners_of(thing: Words, certainty: float, less: float, why: str) -> tuple[Owner, ...]:
    """A thing with its certainty, and without its first words with a lower one: "gift card", then "card"."""
    return tuple(Owner(thing[n:], less if n else certainty, why, thing) for n in range(len(thing)))


@dataclass(frozen=True, slots=True)
class Given:
    """A field in the result of a tool that identifies or describes something.

    Attributes:
        path: Its path, e.g. `results[].id`; "" is the whole result.
        owners: The things whose attribute it may be.
        attribute: The attribute, e.g. "id"; empty if the name is only that of the thing.
        kinds: Its JSON types; empty if unknown.
        format: Its format; "" without one.
        values: Its `enum`; empty without one.
        listed: Whether it is in a list.
        own: Whether it belongs to the objects that the tool is about, not to one inside them.
        depth: Number of objects around it, without lists and containers without a name of their own.
        shape: The names of the fields beside it.
        bare: Whether its name is only that of the attribute, so that the object says of what.
        is_described: Whether it is known from names and descriptions only. Where it is in the result is then
            unknown, unless the result is a declared scalar, whose types are `kinds`.
        is_measure: Whether it is a number without an attribute, such as a latitude.
    """

    path: str
    owners: tuple[Owner, ...]
    attribute: str
    kinds: frozenset[str]
    format: str
    values: Values
    listed: bool
    own: bool
    depth: int
    shape: frozenset[str]
    bare: bool = False
    is_described: bool = False
    is_measure: bool = False

    @property
    def has_id_beside(self) -> bool:
        """Whether its object is known by an id, which this field is not."""
        is_id = self.attribute in IDENTITIES
        return not is_id and any(meaning_of(name).attribute in IDENTITIES for name in self.shape)

    @property
    def is_reference(self) -> bool:
        """Whether its name says of which thing it is the id: `team_id`."""
        return not self.bare and self.attribute in IDENTITIES


def in_words(thing: Words, attribute: str) -> str:
    """An attribute of a thing in words.

    >>> in_words(("movie",), "id"), in_words(("owner",), "")
    ('the id of a movie', 'an owner')
    """
    if not thing:
        return f"the {attribute}"
    name = " ".join(thing)
    article = "an" if name[0] in "aeio" else "a"
    return f"the {attribute} of {article} {name}" if attribute else f"{article} {name}"


class Route(NamedTuple):
    """The path of an operation, e.g. `("movie", "{movie_id}", "credits")`."""

    method: str
    parts: tuple[str, ...]

    @property
    def fixed(self) -> tuple[str, ...]:
        return tuple(part for part in self.parts if part[:1] != "{")

    def before(self, parameter: str) -> tuple[str, ...] | None:
        """The fixed parts before a parameter; None if it is not in the path."""
        for number, part in enumerate(self.parts):
            if f"{{{parameter}}}" in part:
                return tuple(part for part in self.parts[:number] if part[:1] != "{")
        return None

    @property
    def ends_in_parameter(self) -> bool:
        return bool(self.parts) and self.parts[-1][:1] == "{"


def route_of(tool: Tool) -> Route | None:
    """The path of an imported operation; None for another tool."""
    path = tool.source.get("path")
    method = str(tool.source.get("method") or "").upper()
    if not isinstance(path, str) or not path.startswith("/"):
        return None
    nouns = [word for word in name_words(tool) if word not in tool_verbs()]
    named = (part for part in re.split(r"[/:]", path.partition("?")[0]) if not _VERSION.fullmatch(part))
    parts = [_spelled_out(part, nouns) for part in named]
    thing, _, action = parts[-1].rpartition(".") if parts else ("", "", "")
    if thing and action[:1].isalpha() and "{" not in parts[-1]:
        method = _method_of(action) if method == "POST" else method
        return Route(method, (*parts[:-1], *thing.split(".")))
    return Route(method, tuple(parts))


_METHODS = {"find": "GET", "make": "POST", "remove": "DELETE"}


def _method_of(action: str) -> str:
    """What would be the method if "/users.list" were written as "GET /users"; PATCH for other actions."""
    word = words(action)[0]
    return "GET" if word in word_list("looking") else _METHODS.get(tool_verbs().get(word, ""), "PATCH")


# What says nothing of a thing: the "v1" of "/v1/topics", and what is between two slashes; not "{v1}".
_VERSION = re.compile(r"(?:v?\d+(?:\.\d+)*)?", re.IGNORECASE)
# A format at the end of a path: "/topics/{id}.json".
_FORMAT = re.compile(r"(?<=.)\.(?:json|xml|html|csv|ya?ml|php|aspx?|jsp)$", re.IGNORECASE)
SHORT = 2
"""Most letters of a part of a path that stands for a word: "/t/{id}"."""


def _spelled_out(part: str, nouns: Sequence[str]) -> str:
    """A part of a path without a format, a short one as the noun of the tool's name that it begins."""
    part = _FORMAT.sub("", part)
    if len(part) > SHORT or not part.isalpha():
        return part
    return next((noun for noun in nouns if noun.startswith(part.casefold())), part)


@cache
def tool_verbs() -> dict[str, str]:
    """What a tool with a verb in its name does with its thing."""
    groups: dict[str, list[str]] = word_groups("verbs")
    return {word: verb for verb, words in groups.items() for word in words}


def verb_of(tool: Tool, route: Route | None) -> str:
    """What a tool does with its thing: "search", "find", "make", "change", "remove", or "" if unknown.

    Where its name and path leave that open, the hints of its server decide.
    """
    words = name_words(tool)
    searching = word_list("searching")
    if route is None:
        named_verb = next(
            (verb for word in words if (verb := tool_verbs().get(word)) not in (None, "other")), ""
        )
        if not named_verb and tool.annotations.get("destructiveHint") is True:
            return "remove"
        if named_verb in ("", "find") and tool.annotations.get("readOnlyHint") is False:
            return "change"
        return "search" if named_verb == "find" and searching & {*words} else str(named_verb)
    if route.method == "DELETE":
        return "remove"
    if route.method in ("PUT", "PATCH"):
        return "change"
    if route.method == "GET" or "search" in words:
        return "search" if searching & {*words, *route.fixed} else "find"
    last = words_of(route.fixed[-1]) if route.fixed else ()
    if any(tool_verbs().get(word) == "remove" for word in last):
        return "remove"
    # "/projects/{id}/addMembers" and "/tasks/{id}/duplicate" act on what is there.
    acts = len(route.parts) > len(route.fixed) and bool(last) and last[0] in tool_verbs()
    return "change" if acts or route.ends_in_parameter else "make"


def name_words(tool: Tool) -> Words:
    """The words of a tool's name."""
    return words_of(str(tool.source.get("name") or tool.id))


def words_of_part(part: str) -> tuple[Words, Words]:
    """The first and the last things that a part of a path names: what it leads to, and what that is found by.

    >>> words_of_part("PlayersByTeam"), words_of_part("user-groups")
    ((('player',), ('team',)), (('user', 'group'), ('user', 'group')))
    """
    is_end = word_list("prepositions").__contains__
    phrases = [tuple(group) for ends, group in groupby(words_of(part), key=is_end) if not ends]
    return (phrases[0], phrases[-1]) if phrases else ((), ())


def things_of_tool(tool: Tool, route: Route | None) -> tuple[Owner, ...]:
    """What a tool is about: for an operation what its path ends in, else the nouns of its name."""
    if route is not None:
        owners: list[Owner] = []
        parts = list(route.parts)
        if len(route.fixed) > 1 and parts[-1].casefold() in tool_verbs():
            parts.pop()  # "/vectors/delete" is about vectors
        for part in reversed(parts):
            if part[:1] == "{":
                if owners:  # "credits" in "/movie/{id}/credits": they are not movies
                    break
            elif owners and part.casefold() in word_list("myself"):
                break  # "/me/playlists" is about playlists
            elif thing := ("user",) if part.casefold() in word_list("myself") else words_of_part(part)[0]:
                # "/movie/popular" is about movies, "/search/movie" too.
                owners.append(Owner(thing, BY_PATH_BEFORE if owners else BY_PATH, f"the path names `{part}`"))
            if len(owners) == 2:
                break
        return tuple(owners)
    phrase = noun_phrase(tool)
    thing = meaning_of(" ".join(phrase)).thing or phrase
    return owners_of(thing, 0.85, 0.8, "its name")


def noun_phrase(tool: Tool) -> Words:
    """What a tool's name says that it works on: "get_user_id_by_email" on a user id."""
    # "playwright_click" of the server "playwright" is not about playwrights.
    prefix = words_of(str(tool.source.get("server") or ""))
    phrase_words = [word for word in name_words(tool) if word not in prefix and not word.isdigit()]
    verbs = tool_verbs()
    verb_positions = [
        position for position, word in enumerate(phrase_words) if verbs.get(word) not in (None, "other")
    ]
    if (
        verb_positions and len(phrase_words) > 1 and verb_positions == [len(phrase_words) - 1]
    ):  # "pull_request_read"
        phrase_words.pop()
    elif verb_positions:
        phrase_words = phrase_words[verb_positions[0] + 1 :]
        if phrase_words and phrase_words[0] in _JOINING:  # "create_or_update_file"
            del phrase_words[:2]
    elif phrase_words and phrase_words[0] in verbs:
        del phrase_words[0]
    phrase = next(iter(_phrases(phrase_words)), ())
    return () if len(phrase) == 1 and phrase[0] in verbs else phrase


# Words between two verbs of a name: `create_or_update_file`.
_JOINING = frozenset({"and", "or"})


def _phrases(words: Sequence[str]) -> Iterator[Words]:
    """The noun phrases between prepositions, without articles and words such as "details" at the end."""
    is_end = _JOINING | word_list("prepositions")
    for ends, group in groupby(words, key=is_end.__contains__):
        phrase = list(group)
        articles = [
            position for position, word in enumerate(phrase) if word in ("a", "an", "the", "this", "each")
        ]
        phrase = phrase[articles[-1] + 1 :] if articles else phrase
        while len(phrase) > 1 and phrase[0] in ("all", "any", "my", "new"):
            del phrase[0]
        # Not the request of "pull request".
        while len(phrase) > 1 and phrase[-1] in word_list("empty names") and phrase[-2] not in tool_verbs():
            phrase.pop()
        if phrase and not ends:
            yield tuple(phrase)


@lru_cache(maxsize=50_000)
def meanings_said(text: str) -> tuple[Meaning, ...]:
    """What the noun phrases of a sentence refer to; the attribute of one may be that of the next.

    >>> [tuple(one) for one in meanings_said("The id of a user")]
    [(('user',), 'id'), (('user',), '')]
    >>> [tuple(one) for one in meanings_said("List of stock symbols")]
    [(('stock',), 'symbol')]
    """
    text = text[:_LONGEST_SENTENCE].replace("'s ", " ")
    sentence = re.split(r"[.\n](?:\s|$)|\(", text, maxsplit=1)[0]
    parts = (part for clause in re.split(r"[^\w\s'/-]+", sentence) for part in (words_of(clause), ("or",)))
    names = [" ".join(phrase) for phrase in _phrases([*chain.from_iterable(parts)])]
    meanings = [meaning_of(name) for name in names if thing_of(name) or meaning_of(name).attribute]
    return tuple(
        Meaning(following.thing, meaning.attribute)
        if following is not None and not meaning.thing and not following.attribute
        else meaning
        for meaning, following in zip_longest(meanings, meanings[1:])
        if meaning is not None
    )


# Characters. A longer sentence is a list or a table, and its words do not say what one field is.
_LONGEST_SENTENCE = 300


def allowed_values(values: Any) -> Values:
    """The values of an `enum` that can be compared; empty without one."""
    if not isinstance(values, list):
        return frozenset()
    return frozenset(value for value in values if isinstance(value, str | int | float | bool))
