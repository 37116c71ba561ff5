"""Number of nouns and forms of verbs, from a word's dictionary form and its part of speech.

The lists hold function words, irregular forms and common verbs of English; none holds words of a subject.
"""

from __future__ import annotations

import re
from typing import Final

from toolassay.gates.language.tagged_words import TaggedText, Word, lemma
from toolassay.text_values.vocabulary import word_set

ARTICLES: Final = word_set("a an the")
POSSESSIVES: Final = word_set("my your our their his its")
# Words that only stand before a noun; "his", "its", "this" and "some" can stand alone.
DETERMINERS: Final = word_set("the a an my your our their every")
SUBJECTS: Final = word_set("i you he she it we they")
OBJECTS: Final = word_set("me him us them it")
# What can start the object of a verb.
OBJECT_STARTS: Final = DETERMINERS | OBJECTS | word_set("this that these those his its all each any some no")
MODALS: Final = word_set(
    "can could will would shall should must may might can't cannot couldn't won't wouldn't shouldn't mustn't"
)
DO_FORMS: Final = word_set("do does did don't doesn't didn't")
BE_FORMS: Final = word_set("am is are was were be been being isn't aren't wasn't weren't")
QUESTION_WORDS: Final = word_set(
    "what which who whom whose where when why how whatever whichever whoever wherever"
)

