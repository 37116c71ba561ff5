"""What a description says of a value: the choices, examples, the form, the bounds.

Descriptions come from outside and may be long or hostile: only their beginning is read, and no expression
here has two repetitions that could share a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from toolassay.text_values.vocabulary import word_set

_LONGEST = 800  # characters of a description that are read
_MOST_ITEMS = 30


class Described(NamedTuple):
    """What a description says of a value.

    Attributes:
        choices: The only values; empty if it lists none.
        examples: Some values.
        form: How it is spelled, as a key of `value_makers`: "country code", "date %d/%m/%Y"; or "".
        low: The lowest number, if it says so.
        high: The highest.
        shortest: The fewest characters.
        longest: The most.
    """

    choices: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    form: str = ""
    low: float | None = None
    high: float | None = None
    shortest: int | None = None
    longest: int | None = None


@lru_cache(maxsize=16_384)
def described(description: str) -> Described:
    """What a description says.

    >>> described("Room type: single, double or suite").choices
    ('single', 'double', 'suite')
    >>> described("ISO code, e.g. EUR").examples, described("between 1 and 5").high
    (('EUR',), 5.0)
    >>> described("Day (DD/MM/YYYY)").form
    'date %d/%m/%Y'
    """
    text = " ".join(description[:_LONGEST].split())
    if not text:
        return Described()
    examples, rest = _examples(text)
    low, high = _bounds(text)
    shortest, longest = _lengths(text)
    return Described(_choices(rest), examples, form_of(text), low, high, shortest, longest)


# One item between quotation marks or backticks: "'metric'", not one of more than forty characters.
_QUOTED = r"(?:'[^'\n]{1,40}'|\"[^\"\n]{1,40}\"|`[^`\n]{1,40}`|“[^”\n]{1,40}”|‘[^’\n]{1,40}’)"
_QUOTED_ITEM = re.compile(rf"(?<!\w){_QUOTED}(?!\w)")
# "e.g. EUR", "for example, 5", "Example: a" and "such as 'x'"; not "examples of use" or "suchlike".
_EXAMPLE = re.compile(
    r"(?:\be\.? ?g\.?|\bfor example|\bfor instance|\bsuch as|\bexamples?\s?(?:values?)?\s?[:=]|\bex\.?\s?:"
    r"|\blike(?= ['\"`]))"
    r"[:,]?\s*",
    re.IGNORECASE,
)
# Where a list of examples ends: at a bracket, a semicolon, a full stop before a blank.
_END = re.compile(r"[;)\]\n]|\.(?=\s|$)")


def _examples(text: str) -> tuple[tuple[str, ...], str]:
    """The examples, and the text without them."""
    match = _EXAMPLE.search(text)
    if match is None:
        return (), text
    end = _END.search(text, match.end())
    stop = end.start() if end else len(text)
    listed = text[match.end() : stop]
    rest = text[: match.start()] + text[stop:]
    if quoted := _QUOTED_ITEM.findall(listed):
        return _clean(one[1:-1] for one in quoted), rest
    if _SEPARATED.search(listed) is None:
        return _clean([listed]), rest
    items = _split(listed)
    is_list = len(items) > 2 or re.search(r"\b(?:or|and|etc)\b|[|/]", listed) is not None
    # "BTC, ETH" are two examples, "Oslo, Norway" is one.
    if is_list or all(one.isupper() or one.islower() for one in items):
        return _clean(items), rest
    return _clean([listed]), rest


_SEPARATED = re.compile(r",|\bor\b|\||\band\b")


def _split(text: str) -> list[str]:
    # "a, b, or c", "a or b", "a | b" and "a, etc."; not the "or" of "color".
    parts = re.split(r"\s*,\s*(?:(?:or|and)\b\s*)?|\s+(?:or|and)\s+|\s*\|\s*", text)
    return [one for one in parts if one.strip()]


# A list of quoted items: "'metric' or 'imperial'", "`a`, `b`, and `c`"; not "'metric'" alone.
_QUOTED_LIST = re.compile(
    rf"(?<!\w){_QUOTED}(?:\s*(?:,\s*(?:or\b|and\b)?|\bor\b|\band\b|/|\|)\s*{_QUOTED}){{1,30}}"
)
# What says that a list has all values: "one of", "allowed values:"; not "value" alone.
_LEAD = (
    r"\b(?:(?:must be |should be )?(?:any |either )?one of(?: the following)?(?: values)?"
    r"|(?:allowed|possible|valid|accepted|acceptable|available|supported|permitted)"
    r" (?:values?|options?|choices|types?)(?: (?:are|is|include))?"
    r"|(?:options?|choices|values?)(?: (?:are|is))?(?=\s?:)|either|(?:can|may|must) be(?: either)?)\s*:?\s*"
)
# "one of: red, blue"; not "one of the customers", whose items are no values (`_plain_items`).
_LED = re.compile(_LEAD + r"(?P<list>(?:[^.;()\n]|\.(?=\w))+)", re.IGNORECASE)
# "(asc|desc)" and "asc | desc"; not "a || b".
_PIPES = re.compile(r"(?<![\w|])[\w.+-]{1,30}(?:\s?\|\s?[\w.+-]{1,30}){1,30}(?![\w|])")
# "(asc/desc)"; not "(a/b)", whose parts are too short, nor "asc/desc" outside of brackets.
_SLASHES = re.compile(r"\(\s?([\w+-]{2,30}(?:\s?/\s?[\w+-]{2,30}){1,30})\s?\)")
# The place for a list at the end: after a colon, a dash or in brackets.
_PART = re.compile(r"[:()\[\]–—]|\s-\s|\.(?=\s)")
_TYPES = word_set(
    "str string int integer float number bool boolean null object array list dict any and or "
    "yes no true false optional required default"
)
_NO_VALUES = re.compile(r"\b(?:[dmyhs]{2}|yyyy|lat|lon|lng)\b", re.IGNORECASE)
# Words with which no value begins: "the guest", "if given".
_NO_START = re.compile(
    r"(?:an?|the|our|your|my|these|those|its|their|any|all|if|when|to|use|used|be|is|are|more|not|for|from|in|of|on|by|with"
    r"|set|see|null|empty|leave|returns?|only|comma|separated|specified|provided|included|used|passed|given)\b",
    re.IGNORECASE,
)
# Nouns that name a kind of value, not a value: "city or airport" says what to give.
_KINDS = re.compile(
    r"\b(?:ids?|names?|codes?|numbers?|address(?:es)?|city|cities|country|countries|airports?|emails?|e-mails?|urls?|uris?|links?|"
    r"paths?|files?|titles?|authors?|keys?|dates?|times?|phones?|users?|usernames?|identifiers?|queries|query|texts?|"
    r"strings?|values?|regions?|states?|places?|locations?|zip|postcodes?|symbols?|tickers?|descriptions?|keywords?|words?|"
    r"persons?|people|compan(?:y|ies)|objects?|arrays?|lists?|items?|fields?|parameters?|coordinates|isbn|uuids?|slugs?)\b",
    re.IGNORECASE,
)


# "local branches ('local') or all (`all`)"; not "(local)".
_IN_BRACKETS = re.compile(rf"\(\s?({_QUOTED})\s?\)")
# "`a` (the first), `b` (the rest)": the explanations, without which the items are a list.
_EXPLAINED = re.compile(r"(?<=['\"`])\s?\([^()\n]{1,200}\)")


def _choices(text: str) -> tuple[str, ...]:
    bracketed = _clean(one[1:-1] for one in _IN_BRACKETS.findall(text))
    if len(bracketed) > 1:
        return bracketed
    text = _EXPLAINED.sub("", text)
    if match := _QUOTED_LIST.search(text):
        before = text[max(0, match.start() - 60) : match.start()]
        # "`a` and `b`" without a lead are often names of other parameters.
        if " and " not in match[0] or re.search(_LEAD + r"$", before, re.IGNORECASE):
            items = _clean(one[1:-1] for one in _QUOTED_ITEM.findall(match[0]))
            if len(items) > 1:
                return items
    if (match := _PIPES.search(text)) and (items := _plain_items(re.split(r"\s?\|\s?", match[0]))):
        return items
    if (match := _SLASHES.search(text)) and (items := _plain_items(re.split(r"\s?/\s?", match[1]))):
        return items
    for match in _LED.finditer(text):
        listed = _split(match["list"])
        # "can be set to …" leads to no list.
        if items := _plain_items(listed, longest=3 if "be" not in match[0][:8] else 1):
            return items
    parts = [part.strip(" .") for part in _PART.split(text)]
    for number, part in enumerate(parts):
        items = _plain_items(_split(part), longest=2)
        is_end = number > 0 or len(parts) == 1
        says_or = re.search(r"\bor\b", part) is not None
        # "Breakfast: none, continental, full"
        is_list = number > 0 and len(items) > 2 and not any(" " in item for item in items)
        is_choice = is_end and (is_list or (says_or and len(items) > (1 if number else 2)))
        if is_choice and not any(_KINDS.search(item) for item in items):
            return items
    return ()


def _plain_items(items: Iterable[str], *, longest: int = 3) -> tuple[str, ...]:
    """The items if all are values of at most `longest` words; else none."""
    listed = list(items)
    cleaned = _clean(listed)
    if not len(cleaned) >= 2 or len(cleaned) < len(listed) - 1:
        return ()
    for item in cleaned:
        if len(item.split()) > longest or _NO_START.match(item) or _NO_VALUES.search(item):
            return ()
        if item.casefold() in _TYPES:
            return ()
    return cleaned


# "fly etc", not "etcetera".
_ETC = re.compile(r"\s+etc\.?$", re.IGNORECASE)


def _clean(items: Iterable[str]) -> tuple[str, ...]:
    """Values without quotation marks, repetitions and what only says that there are more."""
    found = dict.fromkeys(_ETC.sub("", one).strip(" .,:'\"`“”‘’") for one in items)
    dropped = {"", "etc", "and so on", "..."}
    return tuple(one for one in found if one.casefold() not in dropped and len(one) <= 60)[:_MOST_ITEMS]


# "-letter ISO country" after "two" or "three"; not "letters of the country".
_LETTERS_OF_COUNTRY = r"[ -]?(?:letter|lettered|character|char) (?:(?:iso|id of the|code of the) )?country"
_FORMS: tuple[tuple[str, str], ...] = (
    # Each with one text that it matches; none matches the spelling of another unit inside a word.
    (r"\byyyy-mm-dd['\"]?t['\"]?hh:mm", "moment"),  # YYYY-MM-DDTHH:MM:SSZ
    (r"\byyyy-mm-dd hh:mm:ss", "moment %Y-%m-%d %H:%M:%S"),  # YYYY-MM-DD HH:MM:SS
    (r"\byyyy-mm-dd hh:mm", "moment %Y-%m-%d %H:%M"),  # YYYY-MM-DD HH:MM
    (r"\byyyy-mm-dd\b", "date %Y-%m-%d"),
    (r"\byyyy/mm/dd\b", "date %Y/%m/%d"),
    (r"\bdd/mm/yyyy\b", "date %d/%m/%Y"),
    (r"\bmm/dd/yyyy\b", "date %m/%d/%Y"),
    (r"\bdd\.mm\.yyyy\b", "date %d.%m.%Y"),
    (r"\bdd-mm-yyyy\b", "date %d-%m-%Y"),
    (r"\bmm-dd-yyyy\b", "date %m-%d-%Y"),
    (r"\byyyymmdd\b", "date %Y%m%d"),
    (r"\byyyy-mm\b", "date %Y-%m"),
    (r"\bmm/yyyy\b", "date %m/%Y"),
    (r"\bhh:mm:ss\b", "time %H:%M:%S"),
    (r"\bhh:mm\b", "time %H:%M"),
    (r"\b(?:unix|epoch|posix)[ -]?(?:epoch )?(?:time|timestamp|seconds)?\b|\bseconds since\b", "unix time"),
    (r"\biso[ -]?8601 duration", "duration"),
    (r"\brfc ?3339|\biso[ -]?8601[ -]?(?:date[ -]?time|time|timestamp|format|string)", "moment"),
    (r"\biso[ -]?8601 date\b", "date %Y-%m-%d"),
    (rf"\balpha-?3\b|\b(?:three|3){_LETTERS_OF_COUNTRY}", "country code 3"),
    (
        rf"\biso[ -]?3166|\balpha-?2\b|\b(?:two|2){_LETTERS_OF_COUNTRY}"
        r"|\bcountry code \((?:two|2)[ -]letter|\biso country code",
        "country code",
    ),
    (r"\biso[ -]?4217|\bcurrency code\b|\b(?:three|3)[ -]letter (?:iso )?currency", "currency"),
    (r"\biso[ -]?639-?1?\b|\b(?:two|2)[ -]letter language|\blanguage code\b", "language code"),
    (r"\bbcp[ -]?47|\bietf language", "locale"),
    (r"\biata\b.{0,20}\bairline|\bairline\b.{0,20}\biata\b", "airline"),
    (r"\biata\b", "airport"),
    (r"\be\.?164\b", "phone"),
    (r"\bcidr\b|\bip.{0,20}with mask\b", "cidr"),
    (r"\bipv4\b", "ip"),
    (r"\biana time ?zone|\btz database|\bolson time", "timezone"),
    (r"\bhex(?:adecimal)? (?:colou?r|code)|\bcolou?r in hex", "hex color"),
    (r"\blat(?:itude)?\s?(?:,|and)\s?(?:lon|lng|long|longitude)\b", "coordinates"),
    (r"\b(?:uuid|guid)\b", "uuid"),
    (r"\bsha-?1\b|\bcommit (?:sha|hash)\b", "sha"),
)


def _compiled(rows: Iterable[tuple[str, str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), form) for pattern, form in rows)


_FORM_RULES = _compiled(_FORMS)


def form_of(text: str) -> str:
    """The form that a text names: "date %Y-%m-%d" for "YYYY-MM-DD"; empty if it names none.

    >>> form_of("ISO 4217 code"), form_of("a nice name")
    ('currency', '')
    """
    return next((form for pattern, form in _FORM_RULES if pattern.search(text)), "")


_NUMBER = r"-?\d{1,12}(?:\.\d{1,6})?"
# "between 1 and 5", "from 5 to 30", "1-5", "0..1"; not "2026-05-14" or "10:15".
_RANGE = re.compile(
    rf"(?<![\w.:/-])({_NUMBER})\s?%?\s?(?:\bto\b|\band\b|-|–|\.\.\.?)\s?({_NUMBER})(?![\w:/-]|\.\d)"
)
# "at most 50", "maximum of 100", "Max: 10"; not "maximum length" or "max results".
_HIGHEST = re.compile(
    rf"\b(?:at most|up to|no more than|max(?:imum)?(?: value)?(?: of| is)?:?) ({_NUMBER})(?![\w-])", re.I
)
# "at least 1", "minimum 5"; not "minimum length".
_LOWEST = re.compile(
    rf"\b(?:at least|no less than|min(?:imum)?(?: value)?(?: of| is)?:?) ({_NUMBER})(?![\w-])", re.I
)
# What makes a number the length of a text: " characters", " chars"; not " days".
_OF_LENGTH = re.compile(r"[ -]?(?:characters?|chars?|letters?|digits?|words?|bytes|symbols)\b", re.IGNORECASE)
# "Max length: 20", "minimum length of 3"; not "max results".
_LENGTH = re.compile(r"\b(min|max)(?:imum)?[ -]length(?: of| is)?:? ?(\d{1,6})\b", re.IGNORECASE)


def _bounds(text: str) -> tuple[float | None, float | None]:
    for match in _RANGE.finditer(text):
        low, high = float(match[1]), float(match[2])
        if low < high and not _OF_LENGTH.match(text, match.end()):
            return low, high
    found: list[float | None] = []
    for pattern in (_LOWEST, _HIGHEST):
        one = pattern.search(text)
        of_value = one is not None and not _OF_LENGTH.match(text, one.end())
        found.append(float(one[1]) if one is not None and of_value else None)
    return found[0], found[1]


def _lengths(text: str) -> tuple[int | None, int | None]:
    lengths: dict[str, int] = {}
    for match in _RANGE.finditer(text):
        if _OF_LENGTH.match(text, match.end()) and match[1].isdecimal() and match[2].isdecimal():
            return int(match[1]), int(match[2])
    for match in _LENGTH.finditer(text):
        lengths.setdefault(match[1].casefold(), int(match[2]))
    for name, pattern in (("min", _LOWEST), ("max", _HIGHEST)):
        one = pattern.search(text)
        if one is not None and one[1].isdecimal() and _OF_LENGTH.match(text, one.end()):
            lengths.setdefault(name, int(one[1]))
    return lengths.get("min"), lengths.get("max")
