"""Subjects and their verbs, and forms of verbs after other words.

Every rule names the few constructions in which an error is certain. A phrase that is English in some reading
is left alone.
"""

from __future__ import annotations

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
    OBJECT_STARTS,
    OBJECTS,
    POSSESSIVES,
    PURE_VERBS,
    QUESTION_WORDS,
    REQUEST_VERBS,
    SUBJECTS,
    TIME_SPANS,
    ends_noun_phrase,
    is_base,
    is_gerund,
    is_group,
    is_past,
    is_plural,
    is_singular,
    is_third_person,
    noun_phrase,
)
from toolassay.gates.language.masked_text import Span
from toolassay.gates.language.tagged_words import TaggedText, lemma
from toolassay.text_values.vocabulary import word_set

_STARTS_CLAUSE: Final = word_set("if whether that because when while since so but where as sure hi hello hey")
_FOR_ONE: Final = word_set("is was has does isn't wasn't hasn't doesn't")
_FOR_MANY: Final = word_set("are were have aren't weren't haven't don't")
_OWN: Final = word_set("the my our your their his her")


def _starts_clause(text: TaggedText, place: int) -> bool:
    word, before = text.words[place], text.previous(place)
    if word.opens_sentence or (before.low in ("and", "but") and "," in before.gap):
        return True
    return before.low in _STARTS_CLAUSE if before.text else "," in word.gap


_OTHER_STARTS: Final = word_set("this that these those all some most other a an")


def noun_and_verb(text: TaggedText) -> Iterator[Span]:
    """'The invoices is due', 'if the shop are open', 'my boss need the report'."""
    for place in text.places_of(_OWN | _OTHER_STARTS):
        if _starts_clause(text, place):
            for head in range(place + 1, place + 4):
                noun, verb = text.at(head), text.next(head)
                if not (noun.follows and noun.tag in ("NOUN", "ADJ", "VERB", "PROPN") and verb.text):
                    break
                if noun.text.islower() and _disagrees(text, place, head):
                    yield text.words[place].start, verb.end
                    break
    for place in text.places_of(_FOR_ONE | _FOR_MANY):
        verb, noun = text.words[place], text.previous(place)
        if noun.tag == "NOUN" and place > 0 and _starts_clause(text, place - 1):
            lower = noun._replace(text=noun.low) if noun.opens_sentence else noun
            one = is_singular(lower) and not is_group(noun) and noun.low not in TIME_SPANS
            if (is_plural(lower) and verb.low in _FOR_ONE) or (
                one and verb.low in _FOR_MANY - {"have", "don't", "were"}
            ):
                yield noun.start, verb.end


# Verbs before a subjunctive: "I suggest that he have".
_DEMANDS: Final = word_set("suggest recommend request require insist demand propose ask prefer")


def _disagrees(text: TaggedText, place: int, head: int) -> bool:
    first, starter = text.words[place], text.previous(place).low
    noun, verb, after = text.words[head], text.next(head), text.next(head + 1)
    if is_plural(noun):
        if first.low in ("this", "that"):
            return False
        if verb.low in _FOR_ONE:
            return True
        known = verb.low.endswith("s") and lemma(verb.low) in PURE_VERBS | {"need", "want"}
        return known and after.low in DETERMINERS | OBJECTS | {"to"}
    if not is_singular(noun) or is_group(noun) or noun.low in TIME_SPANS:
        return False
    if first.low in ("all", "some", "most", "other"):
        return noun.tag == "NOUN" and verb.low in _FOR_MANY and head == place + 1
    if verb.tag == "ADP" and not is_group(noun, of=verb.low == "of"):
        # "the price of the rooms are", "the shop at the corner have": the last noun is no subject.
        end = noun_phrase(text, head + (3 if after.low in _OWN | {"all", "these", "those", "a", "an"} else 2))
        if end < 0 or text.next(end).low not in _FOR_MANY:
            return False
        return is_singular(text.words[end]) or (
            verb.low == "of" and text.next(end).low in ("are", "were", "aren't")
        )
    if verb.low in _FOR_MANY:
        # "if it were", "recommend that he have": the subjunctive.
        subjunctive = verb.low in ("were", "weren't") and starter in ("if", "as", "that", "")
        return not (subjunctive and not first.opens_sentence) and not (
            verb.low == "have" and starter == "that" and text.previous(place - 1).low in _DEMANDS
        )
    if starter == "that" or noun.tag != "NOUN" or verb.low not in PURE_VERBS | {"need", "want"}:
        return False
    return after.low in OBJECT_STARTS | {"to"} or after.tag == "NUM" or is_plural(after)


