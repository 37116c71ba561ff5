"""The gate "grounding": is every value of a plan grounded in the request or in an earlier output?

- *Pass*: the value is in the text, exactly or by a normalisation that is certain: case, spacing, the spelling
  of numbers, dates, times, units; or all its content words are, in any form and order.
- *Reject*: the text states a value for the slot, and the plan has another (`rivals`, `slot_checks`).
- *Quarantine*: anything else: inference, synonyms, derived dates, knowledge of the world.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from toolassay.argument_values.allowed_values import allowed_values
from toolassay.gates.gate import Background, Finding, RuleGate
from toolassay.gates.grounding import normalization
from toolassay.gates.grounding.normalization import PlanLiteral, literals_of
from toolassay.gates.grounding.slot_checks import slot_faults
from toolassay.gates.grounding.source_text import SourceText
from toolassay.gates.grounding.value_parts import ValuePart, rivals, take_parts
from toolassay.gates.references import leaves
from toolassay.plans.gold import Gold, GoldNode
from toolassay.text_values.dates import find_days
from toolassay.text_values.numbers import currency_words
from toolassay.text_values.vocabulary import WEEKDAYS, plain, with_digits
from toolassay.tools.argument_schemas import schema_at, type_name
from toolassay.tools.library import Parameter

_AROUND = " \t\r\n'\"`“”‘’«».,;:!?()[]{}<>*"
# ".5", whose point is no punctuation; not ".a".
_DECIMAL = re.compile(r"\.\d")
_BETWEEN_REFERENCES = re.compile(r"<node-\d+>")
_MOST_WORDS = 2000


class Doubt(NamedTuple):
    """Why a value is held back.

    Attributes:
        state: "reject" for a truth value that the text contradicts.
        reason: what is not grounded, with "{it}" for the text.
        missing: the exact parts that are not in the text, as (kind, spelling).
        choice: another listed value of the slot, which the text has.
    """

    state: Literal["quarantine", "reject"]
    reason: str
    missing: tuple[tuple[str, str], ...] = ()
    choice: str = ""


def judge(value: str, source: SourceText) -> Doubt | None:
    """What is not grounded in a value; None if all of it is.

    >>> source = SourceText("Change its colour to red, and mail it to Anne on 17 October")
    >>> judge("changing the colours to red", source), judge("2026-10-17", source)
    (None, None)
    >>> judge("change the colour to blue", source).reason
    "'blue' of 'change the colour to blue' is not in {it}"
    >>> judge("a@x.org", source).missing
    (('email', 'a@x.org'),)
    """
    if "<node-" in value and len(pieces := _BETWEEN_REFERENCES.split(value)) > 1:
        return next(filter(None, (judge(piece, source) for piece in pieces)), None)
    text = value.strip()
    bare = text.strip(_AROUND) if not _DECIMAL.match(text) else text.rstrip(_AROUND)
    if not any(character.isalnum() for character in bare):
        return None
    # "tell us" does not state "US".
    if source.states(bare) if not _is_short_name(bare) else normalization.stands_in(bare, source.text):
        return None
    if any(_is_stated(name, source) for name in normalization.other_names(plain(bare))):
        return None
    if len(bare) == 3 and any(_is_stated(word, source) for word in currency_words(bare)):
        return None
    spelled = plain(bare)
    row = f" {' '.join(normalization.words_in(spelled))} "
    has_exact = re.search(r"[\d@]|\w[./]\w", spelled)
    if has_exact is None and row in source.word_row and not _is_short_name(bare):
        return None
    spelled = with_digits(spelled)
    parts, rest = take_parts(spelled, source)
    wrong = [part for part in parts if not part.known]
    words = [word for word in normalization.words_in(rest)[:_MOST_WORDS] if normalization.is_content(word)]
    foreign = [word for word in dict.fromkeys(words) if not _is_known(word, spelled, source)]
    if not words and not parts:
        return Doubt("quarantine", f"'{shorten(value)}' is not in {{it}}")
    return _held(value, [*wrong, *(ValuePart(word, False) for word in foreign)]) if wrong or foreign else None


def _is_short_name(text: str) -> bool:
    return text.isupper() and not normalization.is_content(text.casefold())


def _is_known(word: str, text: str, source: SourceText) -> bool:
    """Whether the source has a word in any form, or it is the weekday of a day of the value or the source."""
    if source.has_word(normalization.key_of(word)) or source.has_lemma(word):
        return True
    if word[:3] not in {day[:3] for day in WEEKDAYS}:
        return False
    days = (*source.days, *(day for _, days in find_days(text) for day in days))
    names = {day.weekday for day in days} | {day for day in WEEKDAYS if source.states(day)}
    return any(name is not None and word in (name, name[:3]) for name in names)


def _is_stated(name: str, source: SourceText) -> bool:
    if not name[:1].isalpha():
        return name in source.plain
    return source.states(name) or source.has_word(normalization.key_of(name))


def _held(value: str, parts: list[ValuePart]) -> Doubt:
    texts = [part.text for part in parts]
    named = ", ".join(f"'{shorten(text)}'" for text in texts[:5])
    of = "" if len(texts) == 1 and plain(value).strip(_AROUND) == texts[0] else f" of '{shorten(value)}'"
    named = f"'{shorten(value)}'" if not of else named
    remark = next((part.remark for part in parts if part.remark), "")
    verb = "is" if len(texts) == 1 else "are"
    missing = tuple((part.kind, part.text) for part in parts if part.kind)
    return Doubt("quarantine", f"{named}{of} {verb} not in {{it}}{f': {remark}' if remark else ''}", missing)


def shorten(text: str, most: int = 60) -> str:
    """A text on one line, cut in the middle to `most` characters.

    >>> shorten("a" * 100, 9)
    'aaaa…aaaa'
    """
    text = " ".join(text[:10_000].split())
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


_YES_OR_NO = frozenset({"true", "false", "yes", "no", "on", "off", "none", "null"})
_OPPOSITE = {"true": "false", "false": "true"}
_BOOLEAN = frozenset({"bool", "boolean"})


class _Slot(NamedTuple):
    """What a parameter declares about its values: whether boolean, the allowed ones, the default."""

    is_boolean: bool
    allowed: tuple[str, ...]
    default: object


class GroundingGate(RuleGate):
    """Holds back plans with values that are not grounded.

    A value may be in the request, or in the `output` of an earlier node, in other words. Of a list or an
    object, each value in it counts. A choice needs no grounding: true and false, the default of a parameter,
    and an allowed value as long as the request names no other one.

    >>> from toolassay.tools.library import Tool, ToolLibrary
    >>> gate = GroundingGate(Background(ToolLibrary([Tool("fly")]), "temporal"))
    >>> plan = [{"task": "fly", "arguments": [{"name": "to", "value": "Rome"}]}]
    >>> gate.check(Gold.of({"id": 1, "user_request": "Get me to rome", "task_nodes": plan}))
    []
    >>> (found,) = gate.check(Gold.of({"id": 1, "user_request": "Get me to Oslo", "task_nodes": plan}))
    >>> found.state, found.reason
    ('quarantine', "'to': 'Rome' is not in the request")
    """

    name = "grounding"
    judges = frozenset({"request", "values"})
    goes_to = "request"

    def __init__(self, background: Background) -> None:
        super().__init__(background)
        self._library = background.library
        self._slots: dict[tuple[str, str, tuple[str | int, ...]], _Slot] = {
            (tool.id, parameter.name, ()): _slot_of(parameter)
            for tool in background.library
            for parameter in tool.parameters
        }

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each value that is not grounded."""
        if not gold.has_arguments:
            return [Finding(self.name, "not applicable", "the plan has no arguments")]
        request = SourceText(gold.request)
        literals = list(literals_of(gold))
        # All values of the plan, and the words of its tools' names, one a line.
        names = (node.tool.replace("_", " ") for node in gold.nodes)
        used = SourceText("\n".join([*(str(literal.value) for literal in literals), *names]))
        findings = []
        for literal in literals:
            if (doubt := self._doubt(literal, request)) is None:
                continue
            it = "the request"
            if outputs := _outputs_before(gold, literal.node):
                doubt = self._doubt(literal, SourceText("\n".join([gold.request, *outputs])))
                it = "the request, nor in what earlier calls gave"
            if doubt is not None:
                state = doubt.state
                reason = doubt.reason.replace("{it}", it)
                if stated := _stated_instead(doubt, request, used):
                    state = "reject"
                    reason = reason if stated in reason else f"{reason}: it says {stated}"
                slot = f"'{literal.parameter}': " if literal.parameter else ""
                findings.append(Finding(self.name, state, f"{slot}{reason}", literal.where))
        faults = {fault.where: fault for fault in slot_faults(gold, literals, request)}
        kept = [finding for finding in findings if finding.where not in faults or finding.state == "reject"]
        return [*kept, *(Finding(self.name, *fault) for fault in faults.values())]

    def _inner(self, literal: PlanLiteral) -> _Slot | None:
        """What the library declares about a place inside of an argument."""
        schema = self._library[literal.node.tool].input_schema if literal.node.tool in self._library else None
        # The items of a list have one declaration.
        path = tuple(0 if isinstance(part, int) else part for part in literal.place if schema is not None)
        key = literal.node.tool, literal.parameter, path
        if key not in self._slots and schema is not None:
            declared = schema_at([literal.parameter, *path], schema)
            inner = Parameter(str(path[-1]), type_name(declared, schema), declaration=declared)
            self._slots[key] = _slot_of(inner)
        return self._slots.get(key)

    def _doubt(self, literal: PlanLiteral, source: SourceText) -> Doubt | None:
        value = literal.value
        slot = self._slots.get((literal.node.tool, literal.parameter, ()))
        if literal.place:
            if slot is not None and value in leaves(slot.default):
                return None  # part of a default that is a list or an object
            slot = self._inner(literal)
        if slot and slot.default is not None and slot.default == value:
            return None
        text = f"{value:.15g}" if isinstance(value, float) else str(value)
        small = text.strip().casefold()
        if isinstance(value, bool) or (small in _YES_OR_NO and (slot is None or slot.is_boolean)):
            opposite = _OPPOSITE.get(small)
            if opposite is None or not source.states(opposite) or source.states(small):
                return None
            return Doubt("reject", f"'{text}' is not in {{it}}, but '{opposite}' is")
        doubt = judge(text, source)
        if doubt is None or slot is None or small not in {item.casefold() for item in slot.allowed}:
            return doubt
        alternatives = [
            item for item in slot.allowed if item.casefold() != small and judge(item, source) is None
        ]
        if not alternatives:
            return None
        takes = f"which '{literal.parameter}' takes as well"
        # One other choice, in so many words, is what the text states for the slot.
        is_sure = len(alternatives) == 1 and len(alternatives[0]) > 2 and source.states(alternatives[0])
        reason = f"'{shorten(text)}' is not in {{it}}, but '{alternatives[0]}' is, {takes}"
        return Doubt("quarantine", reason, choice=alternatives[0] if is_sure else "")


