"""Rules about the forms of words: verbs after "to" and modal verbs, pronouns after prepositions."""

from __future__ import annotations

from collections.abc import Iterator

from toolassay.english.plurals import is_plural
from toolassay.english.verb_forms import base_of, can_be, past_forms
from toolassay.gates.language.sentences import (
    DATA,
    MODALS,
    STOPS,
    SUBJECTS,
    Sentence,
    bases_of_past,
    is_noun,
    opens_object,
    quoted,
    word_at,
)


def verb_form(sentence: Sentence) -> Iterator[str]:
    for place, token in enumerate(sentence[:-1]):
        word = token.word
        verb = place + 1
        if (
            (word in MODALS and word_at(sentence, place + 1) in SUBJECTS)
            or (word in ("does", "do", "did") and word_at(sentence, place + 1) in SUBJECTS - {"it"})
            or (word in ("let", "help") and word_at(sentence, place + 1) in ("me", "us"))
        ):
            verb = place + 2
        elif word not in MODALS | {
            "to",
            "please",
            "let's",
            "don't",
            "doesn't",
            "didn't",
            "cannot",
            "can't",
            "won't",
        }:
            continue
        if word_at(sentence, verb) in (
            "also",
            "then",
            "now",
            "kindly",
            "please",
            "just",
            "first",
            "finally",
            "quickly",
        ):
            verb += 1
        if (
            verb >= len(sentence)
            or not sentence[verb].text.islower()
            or not _is_wrong_form(sentence, verb, word)
        ):
            continue
        yield quoted(*sentence[place : verb + 1])


def _is_wrong_form(sentence: Sentence, place: int, after: str) -> bool:
    """Whether a base form should be here and another form is: "to booked a table", "please checking the status"."""
    word = word_at(sentence, place)
    base, form = base_of(word)
    if base is None:
        base, form = next(((one, "past") for one in bases_of_past(word)), (None, ""))
    if base is None or form == "base" or word == base or word in ("thanks", "been", "used", "can", "lots"):
        return False
    opens = opens_object(sentence, place + 1) or word_at(sentence, place + 1) == DATA
    if form == "gerund":
        return after == "please" and opens
    if form == "past" and "ADJ" in can_be(word) and not opens:
        return False
    if after == "to" or (form == "third" and is_noun(word)):
        return opens and not (
            after == "to"
            and form == "third"
            and is_plural(word)
            and word_at(sentence, place + 1) not in ("the", "a", "an", "my", "me")
        )
    return True


def _is_wrong_after(sentence: Sentence, place: int) -> bool:
    """Whether a base form is where a participle should be: "has arrive"; not "have found", "is put"."""
    word = word_at(sentence, place)
    is_base = can_be(word) == {"VERB"} and base_of(word)[1] == "base" and word not in past_forms(word)
    return is_base and sentence[place].text.islower() and not bases_of_past(word)


def perfect(sentence: Sentence) -> Iterator[str]:
    """E.g. "has arrive"; not "I have work" nor "is complete"."""
    for place, token in enumerate(sentence[:-1]):
        if token.word in ("has", "have", "had") and _is_wrong_after(sentence, place + 1):
            yield quoted(token, sentence[place + 1])


def pronoun_case(sentence: Sentence) -> Iterator[str]:
    """E.g. "send it to I", "me want"."""
    for place, token in enumerate(sentence[:-1]):
        other = sentence[place + 1]
        if (
            token.word in ("to", "for", "with", "from", "of", "by", "at")
            and other.word
            in (
                "i",
                "he",
                "she",
                "we",
                "they",
            )
            and (
                word_at(sentence, place + 2) in STOPS | {"", "and", "on", "by", "in", "at", "before", "after"}
                and other.text != "WE"
            )
        ):
            yield quoted(token, other)
    if (
        len(sentence) > 1
        and sentence[0].word in ("me", "him", "them", "us")
        and base_of(word_at(sentence, 1))[1] in ("base", "third")
    ):
        yield quoted(*sentence[:2])