_ONE_BODY: Final = word_set(
    "everyone everybody someone somebody anyone anybody nobody everything something nothing"
)
_WRONG_AFTER: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("he", "she", "it"), word_set("have are were don't haven't aren't need want like do")),
    **dict.fromkeys(("they", "we"), _FOR_ONE | {"wants", "needs", "likes", "am"}),
    "you": word_set("is was has isn't doesn't hasn't wasn't wants likes am"),
    "i": word_set("is are has does isn't doesn't hasn't wants needs likes"),
    **dict.fromkeys(_ONE_BODY, word_set("have are were don't haven't aren't need want")),
    **dict.fromkeys(("me", "him", "us", "them"), _FOR_ONE | _FOR_MANY | {"need", "needs", "want", "wants"}),
}


# Words after which a subject has no verb that agrees: "did she have", "have everyone do".
_BEFORE_SUBJECT: Final = (
    MODALS
    | DO_FORMS
    | BE_FORMS
    | word_set("have has had let make help see watch lest and or neither nor either")
)


_BEFORE_ANY_SUBJECT: Final = word_set("which what where how then also")
_PRONOUN_FAULTS: Final = word_set(
    "PronounVerbAgreement PronounInflectionBe IAmAgreement IDo HeDos NominalWants HavePronoun"
)


def pronoun_and_verb(text: TaggedText) -> Iterator[Span]:
    """'He have', 'they is', 'everyone are', 'me needs'."""
    for place in text.places_of(frozenset(_WRONG_AFTER)):
        word, verb, before = text.words[place], text.next(place), text.previous(place)
        if verb.low not in _WRONG_AFTER[word.low]:
            continue
        starts = _starts_clause(text, place) or before.low in _BEFORE_ANY_SUBJECT
        if word.low in ("it", *OBJECTS) and not starts:
            continue
        if before.low in _BEFORE_SUBJECT or (
            before.tag in ("NOUN", "ADJ") and (word.low, verb.low) == ("i", "is")
        ):
            continue
        subjunctive = before.low in ("if", "as", "sure", "whether") and verb.low in ("were", "do", "like")
        if subjunctive or (
            before.low == "that" and verb.low in ("were", "do", "like", "have", "need", "want")
        ):
            continue
        yield word.start, verb.end
    for fault in text.harper:
        if fault.rule in _PRONOUN_FAULTS:
            before_fault = [word for word in text.words if word.end < fault.start][-2:]
            # "where current I is 10": a symbol.
            symbol = len(before_fault) == 2 and before_fault[1].text == "I" and before_fault[1].follows
            if not (symbol and before_fault[0].tag in ("NOUN", "PROPN", "ADJ")):
                yield (before_fault[-1].start if before_fault else fault.start), fault.end


def questions(text: TaggedText) -> Iterator[Span]:
    """'Is the rooms free', 'What is the prices', 'Which trains stops'."""
    for place in text.places_of(frozenset({"is", "was", "has", "does", "are", "were"})):
        word, before, determiner = text.words[place], text.previous(place), text.next(place)
        if not word.opens_sentence and (
            before.low not in ("what", "where", "how", "when") or word.low in ("has", "does")
        ):
            continue
        if determiner.low not in ("the", "my", "your", "our", "their", "these", "those"):
            continue
        head = noun_phrase(text, place + 2)
        noun = text.at(head)
        if head < 0:
            continue
        if word.low in ("is", "was", "has", "does"):
            if determiner.low in ("these", "those") or (
                is_plural(noun) and text.next(head).low not in ("and", "or")
            ):
                yield word.start, noun.end
        elif is_singular(noun) and not is_group(noun) and determiner.low not in ("these", "those"):
            rest = {text.at(head + step).low for step in range(1, 6)}
            if rest.isdisjoint(("and", "or")) and "," not in text.at(head + 1).gap:
                yield word.start, noun.end
    for place in text.places_of(frozenset({"which"})):
        word, noun, verb = text.words[place], text.next(place), text.next(place + 1)
        if "," in word.gap or text.previous(place).tag in ("NOUN", "ADP"):
            continue
        if is_plural(noun) and noun.tag == "NOUN":
            wrong = verb.low in _FOR_ONE or (is_third_person(verb) and verb.tag == "VERB")
        else:
            wrong = is_singular(noun) and not is_group(noun) and verb.low in ("are", "were", "have")
        if wrong:
            yield word.start, verb.end


