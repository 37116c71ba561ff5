"""The gate "grounding": is every value of a plan grounded in the request or in an earlier output?

- *Pass*: the value is in the text, exactly or by a normalisation that is certain: case, spacing, the spelling
  of numbers, dates, times, units; or all its content words are, in any form and order.
- *Reject*: the text states a value for the slot, and the plan has another (`rivals`, `slot_checks`).
- *Quarantine*: anything else: inference, synonyms, derived dates, knowledge of the world.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

from toolassay.argument_schemas import schema_at, type_name
from toolassay.argument_values.places import allowed_values
from toolassay.gates.gate import Background, Finding
from toolassay.gates.grounding import identifiers, normalization
from toolassay.gates.grounding.identifiers import is_phone_of
from toolassay.gates.grounding.normalization import PlanLiteral, key_of, literals_of
from toolassay.gates.grounding.slot_checks import slot_faults
from toolassay.gates.grounding.source_text import SourceText
from toolassay.gates.references import leaves
from toolassay.gold import Gold, GoldNode
from toolassay.text_values.dates import Day, find_days
from toolassay.text_values.numbers import currency_words, find_numbers, parse_number
from toolassay.text_values.times import find_durations, find_times
from toolassay.text_values.vocabulary import MONTHS, WEEKDAYS, plain, with_digits
from toolassay.tools import Parameter

# Parts of words for times and durations without digits: "noon", "midnight", "an hour".
_SPELLED = re.compile(r"no|mid|hour|min|day|week|fortnight|month|year|half|quarter")


class ValuePart(NamedTuple):
    """A part of a value.

    Attributes:
        known: whether the source states it.
        remark: of an unknown part, what the source states instead.
        kind: "email", "url", "file" or "phone"; else empty.
    """

    text: str
    known: bool
    remark: str = ""
    kind: str = ""


def take_parts(text: str, source: SourceText) -> tuple[list[ValuePart], str]:
    """The exact parts of a value (plain, with digits for number words), and the rest of it.

    >>> parts, rest = take_parts("mail anna@example.com 3 photos", SourceText("3 photos for ann@example.com"))
    >>> [(part.text, part.known) for part in parts], rest.split()
    ([('anna@example.com', False), ('3', True)], ['mail', 'photos'])
    """
    parts: list[ValuePart] = []

    def take(pattern: re.Pattern[str], read: Callable[[str], ValuePart | None], rest: str) -> str:
        def one(match: re.Match[str]) -> str:
            part = read(match.group())
            if part is None:
                return match.group()
            parts.append(part)
            return " " * len(match.group())

        return pattern.sub(one, rest)

    rest = re.sub(r"(?<=\d)t(?=\d\d:)", " ", text)
    rest = take(
        identifiers.EMAIL,
        lambda found: ValuePart(found, identifiers.email_key(found) in source.emails, kind="email"),
        rest,
    )
    rest = take(
        identifiers.URL,
        lambda found: ValuePart(found, identifiers.url_key(found) in source.urls, kind="url"),
        rest,
    )
    rest = take(identifiers.FILE, lambda found: _file(found, source), rest)
    if any(character.isdigit() for character in rest) or _SPELLED.search(rest):
        for reader in (_dates, _times, _durations):
            for start, end, part in list(reader(rest, source)):
                parts.append(part)
                rest = rest[:start] + " " * (end - start) + rest[end:]
        rest = take(identifiers.PHONE, lambda found: _phone(found, source), rest)
        rest = take(identifiers.CODE, lambda found: _code(found, source), rest)
        alone = not re.search(r"[^\W\d_]", text)
        for match, values in reversed(list(find_numbers(rest))):
            parts.append(_number(match, values, source, alone))
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    return parts, rest


def _file(found: str, source: SourceText) -> ValuePart:
    name = identifiers.file_key(found)
    media = identifiers.media_of(name)
    others = [file for file in source.files if identifiers.media_of(file) == media]
    remark = f"it names {_some(others)}" if others else ""
    return ValuePart(found, name in source.files, remark, "file")


def _dates(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    for match, days in find_days(text):
        stated = [
            any(day.agrees_with(other) for other in source.days)
            or _is_stated_apart(day, source)
            or match.group() in source.codes
            for day in days
        ]
        known = all(stated) if match.groupdict().get("last") else any(stated)
        found = match.group().strip(" ,")
        whole = [words for day, words in source.days.items() if day.day]
        yield *match.span(), ValuePart(found, known, f"it says {_some(whole)}" if whole else "")


def _is_stated_apart(day: Day, source: SourceText) -> bool:
    """Whether month and day are stated apart from each other ("in October … on the 17th")."""
    ordinal, month = rf"\b{day.day}(?:st|nd|rd|th)\b", MONTHS[day.month - 1]
    return (
        day.day is not None
        and not any(other.year and day.year and other.year != day.year for other in source.days)
        and (not any(other.day for other in source.days) or re.search(ordinal, source.digits) is not None)
        and any(source.has_word(key_of(name)) for name in (month, month[:3]))
        and Decimal(day.day) in source.numbers
    )


def _times(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    taken: list[tuple[int, int]] = []
    for match, times in find_times(text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        taken.append(match.span())
        known = any(time in source.times for time in times) or (times == (0.0,) and not source.times)
        yield *match.span(), ValuePart(match.group().strip(), known)


def _durations(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    end_of_last = -1
    for start, end, length in sorted(find_durations(text), key=lambda found: (found[0], -found[1]))[:100]:
        if start >= end_of_last and any(length.is_same(other) for other in source.durations):
            end_of_last = end
            yield start, end, ValuePart(text[start:end].strip(), True)


def _phone(found: str, source: SourceText) -> ValuePart | None:
    if not identifiers.is_phone(found):
        return None
    digits = identifiers.digits_of(found)
    known = Decimal(digits) in source.numbers or is_phone_of(found, source.phones)
    return ValuePart(found.strip(), known, kind="phone")


def _code(found: str, source: SourceText) -> ValuePart | None:
    if identifiers.code_key(found) in source.codes:
        return ValuePart(found, True)
    measure = identifiers.MEASURE.fullmatch(found)
    if measure is None:
        return ValuePart(found, False)
    number, unit = parse_number(measure[1]), measure[2]
    if unit in ("st", "nd", "rd", "th") and number == {1}:
        return ValuePart(found, False)
    factor = {"k": 1000, "m": 1_000_000}.get(unit, 1)
    is_unit = unit in ("st", "nd", "rd", "th", "x", "k", "m") or source.has_word(key_of(unit))
    known = is_unit and bool(({n * factor for n in number} | number) & set(source.numbers))
    return ValuePart(found, known)


def _number(match: re.Match[str], values: set[Decimal], source: SourceText, alone: bool) -> ValuePart:
    known = not values.isdisjoint(source.numbers)
    if not known and values == {1} and (noun := re.match(r"\W{0,3}([^\W\d]+)", match.string[match.end() :])):
        known = re.search(rf"\b(?:an?|single|per)\s{re.escape(noun[1])}", source.digits) is not None
    if not known and alone:
        digits = match["body"].replace(",", "")
        known = (
            not values.isdisjoint(source.all_numbers)
            or not values.isdisjoint(source.duration_numbers)
            or (identifiers.is_phone(digits) and is_phone_of(digits, source.phones))
            or _is_code_of_digits(digits, values, source)
            or (values == {0} and source.states_none)
        )
    return ValuePart(match.group().strip(), known)


def _is_code_of_digits(digits: str, values: set[Decimal], source: SourceText) -> bool:
    """Whether digits are a stated code ("0042"); short ones and negatives are numbers."""
    is_long = len(digits) > 2 or digits[:1] == "0"
    return is_long and digits in source.codes and not any(-value in source.numbers for value in values)


def _some(names: list[str]) -> str:
    return ", ".join(f"'{name.strip()}'" for name in list(dict.fromkeys(names))[:2])


def rivals(kind: str, missing: str, source: SourceText, used: SourceText) -> list[str]:
    """The values of a kind that the source states and that the plan does not use.

    Args:
        kind: "email", "url", "file" or "phone".
        missing: The value of the plan that the source does not have.
        source: The request.
        used: All values of the plan, one per line.

    >>> source, used = SourceText("Mail a.pdf to a@x.org"), SourceText("b@x.org")
    >>> rivals("email", "b@x.org", source, used), rivals("file", "a.txt", source, used)
    (['a@x.org'], [])
    """
    if kind == "email":
        return [one for one in source.emails if one not in used.emails]
    if kind == "url":
        mentioned = (identifiers.url_key(match.group()) for match in identifiers.URL.finditer(source.plain))
        return [one for one in mentioned if one not in used.urls]
    if kind == "file":
        ending = missing.rpartition(".")[2]
        return [one for one in source.files if one.endswith(f".{ending}") and one not in used.files]
    return [one for one in source.phones if not identifiers.is_phone_of(one, used.phones)]


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
    return _weigh(value, with_digits(spelled), source)


def _is_short_name(text: str) -> bool:
    return text.isupper() and not normalization.is_content(text.casefold())


def _weigh(value: str, text: str, source: SourceText) -> Doubt | None:
    parts, rest = take_parts(text, source)
    wrong = [part for part in parts if not part.known]
    words = [word for word in normalization.words_in(rest)[:_MOST_WORDS] if normalization.is_content(word)]
    foreign = [word for word in dict.fromkeys(words) if not _is_known(word, text, source)]
    if not words and not parts:
        return Doubt("quarantine", f"'{shorten(value)}' is not in {{it}}")
    return _held(value, [*wrong, *(ValuePart(word, False) for word in foreign)]) if wrong or foreign else None


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
    >>> (found,) = gate.check(Gold.of({"id": 1, "user_request": "Get me to Oslo", "task_nodes": plan}))
    >>> found.state, found.reason
    ('quarantine', "'to': 'Rome' is not in the request")
    """

    name = "grounding"

    def __init__(self, background: Background) -> None:
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
        request, asked = SourceText(gold.request), dict[object, Doubt | None]()
        used: SourceText | None = None
        findings = []
        for literal in literals_of(gold):
            same = (literal.node.tool, literal.parameter, literal.place, type(literal.value), literal.value)
            if same not in asked:
                asked[same] = self._doubt(literal, request)
            doubt, it = asked[same], "the request"
            outputs = _outputs_before(gold, literal.node) if doubt is not None else []
            if outputs:
                doubt = self._doubt(literal, SourceText("\n".join([gold.request, *outputs])))
                it = "the request, nor in what earlier calls gave"
            if doubt is not None:
                used = used or SourceText("\n".join(str(one.value) for one in literals_of(gold)))
                state, reason = doubt.state, doubt.reason.replace("{it}", it)
                if stated := _stated_instead(doubt, request, used):
                    state = "reject"
                    reason = reason if stated in reason else f"{reason}: it says {stated}"
                slot = f"'{literal.parameter}': " if literal.parameter else ""
                findings.append(Finding(self.name, state, f"{slot}{reason}", literal.where))
        faults = {fault.where: fault for fault in slot_faults(gold, request)}
        kept = [finding for finding in findings if finding.where not in faults or finding.state == "reject"]
        return [*kept, *(Finding(self.name, *fault) for fault in faults.values())]

    def _slot(self, literal: PlanLiteral) -> _Slot | None:
        """What the library declares about the place of a value: of its argument, or inside of it."""
        schema = self._library[literal.node.tool].input_schema if literal.node.tool in self._library else None
        # The items of a list have one declaration.
        place = tuple(0 if isinstance(part, int) else part for part in literal.place if schema is not None)
        key = literal.node.tool, literal.parameter, place
        if key not in self._slots and schema is not None and place:
            found = schema_at([literal.parameter, *place], schema)
            inner = Parameter(str(place[-1]), type_name(found, schema), declaration=found)
            self._slots[key] = _slot_of(inner)
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
            other = _OPPOSITE.get(small)
            if other is None or not source.states(other) or source.states(small):
                return None
            return Doubt("reject", f"'{text}' is not in {{it}}, but '{other}' is")
        doubt = judge(text, source)
        if doubt is None or slot is None or small not in {item.casefold() for item in slot.allowed}:
            return doubt
        others = [item for item in slot.allowed if item.casefold() != small and judge(item, source) is None]
        if not others:
            return None
        takes = f"which '{literal.parameter}' takes as well"
        # One other choice, in so many words, is what the text states for the slot.
        is_sure = len(others) == 1 and len(others[0]) > 2 and source.states(others[0])
        reason = f"'{shorten(text)}' is not in {{it}}, but '{others[0]}' is, {takes}"
        return Doubt("quarantine", reason, choice=others[0] if is_sure else "")


