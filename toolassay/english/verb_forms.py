"""Verbs: which words can be one, and their forms."""

from __future__ import annotations

from functools import cache

from toolassay.english.vocabulary import words

# Verbs that the lexicon does not know.
_NEW = words("verbs unknown to the lexicon")
_COMMON = words("common verbs")


@cache
def can_be(word: str) -> frozenset[str]:
    """The parts of speech that a word in lower case can have, as Universal Dependencies names them.

    >>> sorted(can_be("books")), sorted(can_be("guest"))
    (['NOUN', 'VERB'], ['NOUN', 'VERB'])
    """
    from lemminflect import getAllLemmas  # takes half a second

    kinds = set(getAllLemmas(word))
    if _new_base(word):
        kinds.add("VERB")
    return frozenset(kinds)


# "un" of "unapprove", not of "unit".
_PREFIXES = ("un", "re", "de", "dis", "pre", "auto", "bulk-")


def _new_base(word: str) -> str:
    """The base form of a verb that the lexicon lacks: a listed one, or a prefix before a common verb."""
    for base in (word, word[:-1], word[:-2]):
        bare = next((base.removeprefix(prefix) for prefix in _PREFIXES if base.startswith(prefix)), base)
        if base in _NEW or (bare != base and len(bare) > 3 and bare in _COMMON and not _is_listed(word)):
            return base
    return ""


@cache
def _is_listed(word: str) -> bool:
    from lemminflect import getAllLemmas

    return bool(getAllLemmas(word))


@cache
def base_of(word: str) -> tuple[str | None, str]:
    """The base form of a verb, and the form of the word: "base", "third" or "gerund"; (None, "") if none.

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
    """Whether a word is a form of a verb that often says what a tool does."""
    base = base_of(word)[0] or word
    return base in _COMMON or bool(_new_base(base))


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
