"""The gate "grounding": is every value of a plan grounded in the request or in an earlier output?

A value that occurs in the text verbatim is grounded. Otherwise its exact parts (numbers, days, addresses,
codes) must be in the text in any spelling, and each of its content words in any form and order: plans
rephrase arguments ("change the color to blue" for "make its colour blue"), but must add nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from toolassay.argument_schemas import schema_at, type_name
from toolassay.gates.gate import Background, Finding
from toolassay.gates.grounding import identifiers, normalization
from toolassay.gates.grounding.literals import PlanLiteral, earlier_nodes, leaves, literals_of
from toolassay.gates.grounding.source_text import SourceText
from toolassay.gates.grounding.value_parts import ValuePart, is_result, is_variable, take_parts
from toolassay.gold import Gold, GoldNode
from toolassay.offline.writer.allowed_values import allowed_values
from toolassay.text_values.dates import find_days
from toolassay.text_values.money import is_currency
from toolassay.text_values.spelling import plain, with_digits
from toolassay.tools import Parameter, Tool

_FEWEST_WORDS_IN_ORDER = 6
_MOST_WORDS_IN_ORDER = 80
_BESIDE = 2
_MOST_BEFORE = 4


def is_near(keys: Collection[str], source: SourceText) -> tuple[int, int] | None:
    """The first and the last position of these words where they are close together; None if scattered.

    >>> is_near(["blue", "sky"], SourceText("make the sky blue")), is_near(["blue"], SourceText("red"))
    ((2, 3), None)
    """
    stretch = source.narrowest(keys)
    if stretch is None or stretch[1] - stretch[0] > 2 * len(keys) + 6:
        return None
    return stretch


def negation_fault(text: str, keys: Collection[str], source: SourceText) -> str | None:
    """What is wrong with the negations of a plain text whose content words all occur; None if nothing is.

    >>> negation_fault("do not paint it", ["paint"], SourceText("please paint it"))
    "the 'not' of {value} is not in {it}"
    >>> negation_fault("paint the old door", ["paint", "old", "door"], SourceText("never paint the old door"))
    "{value} leaves out the 'never' of {it}"
    """
    own = [word for word in normalization.words_in(text) if word in normalization.NEGATIONS]
    is_sentence = len(keys) > 1 or text.count(" ") > 1
    stretch = is_near(keys, source) if keys and is_sentence else None
    if stretch is None:
        return f"the '{own[0]}' of {{value}} is not in {{it}}" if len(own) > len(source.negations) else None
    start = stretch[0]
    while start and stretch[0] - start < _MOST_BEFORE and _is_small(source.word_at(start - 1)):
        start -= 1
    start = min(start, stretch[0] - _BESIDE)
    near = [place for place in source.negations if start <= place <= stretch[1]]
    if len(own) > len(near):
        return f"the '{own[0]}' of {{value}} is not in {{it}}"
    if not own and near:
        return f"{{value}} leaves out the '{source.word_at(near[0])}' of {{it}}"
    return None


def replaced_word(text: str, source: SourceText) -> str | None:
    """The word of a plain text for which the source has another word, with the same words around it.

    >>> source = SourceText("a dog asks why the cat sat on the mat, the big dog on the chair")
    >>> replaced_word("the big dog sat on the mat", source)
    >>> replaced_word("why the dog sat on the mat", source)
    'dog'
    """
    row = normalization.words_in(text)
    if not _FEWEST_WORDS_IN_ORDER <= len(row) <= _MOST_WORDS_IN_ORDER:
        return None
    for place in range(_BESIDE, len(row) - _BESIDE):
        before, behind = " ".join(row[:place]), " ".join(row[place + 1 :])
        if f" {before} " in source.word_row and f" {behind} " in source.word_row:
            match = re.search(rf" {re.escape(before)} (\w+) {re.escape(behind)} ", source.word_row)
            if (
                match
                and match[1] != row[place]
                and not (normalization.is_turned(match[1]) and normalization.is_turned(row[place]))
            ):
                return row[place]
    return None


def _is_small(word: str) -> bool:
    return word in normalization.NEGATIONS or not normalization.is_content(word)


_AROUND = " \t\r\n'\"`“”‘’«».,;:!?()[]{}<>*"
# ".5", whose point is no punctuation; not ".a".
_DECIMAL = re.compile(r"\.\d")
_BETWEEN_REFERENCES = re.compile(r"<node-\d+>")
_MOST_WORDS = 2000
# "fri", "friday" and "thurs", but not "sunny".
_DAY = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)(?:s?day|nesday|rs?day|urday|s|rs?)?\b")


class Doubt(NamedTuple):
    """Why a value is held back: "reject" if it is not grounded, "quarantine" if a reviewer should decide."""

    state: Literal["quarantine", "reject"]
    reason: str


def judge(value: str, source: SourceText) -> Doubt | None:
    """What is not grounded in a value; None if all of it is.

    >>> source = SourceText("Change its colour to red, and mail it to Anne on 17 October")
    >>> judge("change the color to red", source), judge("2026-10-17", source)
    (None, None)
    >>> judge("change the color to blue", source)
    Doubt(state='quarantine', reason="'blue' of 'change the color to blue' is not in {it}")
    >>> judge("Paris", source)
    Doubt(state='reject', reason="'Paris' is not in {it}")
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
    if is_result(plain(text)):
        reason = f"'{shorten(value)}' stands for the result of a step; it is no value, nor a reference"
        return Doubt("reject", reason)
    if is_variable(plain(bare)):
        return Doubt("quarantine", f"'{shorten(value)}' looks like a name for the result of a step")
    if any(_is_stated(name, source) for name in normalization.other_names(plain(bare))):
        return None
    if len(bare) == 3 and is_currency(bare):
        if bare.upper() in source.currencies.sure:
            return None
        if bare.upper() in source.currencies.possible:
            sure = ", ".join(sorted(source.currencies.sure)[:3])
            remark = f", whose words are read as {sure}" if sure else ", though it names a country with it"
            return Doubt("quarantine", f"'{bare}' is not in {{it}}{remark}")
    spelled = plain(bare)
    if identifiers.is_code(bare) and source.row_of_characters.spells(identifiers.code_key(spelled)):
        return None
    row = f" {' '.join(normalization.words_in(spelled))} "
    has_exact = re.search(r"[\d@]|\w[./]\w", spelled)
    if has_exact is None and row in source.word_row and not _is_short_name(bare):
        return None
    return _weigh(value, with_digits(spelled), source)


