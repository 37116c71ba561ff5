"""Irregular forms of English words, which no stemmer knows: swam and swim, geese and goose."""

from __future__ import annotations

from functools import lru_cache

from toolassay.gates.knowability.words import key_of


@lru_cache(maxsize=65_536)
def lemma_key(word: str) -> str:
    """The form in which the dictionary form of a plain word is compared.

    >>> lemma_key("swam") == lemma_key("swimming"), lemma_key("geese") == lemma_key("goose")
    (True, True)
    """
    if len(word) > 40 or not word.isascii() or not word.isalpha():
        return word
    import simplemma  # late: it reads its dictionary for a quarter of a second

    return key_of(simplemma.lemmatize(word, lang="en"))
