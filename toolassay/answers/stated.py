"""Whether a text tells a person a fact: decided by what is written, undecided where language must be judged.

A fact is stated if the text has its value in any notation, bound to its unit, without a competing value: one
that the results have at the same path, or that the text offers instead ("3 or 4"). A text that pastes results
states nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from itertools import islice
from typing import Any, NamedTuple

from toolassay.files.data_files import package_data
from toolassay.gates.grounding import identifiers
from toolassay.gates.grounding.normalization import is_content, key_of, stands_in
from toolassay.text_values.dates import Day, find_days
from toolassay.text_values.numbers import currency_names, currency_words, find_numbers, parse_number
from toolassay.text_values.times import find_durations, find_times
from toolassay.text_values.vocabulary import plain, with_digits

# "2026-10-17" and "2026-10-17T14:30:00Z"; not "2026-10" or "on 2026-10-17".
_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[T ](?P<time>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
# "14:30" and "14:30:00"; not "14:30 to 15:00".
_CLOCK = re.compile(r"\d\d?:\d\d(?::\d\d)?")
# "-3", "12.50 EUR" and "5km"; not "0042", "A4" or "3 big boxes".
_QUANTITY = re.compile(r"(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?)\s?(?P<unit>[^\W\d]*|[%°$€£¥])")
# The mark of a list item at the start of a line: "3. ", "- " and "> 2) "; not "3.5 km".
_LIST_MARK = re.compile(r"(?m)^[ \t>#]*(?:\d{1,3}[.)]|[-*+•])[ \t]+")
# "a dozen" and "half a dozen", after number words became digits; "2 dozen" is read as a number.
_DOZEN = re.compile(r"\b(?P<half>half )?(?:an?|1) dozen\b")
# Signs of Markdown around words. Underscores are not among them: they join the words of names.
_EMPHASIS = re.compile(r"[*`~]+")
# What separates a number from words that do not belong to it: " | ", ". " and another number; not the colon
# of "a:b".
_BOUNDARY = re.compile(r"[;|!?()\[\]]|[.,:](?=\s|$)|\d")
# A word, or the sign of a unit or currency: "km/h", "°c" and "€"; not "12".
_TOKEN = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)?|°[cf]?\b|[%°$€£¥]")
# Tokens beside a number that may name its unit: "3 of your still open tickets".
_NEAR = 5
# An alternative after or before a value, in one clause: "3 or 4", "3 tickets, or maybe 4"; not "3; or 4".
_ALTERNATIVE_AFTER = re.compile(r"[\s,]*(?:[\w'-]+[\s,]+){0,2}or\b")
_ALTERNATIVE_BEFORE = re.compile(r"\bor[\s,]+(?:[\w'-]+[\s,]+){0,2}$")
# Words: a longer text is paraphrased, which only language can judge.
_LONGEST_NAME = 8
# Share of a value by which its rounding may differ: "3.5" for 3.47, not "1" for 1.1.
_LOOSEST_ROUNDING = Decimal("0.05")
# A small whole number is in most results by accident, so its path says nothing.
_ACCIDENTAL = 20
# Values of one path that are looked for in a text; bounds the work on long results.
_MOST_SIBLINGS = 300
# Openings of JSON that are tried; bounds the work on a text of brackets.
_MOST_PIECES = 500
# A text that has so many values besides the facts, and such a share of all, pastes the results.
_FEWEST_PASTED = 8
_PASTED_SHARE = 0.6


class AnswerFact(NamedTuple):
    """What a person must be told.

    Attributes:
        value: JSON; of a list all members, in any order.
        unit: Its unit, or the noun of what is counted; empty for none.
    """

    value: Any
    unit: str = ""

    @property
    def members(self) -> Sequence[AnswerFact]:
        """The facts of its single values."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return [AnswerFact(value, self.unit) for value in values]


class Statement(NamedTuple):
    """The verdict on one fact.

    Attributes:
        said: The words that state it; empty if none do.
        right: None if only a judge of language can say.
    """

    said: str
    right: bool | None


class _Mention(NamedTuple):
    """A place in a text that states a fact, or may: None if only language can say."""

    inside: str
    start: int
    end: int
    is_stated: bool | None


class _Amount(NamedTuple):
    """A number in a text: each value that it may mean, with the size of its last digit."""

    start: int
    end: int
    readings: Sequence[tuple[Decimal, Decimal]]


