"""The parts of a value that must be stated exactly, and whether the source text states them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from toolassay.gates.grounding import identifiers
from toolassay.gates.grounding.identifiers import is_phone_of
from toolassay.gates.grounding.normalization import key_of
from toolassay.gates.grounding.source_text import SourceText
from toolassay.text_values.dates import Day, find_days
from toolassay.text_values.numbers import find_numbers, parse_number
from toolassay.text_values.times import find_durations, find_times
from toolassay.text_values.vocabulary import MONTHS

# Parts of words for times and durations without digits: "noon", "midnight", "an hour".
_SPELLED = re.compile(r"no|mid|hour|min|day|week|fortnight|month|year|half|quarter")

# A key of a query, which is notation: "artist:" in 'artist:"The Beatles"', not "PS:" before a blank.
_KEY = re.compile(r"(?<![^\s:(])[^\W\d]\w*:(?=[\w\"'])")


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
        def blanked(match: re.Match[str]) -> str:
            part = read(match.group())
            if part is None:
                return match.group()
            parts.append(part)
            return " " * len(match.group())

        return pattern.sub(blanked, rest)

    rest = re.sub(r"(?<=\d)t(?=\d\d:)", " ", text)
    rest = take(
        identifiers.EMAIL,
        lambda piece: ValuePart(piece, identifiers.email_key(piece) in source.emails, kind="email"),
        rest,
    )
    rest = take(
        identifiers.URL,
        lambda piece: ValuePart(piece, identifiers.url_key(piece) in source.urls, kind="url"),
        rest,
    )
    rest = _KEY.sub(lambda match: " " * len(match.group()), rest)
    rest = take(identifiers.FILE, lambda piece: _file(piece, source), rest)
    if any(character.isdigit() for character in rest) or _SPELLED.search(rest):
        for reader in (_dates, _times, _durations):
            for start, end, part in list(reader(rest, source)):
                parts.append(part)
                rest = rest[:start] + " " * (end - start) + rest[end:]
        rest = take(identifiers.PHONE, lambda piece: _phone(piece, source), rest)
        rest = take(identifiers.CODE, lambda piece: _code(piece, source), rest)
        alone = not re.search(r"[^\W\d_]", text)
        for match, values in reversed(list(find_numbers(rest))):
            parts.append(_number(match, values, source, alone))
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    return parts, rest


def _file(written: str, source: SourceText) -> ValuePart:
    name = identifiers.file_key(written)
    media = identifiers.media_of(name)
    others = [file for file in source.files if identifiers.media_of(file) == media]
    remark = f"it names {_some(others)}" if others else ""
    return ValuePart(written, name in source.files, remark, "file")


def _dates(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    for match, days in find_days(text):
        stated = [
            any(day.agrees_with(stated_day) for stated_day in source.days)
            or _is_stated_apart(day, source)
            or _follows(day, source)
            for day in days
        ]
        is_known = all(stated) if match.groupdict().get("last") else any(stated)
        written = match.group().strip(" ,")
        whole = [words for day, words in source.days.items() if day.day]
        yield *match.span(), ValuePart(written, is_known, f"it says {_some(whole)}" if whole else "")


def _is_stated_apart(day: Day, source: SourceText) -> bool:
    """Whether month and day are stated apart from each other ("in October … on the 17th")."""
    month = MONTHS[day.month - 1]
    return (
        day.day is not None
        and not any(stated_day.day for stated_day in source.days)
        and not any(
            stated_day.year and day.year and stated_day.year != day.year for stated_day in source.days
        )
        and any(source.has_word(key_of(name)) for name in (month, month[:3]))
        and Decimal(day.day) in source.numbers
    )


def _follows(day: Day, source: SourceText) -> bool:
    """Whether a day follows from a stated one: "a week later", "until the 28th", "on the Saturday"."""
    if any(day.agrees_with(stated_day) for stated_day in source.derived_days):
        return True
    before = [day.moved(-n) for n in range(1, 7)] if source.has_word(key_of(day.weekday or "")) else ()
    weekdays = {
        stated_day._replace(year=stated_day.year or day.year).weekday for stated_day in source.days if before
    }
    return day.weekday not in weekdays and any(
        earlier_day.agrees_with(stated_day) for earlier_day in before for stated_day in source.days
    )


def _times(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    taken: list[tuple[int, int]] = []
    for match, times in find_times(text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        taken.append(match.span())
        is_known = any(time in source.times or time in source.derived_times for time in times) or (
            times == (0.0,) and not source.times
        )
        yield *match.span(), ValuePart(match.group().strip(), is_known)


def _durations(text: str, source: SourceText) -> Iterator[tuple[int, int, ValuePart]]:
    end_of_last = -1
    for start, end, length in sorted(find_durations(text), key=lambda span: (span[0], -span[1]))[:100]:
        if text[end : end + 1].isalnum():
            continue  # "1h" of the code "1h0CEZCm6Ib"
        if start >= end_of_last and any(length.is_same(stated) for stated in source.durations):
            end_of_last = end
            yield start, end, ValuePart(text[start:end].strip(), True)


def _phone(written: str, source: SourceText) -> ValuePart | None:
    if not identifiers.is_phone(written):
        return None
    digits = identifiers.digits_of(written)
    is_known = Decimal(digits) in source.numbers or is_phone_of(written, source.phones)
    return ValuePart(written.strip(), is_known, kind="phone")


def _code(written: str, source: SourceText) -> ValuePart | None:
    if identifiers.code_key(written) in source.codes:
        return ValuePart(written, True)
    measure = identifiers.MEASURE.fullmatch(written)
    if measure is None:
        return ValuePart(written, False)
    number = parse_number(measure[1])
    unit = measure[2]
    is_unit = unit in ("st", "nd", "rd", "th", "x") or source.has_word(key_of(unit))
    return ValuePart(written, is_unit and not number.isdisjoint(source.numbers))


def _number(match: re.Match[str], values: set[Decimal], source: SourceText, alone: bool) -> ValuePart:
    is_known = not values.isdisjoint(source.numbers)
    if not is_known and alone:
        digits = match["body"].replace(",", "")
        is_known = (
            not values.isdisjoint(source.all_numbers)
            or not values.isdisjoint(source.duration_numbers)
            or _is_code_of_digits(digits, values, source)
            or (values == {0} and source.states_none)
        )
    return ValuePart(match.group().strip(), is_known)


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
        return [email for email in source.emails if email not in used.emails]
    if kind == "url":
        mentioned = (identifiers.url_key(match.group()) for match in identifiers.URL.finditer(source.plain))
        return [rival for rival in mentioned if rival not in used.urls]
    if kind == "file":
        ending = missing.rpartition(".")[2]
        return [file for file in source.files if file.endswith(f".{ending}") and file not in used.files]
    return [phone for phone in source.phones if not identifiers.is_phone_of(phone, used.phones)]
