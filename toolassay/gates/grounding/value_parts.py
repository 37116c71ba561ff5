"""The parts of a value that must be stated exactly, and whether the source text states them.

Also texts that stand in place of a reference: "the translated text", "output of step 2", "${image}".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from toolassay.gates.grounding import identifiers
from toolassay.gates.grounding.identifiers import is_phone_of
from toolassay.gates.grounding.normalization import key_of
from toolassay.gates.grounding.source_text import SourceText
from toolassay.text_values.dates import Day, find_days, parse_short_day
from toolassay.text_values.numbers import find_numbers, is_share, parse_number
from toolassay.text_values.times import find_durations, find_times
from toolassay.text_values.vocabulary import MONTHS

_DOINGS = (
    "extracted|generated|translated|transcribed|simplified|summari[sz]ed|corrected|styli[sz]ed|styled|combined"
    "|merged|stitched|downloaded|resulting|modified|adjusted|processed|edited|enhanced|converted|paraphrased"
    "|rewritten|expanded|cleaned|output|found|stabili[sz]ed|synchroni[sz]ed|colori[sz]ed|previous"
)
_THINGS = (
    "texts?|images?|pictures?|photos?|audio|videos?|files?|clips?|tracks?|summary|urls?|contents?|results?"
    "|keywords|topics|output|article|transcript|transcription|script|voiceover|speed|frame"
)
# "${image}", "<text>", "output of step 2" and "the merged file", but not "the file".
_RESULT = re.compile(
    r"[$%#]?\{+(?!\s*\").{1,200}\}+%?|\$?\[[^\[\]'\",]{1,200}\]|<[a-z][\w .-]{1,80}>"
    rf"|\W{{0,3}}(?:the[ _])?(?:output|results?)(?:[ _](?:{_THINGS}))?[ _-](?:of|from)(?![^\W_]).{{0,200}}"
    rf"|\W{{0,3}}(?:the[ _])?(?:{_DOINGS})[ _-](?:{_THINGS})(?:[ _-]?(?:file|\d+))?\W{{0,3}}",
    re.DOTALL,
)
# "stitched_image", but not "stitched_picnic".
_VARIABLE = re.compile(rf"(?=\w*_)(?:\w*_)?(?:{_THINGS})(?:_\w*)?")


def is_result(text: str) -> bool:
    """Whether a plain text stands for the result of another step rather than for itself.

    >>> is_result("output_of_text-to-speech"), is_result("the translated text"), is_result("a text")
    (True, True, False)
    """
    return _RESULT.fullmatch(text) is not None


def is_variable(text: str) -> bool:
    """Whether a plain text looks like a variable for the result of a step.

    >>> is_variable("stitched_image"), is_variable("stitched image")
    (True, False)
    """
    return _VARIABLE.fullmatch(text) is not None


# Digits without separators that may be a phone number: "4155550172", but not "4155550172.5".
_LONG_NUMBER = re.compile(r"(?<![\w.,-])\+?\d{7,15}(?![\w.]|,\d)")
# Parts of words for times and durations without digits: "noon", "midnight", "an hour".
_SPELLED = re.compile(r"no|mid|hour|min|day|week|fortnight|month|year|half|quarter")
_PARTS_OF_DAY = ("morning", "afternoon", "evening", "night", "lunch", "dinner", "breakfast", "lunchtime")


class ValuePart(NamedTuple):
    """A part of a value.

    Attributes:
        known: whether the source states it.
        doubtful: of an unknown part, whether a reviewer should decide; otherwise it is wrong.
        remark: of an unknown part, what the source states instead.
        kind: of an exact part: "email", "url", "file", "day", "time", "phone" or "code"; else empty.
    """

    text: str
    known: bool
    doubtful: bool = False
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
    if _is_short_day_or_time(rest.strip(), source):
        return [*parts, ValuePart(text.strip(), True)], ""
    if any(character.isdigit() for character in rest) or _SPELLED.search(rest):
        for reader in (_dates, _times, _durations):
            for start, end, part in list(reader(rest, source)):
                parts.append(part)
                rest = rest[:start] + " " * (end - start) + rest[end:]
        rest = take(_LONG_NUMBER, lambda found: _long_number(found, source), rest)
        rest = take(identifiers.PHONE, lambda found: _phone(found, source), rest)
        rest = take(identifiers.CODE, lambda found: _code(found, source), rest)
        alone = not re.search(r"[^\W\d_]", text)
        for match, values in reversed(list(find_numbers(rest))):
            parts.append(_number(match, values, source, alone))
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    return parts, rest


def _file(found: str, source: SourceText) -> ValuePart:
    name = identifiers.file_key(found)
    if name in source.files:
        return ValuePart(found, True)
    media = identifiers.media_of(name)
    others = [file for file in source.files if identifiers.media_of(file) == media]
    if others:
        return ValuePart(found, False, remark=f"it names {_some(others)}", kind="file")
    words = [word for word in re.findall(r"[^\W\d_]+", name.rpartition(".")[0]) if len(word) > 1]
    if is_result(name.rpartition(".")[0]):
        return ValuePart(found, False, remark="it reads like the result of a step")
    if words and all(source.has_word(key_of(word)) for word in words):
        return ValuePart(found, False, True, "it describes the file without its name")
    return ValuePart(found, False)


def _dates(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    for match, days in find_days(text):
        if re.fullmatch(r"\d+/\d+", match.group()) and match.group() != text.strip():
            continue
        stated = [_is_day_stated(day, source) or match.group() in source.codes for day in days]
        known = all(stated) if match.groupdict().get("last") else any(stated)
        found = match.group().strip(" ,")
        yield *match.span(), ValuePart(found, True) if known else _missing_day(found, days, source)


def _missing_day(found: str, days: tuple[Day, ...], source: SourceText) -> ValuePart:
    whole = [words for day, words in source.days.items() if day.day]
    if source.has_relative_days and not whole:
        return ValuePart(found, False, True, "it gives the day only relative to an unknown day")
    if any(any(day.agrees_with(other) and (not other.year) for other in source.days) for day in days):
        return ValuePart(found, False, True, f"the year it says is {min(source.years)}")
    return ValuePart(found, False, remark=f"it says {_some(whole)}" if whole else "", kind="day")


def _is_short_day_or_time(text: str, source: SourceText) -> bool:
    if any(_is_day_stated(day, source) for day in parse_short_day(text)):
        return True
    clock = re.fullmatch(r"([01]?\d|2[0-3])\.([0-5]\d)", text)
    return clock is not None and float(int(clock[1]) * 60 + int(clock[2])) in source.times


def _is_day_stated(day: Day, source: SourceText) -> bool:
    if any(day.agrees_with(other) for other in source.days):
        return True
    return _is_stated_apart(day, source)


def _is_stated_apart(day: Day, source: SourceText) -> bool:
    """Whether month and day are stated apart from each other ("in October … on the 17th")."""
    ordinal = rf"\b{day.day}(?:st|nd|rd|th)\b"
    return (
        day.day is not None
        and not any(other.year and day.year and other.year != day.year for other in source.days)
        and (not any(other.day for other in source.days) or re.search(ordinal, source.digits) is not None)
        and source.has_word(key_of(MONTHS[day.month - 1]))
        and Decimal(day.day) in source.numbers
    )


def _times(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    taken: list[tuple[int, int]] = []
    for match, times in find_times(text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        taken.append(match.span())
        known = any(time in source.times for time in times) or (times == (0.0,) and not source.times)
        part_of_day = next((word for word in _PARTS_OF_DAY if source.has_word(key_of(word))), None)
        remark = ""
        if part_of_day is not None and not source.times:
            remark = f"it says no more than '{part_of_day}'"
        elif source.times and source.durations:
            remark = "it must be computed from the times and durations in the request"
        elif part_of_day is not None:
            remark = f"it gives no time for its '{part_of_day}'"
        yield *match.span(), ValuePart(match.group().strip(), known, bool(remark), remark, "time")


def _durations(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    end_of_last = -1
    for start, end, length in sorted(find_durations(text), key=lambda found: (found[0], -found[1]))[:100]:
        if start >= end_of_last and any(length.is_same(other) for other in source.durations):
            end_of_last = end
            yield start, end, ValuePart(text[start:end].strip(), True)


def _long_number(found: str, source: SourceText) -> ValuePart | None:
    return ValuePart(found, True) if is_phone_of(found, source.phone_numbers) else None


def _phone(found: str, source: SourceText) -> ValuePart | None:
    if not identifiers.is_phone(found):
        return None
    digits = identifiers.digits_of(found)
    known = (
        digits in source.phones
        or Decimal(digits) in source.numbers
        or is_phone_of(found, source.phone_numbers)
    )
    return ValuePart(found.strip(), known, kind="phone")


def _code(found: str, source: SourceText) -> ValuePart | None:
    if identifiers.code_key(found) in source.codes:
        return ValuePart(found, True)
    if measure := identifiers.MEASURE.fullmatch(found):
        number, unit = parse_number(measure[1]), measure[2]
        if unit in ("st", "nd", "rd", "th") and number == {1}:
            return ValuePart(found, False)
        counts = unit in ("st", "nd", "rd", "th", "x", "k", "m") or source.has_word(key_of(unit))
        if counts or not number & set(source.numbers):
            factor = {"k": 1000, "m": 1_000_000}.get(unit, 1)
            return ValuePart(found, bool(({n * factor for n in number} | number) & set(source.numbers)))
        return ValuePart(found, False, True, f"it gives no '{unit}'")
    return ValuePart(found, False, kind="code")


def _number(match: re.Match[str], values: set[Decimal], source: SourceText, alone: bool) -> ValuePart:
    known = not values.isdisjoint(source.numbers)
    if not known and values == {1} and (noun := re.match(r"\W{0,3}([^\W\d]+)", match.string[match.end() :])):
        known = re.search(rf"\b(?:an?|single|per)\s{re.escape(noun[1])}", source.digits) is not None
    if not known and alone:
        digits = match["body"].replace(",", "")
        known = (
            not values.isdisjoint(source.all_numbers)
            or not values.isdisjoint(source.converted)
            or any(is_share(value, source.shares) for value in values)
            or digits in source.phones
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
