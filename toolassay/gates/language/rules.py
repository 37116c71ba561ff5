"""The stated list of rules: each finds one kind of defect, with an example of what it finds and what it must not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from toolassay.gates.language import agreement, clauses, forms
from toolassay.gates.language.sentences import Sentence
from toolassay.gates.language.text import RequestText


class LanguageRule(NamedTuple):
    """A rule.

    Attributes:
        kind: The kind of defect.
        name: What it finds.
        wrong: A request in which it finds something.
        right: A similar one in which it finds nothing.
        find: Yields what is wrong, in words of the request.
    """

    kind: str
    name: str
    wrong: str
    right: str
    find: Callable[[RequestText], Iterator[str]]


def _each(rule: Callable[[Sentence], Iterator[str]]) -> Callable[[RequestText], Iterator[str]]:
    def find(text: RequestText) -> Iterator[str]:
        for sentence in text.sentences:
            yield from rule(sentence)

    return find


RULES: tuple[LanguageRule, ...] = (
    LanguageRule(
        "repeated words",
        "a word or a pair of words twice in a row",
        "Book the the room.",
        "I hope that that room is free.",
        _each(clauses.repeated),
    ),
    LanguageRule(
        "clashing articles",
        "two determiners in a row",
        "Cancel a the booking.",
        "Pay all the invoices.",
        _each(clauses.clashing),
    ),
    LanguageRule(
        "clashing articles",
        "an article without a noun",
        "Get the of the guest.",
        "Get the in-house phone number.",
        _each(clauses.bare_article),
    ),
    LanguageRule(
        "broken agreement",
        "number of determiner and noun",
        "Reserve a rooms in Oslo.",
        "Write a sales report.",
        _each(agreement.number),
    ),
    LanguageRule(
        "broken agreement",
        "'many' and 'much'",
        "Give me many information.",
        "Give me much information.",
        _each(agreement.measure),
    ),
    LanguageRule(
        "broken agreement",
        "subject and verb",
        "The invoices is overdue.",
        "The invoice of the guests is overdue.",
        _each(agreement.verb_agreement),
    ),
    LanguageRule(
        "broken agreement",
        "'there is' and its subject",
        "There is three rooms.",
        "There is a room.",
        _each(agreement.there_is),
    ),
    LanguageRule(
        "broken agreement",
        "a question and its subject",
        "What are the price of it?",
        "What are the prices of it?",
        _each(agreement.question),
    ),
    LanguageRule(
        "broken agreement",
        "pronoun and verb",
        "She need the file today.",
        "Let her know, he needs it.",
        _each(agreement.pronoun),
    ),
    LanguageRule(
        "wrong form",
        "a verb after 'to', 'please' or a modal verb",
        "I want to booked a table.",
        "I look forward to meeting the team.",
        _each(forms.verb_form),
    ),
    LanguageRule(
        "wrong form",
        "a verb after 'have'",
        "The parcel has arrive.",
        "The parcel has arrived.",
        _each(forms.perfect),
    ),
    LanguageRule(
        "wrong form",
        "a pronoun after a preposition",
        "Send it to I.",
        "Send it to me and I will read it.",
        _each(forms.pronoun_case),
    ),
    LanguageRule(
        "truncated clause",
        "a sentence that ends before its end",
        "Get the weather in Oslo and.",
        "Tell me which room it is in.",
        _each(clauses.cut_off),
    ),
    LanguageRule(
        "truncated clause",
        "a missing word",
        "Book a flight from to Oslo.",
        "Book a flight from Lima to Oslo.",
        _each(clauses.missing_word),
    ),
    LanguageRule(
        "truncated clause",
        "punctuation",
        "Send the file to , please.",
        "Send the file, please.",
        clauses.punctuation,
    ),
    LanguageRule(
        "truncated clause",
        "a sentence with a small first letter",
        "The room is free. book it now.",
        "The room is free. iPhone users like it.",
        clauses.small_start,
    ),
)