def _is_short_name(text: str) -> bool:
    return text.isupper() and not normalization.is_content(text.casefold())


def _weigh(value: str, text: str, source: SourceText) -> Doubt | None:
    parts, rest = take_parts(text, source)
    wrong = [part for part in parts if not part.known]
    if any(not part.doubtful for part in wrong):
        return _held(value, [part for part in wrong if not part.doubtful], "reject")
    stated_words, foreign = _sort_words(rest, text, source)
    content = [*stated_words, *foreign]
    if not content and not parts:
        if normalization.is_stated_in_short(text, source.word_row):
            return None
        return Doubt("reject", f"'{shorten(value)}' is not in {{it}}")
    if not foreign:
        return (
            _held(value, wrong, "quarantine") if wrong else _out_of_place(value, text, stated_words, source)
        )
    share = (len(stated_words) + len(parts) - len(wrong)) / (len(content) + len(parts))
    state: Literal["quarantine", "reject"] = (
        "reject" if share < 0.5 or _is_name(value, foreign) else "quarantine"
    )
    return _held(value, [*wrong, *(ValuePart(word, False) for word in foreign)], state)


def _sort_words(rest: str, text: str, source: SourceText) -> tuple[dict[str, str], list[str]]:
    """The content words that the source has, by key, and those that it has not."""
    days = [*source.days, *(day for _, days in find_days(text) for day in days)] if _DAY.search(rest) else []
    weekdays = {day.weekday[:3] for day in days if day.weekday}
    weekdays |= set(source.weekdays if _DAY.search(rest) else ())
    known: dict[str, str] = {}
    foreign: dict[str, str] = {}
    row = normalization.words_in(normalization.signs_as_words(rest))[:_MOST_WORDS]
    for place, word in enumerate(row):
        key = normalization.key_of(word)
        if not normalization.is_content(word) or word in normalization.NEGATIONS:
            continue
        if _is_other_currency(word, source):
            foreign[key] = word
        elif (
            source.has_word(key)
            or _is_code_stated(word, source)
            or (_DAY.fullmatch(word) and word[:3] in weekdays)
        ):
            known[key] = word
        elif not normalization.is_filler(key) and not (
            place == 0 and len(row) > 2 and normalization.is_light_verb(key)
        ):
            beside = [row[i] for i in (place - 1, place + 1) if 0 <= i < len(row)]
            compounds = (joined for other in beside for joined in (other + word, word + other))
            if any(source.has_word(normalization.key_of(joined)) for joined in compounds) or source.has_lemma(
                word
            ):
                known[key] = word
            else:
                foreign[key] = word
    return known, list(foreign.values())


