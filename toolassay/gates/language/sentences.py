"""What the rules share: words by place, their parts of speech, and where a phrase ends."""

from __future__ import annotations

from collections.abc import Sequence

from toolassay.english.verb_forms import can_be
from toolassay.english.vocabulary import words
from toolassay.gates.language.text import DATA, RequestText, Token

__all__ = ["DATA", "RequestText", "Token"]

Sentence = Sequence[Token]


PREPOSITIONS = words("prepositions") | words("further prepositions")


DETERMINERS = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "your",
        "our",
        "their",
        "its",
        "his",
        "this",
        "these",
        "that",
        "those",
        "every",
        "each",
    ]
)


UNCOUNTED = words("uncounted")


STOPS = frozenset(".!?,;:")


BE = {"is": False, "was": False, "has": False, "are": True, "were": True, "have": True}


MODALS = frozenset(["can", "could", "will", "would", "should", "must", "may", "might", "shall"])


SUBJECTS = frozenset(["i", "you", "we", "they", "he", "she", "it"])


def quoted(*tokens: Token) -> str:
    return "'" + " ".join("…" if token.text == DATA else token.text for token in tokens) + "'"


def word_at(sentence: Sentence, place: int) -> str:
    """The word at a place, in lower case; empty outside."""
    return sentence[place].word if 0 <= place < len(sentence) else ""


def is_noun(word: str, *, only: bool = False) -> bool:
    kinds = can_be(word)
    return "NOUN" in kinds and (not only or kinds <= {"NOUN", "PROPN"})


def is_only_verb(word: str) -> bool:
    return can_be(word) == {"VERB"}


def ends_phrase(sentence: Sentence, place: int) -> bool:
    """Whether a noun phrase ends before a place: no noun follows that it could be part of."""
    word = word_at(sentence, place)
    if (
        not word
        or word in STOPS
        or word in PREPOSITIONS
        or word in BE
        or word in MODALS | {"and", "or", "that", "which", "to"}
    ):
        return True
    return is_only_verb(word)


def opens_object(sentence: Sentence, place: int) -> bool:
    return word_at(sentence, place) in DETERMINERS | {
        "me",
        "us",
        "him",
        "them",
        "it",
        "to",
        "no",
        "any",
        "some",
        "all",
    }


def bases_of_past(word: str) -> list[str]:
    from lemminflect import getAllLemmas

    return [base for base in getAllLemmas(word, upos="VERB").get("VERB", ()) if base != word]
