"""Names of fields and tools as the words they are made of, and what they identify."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

Words = tuple[str, ...]

# The words of a name: "movieId", "movie_ids", "HTTPServer", "sha256". Not punctuation.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")

# Spelled out, so that both sides of a link are spelled alike.
_ABBREVIATIONS = {
    "acct": "account", "addr": "address", "app": "application", "attr": "attribute", "auth": "authorization",
    "cat": "category", "cfg": "configuration", "cmd": "command", "config": "configuration", "conv": "conversation",
    "ctx": "context", "cust": "customer", "db": "database", "dept": "department", "desc": "description",
    "dir": "directory", "doc": "document", "env": "environment", "evt": "event", "grp": "group", "img": "image",
    "inv": "invoice", "lang": "language", "lat": "latitude", "lib": "library", "lng": "longitude",
    "loc": "location", "lon": "longitude", "mgr": "manager", "msg": "message", "no": "number", "num": "number",
    "org": "organization", "organisation": "organization", "param": "parameter", "pic": "picture",
    "pkg": "package", "prod": "product", "proj": "project", "pwd": "password", "qty": "quantity", "ref": "reference",
    "repo": "repository", "req": "request", "res": "result", "resp": "response", "src": "source", "svc": "service",
    "temp": "temperature", "tz": "timezone", "txn": "transaction", "usr": "user", "vid": "video", "vol": "volume",
}  # fmt: skip


@lru_cache(maxsize=200_000)
def words_of(name: str) -> Words:
    """The words of a name in lower case and singular, abbreviations spelled out.

    >>> words_of("movieIds"), words_of("repo-path"), words_of("with_companies")
    (('movie', 'id'), ('repository', 'path'), ('with', 'company'))
    """
    return tuple(_word(word) for word in _WORD.findall(name))


@lru_cache(maxsize=50_000)
def _word(word: str) -> str:
    from simplemma import lemmatize

    word = word.lower()
    if word in _ABBREVIATIONS:
        return _ABBREVIATIONS[word]
    if len(word) < 3 or not word.endswith(("s", "ren", "ople", "ices", "ia", "ae")):
        return word
    # "ids" is not in dictionaries, and not every word that ends in "s" is a plural.
    if word in ("ids", "urls", "uris", "uuids", "guids", "gids"):
        return word[:-1]
    found = lemmatize(word, lang="en")
    if found != word or word in _SINGULAR or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return found.lower()
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "ches", "shes", "xes")) else word[:-1]


_SINGULAR = frozenset({"series", "news", "sms", "dns", "https", "tls", "ios", "aws", "gps"})

IDENTITIES = frozenset({"id", "uuid", "guid", "gid", "uid", "identifier", "pk", "oid", "arn"})
"""Words for a value that identifies a thing and has no other meaning."""
_ATTRIBUTES = IDENTITIES | {
    "key", "slug", "sha", "hash", "handle", "code", "number", "name", "login", "username", "email", "uri", "url",
    "href", "link", "path", "token", "reference", "symbol", "index", "title", "iban", "tag", "cursor",
}  # fmt: skip


class Meaning(NamedTuple):
    """What a name refers to: an `attribute` of a `thing`, e.g. the id of a movie.

    `attribute` is empty if the name is only that of the thing (`owner`, `channel`), `thing` if the name is only
    that of the attribute (`id`), so that its place must say of what.
    """

    thing: Words
    attribute: str


@lru_cache(maxsize=200_000)
def meaning_of(name: str) -> Meaning:
    """What a name refers to.

    >>> meaning_of("movie_id"), meaning_of("id"), meaning_of("channel"), meaning_of("issueIdOrKey")
    (Meaning(thing=('movie',), attribute='id'), Meaning(thing=(), attribute='id'), \
Meaning(thing=('channel',), attribute=''), Meaning(thing=('issue',), attribute='id'))
    """
    words = words_of(name)
    if "or" in words:
        words = words[: words.index("or")]
    if words and words[-1] in _ATTRIBUTES:
        return Meaning(words[:-1], words[-1])
    return Meaning(words, "")


# How well an attribute of a result fits an argument that wants another one.
_FITS = {
    "": {"": 0.9, "key": 0.9, "slug": 0.9, "login": 0.9, "sha": 0.9, "handle": 0.9, "username": 0.85, "code": 0.8,
         "name": 0.75, "number": 0.7, "path": 0.7, "symbol": 0.85, "reference": 0.8, "email": 0.6, "uri": 0.55,
         "url": 0.55, "href": 0.4, "title": 0.35, "token": 0.6, "hash": 0.8, "link": 0.4},
    "id": {"": 0.5, "key": 0.45, "slug": 0.5, "uri": 0.35, "number": 0.35, "code": 0.4, "name": 0.3, "sha": 0.4},
    "key": {"id": 0.45, "slug": 0.5, "": 0.6, "name": 0.4},
    "slug": {"": 0.6, "key": 0.5, "name": 0.5, "id": 0.4},
    "name": {"": 0.6, "login": 0.5, "username": 0.5, "title": 0.45, "slug": 0.5, "key": 0.4},
    "username": {"login": 0.9, "name": 0.6, "handle": 0.8, "": 0.6},
    "login": {"username": 0.9, "name": 0.5, "": 0.6},
    "url": {"uri": 0.9, "href": 0.9, "link": 0.9, "": 0.5},
    "uri": {"url": 0.9, "href": 0.8, "link": 0.8, "id": 0.3, "": 0.5},
    "code": {"": 0.6, "id": 0.3, "symbol": 0.6},
    "number": {"": 0.6, "id": 0.3},
    "reference": {"": 0.6, "name": 0.5, "sha": 0.6, "id": 0.4},
    "path": {"": 0.6, "name": 0.5},
    "sha": {"": 0.6, "hash": 0.9, "id": 0.5},
    "hash": {"": 0.6, "sha": 0.9, "id": 0.5},
    "symbol": {"": 0.6, "code": 0.6, "name": 0.4},
    "email": {"": 0.5},
    "tag": {"": 0.7, "name": 0.6},
}  # fmt: skip


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
    return _FITS.get("id" if taken in IDENTITIES else taken, {}).get(given, 0.0)


# Words before a thing that do not make it another thing: "parent task" is a task.
_MODIFIERS = frozenset(
    "parent target source new old from to by with without seed include exclude current selected default other my "
    "first last next previous original main primary related associated linked root child sub destination owner "
    "for of in the a an all any initial final base head local remote default existing".split()
)


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
    return 0.95 if all(word in _MODIFIERS for word in rest) else 0.75


# Words of schema and container names that do not name a thing: "MovieListResponse" is of movies.
_EMPTY = frozenset(
    "result item data list record row entry value response payload content hit object element node edge embedded "
    "page collection array body output input model dto schema base simple full compact mini summary detail info "
    "information resource entity type v1 v2 v3 get post put create update all "
    "set paged paging paginated page meta common extended minimal basic short simplified api public rest request "
    "wrapper container envelope 200 ok success named standard default properties included".split()
)
_KEPT_ALONE = frozenset(
    {"collection", "list", "page", "node", "item", "record", "entry", "element", "set", "type"}
)
TRANSPARENT = frozenset({"metadata", "attribute", "property", "field", "spec", "relationship", "fields"})
"""Names of objects whose fields belong to the object around them."""


def thing_of(name: str) -> Words:
    """The thing that a schema or a container is of; empty if the name says nothing.

    >>> thing_of("movie-list-object"), thing_of("results"), thing_of("io.k8s.api.core.v1.PodList")
    (('movie',), (), ('pod',))
    """
    words = words_of(name.rpartition(".")[2] or name)
    kept = tuple(word for word in words if word not in _EMPTY and not word.isdigit())
    return kept


def is_empty_name(name: str) -> bool:
    """Whether a container's name does not say what it contains, such as `results`."""
    return not thing_of(name)


