"""Verbs: which words can be one, and their forms."""

from __future__ import annotations

from functools import cache

from toolassay.english.vocabulary import words

# Verbs that the lexicon does not know.
_NEW = words("verbs unknown to the lexicon")


@cache
def can_be(word: str) -> frozenset[str]:
    """The parts of speech that a word in lower case can have, in Universal Dependencies' names; empty if unknown.

    >>> sorted(can_be("books")), sorted(can_be("guest"))
    (['NOUN', 'VERB'], ['NOUN', 'VERB'])
    """
    from lemminflect import getAllLemmas  # takes half a second

    kinds = set(getAllLemmas(word))
    if _new_base(word):
        kinds.add("VERB")
    return frozenset(kinds)


def _new_base(word: str) -> str:
    return next((one for one in (word, word[:-1], word[:-2]) if one in _NEW), "")


@cache
def base_of(word: str) -> tuple[str | None, str]:
    """The base form of a verb, and which form the word is: "base", "third" or "gerund"; (None, "") if it is none.

    >>> base_of("lists"), base_of("creating"), base_of("status"), base_of("booked")
    (('list', 'third'), ('create', 'gerund'), (None, ''), (None, ''))
    """
    from lemminflect import getAllLemmas, getInflection

    if new := _new_base(word):
        return new, "base" if word == new else "third"
    for base in getAllLemmas(word, upos="VERB").get("VERB", ()):
        if base == word:
            return base, "base"
        if word in getInflection(base, tag="VBZ"):
            return base, "third"
        if word in getInflection(base, tag="VBG"):
            return base, "gerund"
    return None, ""


def is_common_verb(word: str) -> bool:
    """Whether a base form is a verb that often says what a tool does."""
    return (base_of(word)[0] or word) in _COMMON


_COMMON = words("common verbs")


@cache
def gerund(verb: str) -> str:
    """The form in -ing.

    >>> gerund("make"), gerund("get"), gerund("geocode")
    ('making', 'getting', 'geocoding')
    """
    from lemminflect import getInflection

    return str((getInflection(verb, tag="VBG") or getInflection(verb, tag="VBG", inflect_oov=True))[0])


@cache
def participle(verb: str) -> str:
    """The past participle.

    >>> participle("make"), participle("crop")
    ('made', 'cropped')
    """
    from lemminflect import getInflection

    return str((getInflection(verb, tag="VBN") or getInflection(verb, tag="VBN", inflect_oov=True))[0])


@cache
def past_forms(verb: str) -> frozenset[str]:
    """The past tense and the past participle of a base form.

    >>> sorted(past_forms("read")), sorted(past_forms("take"))
    (['read'], ['taken', 'took'])
    """
    from lemminflect import getInflection

    return frozenset((*getInflection(verb, tag="VBD"), *getInflection(verb, tag="VBN")))