def _stated_instead(doubt: Doubt, request: SourceText, used: SourceText) -> str:
    """What the request states in place of a value, if nothing else in the plan has it; else empty."""
    if doubt.choice:
        return "" if doubt.choice.casefold() in used.folded.split("\n") else f"'{doubt.choice}'"
    for kind, missing in doubt.missing:
        if found := rivals(kind, missing, request, used):
            return ", ".join(f"'{shorten(one)}'" for one in found[:2])
    return ""


def _slot_of(parameter: Parameter) -> _Slot:
    declared = parameter.declaration
    kinds = {kind.strip() for kind in parameter.type.casefold().split("|")} - {"null"}
    allowed = (str(declared["const"]),) if "const" in declared else tuple(allowed_values(parameter))
    return _Slot(bool(kinds) and kinds <= _BOOLEAN, allowed, declared.get("default"))


def _outputs_before(gold: Gold, taker: GoldNode) -> list[str]:
    """The texts and numbers that the calls before a node returned: earlier ones, and those linked to it."""
    before = [
        other
        for other in gold.nodes
        if (other.place < taker.place and (taker.tool, other.tool) not in gold.links)
        or (other.tool, taker.tool) in gold.links
    ]
    return [str(leaf) for other in before for leaf in leaves(other.output)]
