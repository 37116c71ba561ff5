"""Plurals and singulars of noun phrases."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from toolassay.english.vocabulary import words

if TYPE_CHECKING:
    import inflect

# inflect takes these for plurals.
_SINGULAR = words("singular in s")
# Nouns without a plural: "the information", never "the informations".
_UNCOUNTED = words("uncounted")


@cache
def _engine() -> inflect.engine:
    import inflect  # takes a quarter of a second

    return inflect.engine()


@cache
def is_plural(word: str) -> bool:
    """Whether a word is a plural noun.

    >>> is_plural("tags"), is_plural("status"), is_plural("people"), is_plural("IDs")
    (True, False, True, True)
    """
    last = word.split()[-1].lower() if word.strip() else ""
    if last in _SINGULAR | _UNCOUNTED or not last.isalpha() or last.endswith("ss"):
        return False
    return bool(_engine().singular_noun(last))


@cache
def plural(phrase: str) -> str:
    """A noun phrase in the plural.

    >>> plural("open invoice"), plural("movies"), plural("information")
    ('open invoices', 'movies', 'information')
    """
    last = phrase.split()[-1].lower() if phrase.strip() else ""
    if not last or last in _UNCOUNTED or is_plural(last):
        return phrase
    return str(_engine().plural_noun(phrase)) or phrase


@cache
def singular(phrase: str) -> str:
    """A noun phrase in the singular.

    >>> singular("open invoices"), singular("movie"), singular("IDs"), singular("status")
    ('open invoice', 'movie', 'ID', 'status')
    """
    if not is_plural(phrase):
        return phrase
    if phrase.endswith("IDs"):
        return phrase[:-1]
    return str(_engine().singular_noun(phrase) or phrase)