def _out_of_place(value: str, text: str, known: dict[str, str], source: SourceText) -> Doubt | None:
    """The doubt about a value whose words all occur, but in another sense."""
    shown = f"'{shorten(value)}'"
    if fault := negation_fault(text, known, source):
        return Doubt("quarantine", fault.replace("{value}", shown))
    if word := replaced_word(text, source):
        return Doubt("quarantine", f"{{it}} has another word for '{word}' of {shown}")
    is_name = 1 < len(known) <= 4 and _is_name(value, list(known.values()), whole=True)
    if is_name and is_near(known, source) is None:
        return Doubt("quarantine", f"the words of {shown} do not stand together in {{it}}")
    return None


def _is_name(value: str, foreign: list[str], *, whole: bool = False) -> bool:
    """Whether the foreign words are part of a name, of which every word counts."""
    spelled = [
        word for word in re.findall(r"[^\W\d_][^\W_]*", value) if normalization.is_content(word.casefold())
    ]
    capital = [plain(word) for word in spelled if word[0].isupper()]
    if len(spelled) <= 4 and len(capital) == len(spelled) > 1:
        return True
    inside = [plain(word) for word in spelled[1:] if word[0].isupper()]
    return not whole and 0 < len(inside) < len(spelled) / 2 and any(word in inside for word in foreign)


def _is_code_stated(word: str, source: SourceText) -> bool:
    """Whether a code is stated in words: "chf" as francs."""
    if len(word) == 3 and word.upper() in source.currencies.sure:
        return True
    return len(word) > 2 and any(_is_stated(name, source) for name in normalization.other_names(word))


def _is_other_currency(word: str, source: SourceText) -> bool:
    """Whether "usd" is used for the dollars of another country."""
    if len(word) != 3 or not normalization.key_of(word).startswith("=") or not is_currency(word):
        return False
    return (
        bool(source.currencies.sure)
        and word.upper() not in source.currencies.sure
        and not source.states(word)
    )


def _is_stated(name: str, source: SourceText) -> bool:
    if not name[:1].isalpha():
        return name in source.plain
    if " " in name and source.has_phrase(name.split()):
        return True
    return source.states(name) or source.has_word(normalization.key_of(name)) or _begins(name, source)


def _begins(name: str, source: SourceText) -> bool:
    return len(name) > 4 and any(key.startswith(name) for key in source.places)


def _held(value: str, parts: list[ValuePart], state: Literal["quarantine", "reject"]) -> Doubt:
    texts = [part.text for part in parts]
    named = ", ".join(f"'{shorten(text)}'" for text in texts[:5])
    of = "" if len(texts) == 1 and plain(value).strip(_AROUND) == texts[0] else f" of '{shorten(value)}'"
    named = f"'{shorten(value)}'" if not of else named
    remark = next((part.remark for part in parts if part.remark), "")
    verb = "is" if len(texts) == 1 else "are"
    return Doubt(state, f"{named}{of} {verb} not in {{it}}{f': {remark}' if remark else ''}")


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
# "turn the lights off", but not "turn off" of another sentence.
_SWITCHED = re.compile(r"\b(?:turn|switch|put|set|power|shut)(?:ed|ing|s)?\b[^.;!?]{0,40}?\b(on|off)\b")
_BOOLEAN = frozenset({"bool", "boolean"})


class _Slot(NamedTuple):
    """What a parameter declares about its values: whether boolean, the allowed ones, the default."""

    is_boolean: bool
    allowed: tuple[str, ...]
    default: object