_COLLECTIONS: Final = word_set(
    "lot couple number few dozen hundred variety range series bunch handful total million thousand great "
    "good multitude plethora wide large small group set pair half"
)


def there_is(text: TaggedText) -> Iterator[Span]:
    """'There is three rooms', 'is there any seats', 'there are a room'."""
    for place in text.places_of(frozenset({"there"})):
        before, after = text.previous(place).low, text.next(place).low
        if after in ("is", "was", "isn't", "wasn't", "are", "were"):
            verb, at = after, place + 2
        elif before in ("is", "was", "are", "were"):
            verb, at = before, place + 1
        else:
            continue
        first = text.at(at)
        if not first.follows:
            continue
        head = noun_phrase(text, at + 1)
        noun = text.at(head)
        if verb in ("are", "were"):
            one = first.low in ("a", "an", "one") and text.next(at).low not in _COLLECTIONS
            wrong = one and head >= 0 and is_singular(noun) and text.next(head).low not in ("and", "or", "of")
        elif first.low in NUMBER_WORDS | {"several", "any", "some", "few", "many"} or (
            first.low.isdigit() and first.low != "1"
        ):
            wrong = head >= 0 and is_plural(noun) and text.next(head).low not in ("and", "or")
        else:
            wrong, noun = is_plural(first) and first.tag == "NOUN" and ends_noun_phrase(text, at), first
        if wrong:
            yield text.words[place].start, noun.end


_WANTING: Final = word_set("need needs want wants like wish able trying hoping hope")
_NO_VERB: Final = (
    ARTICLES
    | POSSESSIVES
    | (SUBJECTS - {"it"})
    | word_set("me him us them this these of with from for and at in on")
)
_WANTING_SOMEONE: Final = word_set("want wants need needs like remind reminds help allow enable expect for")
# What comes before an infinitive; "used" and "going" can come before a noun too.
_BEFORE_INFINITIVE: Final = word_set(
    "going able how where what when ready happy supposed set used order is are was"
)
_FINITE: Final = word_set("has is are was were does am")
# Nouns after "want" and "need" that a relative clause can follow: "I want music my kids like".
_MAY_BE_NOUN: Final = MASS_NOUNS | {"help"}


def forms_after_to(text: TaggedText) -> Iterator[Span]:
    """'need to booked', 'like to receiving', 'need to the report', 'like you to has'."""
    for place in text.places_of(frozenset({"to"})):
        word, head, verb, after = text.at(place), text.previous(place), text.next(place), text.next(place + 1)
        if not verb.low or (verb.low == "a" and text.at(place + 2).gap.startswith(")")):
            continue
        before_head = text.previous(place - 1)
        wanting = head.low in _WANTING and not (head.low == "like" and before_head.tag == "NOUN")
        # "I'd like you to worked", "remind me to the gate"; not "ask me to the dance".
        through = head.low in OBJECTS | {"you"} and before_head.low in _WANTING_SOMEONE
        infinitive = head.low in _BEFORE_INFINITIVE
        third = is_third_person(verb) and verb.tag != "ADV"
        inflected = is_past(verb) or is_gerund(verb) or third
        if wanting:
            wrong = inflected or verb.low in _NO_VERB
        elif through:
            wrong = is_past(verb) or third or verb.low in DETERMINERS - {"your", "our", "every"}
        elif infinitive and (is_gerund(verb) or third):
            wrong = verb.tag == "VERB"
        elif is_past(verb):
            wrong = verb.tag == "VERB" and after.low in OBJECT_STARTS - {"this", "that", "all"}
        else:
            wrong = third and verb.tag == "VERB" and after.low in DETERMINERS | OBJECTS
        if wrong or (verb.low in _FINITE and (wanting or through or infinitive)):
            yield head.start if wanting or through else word.start, verb.end
    for fault in text.harper:
        if fault.rule in ("InflectedVerbAfterTo", "ToAdverb", "WantBe"):
            following = next((word for word in text.words if word.start >= fault.end), None)
            # "answers to related questions": the participle belongs to the noun.
            if following is None or not following.follows or following.tag not in ("NOUN", "ADJ", "DATA"):
                yield fault.start, fault.end


