"""The gate: the rules on the masked request, and those of Harper, a grammar checker."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from toolassay.english.vocabulary import words
from toolassay.gates.gate import Background, Finding, State, shown
from toolassay.gates.language.residue import RESIDUE, residue
from toolassay.gates.language.rules import RULES
from toolassay.gates.language.text import DATA, RequestText
from toolassay.gold import Gold

if TYPE_CHECKING:
    from harper import Linter

HARPER = {
    "AnA": "clashing articles",
    "MassNouns": "clashing articles",
    "TheMy": "clashing articles",
    "PronounVerbAgreement": "broken agreement",
    "PronounInflectionBe": "broken agreement",
}
"""The rules of Harper that find what the rules here do not, and which kind of defect it is."""
_NAME = "Sam"
"""What stands for data: a name, which agrees with what is said of it."""
# "an historical" and "an sms" are written so too.
_SPARED = re.compile(
    r"(?i)^an? (?:histor|hotel|sms|mri|html|ssh|sql|rss|xml|http|nft|ml|llm|nda|rfp|sos|fbi|hr)"
)
_UNCOUNTED = words("uncounted")
_SMALL = words("determiners") | words("prepositions") | words("small words")
_FEWEST_SMALL = 0.12  # share of function words in a request, below which it is taken for another language
_FEWEST_WORDS = 8


class LanguageDefect(NamedTuple):
    """A defect: its kind, what is wrong, and whether no person would write it (a residue)."""

    kind: str
    reason: str
    is_residue: bool = False


@cache
def _linter() -> Linter:
    from harper import Linter  # takes a quarter of a second

    linter = Linter()
    linter.set_lint_config({name: name in HARPER for name in linter.get_lint_config()})
    return linter


def is_english_text(text: RequestText) -> bool:
    """Whether a request is in English; True if it is too short to decide."""
    row = [token.word for sentence in text.sentences for token in sentence if token.text.isalpha()]
    foreign = sum(not word.isascii() for word in row)
    if len(row) < _FEWEST_WORDS:
        return foreign * 2 <= len(row)
    return sum(word in _SMALL for word in row) >= _FEWEST_SMALL * len(row) and foreign * 3 < len(row)


def language_findings(request: str, parameters: Collection[str] = ()) -> list[LanguageDefect]:
    """What is wrong with the English of a request; nothing if it is in another language.

    Args:
        request: The text.
        parameters: Names of the parameters of the plan's tools, which a request must not name.

    >>> [one.kind for one in language_findings("Cancel a the booking for Friday.")]
    ['clashing articles']
    >>> language_findings("Cancel the booking for Friday.")
    []
    """
    text = RequestText.of(request)
    found = [LanguageDefect(RESIDUE, reason, True) for reason in residue(text.text, text.masked)]
    found += [LanguageDefect("names a parameter", one) for one in _named_parameters(request, parameters)]
    if not is_english_text(text):
        return found
    for rule in RULES:
        found += [LanguageDefect(rule.kind, reason) for reason in rule.find(text)]
    if not any(one.kind in HARPER.values() for one in found):
        found += _by_harper(text)
    return found


def _by_harper(text: RequestText) -> Iterator[LanguageDefect]:
    plain = re.sub(rf"{DATA}\ue001*", _NAME, text.masked)
    for name, lints in _linter().organized_lints(plain, language="plaintext").items():
        for lint in lints:
            around = plain[lint.span.start : lint.span.end + 16]
            is_letter = around[:1] == "A" and lint.span.start > 0  # "bank A and": a name
            if not is_letter and _NAME not in around and not _SPARED.search(around):
                if name != "MassNouns" or _UNCOUNTED & set(lint.problem_text.lower().split()):
                    yield LanguageDefect(HARPER[name], f"{shown(around.strip())}: {lint.message}")


# "in_stock", "roomType": a name that no sentence has; not "room".
_IDENTIFIER = re.compile(r"\w+_\w+|[a-z]+[A-Z]\w*")
# "the parameter 'x'", "the argument x"; not "an argument with my landlord".
_SAID = re.compile(
    r"\b(?:parameters?|arguments?|query string)\b (?:named |called )?['\"`]?[A-Za-z_]\w*['\"`]?",
    re.IGNORECASE,
)


def _named_parameters(request: str, parameters: Collection[str]) -> Iterator[str]:
    named = {name for name in parameters if _IDENTIFIER.fullmatch(name)}
    for match in _IDENTIFIER.finditer(request):
        if match[0] in named:
            yield f"it names the parameter {shown(match[0])}"
            return
    said = _SAID.search(request)
    if said and any(re.search(rf"\b{re.escape(name)}\b", said[0]) for name in parameters):
        yield f"it says {shown(said[0])}"


class LanguageGate:
    """Quarantines requests that are not sound English, and rejects those with residue of a template.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> gate = LanguageGate(Background(ToolLibrary([Tool("fly")]), "temporal"))
    >>> gate.check(Gold.of({"id": 1, "user_request": "Get me to {city}"}))[0].state
    'reject'
    """

    name = "language"

    def __init__(self, background: Background) -> None:
        self._library = background.library

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each defect."""
        tools = [self._library[node.tool] for node in gold.nodes if node.tool in self._library]
        names = {parameter.name for tool in tools for parameter in tool.parameters}
        stated = str([node.arguments for node in gold.nodes])
        names = {name for name in names if f"'{name}'" not in stated.replace(f"'name': '{name}'", "")}
        found = language_findings(gold.request, names)
        if not found and not is_english_text(RequestText.of(gold.request)):
            return [Finding(self.name, "not applicable", "the request is not in English", "user_request")]
        return [self._finding(one) for one in found]

    def _finding(self, defect: LanguageDefect) -> Finding:
        state: State = "reject" if defect.is_residue else "quarantine"
        return Finding(self.name, state, f"{defect.kind}: {defect.reason}", "user_request")
