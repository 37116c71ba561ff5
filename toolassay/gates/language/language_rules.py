"""The list of the gate "language": what each rule finds, a text that it flags, one that it must not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from toolassay.gates.language import noun_rules, residue_rules, sentence_rules, verb_rules
from toolassay.gates.language.masked_text import Span
from toolassay.gates.language.tagged_words import TaggedText


class LanguageRule(NamedTuple):
    """One entry of the list.

    Attributes:
        name: the name of the rule.
        finds: what it finds, as the start of a reason: "a word is repeated".
        flags: a text that it flags.
        passes: a similar text that no rule flags.
        check: the places of a text that it finds.
        state: "reject" for what no person wrote, "quarantine" for what a person can fix.
    """

    name: str
    finds: str
    flags: str
    passes: str
    check: Callable[[TaggedText], Iterator[Span]]
    state: Literal["quarantine", "reject"] = "quarantine"


def _comparisons(text: TaggedText) -> Iterator[Span]:
    return verb_rules.harper_faults(text, "AdjectiveDoubleDegree", "MoreBetter", "LessWorse")


def _fixed_phrases(text: TaggedText) -> Iterator[Span]:
    return verb_rules.harper_faults(
        text,
        *("AnAnother", "AnotherAn", "AnotherOnes", "AnotherThings", "TheAnother", "TheMy", "TheTheToThatThe"),
        *("SomeWithoutArticle", "TheyToThem"),
    )


RULES: tuple[LanguageRule, ...] = (
    LanguageRule(
        "open place",
        "a place of a template is not filled",
        "Send a reminder to {name}.",
        'Send a reminder to {"name": "Kofi"}.',
        residue_rules.unfilled_places,
        "reject",
    ),
    LanguageRule(
        "missing value",
        "a word stands for a value that is missing",
        "Set the alarm to None.",
        "None of the rooms suits me.",
        residue_rules.missing_values,
        "reject",
    ),
    LanguageRule(
        "left over",
        "a program or a model left this",
        "Sign me up for the course(s) on Friday.",
        "Sign me up for the course on Friday (or Monday).",
        residue_rules.left_overs,
        "reject",
    ),
    LanguageRule(
        "parameter name",
        "a parameter is named as in a program",
        "Find a room with check_in_date 3 May.",
        "Find a room for the user jo_doe.",
        residue_rules.named_parameters,
    ),
    LanguageRule(
        "repeated word",
        "a word is repeated",
        "Book a table at the the harbour.",
        "I know that that table is free.",
        sentence_rules.repeated_words,
    ),
    LanguageRule(
        "repeated phrase",
        "words are repeated",
        "Get the forecast for Bergen for Bergen.",
        "Get the forecast for Bergen and for Oslo.",
        sentence_rules.repeated_phrases,
    ),
    LanguageRule(
        "article clash",
        "two words clash before a noun",
        "Send a the booking to the desk.",
        "Send all the bookings to the desk.",
        noun_rules.clashing_determiners,
    ),
    LanguageRule(
        "article without noun",
        "an article or possessive has no noun",
        "Show me the of my team.",
        "Turn the off switch of the lamp.",
        noun_rules.articles_without_noun,
    ),
    LanguageRule(
        "a or an",
        '"a" and "an" are confused',
        "Add an user to the group.",
        "Add an hour to my shift.",
        noun_rules.a_or_an,
    ),
    LanguageRule(
        "wrong phrase",
        "two words do not go together",
        "Ask for an another room.",
        "Ask for another room.",
        _fixed_phrases,
    ),
    LanguageRule(
        "one and many",
        "a word for one is before a plural",
        "Reserve a rooms with a view.",
        "Reserve a sports hall with a view.",
        noun_rules.articles_before_plural,
    ),
    LanguageRule(
        "this and these",
        "a demonstrative does not fit its noun",
        "Move these booking to Saturday.",
        "Hopefully this works for you.",
        noun_rules.demonstratives,
    ),
    LanguageRule(
        "number and noun",
        "a singular follows a number",
        "Book a table for two guest at seven.",
        "Book the two bedroom flat at seven.",
        noun_rules.counted_singulars,
    ),
    LanguageRule(
        "uncounted noun",
        "a noun is counted that is not, or the reverse",
        "Get me some informations about the visa.",
        "Get me some information about the visa.",
        noun_rules.uncounted_nouns,
    ),
    LanguageRule(
        "noun and verb",
        "a noun and its verb disagree",
        "The invoices is due on Monday.",
        "The list of invoices is due on Monday.",
        verb_rules.noun_and_verb,
    ),
    LanguageRule(
        "pronoun and verb",
        "a pronoun and its verb disagree",
        "He have two dogs.",
        "Let him have two dogs.",
        verb_rules.pronoun_and_verb,
    ),
    LanguageRule(
        "verb of a question",
        "the verb of a question disagrees with its noun",
        "What is the visiting hours?",
        "What is the sales tax?",
        verb_rules.questions,
    ),
    LanguageRule(
        "there is",
        '"there is" and its noun disagree',
        "There is three rooms left.",
        "There are a lot of rooms left.",
        verb_rules.there_is,
    ),
    LanguageRule(
        "case of a pronoun",
        "a pronoun has the form of a subject",
        "Send he the address.",
        "Send what he needs.",
        noun_rules.pronoun_case,
    ),
    LanguageRule(
        "comparison",
        "a comparison is doubled",
        "Find a more cheaper hotel.",
        "Find a much cheaper hotel.",
        _comparisons,
    ),
    LanguageRule(
        "verb after to",
        'no verb in its base form follows "to"',
        "I need to booked the room.",
        "I look forward to booking the room.",
        verb_rules.forms_after_to,
    ),
    LanguageRule(
        "missing to",
        '"to" is missing before a verb',
        "I would like book a table.",
        "I would like music my kids know.",
        verb_rules.missing_to,
    ),
    LanguageRule(
        "verb after auxiliary",
        "no verb in its base form follows an auxiliary",
        "Can you finds a dentist?",
        "Can you find what suits me?",
        verb_rules.forms_after_auxiliary,
    ),
    LanguageRule(
        "verb after please",
        'no verb in its base form follows "please", "let" or "help"',
        "Please checking the tyres.",
        "Please keep checking the tyres.",
        verb_rules.forms_after_please,
    ),
    LanguageRule(
        "participle",
        'no participle follows "have" or "be"',
        "I have book a flight.",
        "I have to book a flight.",
        verb_rules.participles,
    ),
    LanguageRule(
        "verb after preposition",
        "a verb in its base form follows a preposition",
        "Call me before send the bill.",
        "Call me before you send the bill.",
        verb_rules.forms_after_preposition,
    ),
    LanguageRule(
        "verbs in series",
        "the verbs of one request have different forms",
        "Find a room and books it.",
        "Find a service that checks rooms and books them.",
        verb_rules.forms_in_series,
    ),
    LanguageRule(
        "preposition clash",
        "two prepositions clash",
        "Find a table at in a restaurant in Lyon.",
        "Find a table in or near a restaurant in Lyon.",
        sentence_rules.clashing_prepositions,
    ),
    LanguageRule(
        "broken end",
        "a sentence breaks off",
        "Book the flight and send me the.",
        "Which hotel did I stay at?",
        sentence_rules.broken_ends,
    ),
    LanguageRule(
        "missing noun",
        "a noun is missing",
        "Find a hotel in and send me the address.",
        "Search for and send me the address.",
        sentence_rules.broken_middles,
    ),
    LanguageRule(
        "open mark",
        "a quotation mark or bracket has no partner",
        'Read the note "call Anna to me.',
        "Measure the guests' 15\" screen (the old one).",
        sentence_rules.unbalanced_marks,
    ),
    LanguageRule(
        "empty quotation",
        "a quotation or bracket is empty",
        'Search for the word "" in my notes.',
        'Search for "a" and "b" in my notes.',
        sentence_rules.empty_quotations,
    ),
    LanguageRule(
        "punctuation",
        "marks of punctuation clash",
        "Set a timer for the pasta,, please.",
        "Wait... at 5 p.m., stop!",
        sentence_rules.double_marks,
    ),
    LanguageRule(
        "lower case",
        "a sentence starts in lower case",
        "Book the room. then send me the bill.",
        "Book the room approx. then.",
        sentence_rules.lower_starts,
    ),
)
