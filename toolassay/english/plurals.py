"""Plurals and singulars of noun phrases."""

from __future__ import annotations

from functools import cache

from toolassay.english.vocabulary import words

# The lexicon takes these for plurals.
_SINGULAR = words("singular in s")
# Nouns without a plural: "the information", never "the informations".
_UNCOUNTED = words("uncounted")
_KNOWN_AS_VERBS = words("plurals that the lexicon knows as verbs")


def _last(phrase: str) -> str:
    return phrase.split()[-1] if phrase.strip() else ""


@cache
def _singular_of(word: str) -> str:
    """The singular of a plural noun in lower case; empty if it is no plural."""
    if word == "people":  # "peoples" to the lexicon
        return "person"
    if word in _KNOWN_AS_VERBS:
        return word[:-1]
    from lemminflect import getAllLemmas, getInflection  # takes half a second

    for lemma in getAllLemmas(word, upos="NOUN").get("NOUN", ()):
        if lemma != word and word in getInflection(lemma, tag="NNS"):
            return str(lemma)
    known = bool(getAllLemmas(word))
    # A noun that the lexicon lacks: "playlists", but not "kubernetes".
    is_regular = (
        not known
        and len(word) > 4
        and word.endswith("s")
        and not word.endswith(("ss", "us", "is", "ses", "xes", "zes", "ches", "shes"))
    )
    return word[:-1] if is_regular else ""


@cache
def is_plural(word: str) -> bool:
    """Whether a word is a plural noun.

    >>> is_plural("tags"), is_plural("status"), is_plural("people"), is_plural("IDs")
    (True, False, True, True)
    """
    last = _last(word)
    if last in ("IDs", "URLs", "URIs", "SKUs", "APIs"):
        return True
    last = last.lower()
    if last in _SINGULAR | _UNCOUNTED or not last.isalpha() or last.endswith("ss"):
        return False
    return bool(_singular_of(last))


@cache
def plural(phrase: str) -> str:
    """A noun phrase in the plural.

    >>> plural("open invoice"), plural("movies"), plural("information"), plural("ID")
    ('open invoices', 'movies', 'information', 'IDs')
    """
    from lemminflect import getInflection

    last = _last(phrase)
    if not last or last.lower() in _UNCOUNTED or is_plural(last):
        return phrase
    found = getInflection(last.lower(), tag="NNS", inflect_oov=True) if last.islower() else (f"{last}s",)
    return phrase.removesuffix(last) + str(found[0] if found else f"{last}s")


@cache
def singular(phrase: str) -> str:
    """A noun phrase in the singular.

    >>> singular("open invoices"), singular("movie"), singular("IDs"), singular("status")
    ('open invoice', 'movie', 'ID', 'status')
    """
    last = _last(phrase)
    if not is_plural(last):
        return phrase
    one = last[:-1] if not last.islower() else _singular_of(last.lower())
    return phrase.removesuffix(last) + one
