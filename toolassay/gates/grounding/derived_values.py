"""Values that a text implies: days ("the 9th", "a week later"), sums, nights of a stay, times, people."""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations, islice
from typing import Literal, NamedTuple

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from toolassay.text_values.dates import Day
from toolassay.text_values.durations import find_durations
from toolassay.text_values.times import MINUTES_PER_DAY
from toolassay.text_values.vocabulary import MONTH_NUMBERS, MONTHS, WEEKDAY_ABBREVIATIONS, WEEKDAYS

_WEEKDAY_NAMES = "|".join((*WEEKDAYS, *WEEKDAY_ABBREVIATIONS, "wednes"))
# "next friday" and "fridays", but not "fridayish".
_WEEKDAY = re.compile(
    rf"(?:(?P<way>next|following|after|before|previous|preceding) )?\b(?P<name>{_WEEKDAY_NAMES})s?\b"
)
_NOT_A_DAY = "floor|street|st|ave|avenue|place|grade|edition|birthday|anniversary|time|row|century|class|year"
# "the 9th", but not "the 9th floor".
_ORDINAL = re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)\b(?!\s(?:{_NOT_A_DAY})\b)")
# "3 nights", "a week later" and "the following day", but not "nights" alone.
_SPAN = re.compile(
    r"\b(?:(?P<way>next|following|previous|preceding) |(?P<count>\d{1,3}|an?|the|(?:a )?couple(?: of)?)[ -])"
    r"(?:(?:full|more|whole|extra) )?"
    r"(?P<unit>night|day|week|fortnight|month|year|weekend|morning|evening)s?'?\b"
    r"(?:,? (?P<behind>later|after|afterwards|following|on|hence|from"
    r"|earlier|before|beforehand|prior|previously))?"
)
_BACK = frozenset({"earlier", "before", "beforehand", "prior", "previously", "previous", "preceding"})
_AHEAD = frozenset({"later", "after", "afterwards", "on", "hence", "from", "next", "following"})
_SINGLE = ("day", "night", "morning", "evening")
_AFTER = re.compile(r"\b(?:after|in|within) (?:the )?$")
_POINTED = re.compile(r"\b(?:the|that) $")
_NIGHT = re.compile(r"\bovernight\b")
_EVE = re.compile(r"\b(?:eve|vigil) of\b")
# What may stand between a weekday and its date: " (the "; not " or ".
_BESIDE = re.compile(r"[\s,(]{0,3}(?:the |of ){0,2}")
_MONTH = "|".join(MONTH_NUMBERS)
# "end of may", "early in the month" and "end of 2026", but not "end of the road".
_EDGE = re.compile(
    r"\b(?P<edge>last(?: day)?|end|close|1st day|start|beginning|middle|mid|early|late)(?: (?:of|in))?"
    rf" (?:the month of )?(?P<month>(?:{_MONTH})\b|(?:the (?:same )?|that |this )month\b|(?:the )?year\b"
    r"|20\d\d\b)"
)
# "2nd monday of" and "last friday in", but not "2nd monday".
_NTH = re.compile(
    rf"\b(?P<count>\d(?=st|nd|rd|th)|last)(?:st|nd|rd|th)? (?P<name>{_WEEKDAY_NAMES}) (?:of|in)\b"
)
# Days from Easter Sunday.
_MOVING = {
    "easter sunday": 0,
    "easter monday": 1,
    "good friday": -2,
    "maundy thursday": -3,
    "palm sunday": -7,
    "ash wednesday": -46,
    "shrove tuesday": -47,
    "pancake day": -47,
    "ascension day": 39,
    "whit monday": 50,
    "whit sunday": 49,
    "pentecost": 49,
    "easter": 0,
}
_FAR = 62  # days: further away, a day does not follow from another without a stated step
_REACH = 250  # characters between a day and a step that starts from it
# The end of a sentence, but not the point of "7.30".
_STOP = re.compile(r"[.;!?](?=\s)")
_MOST_MENTIONS = 24
_MOST_TEXT = 20_000
Certainty = Literal["sure", "possible"]


class DayMention(NamedTuple):
    """The place of a mention in the text, and the days it may mean."""

    start: int
    end: int
    days: tuple[Day, ...]