def missing_to(text: TaggedText) -> Iterator[Span]:
    """'I want know', 'I would like book a table'."""
    for place in text.places_of(frozenset({"want", "wants", "need", "needs", "like", "wish"})):
        word, verb, before, after = (
            text.words[place],
            text.next(place),
            text.previous(place),
            text.next(place + 1),
        )
        if not (
            verb.text.islower()
            and (before.low in SUBJECTS or before.low in ("would", "i'd", "also", "just", "really"))
        ):
            continue
        if word.low == "like" and before.low not in ("would", "i'd"):
            continue
        has_object = after.low in DETERMINERS | {"me", "it"}
        if verb.low in PURE_VERBS or (verb.low in REQUEST_VERBS - _MAY_BE_NOUN and has_object):
            yield word.start, verb.end


_BETWEEN: Final = word_set("please also not then just kindly quickly first always only")


def forms_after_auxiliary(text: TaggedText) -> Iterator[Span]:
    """'can you finds', 'should updated', 'did the courier delivered', 'could you the invoice'."""
    for place in text.places_of(MODALS | DO_FORMS):
        word, before, subject = text.words[place], text.previous(place), text.next(place)
        if not (word.text.islower() or word.opens_sentence) or before.low in ARTICLES | POSSESSIVES | {
            "this",
            "that",
        }:
            continue
        asks = subject.low in SUBJECTS
        has_subject = (
            asks
            or before.low.split("'")[0] in SUBJECTS
            or (word.low == "don't" and (word.opens_sentence or before.low == "please"))
        )
        at = place + (2 if asks else 1)
        if subject.low in _OWN and word.opens_sentence and text.next(place + 1).tag == "NOUN":
            verb, after = text.next(place + 2), text.next(place + 3)
            if after.low in OBJECT_STARTS and verb.tag == "VERB" and is_past(verb):
                yield word.start, verb.end
            continue
        while text.at(at).follows and text.at(at).low in _BETWEEN:
            at += 1
        verb, after = text.at(at), text.next(at)
        if not verb.follows or not verb.low:
            continue
        has_object = after.low in OBJECT_STARTS or after.tag in ("PRON", "DET")
        if is_past(verb) or is_gerund(verb):
            wrong = (has_subject or (has_object and word.low not in DO_FORMS)) and verb.tag == "VERB"
        elif is_third_person(verb):
            wrong = (has_subject or word.low in MODALS) and (
                verb.tag == "VERB" or (has_subject and has_object)
            )
        else:
            # "Could you me the bill?", "you'll has"
            no_verb = verb.low in DETERMINERS | {"to", "me", "them", "him"}
            wrong = word.low in MODALS and (
                (asks and subject.low == "you" and no_verb) or verb.low in _FINITE
            )
        if wrong:
            yield word.start, verb.end
    yield from harper_faults(
        text, "DidPast", "WillNonLemma", "HelpedPast", "DoubleModal", "ModalOf", "ModalBeAdjective"
    )