class GroundingGate:
    """Holds back plans with values that are not grounded.

    A value may be in the request, or in the `output` of an earlier node, in other words. Of a list or an
    object, each value in it counts. A choice needs no grounding: true and false, the default of a parameter,
    and an allowed value as long as the request names no other one.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> gate = GroundingGate(Background(ToolLibrary([Tool("fly")]), "temporal"))
    >>> plan = [{"task": "fly", "arguments": [{"name": "to", "value": "Rome"}]}]
    >>> gate.check(Gold.of({"id": 1, "user_request": "Get me to rome", "task_nodes": plan}))
    []
    >>> gate.check(Gold.of({"id": 1, "user_request": "Get me to Oslo", "task_nodes": plan}))[0].reason
    "'Rome' is not in the request"
    """

    name = "grounding"

    def __init__(self, background: Background) -> None:
        self._library = background.library
        self._slots: dict[tuple[str, str, tuple[str | int, ...]], _Slot] = {
            (tool.id, parameter.name, ()): _slot_of(parameter, tool)
            for tool in background.library
            for parameter in tool.parameters
        }

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each value that is not grounded."""
        if not gold.has_arguments:
            return [Finding(self.name, "not applicable", "the plan has no arguments")]
        request, asked = SourceText(gold.request), dict[object, Doubt | None]()
        findings = []
        for literal in literals_of(gold):
            same = (literal.node.tool, literal.parameter, literal.place, type(literal.value), literal.value)
            if same not in asked:
                asked[same] = self._doubt(literal, request)
            doubt, it = asked[same], "the request"
            outputs = [] if doubt is None else _outputs_before(gold, literal.node)
            if outputs:
                doubt = self._doubt(literal, SourceText("\n".join([gold.request, *outputs])))
                it = "the request, nor in what earlier calls gave"
            if doubt is not None:
                reason = doubt.reason.replace("{it}", it)
                findings.append(Finding(self.name, doubt.state, reason, literal.where))
        return findings

    def _slot(self, literal: PlanLiteral) -> _Slot | None:
        """What the library declares about the place of a value: of its argument, or inside of it."""
        schema = self._library[literal.node.tool].input_schema if literal.node.tool in self._library else None
        place = _declared_place(literal.place) if schema is not None else ()
        key = literal.node.tool, literal.parameter, place
        if key not in self._slots and schema is not None and place:
            found = schema_at([literal.parameter, *place], schema)
            inner = Parameter(str(place[-1]), type_name(found, schema), declaration=found)
            self._slots[key] = _slot_of(inner, self._library[literal.node.tool])
        return self._slots.get(key)

    def _doubt(self, literal: PlanLiteral, source: SourceText) -> Doubt | None:
        value = literal.value
        slot = self._slot(literal)
        whole = self._slots.get((literal.node.tool, literal.parameter, ())) if literal.place else None
        if whole is not None and value in leaves(whole.default):
            return None  # part of a default that is a list or an object
        if slot and slot.default is not None and slot.default == value:
            return None
        text = f"{value:.15g}" if isinstance(value, float) else str(value)
        small = text.strip().casefold()
        if isinstance(value, bool) or (small in _YES_OR_NO and (slot is None or slot.is_boolean)):
            switched = set(_SWITCHED.findall(source.plain)) if small in ("on", "off") else set()
            if switched and small not in switched:
                return Doubt("quarantine", f"{{it}} says '{switched.pop()}' rather than '{text}'")
            other = _OPPOSITE.get(small)
            if other is None or not source.states(other) or source.states(small):
                return None
            return Doubt("reject", f"'{text}' is not in {{it}}, but '{other}' is")
        doubt = judge(text, source)
        if doubt is None or slot is None or small not in {item.casefold() for item in slot.allowed}:
            return doubt
        if doubt.state == "quarantine" and is_currency(small):
            return doubt
        others = [item for item in slot.allowed if item.casefold() != small and judge(item, source) is None]
        if not others:
            return None
        takes = f"which '{literal.parameter}' takes as well"
        return Doubt("reject", f"'{shorten(text)}' is not in {{it}}, but '{others[0]}' is, {takes}")


def _slot_of(parameter: Parameter, tool: Tool) -> _Slot:
    declared = parameter.declaration
    kinds = {kind.strip() for kind in parameter.type.casefold().split("|")} - {"null"}
    allowed = (str(declared["const"]),) if "const" in declared else tuple(allowed_values(parameter, tool))
    return _Slot(bool(kinds) and kinds <= _BOOLEAN, allowed, declared.get("default"))


def _declared_place(place: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The place with the first item for every item of a list: they have one declaration."""
    return tuple(0 if isinstance(part, int) else part for part in place)


def _outputs_before(gold: Gold, node: GoldNode) -> list[str]:
    """The texts and numbers that the calls before a node returned."""
    if all(other.output is None for other in gold.nodes):
        return []
    return [str(leaf) for leaf in leaves([other.output for other in earlier_nodes(gold, node)])]