class DayClues(NamedTuple):
    """What a text states about days: mentions, steps from one to another ("a week later"), ordinals."""

    text: str
    mentions: tuple[DayMention, ...]
    steps: tuple[_Step, ...]
    ordinals: frozenset[int]

    @classmethod
    def of(cls, text: str, mentions: Iterable[DayMention]) -> DayClues:
        """The clues of a plain text with digits for number words, given its mentions of days."""
        text = text[:_MOST_TEXT]
        some = tuple(islice(mentions, _MOST_MENTIONS))
        ordinals = frozenset(int(match["day"]) for match in _ORDINAL.finditer(text))
        return cls(text, some, tuple(islice(_steps(text, some), _MOST_MENTIONS)), ordinals)


def day_certainty(value: Day, clues: DayClues) -> Certainty | None:
    """The answer "sure" if a day follows from the text, "possible" if it is near a day of it, None otherwise.

    >>> clues = DayClues.of("3 nights from 10 december 2026", [DayMention(14, 30, (Day(2026, 12, 10),))])
    >>> [day_certainty(Day(2026, 12, day), clues) for day in (13, 15, 9)]
    ['sure', 'possible', 'possible']
    >>> day_certainty(Day(2027, 12, 13), clues)
    """
    whole = value.whole_date
    if whole is None:
        return None
    if _is_feast(whole, clues.text) or _is_at_edge(whole, clues) or _is_nth(whole, clues):
        return "sure"
    is_near = False
    for base, mention in _bases(whole, clues.mentions):
        if whole.day in clues.ordinals and _is_in_months_of(whole, base):
            return "sure"
        if any(step.is_by(mention, clues.text) and whole in step.days_from(base) for step in clues.steps):
            return "sure"
        is_near |= abs((whole - base).days) <= _FAR
    has_parts = bool(clues.steps or clues.ordinals or _EDGE.search(clues.text))
    return "possible" if has_parts and is_near else None


class _Step(NamedTuple):
    """A step from one day to another: a number of days and months, or on to a weekday.

    Attributes:
        start, end: its place in the text.
        is_back: whether it leads to an earlier weekday.
        is_strict: whether a weekday is never the day it starts from: "the friday after".
        is_sure: whether it leads to one certain day.
        sentences: how many sentence ends may lie between it and the day that it starts from.
    """

    start: int
    end: int
    days: int = 0
    months: int = 0
    weekday: int | None = None
    is_back: bool = False
    is_strict: bool = False
    is_sure: bool = True
    sentences: int = 1

    def is_by(self, mention: DayMention, text: str) -> bool:
        """Whether it is near enough to a mention to start from it."""
        first, last = sorted(((self.start, self.end), (mention.start, mention.end)))
        between = text[first[1] : last[0]]
        return last[0] - first[1] <= _REACH and len(_STOP.findall(between)) <= self.sentences

    def days_from(self, base: date) -> Iterator[date]:
        if not self.is_sure:
            return
        try:
            if self.weekday is None:
                yield base + relativedelta(days=self.days, months=self.months)
            elif self.is_back:
                yield base - timedelta(days=(base.weekday() - self.weekday) % 7 or 7)
            else:
                ahead = (self.weekday - base.weekday()) % 7
                yield base + timedelta(days=ahead or 7 * self.is_strict)
        except (OverflowError, ValueError):
            return


def _steps(text: str, mentions: tuple[DayMention, ...]) -> Iterator[_Step]:
    for match in _SPAN.finditer(text):
        if step := _span(match, text):
            yield step
    for match in _NIGHT.finditer(text):
        yield _Step(*match.span(), days=1)
    for match in _EVE.finditer(text):
        yield _Step(*match.span(), days=-1)
    for match in _WEEKDAY.finditer(text):
        gaps = (
            text[match.end() : m.start] if m.start >= match.end() else text[m.end : match.start()]
            for m in mentions
        )
        if any(_BESIDE.fullmatch(gap) for gap in gaps):
            continue  # part of that date: "Saturday, 8 May"
        place = next(i for i, name in enumerate(WEEKDAYS) if name.startswith(match["name"][:3]))
        behind = text[match.end() : match.end() + 20].split()[:1]
        is_back = match["way"] in _BACK or behind in (["before"], ["prior"], ["preceding"])
        is_strict = match["way"] in _AHEAD or behind == ["after"]
        pointed = is_back or is_strict or _POINTED.search(text, max(0, match.start() - 6), match.start())
        yield _Step(
            *match.span(), weekday=place, is_back=is_back, is_strict=is_strict, sentences=1 if pointed else 0
        )


