"""The language of a library, and a setting for its requests, from its own nouns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from weakref import WeakKeyDictionary

from toolassay.english.plurals import is_plural, plural, singular
from toolassay.english.verb_forms import can_be
from toolassay.english.vocabulary import items, words
from toolassay.offline.own_tools.purpose import Purpose, purpose_of
from toolassay.tools import ToolLibrary

_FEWEST_WORDS = 8  # of all descriptions together: fewer decide nothing
_MOST_WORDS = 4_000
_KNOWN_SHARE = 0.55  # of the words of English descriptions the lexicon knows 0.8 to 1, of others up to 0.4
_LATIN_SHARE = 0.7  # of the letters
_FEWEST_TOOLS = 2  # that have a noun in common which a setting may name
_SMALL = words("determiners") | words("prepositions") | words("further prepositions") | words("small words")


def is_english(library: ToolLibrary) -> bool:
    """Whether the descriptions of the tools are in English; True if there is too little text to decide.

    English is told by the share of words that an English lexicon knows.
    """
    texts = [re.sub(r"https?:\S+|`[^`]*`|<[^>]*>", " ", tool.description[:400]) for tool in library]
    text = " ".join(texts)[:40_000]
    letters = [one for one in text if one.isalpha()]
    if len(letters) > _FEWEST_WORDS and sum(one < "ɐ" for one in letters) < _LATIN_SHARE * len(letters):
        return False
    row = [
        word.lower()
        for word in re.findall(r"(?<![\w_])[^\W\d_]{2,}(?![\w_])", text)
        if not re.search(r"[A-Z]", word[1:])
    ]
    row = row[:_MOST_WORDS]
    if len(row) < _FEWEST_WORDS:
        return True
    return sum(word in _SMALL or bool(can_be(word)) for word in row) >= _KNOWN_SHARE * len(row)


_nouns: WeakKeyDictionary[ToolLibrary, frozenset[str]] = WeakKeyDictionary()


def setting_of(library: ToolLibrary, purposes: Sequence[Purpose], rng: Random) -> str:
    """A sentence that says what the request is about, from a noun that the library has in common; else empty.

    Args:
        library: The tools.
        purposes: What the tools of the request do.
        rng: The random numbers of this request alone.
    """
    if library not in _nouns:
        counts = Counter(_noun(purpose_of(tool)) for tool in library)
        _nouns[library] = frozenset(noun for noun, count in counts.items() if noun and count >= _FEWEST_TOOLS)
    own = dict.fromkeys(noun for noun in map(_noun, purposes) if noun in _nouns[library])
    frame = rng.choice(items("setting"))
    return frame.replace("{nouns}", plural(next(iter(own)))) if len(own) == 1 else ""


def _noun(purpose: Purpose) -> str:
    """The countable noun of a purpose, in the singular; empty if there is none that is sure to be one."""
    noun = singular(purpose.result)
    is_sure = (
        noun.isalpha()
        and noun.islower()
        and len(noun) > 3
        and "NOUN" in can_be(noun)
        and "ADJ" not in can_be(noun)
    )
    return noun if is_sure and is_plural(plural(noun)) else ""
