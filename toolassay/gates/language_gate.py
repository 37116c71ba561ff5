"""The gate "language": what a template, a program or a model left in a request, in any language.

It does not judge grammar, spelling or style.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from toolassay.gates.gate import Finding, RuleGate, shown
from toolassay.plans.gold import Gold
from toolassay.records.dataset import WORK_ORDER_OPENINGS

# Longer requests are pasted documents: only their start is read.
LONGEST = 5_000
# More findings of one rule are the same defect again.
_MOST = 3

# "{name}", "${team}", "$language", "<city>", "<node-0>", "%s", "%(n)s", "[INSERT NAME]", "[room_name]",
# "[object Object]", "__SONG__", "____"; not "{}", "$30", "<3", "5 %", "[1, 2]", "[see below]", "__init__.py".
_PLACEHOLDER = re.compile(
    r"""
      \$?\{\{?\s?[A-Za-z_][\w .-]{0,40}\}?\}
    | (?<![\w$])\$[a-z_]\w{2,40}
    | <\s?[A-Za-z][\w .-]{0,40}>
    | %\([a-z_]{1,30}\)s | (?<![\w%])%[sd](?!\w)
    | \[(?i:insert|your|enter|add|fill|placeholder|todo|tbd|object)\b[\w .'-]{0,40}\]
    | \[[a-z]{2,20}(?:_[a-z]{1,20}){0,4}\]
    | \[[A-Z]{3,}(?:[\ _][A-Z]{2,}){0,3}\]
    | (?<!\w)__[A-Za-z]\w{1,40}__(?![\w.]) | (?<!\w)_{3,}(?!\w)
    | (?i:\blorem\ ipsum\b) | (?P<mark>['"`])(?:undefined|null|None|NaN|TODO|TBD|string)(?P=mark)
    """,
    re.VERBOSE,
)
# What every placeholder has: most texts have none, and need not be searched for all. Alternatives of which
# each begins with a letter are found six times as fast as others.
_MARK = re.compile(
    r"\{|\$|<|\[|%|__|l(?i:orem)|L(?i:orem)"
    + "".join(rf"|{mark}(?:undefined|null|None|NaN|TODO|TBD|string)" for mark in "'\"`")
)
# What writers mean: "[sic]", and tags of HTML such as "<b>" and "<td>".
_NO_PLACEHOLDER = re.compile(
    r"\[(?:sic|see)\b|</?(?:a|b|i|u|p|br|hr|em|li|ul|ol|div|span|strong|code|pre|table|tr|td|th|html|head|body|img"
    r"|title|h[1-6])\b",
    re.IGNORECASE,
)
# A list or an assignment of a program: "['a', 'b']", "notify=True"; not "[1, 2]", "a == b", "x=3".
_OF_A_PROGRAM = re.compile(
    r"\[\s?'[^'\]]{1,60}'(?:,\s?'[^'\]]{1,60}'){0,9}\s?\]|\b\w{2,30}=(?:True|False|None|null|true|false)\b"
)
# A key of JSON: '"city":'; not 'said "yes": go'.
_JSON_KEY = re.compile(r"[{,]\s*[\"']([\w-]{1,60})[\"']\s*:")
# A name that only programs write so: "check_in_date", "roomType"; not "date" nor "iPhone 12".
_PROGRAM_NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]{2,}(?:[A-Z][a-z]+)+")
# Not a part of an address, a file or a quotation: "check_in_date" in "with check_in_date 3".
_WORD_OF_REQUEST = re.compile(r"(?<![\w./\\@#:'\"`“-])\w+(?![\w/\\@'\"`”-]|\.\w)")
# A quotation, whose text may repeat itself or be in any script.
_QUOTATION = re.compile(r"\"[^\"\n]{1,500}\"|“[^”\n]{1,500}”|'(?<!\w')[^'\n]{1,500}'(?!\w)|`[^`\n]{1,500}`")
# A word with letters of Latin and of Cyrillic or Greek, which look alike: "Pаris" with a Cyrillic a.
# Also the mark of a character that could not be decoded. Not "µm" nor "kΩ".
_MIXED = re.compile(
    r"\b(?=\w*[A-Za-z]{2})\w*[\u0400-\u052f\u0391-\u03a1\u03b1-\u03bb\u03bd-\u03c8]\w*|\ufffd"
)
# Words repeated at once: "for Bergen for Bergen"; not "in Bora Bora", and "that that" may be right.
_REPEATED = re.compile(r"(?<![\w'’-])([^\W\d_]+(?:\s[\w'’]+){1,7}?)\s+\1(?![\w'’-])")
# "See Dr. Tanaka" is in one sentence: a short word with a capital before the full stop is an abbreviation.
_SENTENCE = re.compile(r"[^.!?\n\0。！？]+(?:(?<=\b[A-Z][a-z])\.[^.!?\n\0。！？]+)*")
# Words from which a sentence that occurs twice is no accident.
_LONG_SENTENCE = 5

Rule = Literal["placeholder", "program text", "parameter name", "mixed script", "repeated text"]
_REASONS: dict[Rule, str] = {
    "placeholder": "a placeholder is not filled",
    "program text": "this is written as in a program",
    "parameter name": "a parameter is named as in a program",
    "mixed script": "the letters are of two scripts or unreadable",
    "repeated text": "a text is repeated",
}


class LanguageFinding(NamedTuple):
    """A defect of a text: the rule, the reason, and the place of the words at fault."""

    rule: Rule
    reason: str
    start: int
    end: int


def language_findings(text: str, parameters: Collection[str] = ()) -> list[LanguageFinding]:
    """The defects of a text, of which the first 5,000 characters are read.

    Args:
        text: a request.
        parameters: names of parameters that it must not use as a program does.

    >>> [found.reason for found in language_findings("Book a room in {city} for two for two.")]
    ["a placeholder is not filled: '{city}'", "a text is repeated: 'for two for two'"]
    >>> language_findings("Zimmer mit check_in_date 3. Mai", ["check_in_date"])[0].rule
    'parameter name'
    """
    text = text[:LONGEST]
    counts: Counter[Rule] = Counter()
    findings = []
    for rule, start, end in _spans(text, parameters):
        counts[rule] += 1
        if counts[rule] <= _MOST:
            reason = f"{_REASONS[rule]}: {shown(text[start:end].strip())}"
            findings.append(LanguageFinding(rule, reason, start, end))
    return findings


def _spans(text: str, parameters: Collection[str]) -> Iterator[tuple[Rule, int, int]]:
    for start, end in placeholders(text):
        yield "placeholder", start, end
    for match in _OF_A_PROGRAM.finditer(text) if "=" in text or "[" in text else ():
        yield "program text", *match.span()
    for match in _JSON_KEY.finditer(text):
        if match[1] in parameters:
            yield "program text", *match.span(1)
    names = {name for name in parameters if name in text and _PROGRAM_NAME.fullmatch(name)}
    for match in _WORD_OF_REQUEST.finditer(text) if names else ():
        if match.group() in names:
            yield "parameter name", *match.span()
    unquoted = _QUOTATION.sub(lambda match: "\0" * len(match.group()), text)
    for match in () if unquoted.isascii() else _MIXED.finditer(unquoted):
        yield "mixed script", *match.span()
    if text.startswith(WORK_ORDER_OPENINGS):  # a list of labels repeats by nature
        return
    for match in _REPEATED.finditer(unquoted) if _may_repeat(unquoted.split()) else ():
        # "again and again and again": the run goes on, so that it is meant.
        run = match[1].split()
        before = unquoted[: match.start()].split()
        after = unquoted[match.end() :].split()
        if run[-1:] != before[-1:] and run[0] != "".join(after[:1]).strip(".,;!?"):
            yield "repeated text", *match.span()
    earlier: set[tuple[str, ...]] = set()
    for match in _SENTENCE.finditer(unquoted):
        sentence = tuple(match.group().casefold().split())
        if len(sentence) >= _LONG_SENTENCE and sentence in earlier:
            yield "repeated text", *match.span()
        earlier.add(sentence)


def _may_repeat(words: list[str]) -> bool:
    """Whether two words occur again at most eight words later: a run that is repeated takes long to find."""
    last: dict[tuple[str, str], int] = {}
    for position, pair in enumerate(pairwise([word.strip(".,;:!?()…") for word in words])):
        if position - last.get(pair, -9) <= 8:
            return True
        last[pair] = position
    return False


def placeholders(text: str) -> Iterator[tuple[int, int]]:
    """The placeholders of a template that nothing filled, as (start, end).

    >>> text = "Mail {name} at %s, not <b>[sic]</b>"
    >>> [text[start:end] for start, end in placeholders(text)]
    ['{name}', '%s']
    """
    for match in _PLACEHOLDER.finditer(text) if _MARK.search(text) else ():
        if _NO_PLACEHOLDER.match(match.group()) is None:
            yield match.span()


class LanguageGate(RuleGate):
    """Rejects requests and steps with placeholders; quarantines requests with other residue.

    >>> from toolassay.tools.library import Tool, ToolLibrary
    >>> from toolassay.gates.gate import Background
    >>> gate = LanguageGate(Background(ToolLibrary([Tool("book")]), "temporal"))
    >>> gate.check(Gold.of({"id": 1, "user_request": "Book me a room.", "task_nodes": [{"task": "book"}]}))
    []
    """

    name = "language"
    judges = frozenset({"request"})
    goes_to = "request"

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each defect of the request, and for the first placeholder of each step."""
        steps = [
            Finding(
                self.name,
                "reject",
                f"{_REASONS['placeholder']}: {shown(step[start:end])}",
                f"task_steps[{number}]",
            )
            for number, step in enumerate(gold.steps)
            for start, end in list(placeholders(step[:LONGEST]))[:1]
            if not step[start:end].startswith("<node")
        ]
        if not gold.request.strip():
            return steps or [Finding(self.name, "not applicable", "there is no request")]
        names = {
            parameter.name
            for node in gold.nodes
            if node.tool in self.background.library
            for parameter in self.background.library[node.tool].parameters
        }
        findings = [
            Finding(
                self.name,
                "reject" if defect.rule == "placeholder" else "quarantine",
                defect.reason,
                "user_request",
            )
            for defect in language_findings(gold.request, names)
        ]
        return [*findings, *steps]