def _span(match: re.Match[str], text: str) -> _Step | None:
    count, unit, way = match["count"] or "1", match["unit"], match["way"] or match["behind"]
    if unit == "weekend":
        return _Step(*match.span(), is_sure=False)
    if not way and _AFTER.search(text, max(0, match.start() - 12), match.start()):
        way = "after"
    if count == "the" and not way:
        return None
    if unit in ("morning", "evening") and not way:
        return None
    number = int(count) if count.isdigit() else 2 if "couple" in count else 1
    number *= -1 if way in _BACK else 1
    if unit in ("month", "year"):
        return _Step(*match.span(), months=number * (12 if unit == "year" else 1))
    if unit in ("week", "fortnight"):
        return _Step(*match.span(), days=number * (14 if unit == "fortnight" else 7))
    # Three days from the tenth may end on the twelfth or the thirteenth.
    return _Step(*match.span(), days=number, is_sure=bool(way) or unit != "day")


def _bases(value: date, mentions: Iterable[DayMention]) -> Iterator[tuple[date, DayMention]]:
    for mention in mentions:
        for day in mention.days:
            years = (day.year,) if day.year else (value.year - 1, value.year, value.year + 1)
            for year in years:
                if base := day._replace(year=year).whole_date:
                    yield base, mention


def _is_in_months_of(value: date, base: date) -> bool:
    if (value.year, value.month) == (base.year, base.month):
        return True
    following = base + relativedelta(months=1) if base.year < date.max.year else base
    return (value.year, value.month) == (following.year, following.month) and value.day < base.day