_CONTROLS = frozenset(
    "page limit offset per_page page_size size count sort sort_by order order_by direction fields field expand "
    "include exclude filter filters query q search keyword keywords term terms format locale language lang region "
    "timezone tz verbose debug pretty dry_run callback api_key apikey key access_token token authorization "
    "start end since until before after from to max min top skip select cursor continue watch timeout "
    "version v api_version accept content_type user_agent accept_language etag if_match if_none_match "
    "x_request_id request_id idempotency_key correlation_id body text message content description title note "
    "notes comment comments reason subject status state type kind mode date time datetime timestamp year month "
    "day hour minute week enabled active public private force recursive append_to_response value values data "
    "amount price quantity width height depth color colour label labels options option settings args params "
    "metadata properties attributes prompt input output result results instructions temperature max_tokens stop "
    "model alt prefix suffix delimiter level num number total first last style theme category priority "
    "units unit distance radius duration rating score per_page opt_fields opt_pretty grace_period_seconds "
    "propagation_policy orphan_dependents field_manager field_validation resource_version field_selector "
    "label_selector timeout_seconds allow_watch_bookmarks resource_version_match send_initial_events "
    "max_results page_token next_page_token start_index start_at results_per_page market "
    "created_at updated_at modified_at deleted_at started_at ended_at expires_at created updated modified".split()
)


_CONTROL_ENDS = frozenset(
    "language languages locale region timezone type types status state date time format order sort limit count size "
    "mode flag width height window lte gte lt gt min max year month day enabled option options filter filters query "
    "text message description comment country at on ms percent notes subtype before after since until title style color".split()
)
"""Last words of longer names that are settings, too: `sort_order`, `with_original_language`."""


def is_control(name: str) -> bool:
    """Whether an argument says how to answer, or is free text, rather than naming a thing of the service.

    >>> is_control("perPage"), is_control("movie_id"), is_control("X-Request-ID")
    (True, False, True)
    """
    words = [word.lower() for word in _WORD.findall(name)]
    return "_".join(words) in _CONTROLS or (len(words) > 1 and words[-1] in _CONTROL_ENDS)


def shared(one: Iterable[str], other: Iterable[str]) -> float:
    """The share of words that two collections have in common (Jaccard), from 0 to 1."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first or second else 0.0