def forms_after_please(text: TaggedText) -> Iterator[Span]:
    """'please checking the rooms', 'Please the file', 'let me knows'."""
    for place in text.places_of(frozenset({"please", "kindly"})):
        word, verb, before, after = (
            text.words[place],
            text.next(place),
            text.previous(place),
            text.next(place + 1),
        )
        if before.low in ("to", "say", "says"):
            continue
        if is_gerund(verb) or is_past(verb) or is_third_person(verb):
            wrong = after.low in OBJECT_STARTS or is_gerund(verb)
        elif verb.low in _FINITE:
            wrong = True
        else:
            no_verb = verb.low in (DETERMINERS - {"every"}) | {
                "me",
                "us",
                "him",
                "them",
                "all",
                "these",
                "those",
            }
            wrong = no_verb and (word.opens_sentence or before.low == "you")
        if wrong:
            yield word.start, verb.end
    for place in text.places_of(frozenset({"let", "help"})):
        word, who, verb = text.words[place], text.next(place), text.next(place + 1)
        if who.low in ("me", "us", "him", "them"):
            third = is_third_person(verb) and (
                verb.tag == "VERB" or text.next(place + 2).low in OBJECT_STARTS
            )
            if third or is_past(verb):
                yield word.start, verb.end
    yield from harper_faults(text, "LetToDo", "MakeItSeem", "LooksLikes")


# Participles that are spelled as the base form: "has put", "was set".
_SAME_PARTICIPLE: Final = word_set(
    "cut put set let read cost hit hurt shut split spread cast quit bet rid come run become"
)


def participles(text: TaggedText) -> Iterator[Span]:
    """'have book a flight', 'has been confirm', 'was tell', 'am look for'."""
    for place in text.places_of(word_set("have has had i've we've you've they've")):
        word, verb, after = text.words[place], text.next(place), text.next(place + 1)
        if (
            verb.text.islower()
            and verb.low in REQUEST_VERBS - _SAME_PARTICIPLE
            and after.low in DETERMINERS | {"me", "it"}
        ):
            yield word.start, verb.end
    for place in text.places_of(BE_FORMS):
        word, verb = text.words[place], text.next(place)
        if not verb.text.islower():
            continue
        if verb.low in PURE_VERBS - _SAME_PARTICIPLE or (
            word.low == "am" and verb.low in ("need", "want", "look", "try", "plan", "wish")
        ):
            yield word.start, verb.end
    for place in text.places_of(frozenset({"has"})):
        word, verb = text.words[place], text.next(place + 2)
        asks = word.opens_sentence and text.next(place).low in _OWN and text.next(place + 1).tag == "NOUN"
        base = is_base(verb) and verb.tag in ("VERB", "NOUN") and verb.low not in _SAME_PARTICIPLE
        if asks and base and text.next(place + 3).low in DETERMINERS:
            yield word.start, verb.end
    yield from harper_faults(
        text,
        "SimplePastToPastParticiple",
        "RegularIrregulars",
        "ProgressiveNeedsBe",
        "IsBeenAuxSequence",
        "HowDoesCompared",
    )


def forms_after_preposition(text: TaggedText) -> Iterator[Span]:
    """'before send the bill', 'by check the list'."""
    for place in text.places_of(frozenset({"by", "without", "after", "before", "of", "from"})):
        word, verb, after = text.words[place], text.next(place), text.next(place + 1)
        if verb.text.islower() and verb.low in PURE_VERBS and after.low in DETERMINERS | {"me", "it", "them"}:
            yield word.start, verb.end


def forms_in_series(text: TaggedText) -> Iterator[Span]:
    """'Find the room and sends it', 'Book a table, then emailed me'."""
    start = 0
    for place, word in enumerate(text.words):
        if word.opens_sentence:
            start = place
        if word.low not in ("and", "then") or not text.next(place).text:
            continue
        first = text.words[start]
        if first.low not in REQUEST_VERBS | {"please"} or (
            first.low == "please" and text.next(start).low not in REQUEST_VERBS
        ):
            continue
        between = [other.low for other in text.words[start + 1 : place]]
        if any(
            low in QUESTION_WORDS or low in SUBJECTS - {"it"} or low in ("that", "if", "as")
            for low in between
        ):
            continue
        verb, after = text.next(place), text.next(place + 1)
        known = lemma(verb.low) in REQUEST_VERBS and verb.low not in REQUEST_VERBS
        if (
            known
            and after.low in DETERMINERS | {"me", "it", "them", "him"}
            and (is_past(verb) or is_third_person(verb))
        ):
            yield word.start, verb.end


def harper_faults(text: TaggedText, *rules: str) -> Iterator[Span]:
    """What some of Harper's rules found."""
    return ((fault.start, fault.end) for fault in text.harper if fault.rule in rules)
