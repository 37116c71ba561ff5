"""Articles, number and pronouns: words before a noun that clash, or that do not fit it.

Every rule names the few constructions in which an error is certain. A phrase that is English in some reading
is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolassay.gates.language.english_forms import (
    ARTICLES,
    BE_FORMS,
    DETERMINERS,
    DO_FORMS,
    MASS_NOUNS,
    MODALS,
    NUMBER_WORDS,
    TIME_SPANS,
    UNCOUNTED,
    ends_noun_phrase,
    is_plural,
    is_singular,
    noun_phrase,
)
from toolassay.gates.language.masked_text import Span
from toolassay.gates.language.tagged_words import TaggedText, Word, is_known
from toolassay.text_values.vocabulary import word_set

_OWNERS: Final = frozenset({"my", "your", "our", "their"})
_AFTER_ARTICLE: Final = ARTICLES | _OWNERS | word_set("this these those some any each every which whose both")
_AFTER_OWNER: Final = ARTICLES | _OWNERS | word_set("this these those some any every which")
_AFTER_SOME: Final = ARTICLES | _OWNERS | frozenset({"these", "those"})


def clashing_determiners(text: TaggedText) -> Iterator[Span]:
    """Two words of which only one can start a noun phrase: "a the booking", "the which rooms"."""
    for place in text.places_of(DETERMINERS | {"some", "any"}):
        word, after = text.words[place], text.next(place)
        if not after.text.islower() or not _is_article(word):
            continue
        if word.low in ARTICLES:
            clashes = _AFTER_ARTICLE
        else:
            clashes = _AFTER_SOME if word.low in ("some", "any") else _AFTER_OWNER
        if after.low in clashes and word.low != after.low:
            yield word.start, after.end


def _is_article(word: Word) -> bool:
    """Whether a word is no letter that names something: "bank A", "the AND operator"."""
    return word.text.islower() or word.opens_sentence


# Function words that follow neither "the" nor "my": no particle ("the off switch"), nor a name in code ("the
# for loop").
_NO_NOUN: Final = word_set(
    "of with from at into than because as is are was were be i he she we they me him them us when where "
    "or but to by about and for in that that's it's i'm i'd"
)
_NOT_AFTER_A: Final = word_set(
    "of with from into than because i he she we they him them us when where about for in"
)


def articles_without_noun(text: TaggedText) -> Iterator[Span]:
    """An article or possessive before a word that starts no noun phrase: "the of", "for a with"."""
    for place in text.places_of(DETERMINERS):
        word, after = text.words[place], text.next(place)
        if word.text.islower() and (after.text.islower() or after.text == "I"):
            if after.low in (_NOT_AFTER_A if word.low == "a" else _NO_NOUN):
                yield word.start, after.end
            elif word.low == "a" and after.low in ("and", "or", "to") and text.previous(place).tag == "VERB":
                following = text.next(place + 1)
                if len(following.low) > 1:  # not "given a and b"
                    yield word.start, after.end
            elif after.low == "it" and text.next(place + 1).tag != "NOUN":
                yield word.start, after.end


# Nouns that follow "a" and take a plural: "a couple guests", "a few rooms".
_COUNTING: Final = word_set(
    "few many couple dozen hundred thousand million lot bit more several variety great half"
)
# What comes before a clause: in "how a lock works" and "if a guest calls" the last word is a verb.
_BEFORE_CLAUSE: Final = word_set(
    "how where what when why that if whether which because as while so than until and"
)


def articles_before_plural(text: TaggedText) -> Iterator[Span]:
    """A word for one before a plural: "a rooms", "every students"."""
    for place in text.places_of(word_set("a an each every another either neither")):
        word, before = text.words[place], text.previous(place)
        head = noun_phrase(text, place + 1)
        first = text.next(place)
        if head < 0 and first.tag == "NOUN" and text.next(place + 1).tag == "DATA":
            head = place + 1  # "send a words 'see you'"
        if head < 0 or not _is_article(word):
            continue
        noun, last = text.words[head], text.words[head - 1]
        if not is_plural(noun) or any(text.words[at].low in _COUNTING for at in range(place + 1, head)):
            continue
        may_be_verb = (head > place + 1 and last.tag == "NOUN") or noun.tag == "VERB"
        if may_be_verb and (before.low in _BEFORE_CLAUSE or not before.text or word.low == "each"):
            continue
        yield word.start, noun.end


# Verbs before a clause: "ensure that invoices", "I think this works".
_CLAUSE_VERBS: Final = word_set(
    "ensure know say think check confirm see note mean believe hope tell remember verify make given find "
    "show indicate suggest require recommend request ask mention prefer wish assume hear feel understand "
    "guess saying stating hoping knowing ensuring making is was so whether of like"
)


def demonstratives(text: TaggedText) -> Iterator[Span]:
    """'these booking', 'this rooms'."""
    for place in text.places_of(frozenset({"these", "those"})):
        head = noun_phrase(text, place + 1)
        if text.next(place).low.endswith("ing") and text.words[place].low == "those":
            continue
        if (
            head >= 0
            and is_singular(text.words[head])
            and text.words[head].low not in MASS_NOUNS - UNCOUNTED - {"feedback"}
        ):
            yield text.words[place].start, text.words[head].end
    for place in text.places_of(frozenset({"this", "that"})):
        word, before = text.words[place], text.previous(place)
        head = noun_phrase(text, place + 1, 2)
        if head < 0 or text.words[head].tag != "NOUN" or not is_plural(text.words[head]):
            continue
        after = text.next(head)
        starts = text.at(place - 1).opens_sentence  # "Archive this emails": a verb that is tagged as a noun
        is_object = (
            before.tag in ("VERB", "ADP") or (starts and before.tag in ("NOUN", "ADJ"))
        ) and before.low not in _CLAUSE_VERBS
        if (is_object and after.tag not in ("AUX", "VERB", "DET", "PRON")) or (
            word.low == "this" and word.opens_sentence and after.low in BE_FORMS
        ):
            yield word.start, text.words[head].end


_MANY: Final = word_set("several many few both multiple various numerous")
# Words after which a number counts nothing: "at seven tomorrow", "room 12", "one or two".
_NO_COUNT: Final = word_set(
    "at by until till before after around since past to half on between about section chapter page step "
    "part room number no version line level gate platform unit season episode type size top a an each "
    "every one"
)


def counted_singulars(text: TaggedText) -> Iterator[Span]:
    """'two guest', 'several pizza', 'one of the cheapest flight'."""
    digits = frozenset(low for low in text.places if low.isdigit() and len(low) <= 3 and int(low) >= 2)
    for place in text.places_of(NUMBER_WORDS | _MANY | digits):
        word, before = text.words[place], text.previous(place)
        is_number = word.low not in _MANY
        if not (word.text.islower() or word.low.isdigit() or word.opens_sentence):
            continue
        if is_number and (before.low in _NO_COUNT or text.at(place - 1).low == "no"):
            continue
        if word.low.isdigit() and not word.opens_sentence and before.tag in ("NOUN", "PROPN", "DATA", ""):
            continue
        if (span := _counted(text, place)) is not None:
            yield span
    for place in text.places_of(frozenset({"one"})):
        word, quantity = text.words[place], text.next(place)
        determiner = text.next(place + 1)
        if quantity.low != "of" or determiner.low not in _OWNERS | {"the", "these", "those"}:
            continue
        if "," in word.gap or text.previous(place).low == "then":
            continue  # "two charts, one of the duration"
        head = noun_phrase(text, place + 3)
        if (
            head >= 0
            and is_singular(text.words[head])
            and text.next(head).low != "of"
            and text.words[head].low not in MASS_NOUNS
        ):
            yield word.start, text.words[head].end


def _counted(text: TaggedText, place: int) -> Span | None:
    word, before = text.words[place], text.previous(place)
    is_number = word.low not in _MANY
    first = place + 1
    if text.next(place).low in ("more", "other"):
        first += 1
    head = noun_phrase(text, first)
    if head < 0 or not is_singular(text.words[head]):
        return None
    noun, after = text.words[head], text.next(head)
    nouns = [other for other in text.words[first : head + 1] if other.tag == "NOUN"]
    # "the five factor model", "my 500 dollar voucher", "this two day trip": a measure before a noun.
    if is_number and len(nouns) > 1 and (before.tag in ("DET", "ADJ", "PRON") or nouns[0].low in TIME_SPANS):
        return None
    if noun.low in MASS_NOUNS and not is_number and not (word.low == "many" and noun.low in UNCOUNTED):
        return None
    joined = after.low in ("and", "or") and text.next(head + 1).tag in ("NOUN", "ADJ", "DATA", "VERB")
    if not is_number and (joined or (word.low == "both" and _has_and(text, head))):
        return None
    return word.start, noun.end


def _has_and(text: TaggedText, head: int) -> bool:
    return any(text.at(head + step).low == "and" for step in range(1, 8))


_WRONG_PLURALS: Final = frozenset(
    noun + "s" for noun in UNCOUNTED - {"money", "weather", "progress", "traffic"}
) | {"softwares", "feedbacks"}


def uncounted_nouns(text: TaggedText) -> Iterator[Span]:
    """'an information', 'informations', 'many luggage', 'much bags'."""
    for place in text.places_of(_WRONG_PLURALS):
        yield text.words[place].start, text.words[place].end
    for place in text.places_of(frozenset({"a", "an", "another", "many"})):
        word, after = text.words[place], text.next(place)
        if after.low in UNCOUNTED and _is_article(word) and ends_noun_phrase(text, place + 1):
            yield word.start, after.end
    for place in text.places_of(frozenset({"much"})):
        word, after = text.words[place], text.next(place)
        if after.tag == "NOUN" and is_plural(after) and ends_noun_phrase(text, place + 1):
            yield word.start, after.end


# "a 8-seater" and "a 11 o'clock train"; not "an 8-seater" nor "a 7 a.m. call".
_BEFORE_EIGHT: Final = re.compile(r"\ba (?:8\d*|11|18)\b(?![.,:]\d)")


def a_or_an(text: TaggedText) -> Iterator[Span]:
    """Harper's rule, without acronyms and names, which readers pronounce in two ways."""
    for match in _BEFORE_EIGHT.finditer(text.masked.original):
        yield match.span()
    for place in text.places_of(frozenset({"a", "an"})):
        word, after = text.words[place], text.next(place)
        if not _is_article(word) or text.previous(place).low.isdigit() or after.text.isupper():
            continue
        # "an European" and "an one-way", but not "a Ulm".
        if not any(part and is_known(part) for part in (after.low, after.low.partition("-")[0])):
            continue
        if any(fault.rule == "AnA" and fault.start == word.start for fault in text.harper):
            yield word.start, after.end


_BEFORE_OBJECT: Final = word_set(
    "to for with from by about of between tell send give show ask let help remind email call text inform "
    "notify"
)
_NO_CLAUSE: Final = word_set("tell send give show let help remind for to with")


def pronoun_case(text: TaggedText) -> Iterator[Span]:
    """'send he the bill', 'for they names'."""
    for place in text.places_of(_BEFORE_OBJECT):
        word, after, following = text.words[place], text.next(place), text.next(place + 1)
        if after.low not in ("i", "he", "she", "we", "they") or (
            after.low == "i" and word.low not in _NO_CLAUSE
        ):
            continue
        is_clause = (
            following.tag in ("AUX", "VERB")
            or (following.tag in ("ADV", "") and following.low not in ("when", "how", "where", "why", "if"))
            or following.low in MODALS | BE_FORMS | DO_FORMS | {"have", "had", "need", "want"}
            or "'" in following.low
        )
        if not is_clause or (
            not following.text and word.low in ("to", "for", "with", "from") and after.low != "i"
        ):
            yield word.start, after.end
