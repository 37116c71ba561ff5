"""The gate "language": is the request sound English?

It finds defects that a reader sees at once: repeated words, clashing articles, broken agreement, residue
of templates, sentences that break off, parameters that are named. It does not judge spelling and style.
The rules are listed in `language_rules.RULES`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from toolassay.gates.gate import Background, Finding, shown
from toolassay.gates.language.language_rules import RULES
from toolassay.gates.language.masked_text import mask
from toolassay.gates.language.residue_rules import open_places
from toolassay.gates.language.tagged_words import tagged
from toolassay.gold import Gold
from toolassay.text_values.vocabulary import word_set

if TYPE_CHECKING:
    from simplemma import LanguageDetector

# Longer requests are pasted documents: the rules read their start.
LONGEST: Final = 5_000
# Rules that a text that was cut breaks.
_OF_WHOLE_TEXTS: Final = frozenset({"broken end", "open mark"})
# Share of a text's words that the English dictionary must have. In 26,000 English requests the least is 0.5
# (short ones with names); Dutch, French, German, Italian, Polish and Spanish ones have at most 0.4.
_ENGLISH: Final = 0.5
# Spanish and French share up to nine words in ten with the dictionary if they are short: "Reserva una mesa
# para dos".
_SURELY_ENGLISH: Final = 0.9
_FUNCTION_WORDS: Final = word_set(
    "the an my your our their this these those what which who how when where is are was to for of in on "
    "with and or at by from about it i'd i'm i please can could would should into all any some there"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# More findings of one rule are the same defect once more.
_MOST: Final = 3
_WHERE: Final = "user_request"


class LanguageFinding(NamedTuple):
    """A defect of a text.

    Attributes:
        rule: the name of the rule.
        state: "reject" for what no person wrote, "quarantine" for what a person can fix.
        reason: a sentence that quotes the words at fault.
        start: place of the first character at fault.
        end: place after the last one.
    """

    rule: str
    state: Literal["quarantine", "reject"]
    reason: str
    start: int
    end: int


def language_findings(text: str, parameter_names: Collection[str] = ()) -> list[LanguageFinding]:
    """The defects of an English text, in the order of the rules; none if the text is not English.

    Only the first 5,000 characters are read. The first call takes about a second.

    Args:
        text: a request.
        parameter_names: parameters of the tools that it may name, so that `user_id` is found even after a
            word such as "column".

    >>> [found.reason for found in language_findings("Book a the table. then call me.")]
    ["two words clash before a noun: 'a the'", "a sentence starts in lower case: 'e. then'"]
    >>> language_findings("Reserva una mesa para dos")
    []
    """
    return _findings(text, parameter_names) if is_english(text) else []


def _findings(text: str, parameter_names: Collection[str]) -> list[LanguageFinding]:
    was_cut, text = len(text) > LONGEST, text[:LONGEST]
    read = tagged(text, frozenset(parameter_names))
    findings = []
    for rule in RULES:
        if was_cut and rule.name in _OF_WHOLE_TEXTS:
            continue
        spans = dict.fromkeys((max(0, start), min(len(text), end)) for start, end in rule.check(read))
        for start, end in list(spans)[:_MOST]:
            reason = f"{rule.finds}: {shown(text[start:end].strip())}"
            findings.append(LanguageFinding(rule.name, rule.state, reason, start, end))
    return findings


def is_english(text: str) -> bool:
    """Whether the rules can judge a text: its words are English, quotations and names of files aside.

    >>> is_english("Book a table at 'Chez Nous'"), is_english("Zeig mir alle offenen Rechnungen")
    (True, False)
    """
    masked = mask(text[:LONGEST])
    data = {start for start, _ in masked.spans}
    words = [match.group() for match in _WORD.finditer(masked.text) if match.start() not in data]
    if not words:
        return bool(masked.spans) or not text.strip()
    share = _detector().proportion_in_target_languages(" ".join(words[:200]))
    if share >= _SURELY_ENGLISH:
        return True
    return share >= _ENGLISH and any(word.lower().replace("’", "'") in _FUNCTION_WORDS for word in words)


@lru_cache(maxsize=1)
def _detector() -> LanguageDetector:
    """`simplemma.in_target_language` for English, which remembers the words that it looked up."""
    from simplemma import LanguageDetector  # late: its dictionary takes a quarter of a second to load
    from simplemma.strategies import DefaultStrategy

    class Remembers(DefaultStrategy):
        get_lemma = lru_cache(maxsize=65_536)(DefaultStrategy.get_lemma)

    return LanguageDetector("en", lemmatization_strategy=Remembers())


class LanguageGate:
    """Holds back requests whose English is broken.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> gate = LanguageGate(Background(ToolLibrary([Tool("book")]), "temporal"))
    >>> plan = [{"task": "book"}]
    >>> gate.check(Gold.of({"id": 1, "user_request": "Book me a room.", "task_nodes": plan}))
    []
    >>> label = {"id": 1, "user_request": "Book me a rooms.", "task_nodes": plan}
    >>> gate.check(Gold.of(label))[0].reason
    "a word for one is before a plural: 'a rooms'"
    """

    name = "language"

    def __init__(self, background: Background) -> None:
        self._library = background.library

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each defect of the request, and for each open place of the steps."""
        steps = [
            Finding(
                self.name, "reject", f"a place of a template is not filled: {shown(step[start:end])}", where
            )
            for place, step in enumerate(gold.steps)
            for where in (f"task_steps[{place}]",)
            for start, end in list(open_places(step[:LONGEST]))[:1]
            if not step[start:end].startswith("<node")
        ]
        if not gold.request.strip():
            return steps or [Finding(self.name, "not applicable", "there is no request")]
        if not is_english(gold.request):
            reason = "the request is not in English, whose rules alone the gate knows"
            return steps or [Finding(self.name, "not applicable", reason, _WHERE)]
        names = {
            parameter.name
            for node in gold.nodes
            if node.tool in self._library
            for parameter in self._library[node.tool].parameters
        }
        findings = [
            Finding(self.name, found.state, found.reason, _WHERE) for found in _findings(gold.request, names)
        ]
        if not findings and not steps and len(gold.request) > LONGEST:
            reason = f"only the first {LONGEST:,} characters of the request were read; they have no defect"
            return [Finding(self.name, "not applicable", reason, _WHERE)]
        return [*findings, *steps]