class _Text:
    """A text, read once for all facts."""

    def __init__(self, text: str) -> None:
        self.raw = text
        lines = _LIST_MARK.sub("; ", _EMPHASIS.sub("", text))
        self.plain = plain(re.sub(r"\s*\n\s*", " ; ", lines))
        self.names = _spaced(self.plain)
        digits = with_digits(re.sub(r"(?<=\d)t(?=\d\d:)", " ", self.plain))
        self.digits = _DOZEN.sub(lambda match: "6" if match["half"] else "12", digits)

    @property
    def is_json(self) -> bool:
        """Whether most of the text is objects and lists of JSON."""
        decoder = json.JSONDecoder()
        pasted = 0
        end = 0
        for opening in islice(re.finditer(r"[{\[]", self.raw), _MOST_PIECES):
            if opening.start() >= end:
                with suppress(ValueError, RecursionError):
                    _, end = decoder.raw_decode(self.raw, opening.start())
                    pasted += end - opening.start()
        return 2 * pasted > len(self.raw)

    @cached_property
    def days(self) -> Sequence[tuple[int, int, Sequence[Day]]]:
        """The mentions of days."""
        return [(*match.span(), days) for match, days in find_days(self.digits, lenient=True)]

    @cached_property
    def times(self) -> Sequence[tuple[int, int, Sequence[float]]]:
        """The mentions of times of day, in minutes since midnight."""
        return [(*match.span(), times) for match, times in find_times(self.digits)]

    @cached_property
    def amounts(self) -> Sequence[_Amount]:
        """The numbers that are no part of a day, a time, an address, a code or an ordinal."""
        taken = [(start, end) for start, end, _ in (*self.days, *self.times)]
        for pattern in (identifiers.URL, identifiers.EMAIL, identifiers.FILE):
            taken += [match.span() for match in pattern.finditer(self.digits)]
        amounts = []
        for match, values in find_numbers(self.digits):
            start, end = match.span()
            is_part = any(start < last and first < end for first, last in taken)
            is_ordinal = self.digits[end : end + 2] in ("st", "nd", "rd", "th")
            if is_part or is_ordinal or self.digits[start - 1 : start] == "#":
                continue
            readings = []
            for written in parse_number(match["body"]):
                digit = Decimal(1).scaleb(int(written.as_tuple().exponent))
                readings += [(value, digit * abs(value / written) if written else digit) for value in values]
            if re.match(r"\s?(?:%|per ?cent)", self.digits[end:]):
                readings += [(value / 100, digit / 100) for value, digit in readings]
            amounts.append(_Amount(start, end, readings))
        return amounts

    def tokens_after(self, end: int) -> list[str]:
        """The tokens after a number, up to the end of the clause."""
        return _TOKEN.findall(_BOUNDARY.split(self.digits[end:], maxsplit=1)[0])[:_NEAR]

    def tokens_before(self, start: int) -> list[str]:
        """The tokens before a number, from the start of the clause or cell that introduces it."""
        return _TOKEN.findall(_BOUNDARY.split(self.digits[:start].rstrip(" |:=("))[-1])[-_NEAR:]


@dataclass(frozen=True)
class AnswerContext:
    """What a text answers.

    Attributes:
        request: The person's words. What they said themselves competes with no fact.
        results: What the tools returned, as JSON.
    """

    request: str = ""
    results: Sequence[Any] = ()

    @cached_property
    def leaves(self) -> Sequence[tuple[tuple[str, ...], Any]]:
        """The values of the results, each with its path, in which the number of an item does not count."""
        return [leaf for result in self.results for leaf in _leaves(result, ())]

    @cached_property
    def asked(self) -> _Text:
        """The request, read."""
        return _Text(self.request)

    def siblings(self, value: Any) -> list[Any]:
        """The other values at the paths at which the results have a value."""
        if isinstance(value, int) and abs(value) <= _ACCIDENTAL:
            return []
        wanted = plain(str(value))
        paths = {path for path, leaf in self.leaves if plain(str(leaf)) == wanted}
        others = {plain(str(leaf)): leaf for path, leaf in self.leaves if path in paths}
        return [leaf for text, leaf in others.items() if text != wanted][:_MOST_SIBLINGS]


