"""The words of identifiers: of tools, arguments and fields, however a program writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

# Runs that are one word: "movie|Id", "movie|IDs", "movie|_|ids", "HTTP|Server", "sha|256". Not punctuation.
_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# Endings that may be those of an irregular plural: "people", "children", "indices", "criteria".
_PLURALS = ("s", "ren", "ople", "ices", "ia", "ae")
# Unknown to the dictionary: words in "s" that are no plurals, and abbreviations whose plural has an "s".
_NO_PLURALS = frozenset({"aws", "dns", "gps", "https", "ios", "news", "series", "sms", "tls"})
_ABBREVIATIONS = frozenset({"arn", "gid", "guid", "id", "oid", "pk", "uid", "uuid", "uri", "url"})


@lru_cache(maxsize=200_000)
def words(name: str) -> tuple[str, ...]:
    """The words of an identifier, in lower case.

    >>> words("TVShowIDs"), words("repo-path_2"), words("HTTPServer")
    (('tv', 'show', 'ids'), ('repo', 'path', '2'), ('http', 'server'))
    """
    return tuple(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=50_000)
def singular(word: str) -> str:
    """The singular of a noun in lower case; any other word is returned unchanged.

    >>> [singular(word) for word in ("ids", "companies", "children", "status", "news")]
    ['id', 'company', 'child', 'status', 'news']
    """
    from simplemma import lemmatize

    if len(word) < 3 or not word.endswith(_PLURALS) or word in _NO_PLURALS:
        return word
    if word[:-1] in _ABBREVIATIONS:
        return word[:-1]
    lemma = lemmatize(word, lang="en")
    if lemma != word or not word.endswith("s"):
        return lemma.lower()
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):  # a word that no dictionary has
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "ches", "shes", "xes")) else word[:-1]


_SECRETS = frozenset(
    {"password", "passwd", "pwd", "passphrase", "secret", "credential", "token", "jwt", "otp", "cvv", "cvc"}
    | {"pin", "ssn", "cookie", "csrf", "bearer", "authorization", "signature"}
)
_KEEPERS = frozenset({"api", "app", "access", "private", "secret", "auth", "session", "subscription"})


def is_secret(name: Sequence[str]) -> bool:
    """Whether the words of a name are those of a secret.

    >>> is_secret(("access", "token")), is_secret(("api", "key")), is_secret(("key",))
    (True, True, False)
    """
    last = name[-1] if name else ""
    return last in _SECRETS or (last == "key" and not _KEEPERS.isdisjoint(name))
