"""Values that the request states, but for another slot: ends exchanged, units, lists, counts.

A value can occur in the request and still be wrong: the account that is paid, given as the one that pays.
Each check compares what the request says beside a value with the slot that has it. What is certain is
rejected; what a person may read either way is quarantined.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import permutations
from typing import Any, Literal, NamedTuple

from toolassay.gates.gate import shown
from toolassay.gates.grounding.normalization import (
    PlanLiteral,
    key_of,
    lists,
    words_in,
)
from toolassay.gates.grounding.source_text import SourceText
from toolassay.plans.gold import Gold
from toolassay.text_values.numbers import currency_names
from toolassay.text_values.vocabulary import plain

# Arguments of a call, which are compared in pairs, and mentions of a number that are looked at.
_MOST_ARGUMENTS = 30
_MOST_PLACES = 8


class SlotFault(NamedTuple):
    """A value that contradicts what the request says of its slot.

    Attributes:
        state: "reject" if the request says another value for the slot, else "quarantine".
        reason: what the slot has and what the request says.
        where: path of the argument in the label.
    """

    state: Literal["quarantine", "reject"]
    reason: str
    where: str


def slot_faults(gold: Gold, literals: Iterable[PlanLiteral], source: SourceText) -> Iterator[SlotFault]:
    """What is wrong with the slots of a plan whose arguments have names.

    Args:
        gold: A label.
        literals: The values of its plan; those whose arguments have no names have no slots.
        source: The request.
    """
    calls = Counter(node.tool for node in gold.nodes)
    slots = [literal for literal in literals if literal.parameter and not literal.place]
    for node in gold.nodes if slots else ():
        arguments = [slot for slot in slots if slot.node is node][:_MOST_ARGUMENTS]
        other_values = {str(slot.value) for slot in slots if slot.node is not node}
        # What the request says of one call of a tool is no contradiction to another one.
        is_only = calls[node.tool] == 1
        for start, end, word in _end_pairs(tuple(_words(literal.parameter) for literal in arguments)):
            yield from _ends(arguments[start], arguments[end], word, source, is_only=is_only)
        for literal in arguments:
            yield from _unit(literal, source)
        yield from _counts(arguments, other_values, source)


@lru_cache(maxsize=16_384)
def _words(name: str) -> tuple[str, ...]:
    spaced = re.sub(r"(?<=[a-z\d])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ")
    return tuple(words_in(spaced.casefold()))


# Starts and ends.

_ENDS = lists()["ends"]  # the ends of each start: "to" and "until" of "from"
# Slots that name the two ends of a way; a value behind "to" is no start.
_WAYS = frozenset(
    {"from", "origin", "source", "departure", "sender", "payer", "debit", "pickup", "start"}
    | {"old", "initial", "current"}
)
# Ends that have no order: prices rise and fall.
_UNORDERED = frozenset({"old", "departure", "initial", "current", "from", "source", "origin"})
# "depart" and "return_on" are a pair, too.
_SMALL = frozenset({"on", "at", "date", "day", "time"})
_FILLER = r"(?:\s(?:the|my|our|his|her|their|its|a|an|your|account|station|airport|of))*\s['\"$€£]?$"
_BEFORE_START = re.compile(
    rf"\b(?:from|out of|leaving|departing(?: from)?|starting (?:in|at|from)|off){_FILLER}"
)
_BEFORE_END = re.compile(
    rf"\b(?:to|into|onto|towards?|in favou?r of|arriving (?:in|at)|bound for|over to){_FILLER}"
)
# What may be behind a value: "s" of "dollars", not the rest of a longer word or number.
_AFTER = re.compile(r"(?:e?s)?(?![\w.,]?\w)")


@lru_cache(maxsize=4_096)
def _end_pairs(names: tuple[tuple[str, ...], ...]) -> list[tuple[int, int, str]]:
    """The pairs of arguments that are the start and the end of something, and the word that says so."""
    plain = [tuple(word for word in words if word not in _SMALL) for words in names]
    return [
        (first, second, word)
        for (first, start), (second, other) in permutations(enumerate(plain), 2)
        for position, word in enumerate(start)
        if any(other == (*start[:position], end, *start[position + 1 :]) for end in _ENDS.get(word, ()))
    ]


def _ends(
    first: PlanLiteral, second: PlanLiteral, word: str, source: SourceText, *, is_only: bool
) -> Iterator[SlotFault]:
    order = _order(first.value, second.value)
    are_numbers = isinstance(first.value, int | float)
    start, end = (f"'{literal.parameter}' {shown(str(literal.value))}" for literal in (first, second))
    if order == "after" and not (word in _UNORDERED and (are_numbers or word in ("old", "departure"))):
        yield SlotFault("reject", f"{start} is after {end}", second.where)
        return
    if order == "late":
        reason = f"the time of {start} is after that of {end}"
        yield SlotFault("quarantine", reason, second.where)
        return
    if not is_only or word not in _WAYS or isinstance(first.value, bool | list | dict):
        return
    if (order and not are_numbers) or _text(first) == _text(second):
        return
    start_before_to = _is_behind(_text(first), _BEFORE_END, source)
    end_before_from = _is_behind(_text(second), _BEFORE_START, source)
    right = _is_behind(_text(first), _BEFORE_START, source) or _is_behind(_text(second), _BEFORE_END, source)
    if right or not (start_before_to or end_before_from):
        return
    says = (
        f"'to' before {shown(str(first.value))}"
        if start_before_to
        else f"'from' before {shown(str(second.value))}"
    )
    state: Literal["quarantine", "reject"] = "reject" if start_before_to and end_before_from else "quarantine"
    yield SlotFault(state, f"{start} and {end}, but the request says {says}", first.where)


def _order(first: Any, second: Any) -> Literal["", "before", "after", "late"]:
    """How two ends are ordered: "late" if a time of day is after another, which midnight explains."""
    if isinstance(first, bool) or isinstance(second, bool):
        return ""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return "after" if first > second else "before"
    if not isinstance(first, str) or not isinstance(second, str):
        return ""
    clock = re.compile(r"([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?")
    if clock.fullmatch(first) and clock.fullmatch(second):
        return "late" if first > second else "before"
    try:
        return "after" if datetime.fromisoformat(first) > datetime.fromisoformat(second) else "before"
    except (ValueError, TypeError):  # no moments, or only one has a time zone
        return ""


def _is_behind(value: str, before: re.Pattern[str], source: SourceText) -> bool:
    """Whether a value, or a name of it, is behind one of these words."""
    return any(
        _AFTER.match(source.plain, match.end())
        and before.search(source.plain[max(0, match.start() - 80) : match.start()])
        for name in _names(value)
        for match in re.finditer(re.escape(name), source.plain)
    )


@lru_cache(maxsize=16_384)
def _names(value: str) -> tuple[str, ...]:
    """A value as it may be spelled: itself, or the names of a currency."""
    text = plain(value).strip()
    if not text or len(text) > 80:
        return ()
    money = currency_names(text)
    nouns = [name.split()[-1] for name in money]  # "dollars" for US dollars
    return tuple(dict.fromkeys([text, *money, *nouns]))


def _text(literal: PlanLiteral) -> str:
    return f"{literal.value:.15g}" if isinstance(literal.value, float) else plain(str(literal.value))


# Units.

# The dimension and unit of each spelling: ("length", "mile") of "mi".
_UNITS: dict[str, tuple[str, ...]] = {
    word: tuple(name.split()) for name, words in lists()["units"].items() for word in words
}
_SHORT = frozenset({"s", "h", "m", "g", "l", "c", "f", "mi", "min"})


def _unit(literal: PlanLiteral, source: SourceText) -> Iterator[SlotFault]:
    number = f"{literal.value:.15g}" if isinstance(literal.value, float) else str(literal.value).strip()
    if not number[:1].isdigit() or not re.fullmatch(r"\d{1,6}(?:\.\d{1,4})?", number):
        return
    named = {_UNITS[word] for word in _words(literal.parameter) if word in _UNITS and word not in _SHORT}
    if len(named) != 1:
        return
    (declared,) = named
    stated = {
        _UNITS[match[1]]
        for match in re.finditer(rf"(?<![\d.,:]){_with_commas(number)}[ -]?([a-z]+)\b", source.digits)
        if match[1] in _UNITS and _UNITS[match[1]][0] == declared[0]
    }
    if stated and declared not in stated:
        unit = sorted(stated)[0][1]
        reason = f"'{literal.parameter}' counts {declared[1]}s, but the request says {number} {unit}s"
        yield SlotFault("reject" if len(stated) == 1 else "quarantine", reason, literal.where)


def _with_commas(number: str) -> str:
    """A regular expression for a number as it is or with commas: "2,500" for "2500"."""
    whole, point, rest = number.partition(".")
    return f"{int(whole):,}".replace(",", ",?") + (rf"\.{rest}" if point else "")


# Counts.

_IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman"}


def _counts(
    arguments: Sequence[PlanLiteral], other_values: Collection[str], source: SourceText
) -> Iterator[SlotFault]:
    """Numbers of two slots that the request states for each other: "2 adults and 3 children".

    A number that another call also has may belong to that call (`other_values`).
    """
    numbers = [
        (literal, number)
        for literal in arguments
        if (number := str(literal.value)).isdecimal() and len(number) < 7 and number not in other_values
    ]
    for position, (first, count) in enumerate(numbers):
        for second, other_count in numbers[position + 1 :]:
            if count == other_count:
                continue
            first_nouns = _nouns_beside(count, source)
            second_nouns = _nouns_beside(other_count, source)
            own_first = _noun_keys(first)
            own_second = _noun_keys(second)
            crossed = (first_nouns & (own_second - own_first)), (second_nouns & (own_first - own_second))
            right = (first_nouns & (own_first - own_second)) or (second_nouns & (own_second - own_first))
            if right or not (crossed[0] or crossed[1]):
                continue
            state: Literal["quarantine", "reject"] = "reject" if crossed[0] and crossed[1] else "quarantine"
            noun = sorted(crossed[0] or crossed[1])[0]
            number, slot = (count, second) if crossed[0] else (other_count, first)
            reason = f"the request says {number} for '{noun}', but '{slot.parameter}' is {slot.value}"
            yield SlotFault(state, reason, slot.where)


def _noun_keys(literal: PlanLiteral) -> set[str]:
    return {key_of(_IRREGULAR.get(word, word)) for word in _words(literal.parameter) if len(word) > 2}


# Behind it another value is spoken of: "5 rooms and year 1990".
_CLAUSE_END = re.compile(r"[,.;:!?()]|\b(?:and|or|with|while|but|then)\b")


def _nouns_beside(number: str, source: SourceText) -> set[str]:
    """The keys of the two words behind each mention of a number, and of "quantity of 3" before it."""
    keys = set()
    for match in list(re.finditer(rf"(?<![\d.,:/-]){number}(?![\d:/]|[.,]\d)", source.digits))[:_MOST_PLACES]:
        behind = words_in(_CLAUSE_END.split(source.digits[match.end() : match.end() + 40])[0])[:2]
        before = re.search(
            r"([a-z]{3,})(?:\s(?:of|is|to|at|=))?\s?$",
            source.digits[max(0, match.start() - 40) : match.start()],
        )
        words = [*behind, *([before[1]] if before else [])]
        keys |= {key_of(_IRREGULAR.get(word, word)) for word in words}
    return keys