def judge_answer(text: str, facts: Sequence[AnswerFact], context: AnswerContext) -> list[Statement]:
    """The verdict on each fact.

    Args:
        text: The final text of an agent.
        facts: What it must state.
        context: What it answers.

    >>> asked = AnswerContext("How many tickets are open?")
    >>> texts = ("Two tickets.", "At 2 pm.")
    >>> [judge_answer(text, [AnswerFact(2, "tickets")], asked)[0].right for text in texts]
    [True, False]
    """
    answer = _Text(text)
    members = [member for fact in facts for member in fact.members]
    is_pasted = answer.is_json or _has_all_values(answer, members, context)
    statements = []
    for fact in facts:
        parts = [_judge(answer, member, members, context) for member in fact.members]
        right = all_right(part.right for part in parts)
        said = "; ".join(part.said for part in parts if part.said)
        statements.append(Statement(said, None if is_pasted and right else right))
    return statements


def all_right(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all hold: False if one does not, else None if one is undecided.

    >>> all_right([True, None]), all_right([None, False]), all_right([])
    (None, False, True)
    """
    given = set(verdicts)
    if False in given:
        return False
    return None if None in given else True


def _judge(text: _Text, fact: AnswerFact, facts: Sequence[AnswerFact], context: AnswerContext) -> Statement:
    """The verdict on a fact with one value."""
    if fact.value is None or isinstance(fact.value, bool | dict):
        return Statement("", None)
    mentions = list(_mentions(text, fact, context.asked))
    stated = [mention for mention in mentions if mention.is_stated]
    rivals = []
    for value in context.siblings(fact.value):
        rival = AnswerFact(value, fact.unit)
        is_asked = any(mention.is_stated for mention in _mentions(context.asked, rival))
        if rival not in facts and not is_asked:
            rivals += [mention for mention in _mentions(text, rival) if mention.is_stated]
    if not stated:
        is_open = any(mention.is_stated is None for mention in mentions) and not rivals
        return Statement("", None if is_open else False)
    said = stated[0].inside[stated[0].start : stated[0].end].strip(" .,;:")
    # "Ann" in "Ann Lee" competes with nothing.
    competes = any(all(rival.end <= m.start or m.end <= rival.start for m in stated) for rival in rivals)
    is_certain = not competes and any(not _is_alternative(mention) for mention in stated)
    return Statement(said, True if is_certain else None)


def _is_alternative(mention: _Mention) -> bool:
    """Whether a value is offered beside another one: "3 or 4"."""
    after = _ALTERNATIVE_AFTER.match(mention.inside, mention.end)
    return bool(after or _ALTERNATIVE_BEFORE.search(mention.inside[: mention.start]))


def _has_all_values(text: _Text, facts: Sequence[AnswerFact], context: AnswerContext) -> bool:
    """Whether a text has most values of the results besides the facts."""
    told = {plain(str(fact.value)) for fact in facts}
    others = {_spaced(plain(str(leaf))) for _, leaf in context.leaves if not isinstance(leaf, bool)}
    others = {value for value in others - told if value and not stands_in(value, context.asked.names)}
    pasted = sum(stands_in(value, text.names) for value in others)
    return pasted >= _FEWEST_PASTED and pasted >= _PASTED_SHARE * len(others)


def _mentions(text: _Text, fact: AnswerFact, asked: _Text | None = None) -> Iterator[_Mention]:
    """The places that state a fact, or may.

    Args:
        text: The text.
        fact: A fact with one value.
        asked: The request, whose day need not be repeated beside a time.
    """
    value = fact.value
    if isinstance(value, str):
        if moment := _MOMENT.fullmatch(value.strip()):
            return _moments(text, moment, asked)
        if _CLOCK.fullmatch(value.strip()):
            return _clocks(text, value)
        quantity = _QUANTITY.fullmatch(value.strip())
        if quantity is None:
            return _names(text, value)
        return _quantities(text, Decimal(quantity["number"]), quantity["unit"] or fact.unit)
    return _quantities(text, Decimal(str(value)), fact.unit)


def _names(text: _Text, name: str) -> Iterator[_Mention]:
    wanted = _spaced(plain(_EMPHASIS.sub("", name)))
    if any(character.isdigit() for character in wanted):  # a code, in any grouping: "FR 2319"
        code = re.compile(rf"(?<!\w){' ?'.join(map(re.escape, wanted.replace(' ', '')))}(?!\w)")
        yield from (_Mention(text.names, *match.span(), True) for match in code.finditer(text.names))
        return
    start = text.names.find(wanted)
    if stands_in(wanted, text.names):
        yield _Mention(text.names, start, start + len(wanted), True)
        return
    words = wanted.split()
    is_partly_named = len(words) > 1 and any(
        len(word) > 2 and is_content(word) and stands_in(word, text.names) for word in words
    )
    if is_partly_named or len(words) > _LONGEST_NAME:
        yield _Mention(text.names, 0, 0, None)


def _moments(text: _Text, moment: re.Match[str], asked: _Text | None) -> Iterator[_Mention]:
    year, month, number = map(int, moment["day"].split("-"))
    wanted = Day(year, month, number)
    days = [(start, end) for start, end, days in text.days if _has_day(days, wanted)]
    clock = moment["time"]
    has_time = clock is not None and clock != "00:00"
    if not days and has_time and asked is not None and any(_has_day(days, wanted) for *_, days in asked.days):
        yield from _clocks(text, str(clock))
        return
    if not days and not text.days and stands_in(wanted.weekday or "-", text.plain):
        yield _Mention(text.names, 0, 0, None)
    at_time = list(_clocks(text, str(clock))) if has_time else []
    for start, end in days:
        if not has_time or at_time:
            yield _Mention(text.digits, start, end, True)
        elif not text.times:
            yield _Mention(text.digits, start, end, None)


def _has_day(days: Sequence[Day], wanted: Day) -> bool:
    return any(day.day is not None and day.agrees_with(wanted) for day in days)


def _clocks(text: _Text, clock: str) -> Iterator[_Mention]:
    hour, minute = map(int, clock.split(":")[:2])
    for start, end, times in text.times:
        if any(int(time) == hour * 60 + minute for time in times):
            yield _Mention(text.digits, start, end, True)


def _quantities(text: _Text, value: Decimal, unit: str) -> Iterator[_Mention]:
    for amount in text.amounts:
        if any(_is_rounded(value, read, digit) for read, digit in amount.readings):
            yield _Mention(text.digits, amount.start, amount.end, _has_unit(text, amount, unit))
        elif value < 0 and any(_is_rounded(-value, read, digit) for read, digit in amount.readings):
            yield _Mention(text.digits, amount.start, amount.end, None)  # "a loss of 3"
    for *_, length in islice(find_durations(f"{value:f} {_unit_name(unit)}s"), 1) if unit else ():
        for start, end, duration in find_durations(text.digits):
            if duration.is_same(length):
                yield _Mention(text.digits, start, end, True)


def _is_rounded(value: Decimal, read: Decimal, digit: Decimal) -> bool:
    """Whether a number is a value, in the rounding of a text whose last digit has such a size."""
    return abs(value - read) <= min(digit / 2, abs(value) * _LOOSEST_ROUNDING)


def _has_unit(text: _Text, amount: _Amount, unit: str) -> bool | None:
    """Whether a number has a unit; None if a word after it may name it in another way."""
    after = text.tokens_after(amount.end)
    before = text.tokens_before(amount.start)
    if not unit:
        return True
    names = _unit_names(unit)
    if any(token in names or key_of(token) in names for token in (*after, *before)):
        return True
    next_token = after[0] if after else ""
    if next_token in _known_units() or any(token in "$€£¥" for token in before[-1:]):
        return False
    return None if is_content(next_token) and next_token else True


@cache
def _unit_names(unit: str) -> frozenset[str]:
    """The words and signs for a unit, and the key of the noun of what is counted."""
    text = plain(unit)
    noun = text.split()[-1] if text else ""
    for name, others in _units().items():
        if text == name or text in others or noun in (name, *others):
            return frozenset((name, *others, key_of(name)))
    currency = {word for name in currency_names(unit) for word in name.split()}
    return frozenset({text, noun, key_of(noun), *currency, *currency_words(unit)})


def _unit_name(unit: str) -> str:
    text = plain(unit)
    return next((name for name, others in _units().items() if text == name or text in others), text)


@cache
def _known_units() -> frozenset[str]:
    names = {name for unit, others in _units().items() for name in (unit, *others) if len(name) > 1}
    return frozenset({*names, "%", "$", "€", "£", "¥", "am", "pm", "dollars", "euros"})


def _units() -> dict[str, list[str]]:
    units: dict[str, list[str]] = package_data(__package__, "data/units.json")
    return units


def _spaced(text: str) -> str:
    """A plain text with blanks for the marks that join words."""
    return " ".join(re.sub(r"[_-]+", " ", text).split())


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The single values in JSON, each with its path."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(part, (*path, name))
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, path)
    elif value is not None:
        yield path, value
