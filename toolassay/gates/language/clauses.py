"""Rules about clauses: what is there twice, what is missing, and where a sentence ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from toolassay.english.verb_forms import base_of, can_be
from toolassay.gates.language.sentences import (
    DATA,
    DETERMINERS,
    PREPOSITIONS,
    STOPS,
    RequestText,
    Sentence,
    quoted,
    word_at,
)

_ARTICLES = frozenset({"a", "an", "the", "my", "your", "our", "their", "its", "his", "every", "each"})


_TWICE = frozenset(
    [
        "had",
        "that",
        "very",
        "really",
        "so",
        "bye",
        "no",
        "ha",
        "knock",
        "hear",
        "there",
        "now",
        "please",
        "far",
        "many",
        "much",
        "yes",
        "tut",
        "hip",
        "ding",
        "more",
        "long",
    ]
)


def repeated(sentence: Sentence) -> Iterator[str]:
    for one, other in pairwise(sentence):
        if not (one.text.isalpha() and one.word == other.word and other.is_spaced):
            continue
        is_name = (
            one.text[0].isupper() and other.text[0].isupper() and one.word not in PREPOSITIONS | DETERMINERS
        )
        if one.word not in _TWICE - {"please"} and not is_name and len(one.text) + len(other.text) > 2:
            yield quoted(one, other)
    row = [token.word for token in sentence]
    for place in range(len(row) - 3):
        pair = row[place : place + 2]
        if pair == row[place + 2 : place + 4] and all(word.isalpha() for word in pair) and pair[0] != pair[1]:
            yield quoted(*sentence[place : place + 4])


_SECOND = _ARTICLES | {"this", "that", "these", "those", "which", "some", "any"}


def clashing(sentence: Sentence) -> Iterator[str]:
    for place, (one, other) in enumerate(pairwise(sentence)):
        if one.word not in _ARTICLES or other.word not in _SECOND or one.word == other.word:
            continue
        if (one.text == "A" and place) or other.text[0].isupper() or not other.is_spaced:
            continue  # "bank A that", "the A list"
        if other.word in ("a", "each", "every", "that", "this") and one.word in ("its", "his"):
            continue
        if other.word == "that" and one.word in ("each", "every"):
            continue
        yield quoted(one, other)


def bare_article(sentence: Sentence) -> Iterator[str]:
    """An article without a noun: "get the in", "the and"."""
    after = frozenset(
        {"of", "for", "to", "from", "at", "and", "or", "is", "are", "with", "into", "in", "on", "by", "but"}
    )
    for place, (one, other) in enumerate(pairwise(sentence)):
        if one.text not in ("a", "an", "the", "my", "your", "our", "their"):
            continue
        is_stop = other.text in STOPS and other.text != ":"
        if is_stop or (
            other.text in after and other.is_spaced and word_at(sentence, place + 2) not in ("-", "/")
        ):
            yield quoted(one, other)


_WANTS = frozenset({"need", "want", "wish", "like", "able", "try", "plan", "hope"})


_CLASH = frozenset(
    f"{one} {other}"
    for one in ("from", "with", "of", "for", "by", "into", "at", "in", "on")
    for other in ("to", "of", "from", "with", "for", "by", "into", "in", "on", "at")
    if one != other
) - frozenset(
    {
        "for in",
        "of in",
        "in on",
        "in by",
        "in at",
        "on in",
        "in for",
        "on at",
        "in with",
        "on to",
        "on by",
        "on for",
        "with in",
        "in to",
        "on with",
        "in of",
        "in from",
        "on from",
        "by in",
        "by at",
        "at in",
        "at on",
        "on of",
        "with at",
        "for at",
        "of at",
        "from at",
        "by with",
        "for on",
        "of on",
        "by on",
        "of over",
    }
)


_NEVER_LAST = frozenset(
    [
        "and",
        "or",
        "but",
        "the",
        "a",
        "an",
        "my",
        "your",
        "our",
        "their",
        "its",
        "than",
        "because",
        "whether",
        "every",
    ]
)
_RARELY_LAST = frozenset(["into", "of", "from", "with", "to", "for", "by", "at", "between", "about", "as"])


def cut_off(sentence: Sentence) -> Iterator[str]:
    last = next((token for token in reversed(sentence) if token.text not in STOPS), None)
    if last is None:
        return
    place = sentence.index(last)
    row = [token.word for token in sentence]
    if (last.text in _NEVER_LAST and place) or (
        last.text in _RARELY_LAST
        and place
        and row[-1] != "?"
        and not {
            "which",
            "what",
            "some",
            "something",
            "anything",
            "that",
            "who",
            "where",
            "how",
            "i",
            "we",
            "it",
            "you",
            "to",
        }
        & set(row[:place])
    ):
        yield quoted(*sentence[max(0, place - 1) :])
    elif sentence[-1].text in (",", ";"):
        yield quoted(*sentence[-2:])


def missing_word(sentence: Sentence) -> Iterator[str]:
    """E.g. "I need to the report", "a flight from to Oslo"."""
    for place, (one, other) in enumerate(pairwise(sentence)):
        if (
            one.word in _WANTS
            and other.word == "to"
            and word_at(sentence, place + 2) in ("the", "a", "an", "my", "this", "these", "our")
        ) and (one.word != "like" or word_at(sentence, place - 1) in ("would", "i'd", "'d")):
            yield quoted(*sentence[place : place + 3])
        if (
            f"{one.text} {other.text}" in _CLASH
            and other.is_spaced
            and word_at(sentence, place + 2) not in ("least", "most", "once", "-")
        ) and (not base_of(word_at(sentence, place - 1))[0] or one.word in ("from", "with", "of", "for")):
            yield quoted(one, other)


def punctuation(text: RequestText) -> Iterator[str]:
    masked = text.masked
    pattern = (
        r"(?<![.…])\.\.(?!\.)|,\s*,|[,;]\s*[.!?](?!\w)|[!?]\s*\.(?!\w)|(?<=[a-z]{5})\.\s*,|\s[,;!?](?=\s|$)|(?<=[\w"
        + DATA
        + "\ue001"
        + r"])\s\.(?=\s|$)|\(\s*\)|''(?!\w)|\"\""
    )
    for source in (masked, text.text) if "''" in text.text or '""' in text.text else (masked,):
        if match := re.search(pattern, source):
            around = source[max(0, match.start() - 12) : match.end() + 4]
            yield "'" + re.sub(rf"{DATA}\ue001*", "…", around).strip() + "'"
            return
    if masked.count("(") != masked.count(")") and not re.search(r"[:;][()]|(?:^|\s)\w{1,2}\)", masked):
        yield "a bracket without its partner"
    if masked.count('"') % 2 or masked.count("“") != masked.count("”"):
        yield "a quotation mark without its partner"


def small_start(text: RequestText) -> Iterator[str]:
    """A sentence within the text that starts with a small letter."""
    for before, sentence in pairwise(text.sentences):
        first = sentence[0]
        ends = before[-1].text in (".", "!", "?") and len(before) > 2 and len(before[-2].text) > 3
        gap = text.masked[before[-1].start + 1 : first.start]
        if (
            ends
            and gap == " "
            and first.text.islower()
            and first.text.isalpha()
            and len(first.text) > 1
            and len(sentence) > 2
        ) and (can_be(first.word) or first.word in DETERMINERS | PREPOSITIONS):
            yield quoted(*sentence[:2])