NUMBER_WORDS: Final = word_set(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
# Adverbs that a tagger takes for nouns: "each appointment tomorrow".
_DAYS: Final = word_set("today tomorrow tonight yesterday now please instead again")
# Times that are counted only as spans: "two nights", but "at seven tomorrow" and "this morning".
TIME_SPANS: Final = word_set("day night week month year hour minute weekend morning evening afternoon")
_CLOCK_NOUNS: Final = _DAYS | word_set(
    "noon midnight second moment time monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december spring summer autumn "
    "winter sharp pm am"
)
# Nouns that are the same in the plural, units, and words that only look like nouns: "two fish", "20 euro".
_UNCHANGED: Final = word_set(
    "people fish sheep deer aircraft offspring staff crew personnel folk cattle police data media percent "
    "cent million billion thousand hundred dozen grand euro yen yuan won baht rand zloty forint rupiah "
    "ringgit quid bitcoin px km kg mg ml cm mm mb gb kb tb min sec hr hz khz db usd eur gbp celsius "
    "fahrenheit kelvin kilo foot pound stone plus minus max star way by one ones will can more less other "
    "else lot"
)
# A singular that may take a plural verb: "the staff are".
_GROUPS: Final = word_set(
    "staff crew team family public majority minority rest group couple pair police data media people half "
    "lot board committee company government press audience band class cast enemy jury management army "
    "plenty most some any all none poor rich young old elderly following latter former bulk remainder"
)
# Nouns that are groups only before "of": "a list of rooms are", but "the list is".
_GROUPS_OF: Final = word_set(
    "number list range variety series bunch handful total kind type sort set collection lot"
)
# Nouns that are not counted.
UNCOUNTED: Final = word_set(
    "information advice luggage baggage furniture homework equipment traffic weather progress knowledge money"
)
MASS_NOUNS: Final = UNCOUNTED | word_set(
    "software research news electricity rice water milk bread sugar salt butter music evidence feedback "
    "content help text work time access space room support audio video material metadata attention detail "
    "footage clothing cash stuff"
)
_IRREGULAR_PLURALS: Final = word_set("children men women feet teeth mice geese criteria")
# Nouns in "s" that are singular, or common before another noun.
_SINGULAR_IN_S: Final = word_set(
    "news series species means headquarters crossroads sales savings sports goods economics physics "
    "mathematics statistics analytics athletics politics logistics electronics thanks tennis always pants "
    "customs arms lens gas bus plus yes this his its was does times perhaps besides afterwards upwards "
    "downwards sometimes"
)
# Forms of the past that are no base forms, nouns or adjectives; "found", "left", "read" and "set" are.
_IRREGULAR_PAST: Final = word_set(
    "sent got made went told gave took bought brought did wrote came met kept paid sold gone taken "
    "written given known seen shown chosen forgot forgotten began begun drove driven spoke spoken became "
    "knew threw grew flew ate eaten chose caught taught won wore lent spent built slept said heard held "
    "stole stolen broke hid hidden"
)
_NO_PAST: Final = word_set(
    "need feed embed shred speed bleed breed seed weed heed proceed exceed succeed indeed"
)
_NO_GERUND: Final = word_set(
    "during evening morning building meeting ceiling something nothing anything everything according "
    "including regarding concerning following wedding sterling darling herring going"
)
# Verbs that are neither nouns nor adjectives, so no noun phrase looks like them.
PURE_VERBS: Final = word_set(
    "add agree allow apply arrange attend be become begin bring calculate cancel choose confirm contain "
    "convert create decide delete deliver describe destroy determine eat enable enroll ensure extract "
    "fetch forget generate get give go have hear identify include inform install know learn listen obtain "
    "occur organize organise pay provide publish receive recommend remind remove replace require retrieve "
    "say see sell send steal summarize summarise tell translate understand update upload verify write"
)
# Verbs of requests that are nouns too: "book a room", "a book".
_REQUEST_VERBS: Final = word_set(
    "book buy call change charge check close compare copy count draft email find finish format hold "
    "invite invoice list look lose mail make mark move name note open order plan play post print question "
    "rate record rename rent reply report request reserve return review run save schedule search set "
    "share show sort start stop summon switch take test text track transfer try turn use view visit watch"
)
REQUEST_VERBS: Final = PURE_VERBS | _REQUEST_VERBS


def is_plural(word: Word) -> bool:
    """Whether a word in lower case has the form of a plural noun; "checks" has."""
    low = word.low
    if not word.text.islower() or low in _SINGULAR_IN_S or len(low) < 4:
        return False
    if low in _IRREGULAR_PLURALS:
        return True
    return low.endswith("s") and not low.endswith(("ss", "us", "is", "'s")) and lemma(low) != low


def is_singular(word: Word) -> bool:
    """Whether a word in lower case is tagged as a noun, and is a singular that has another plural."""
    low = word.low
    return (
        word.tag == "NOUN"
        and word.text.islower()
        and word.text.isalpha()
        and len(low) > 2
        and low not in _UNCHANGED
        and low not in _CLOCK_NOUNS
        and low not in _IRREGULAR_PLURALS
        and not low.endswith("s")
        and lemma(low) == low
    )


def is_group(word: Word, of: bool = False) -> bool:
    """Whether a singular noun may take a plural verb: "the staff are"; "a list of rooms are" with `of`."""
    return word.low in _GROUPS or word.low in MASS_NOUNS or (of and word.low in _GROUPS_OF)


# The form of "booked"; not of "red".
_PAST: Final = re.compile(r"[a-z]{2,}ed")


def is_past(word: Word) -> bool:
    """Whether a word in lower case can only be the past or the participle of a verb: "booked", "sent"."""
    low = word.low
    if not word.text.islower():
        return False
    if low in _IRREGULAR_PAST:
        return True
    return _PAST.fullmatch(low) is not None and low not in _NO_PAST and lemma(low) != low


def is_gerund(word: Word) -> bool:
    """Whether a word in lower case is a form of a verb in "ing": "booking", not "bring" nor "evening"."""
    low = word.low
    return (
        word.text.islower()
        and low.endswith("ing")
        and low not in _NO_GERUND
        and re.search(r"[aeiouy]", low[:-3]) is not None
    )


def is_third_person(word: Word) -> bool:
    """Whether a word has the form of "checks", which plural nouns have too."""
    return is_plural(word) and word.low.endswith("s")


def is_base(word: Word) -> bool:
    """Whether a word in lower case is its own dictionary form."""
    return word.text.islower() and lemma(word.low) == word.low


def ends_noun_phrase(text: TaggedText, place: int) -> bool:
    """Whether the noun at a place ends its phrase: no noun follows that it could belong to."""
    word = text.next(place)
    if not word.text or word.low in _DAYS:
        return True
    if word.tag == "DATA" or not (word.text.islower() or word.text == "I"):
        return False
    if word.tag == "VERB":
        return not (is_plural(word) or is_gerund(word))
    return word.tag in ("ADP", "CCONJ", "AUX", "DET", "PRON", "SCONJ", "PART", "ADV")


def noun_phrase(text: TaggedText, place: int, most: int = 3) -> int:
    """The place of the noun that a determiner right before `place` belongs to; -1 if that is unclear.

    Args:
        text: the words.
        place: the word after the determiner.
        most: how many words the phrase may have.
    """
    for at in range(place, place + most):
        word = text.at(at)
        degree = word.low in ("most", "more", "least", "very")
        if not word.follows or not word.text.islower() or not (degree or word.tag in ("ADJ", "NOUN", "VERB")):
            return -1
        if "'" in word.low or (is_gerund(word) and at > place and text.words[at - 1].tag == "NOUN"):
            return -1  # "a speaker's features", "a table containing dates"
        if degree:
            continue
        if word.tag != "ADJ" and ends_noun_phrase(text, at):
            # A tagger that expects no noun takes "rooms" for a verb.
            return at if word.tag == "NOUN" or is_plural(word) else -1
        if is_plural(word) or (word.tag == "VERB" and not (is_past(word) or is_gerund(word))):
            return -1
    return -1