def _stated_instead(doubt: Doubt, request: SourceText, used: SourceText) -> str:
    """What the request states in place of a value, if nothing else in the plan has it; else empty."""
    if doubt.choice:
        return "" if used.states(doubt.choice) else f"'{doubt.choice}'"
    for kind, missing in doubt.missing:
        if stated := rivals(kind, missing, request, used):
            return ", ".join(f"'{shorten(value)}'" for value in stated[:2])
    return ""


def _slot_of(parameter: Parameter) -> _Slot:
    declared = parameter.declaration
    kinds = {kind.strip() for kind in parameter.type.casefold().split("|")} - {"null"}
    allowed = (str(declared["const"]),) if "const" in declared else tuple(allowed_values(parameter))
    return _Slot(bool(kinds) and kinds <= _BOOLEAN, allowed, declared.get("default"))


def _outputs_before(gold: Gold, taker: GoldNode) -> list[str]:
    """The texts and numbers that the calls before a node returned: earlier ones, and those linked to it."""
    before = [
        earlier
        for earlier in gold.nodes
        if (earlier.place < taker.place and (taker.tool, earlier.tool) not in gold.links)
        or (earlier.tool, taker.tool) in gold.links
    ]
    return [str(leaf) for earlier in before for leaf in leaves(earlier.output)]