def _is_feast(value: date, text: str) -> bool:
    if "thanksgiving" in text and (value.month, value.weekday(), (value.day - 1) // 7) == (11, 3, 3):
        return True
    names = [name for name in _MOVING if name in text]
    return any(value == easter(value.year) + timedelta(days=_MOVING[name]) for name in names[:1])


def _is_at_edge(value: date, clues: DayClues) -> bool:
    for match in _EDGE.finditer(clues.text.replace("-", " ")):
        if not match["edge"].startswith(("last", "end", "close")):
            continue
        month = match["month"].split()[-1]
        if month == "year" or month.isdigit():
            if (value.month, value.day) == (12, 31):
                return True
        elif value.day == calendar.monthrange(value.year, value.month)[1]:
            same = MONTHS[value.month - 1].startswith(month[:3])
            if same or (month == "month" and any(_has_month(value, mention) for mention in clues.mentions)):
                return True
    return False


def _is_nth(value: date, clues: DayClues) -> bool:
    for match in _NTH.finditer(clues.text):
        is_last = value.day + 7 > calendar.monthrange(value.year, value.month)[1]
        counts = is_last if match["count"] == "last" else (value.day - 1) // 7 + 1 == int(match["count"])
        is_day = WEEKDAYS[value.weekday()].startswith(match["name"][:3])
        if counts and is_day and any(_has_month(value, mention) for mention in clues.mentions):
            return True
    return False


def _has_month(value: date, mention: DayMention) -> bool:
    return any(day.month == value.month and day.year in (None, value.year) for day in mention.days)


_MOST_NUMBERS = 12
_HIGHEST_NUMBER = 1_000_000


def derived_numbers(numbers: Iterable[Decimal], days: Iterable[Day], times: Iterable[float]) -> set[Decimal]:
    """The sums, differences and products of two numbers; days and nights, minutes and hours between.

    >>> sorted(map(int, derived_numbers([Decimal(2), Decimal(15)], [Day(2027, 6, 2), Day(2027, 6, 9)], [])))
    [7, 8, 13, 17, 30]
    """
    found: set[Decimal] = set()
    some = [number for number in islice(numbers, _MOST_NUMBERS) if 0 < number < _HIGHEST_NUMBER]
    for one, two in combinations(some, 2):
        found |= {one + two, abs(one - two), one * two}
    some_days = (day._replace(year=day.year or 2027).whole_date for day in islice(days, _MOST_NUMBERS))
    whole = [day for day in some_days if day]
    for first, last in combinations(whole, 2):
        between = abs((last - first).days)
        found |= {Decimal(between), Decimal(between + 1)}
    for start, end in combinations(islice(times, _MOST_NUMBERS), 2):
        minutes = Decimal(str(abs(end - start)))
        found |= {minutes, minutes / 60}
    return found


# " later", but not " latest".
_AFTER_LENGTH = re.compile(r",? (?P<way>later|after|afterwards|earlier|before|beforehand|prior|past|ahead)\b")
_LATER_WORDS = frozenset({"later", "after", "afterwards", "past"})
_MOST_TIME_TEXT = 20_000


def shifted_times(text: str, times: Collection[float]) -> set[float]:
    """The times, in minutes since midnight, that a plain text states relative to others.

    >>> sorted(shifted_times("at 9:00, and again half an hour later", [540.0]))
    [570.0]
    """
    found: set[float] = set()
    if not times:
        return found
    text = text[:_MOST_TIME_TEXT]
    for _, end, length in find_durations(text):
        if length.months or not (way := _AFTER_LENGTH.match(text, end)):
            continue
        minutes = float(length.seconds) / 60 * (1 if way["way"] in _LATER_WORDS else -1)
        if abs(minutes) < MINUTES_PER_DAY:
            found |= {(time + minutes) % MINUTES_PER_DAY for time in times}
    return found


_KIN = (
    r"wife|husband|partner|girlfriend|boyfriend|spouse|son|daughter|kid|child|baby|toddler|friend|mate|colleague"
    r"|mum|mom|mother|dad|father|sister|brother|cousin|aunt|uncle|boss|guest|adult|infant|teenager|nan|gran"
    r"|grandma|grandpa|neighbou?r|roommate|flatmate|classmate|teammate|coworker|assistant|person|nephew|niece|dog"
)
# A text with one of these speaks of people; only then are plurals with a number ("2 kids") counted.
_PEOPLE = re.compile(
    rf"\b(?:{_KIN}|couple|adult)s?\b|\bof us\b|\bpeople\b|\bchildren\b|\bbabies\b|\bparents\b"
)
# "2 of us", "3 little kids" and "2 more", but not "2 couples", which count twice.
_COUNTED = re.compile(
    r"\b(\d{1,2})\s(?:of (?:us|them)\b|people\b|children\b"
    r"|(?!couples|pairs)(?:\w{1,20}\s)?\w{2,20}s\b|more\b|others?\b)"
)
# "my dear wife" and "grandma", but not "wives".
_ONE_PERSON = re.compile(
    rf"\b(?:my|our|his|her|their|an?|the|1)\s(?:(?!and\b)\w{{1,20}}\s)?(?:{_KIN})\b"
    r"|\b(?<!my )(?:grandma|grandpa|mum|mom|dad)\b"
)
# "his parents" and "a couple", but not "a couple of pens".
_TWO_PEOPLE = re.compile(
    r"\b(?:my|our|his|her|their|the)\s(?:parents|grandparents|twins|couple)\b|\bboth of\b|\ba couple\b(?! of)"
)
_FOR_TWO = re.compile(r"\b(?:twin|double|couple|pair|both|each other|the other (?:one|person))\b")
_ONE_ALONE = re.compile(
    r"\b(?:(?:just|only) (?:for )?(?:me|myself|him|her)|(?:for|by) (?:myself|himself|herself)|alone|solo"
    r"|on my own|nobody else|no one else|single (?:room|bed|ticket|traveller))\b"
)
_COUPLES = re.compile(r"\b(\d{1,2})\s(?:couples|pairs)\b")
_SPEAKER = re.compile(r"\b(?:me|i|myself|i'm)\b")
# "Ann, Bo and I", but not "Ann Lee".
_NAMED_PEOPLE = re.compile(r"\b[A-Z]\w+(?:,\s[A-Z]\w+)*,?\s(?:and|&|plus)\s(?:[A-Z]\w+|I\b|me\b|myself\b)")


def people_counts_in(digits: str, text: str) -> set[int]:
    """The numbers of people, above 1, that a reader may count, with and without the speaker; 1 if alone.

    Args:
        digits: the text, plain and with digits for number words.
        text: as written, since names are known by their capitals.

    >>> sorted(people_counts_in("my wife and 2 kids", "my wife and two kids"))
    [3, 4]
    """
    found: set[int] = set()
    if _PEOPLE.search(digits):
        counts = [int(match[1]) for match in _COUNTED.finditer(digits)]
        couples = sum(2 * int(match[1]) for match in _COUPLES.finditer(digits))
        singles = len(_ONE_PERSON.findall(digits)) + 2 * len(_TWO_PEOPLE.findall(digits))
        others = sum(counts) + couples + singles
        if couples or singles or len(counts) > 1 or _SPEAKER.search(digits):
            found = {others, others + 1}
    for match in _NAMED_PEOPLE.finditer(text):
        names = len(re.findall(r"[A-Z]\w+", match.group()))
        found |= {names, names + 1}
    found -= {0, 1}
    if _ONE_ALONE.search(digits):
        found.add(1)
    return found | ({2} if _FOR_TWO.search(digits) else set())
