"""Numbers and amounts of money in a text.

Numbers are quantities, the same in smaller units, and shares. Currencies are given by name ("Moroccan
dirhams"), nation ("50 Canadian") or sign.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

from toolassay.text_values.vocabulary import FRACTIONS, longest_first, plain

_SCALES = {
    **dict.fromkeys(("dozen", "dozens"), 12),
    **dict.fromkeys(("hundred", "100"), 100),
    **dict.fromkeys(("k", "grand", "thousand", "1000"), 1_000),
    **dict.fromkeys(("m", "mn", "mio", "mil", "million", "1000000"), 1_000_000),
    **dict.fromkeys(("bn", "billion", "1000000000"), 10**9),
}
_SCALE = longest_first(_SCALES)
# "1,200.50", "-3", "2 million" and ".5", but not the "2" of "b2".
_NUMBER = re.compile(
    r"(?<![\w])(?P<minus>(?<![\w)]\s)(?<![\w)])-|\b(?:minus|negative)\s)?"
    rf"(?P<body>\d+(?:[.,' ]\d{{3}}(?!\d))*(?:[.,]\d+)?|\.\d+)(?:\s?(?P<scale>{_SCALE})\b)?"
)
# "1,200" and "1 200 000", but not "1,200.000" or "12,00".
_THOUSANDS = re.compile(r"\d{1,3}(?P<mark>[.,' ])\d{3}(?:(?P=mark)\d{3})*")
_ONE = re.compile(r"\b(?:an?|single|once)\b")
# Words for numbers that `with_digits` leaves as they are.
_WORDS = (
    (re.compile(r"\b(?:couple|both|pair|twice|double|duo)\b"), "2"),
    (re.compile(r"\b(?:thrice|triple|trio|triplets?)\b"), "3"),
    (re.compile(r"(?<!\d )(?<!half )(?<!half-)(?<!half a )\bdozen\b"), "12"),
    (re.compile(r"\bhalf\b"), "0.5"),
    (re.compile(r"\bhalf[ -](?:a )?dozen\b"), "6"),
    (re.compile(r"\bquarter\b"), "0.25"),
    (re.compile(r"\bthree quarters\b|\b3 quarters\b"), "0.75"),
    (re.compile(r"\b(?:fortnight)\b"), "14"),
)
# "3/4", but not "3/4/26".
_FRACTION = re.compile(r"(?<![\w/])(\d{1,3})/(\d{1,3})(?![\w/])")
# "2 3/4", but not the "5 3/4" of "1.5 3/4".
_MIXED = re.compile(r"(?<![\w/.,])(\d+) (\d{1,2})/(\d{1,2})(?![\w/])")
# "2 kilos and a half", but not "two and a half", whose number is still a word.
_AND_A_HALF = re.compile(r"\b(an?|1|\d+)(?: \w+)? and a half\b")
# "2 and a half", but not "2 and half".
_AND_PART = re.compile(r"\b(\d+) and (?:a (half|quarter)|(3 quarters))\b")
# "5 degrees below zero", but not "5 below average".
_BELOW = re.compile(r"(\d+(?:\.\d+)?)(?: \w+)? below (?:0|zero|freezing)")
# How many of the next smaller unit each unit has.
_SMALLER: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("km", "kilometer", "kilometre", "kg", "kilo", "litre", "liter"), (1000,)),
    **dict.fromkeys(("metre", "meter"), (100,)),
}
# "2.5 km" and "a kilo and a half", but not "km 5".
_UNIT = re.compile(
    rf"\b(?P<count>half an|an?|\d+(?:\.\d+)?)(?P<half> and a half)?[ -]?(?P<unit>{'|'.join(_SMALLER)})s?\b"
    r"(?P<more> and a half)?"
)


def parse_number(body: str) -> set[Decimal]:
    """The numbers that digits with marks may mean: a comma or a point groups digits or starts decimals.

    >>> sorted(parse_number("1,000")), sorted(parse_number("3,50")), sorted(parse_number("1.250,75"))
    ([Decimal('1000')], [Decimal('3.50')], [Decimal('1250.75')])
    """
    found = []
    if _THOUSANDS.fullmatch(body):
        found.append(re.sub(r"\D", "", body))
        if " " in body:
            found.extend(body.split(" "))
        if body.count(".") == 1:
            found.append(body)
    else:
        body = re.sub(r"[' ]", "", body)
        whole, mark, decimals = body, "", ""
        for place in range(len(body) - 1, -1, -1):
            if body[place] in ".,":
                whole, mark, decimals = body[:place], body[place], body[place + 1 :]
                break
        found.append(re.sub(r"\D", "", whole) + ("." + decimals if mark else ""))
    return {value for value in map(_decimal, found) if value is not None}


def find_numbers(text: str) -> Iterator[tuple[re.Match[str], set[Decimal]]]:
    """Each number in digits, with the values it may mean; the match has the groups minus, body and scale."""
    for match in _NUMBER.finditer(text):
        yield match, _values_of(match)


def _values_of(match: re.Match[str]) -> set[Decimal]:
    sign = -1 if match["minus"] else 1
    scale = match["scale"]
    found = {value * sign for value in parse_number(match["body"])}
    if scale:
        # "5 m" may be metres as well as millions.
        found = {value * _SCALES[scale] for value in found} | (
            found if scale in ("m", "k", "grand", "mil") else set()
        )
    return found


def numbers_in(text: str) -> set[Decimal]:
    """All numbers that a plain text with digits for number words states.

    >>> sorted(numbers_in("a pair of shoes for $1,200.50 and 3 million bolts"))
    [Decimal('2'), Decimal('3'), Decimal('1200.50'), Decimal('3000000')]
    """
    found: set[Decimal] = set()
    for match, values in find_numbers(text):
        if _AND_PART.match(text, match.start("body")):
            continue
        found |= values
        if not match["minus"]:
            found |= parse_number(match["body"])
        if match["scale"] and match["scale"].isdigit():
            found.add(Decimal(match["scale"]))
    # The "20" of "20kg", but not of "20kilos".
    for match in re.finditer(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?=[a-z]{1,3}\b)", text):
        found |= parse_number(match[1])
    for pattern, value in _WORDS:
        if pattern.search(text):
            found.add(Decimal(value))
    found |= {Decimal(m[1]) / Decimal(m[2]) for m in _FRACTION.finditer(text) if int(m[2])}
    found |= {
        Decimal(m[1]) + Decimal(m[2]) / Decimal(m[3]) for m in _MIXED.finditer(text) if int(m[2]) < int(m[3])
    }
    for match in _AND_PART.finditer(text):
        found.add(int(match[1]) + FRACTIONS[match[2] or match[3]])
    for match in _AND_A_HALF.finditer(text):
        found.add((Decimal(match[1]) if match[1].isdigit() else Decimal(1)) + Decimal("0.5"))
    found |= {-Decimal(match[1]) for match in _BELOW.finditer(text)}
    return found


def has_article(text: str) -> bool:
    """Whether a text may mean 1 by an article.

    >>> has_article("a pizza"), has_article("pizza")
    (True, False)
    """
    return _ONE.search(text) is not None


def converted_numbers_in(text: str) -> set[Decimal]:
    """The numbers that a text states in larger units: the metres of its kilometres.

    >>> sorted(converted_numbers_in("a run of 2.5 km"))
    [Decimal('2500.0')]
    """
    found: set[Decimal] = set()
    for match in _UNIT.finditer(text):
        words = {"half an": Decimal("0.5"), "a": Decimal(1), "an": Decimal(1)}
        count = words.get(match["count"]) or _decimal(match["count"])
        if count is not None:
            count += Decimal("0.5") if match["half"] or match["more"] else 0
            found |= {count * smaller for smaller in _SMALLER[match["unit"]]}
    return found


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


_SHARE_NAMES = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SHARE_SIZES = {name: size for size, name in enumerate(_SHARE_NAMES, 2)} | {"halve": 2, "fourth": 4}
# "A quarter past two" and "a quarter hour" are times, not shares.
_TIME = r"(?![ -](?:hour|past|to|after|before|til|of \d|of an hour))"
# "3 5ths", "a third" and "2 thirds", but not "quarter" alone.
_SHARE_PARTS = re.compile(
    r"(?<!and )\b(?P<count>\d{1,2}|an?|one)[ -](?:(?P<digits>\d{1,2})(?:nd|rd|th)|(?P<word>half|halve|third"
    r"|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth))(?P<many>s)?\b" + _TIME
)
# "a third" may be an ordinal; these words beside it make it a share: "by a third", "a third off".
_SHARE_BEFORE = re.compile(r"\b(?:by|to|at|only|about)\s$")
_SHARE_AFTER = re.compile(
    r"\s(?:of(?! \w+day)|off|less|more|full|the|power|volume|brightness|speed)\b|[.,;!?]|$"
)
# "3/4", "2 out of 3" and "2 in 3", but not "3/4/26".
_OF = re.compile(r"(?<![\w/])(\d{1,3})(?:/|\s(?:out of|in)\s)(\d{1,3})(?![\w/])")
# "20 %", "20,5 percent", but not the "5 %" of "1.5.5 %".
_PERCENT_SHARE = re.compile(r"(?<![\w.,])(\d{1,4}(?:[.,]\d{1,4})?)\s?(?:%|percent|per cent|pct)")
# "0.25" and ".25", but not "1.25".
_DECIMAL = re.compile(r"(?<![\w.,])0?[.,]\d{1,4}(?![\w.,]*\d)")
_PLAIN = (
    (re.compile(r"(?<!and a )\bhal(?:f(?! past| an? | \d)|ve|ves|ved|ving)\b"), Fraction(1, 2)),
    (re.compile(r"\bquarter\b" + _TIME), Fraction(1, 4)),
    (re.compile(r"\b(?:full|fully|max|maximum|completely|all the way)\b"), Fraction(1)),
)


def shares_in(text: str) -> set[Fraction]:
    """The shares, of 1, that a plain text with digits for number words states.

    >>> sorted(shares_in("three fifths of it at full volume, then 20 %".replace("three fifths", "3 5ths")))
    [Fraction(1, 5), Fraction(3, 5), Fraction(1, 1)]
    """
    found = {share for pattern, share in _PLAIN if pattern.search(text)}
    for match in _SHARE_PARTS.finditer(text):
        size = int(match["digits"]) if match["digits"] else _SHARE_SIZES[match["word"]]
        count = int(match["count"]) if match["count"].isdigit() else 1
        certain = match["many"] or match["count"].isdigit() or match["word"] in ("half", "quarter")
        near = _SHARE_BEFORE.search(text, max(0, match.start() - 8), match.start())
        if size > 1 and count < size and (certain or near or _SHARE_AFTER.match(text, match.end())):
            found.add(Fraction(count, size))
    found |= {Fraction(int(m[1]), int(m[2])) for m in _OF.finditer(text) if int(m[1]) <= int(m[2]) != 0}
    found |= {Fraction(match[1].replace(",", ".")) / 100 for match in _PERCENT_SHARE.finditer(text)}
    return found | {Fraction(match.group().replace(",", ".")) for match in _DECIMAL.finditer(text)}


def is_share(number: Decimal, shares: Collection[Fraction]) -> bool:
    """Whether a number is one of these shares, of 1 or in percent, rounded to the decimals it has.

    >>> is_share(Decimal(67), [Fraction(2, 3)]), is_share(Decimal("0.6"), [Fraction(3, 5)])
    (True, True)
    >>> is_share(Decimal("0.7"), [Fraction(2, 3)]), is_share(Decimal(66), [Fraction(2, 3)])
    (False, False)
    """
    exponent = number.as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if decimals > 6 or not -1 < number < 10_000:
        return False
    value = Fraction(number)
    endless = [share for share in shares if 100_000 % share.denominator]
    return any(value in (share, share * 100) for share in shares) or any(
        (decimals > 1 and value == round(share, decimals)) or value == round(share * 100, decimals)
        for share in endless
    )


COPIED_NUMBER = re.compile(
    r"(?<![\w.])[$€£¥]?\d+(?:,\d{3})*(?:\.\d+)?%?(?!\w)|\b[A-Z0-9-]{0,20}\d[A-Z0-9-]{0,20}\b"
)
"""A number, amount or code as a request words it, to be copied unread: "$1,200.50", "AB-12"; not "a12"."""


# What people call a currency, by the noun of its name in `data/currencies.json`.
_CALLED = {
    name: unit
    for unit, names in {
        "dollar": "buck bucks $",
        "pound": "quid sterling £",
        "crown": "kr krona krone kroner kronor kronur koruna korunas koruny",
        "zloty": "zl zlote zlotych zloties",
        "ruble": "rouble roubles ₽",
        "yuan": "renminbi rmb",
        "real": "reais r$",
        "shekel": "nis ₪",
        "franc": "sfr",
        "euro": "€",
        "yen": "¥",
        "rupee": "₹ rs",
        "won": "₩",
        "dong": "₫",
        "peso": "₱",
        "lira": "₺",
        "baht": "฿",
        "hryvnia": "₴",
        "naira": "₦",
    }.items()
    for name in names.split()
}
# The currency of a noun without a nation.
_USUAL = {"dollar": "USD", "pound": "GBP", "franc": "CHF", "rupee": "INR", "won": "KRW", "ruble": "RUB"}
_SIGNS = {
    sign: code
    for code, signs in {
        "USD": "us$ u$",
        "CAD": "c$ ca$ can$ loonie loonies",
        "AUD": "a$ au$",
        "NZD": "nz$",
        "HKD": "hk$",
        "SGD": "s$ sg$",
        "TWD": "nt$",
        "MXN": "mx$",
        "XCD": "ec$",
        "CNY": "cn¥",
        "JPY": "jp¥",
    }.items()
    for sign in signs.split()
}
_NATIONS = {"aussie": "australian", "kiwi": "zealand", "american": "us", "emirati": "emirates"}
_NO_NATION = frozenset(
    {"new", "islands", "convertible", "st"} | {"north", "south", "central", "west", "east"}
)
_TOKEN = re.compile(r"[a-z]{1,3}[$¥]|[$£€¥₹₩₪₫₱₺₽฿₴₦]|\d[\d.,]*k?|[^\W\d_]+|[.,;:!?()]")
# After these no noun follows that a nation belongs to: "50 Canadian to", but not "50 Canadian geese".
_AFTER = "to in into for from and or as at on is are via by with please worth . , ; : ! ? ( )"
_NO_NOUN = frozenset(_AFTER.split())
_WINDOW = 3  # words before a noun in which its nation may be
_MOST_TOKENS = 20_000


class Currencies(NamedTuple):
    """The ISO 4217 codes of currencies.

    Attributes:
        sure: those that the text names.
        possible: those that its words may mean as well: any dollar for "dollars".
    """

    sure: frozenset[str]
    possible: frozenset[str]


def currencies_in(text: str) -> Currencies:
    """The currencies of a plain text.

    >>> sorted(currencies_in("80 singapore dollars, or 1,150.50 canadian").sure)
    ['CAD', 'SGD']
    >>> "CAD" in currencies_in("50 dollars").sure, "CAD" in currencies_in("50 dollars").possible
    (False, True)
    """
    tokens = [_NATIONS.get(token, token) for token in _TOKEN.findall(text)[:_MOST_TOKENS]]
    sure: set[str] = set()
    possible: set[str] = set()
    named = {token[:4] for token in tokens if len(token) > 3}
    for place, token in enumerate(tokens):
        if token in _SIGNS:
            sure.add(_SIGNS[token])
            continue
        if of_unit := _units().get(_unit(token)):
            around = tokens[max(0, place - _WINDOW) : place] + tokens[place + 1 : place + 2]
            sure |= _codes_meant(_unit(token), of_unit, around, named)
            possible |= set(of_unit)
        elif token in ("currency", "money", "cash") and place:
            sure |= _of_nation(tokens[place - 1])
        elif place and tokens[place - 1][0].isdigit() and (codes := _of_nation(token)):
            sure |= codes if place + 1 == len(tokens) or tokens[place + 1] in _NO_NOUN else set()
        elif sure and place and tokens[place - 1] in ("to", "into"):
            sure |= _of_nation(token) if place + 1 == len(tokens) or tokens[place + 1] in _NO_NOUN else set()
    possible |= {code for code, nation in _nations() if nation[:4] in named}
    return Currencies(frozenset(sure), frozenset(possible - sure))


def currency_names(code: str) -> list[str]:
    """The English names of a currency, plain.

    >>> currency_names("cad")
    ['canadian dollar', 'canadian dollars']
    """
    return [plain(name) for name in _names().get(code.upper(), [])]


@cache
def _names() -> Mapping[str, list[str]]:
    path = Path(__file__).with_name("data") / "currencies.json"
    value: Mapping[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return value


@cache
def _units() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The codes by the noun of their names, each with the words for its nation."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for code in _names():
        for name in currency_names(code):
            words = re.findall(r"[^\W\d_]+", name)
            found.setdefault(_unit(words[-1]), {})[code] = tuple(words[:-1])
    return found


def _unit(word: str) -> str:
    return _CALLED.get(word) or (word.removesuffix("s") if len(word) > 3 else word)


@cache
def _nations() -> list[tuple[str, str]]:
    """Each code with the most telling word for its nation."""
    rows = []
    for code in _names():
        for name in currency_names(code):
            words = [word for word in re.findall(r"[^\W\d_]+", name)[:-1] if word not in _NO_NATION]
            if words:
                rows.append((code, words[-1]))
    return list(dict.fromkeys(rows))


def _codes_meant(
    unit: str, codes: Mapping[str, tuple[str, ...]], around: list[str], named: set[str]
) -> set[str]:
    if len(codes) == 1:
        return set(codes)
    counts = {code: sum(_is_among(word, around) for word in nation) for code, nation in codes.items()}
    most = max(counts.values())
    if most:
        best = {code for code, count in counts.items() if count == most}
        fewest = min(len(codes[code]) for code in best)
        best = {code for code in best if len(codes[code]) == fewest} if len(best) > 1 else best
        return best if most > 1 or any(_names_nation(codes[code], around) for code in best) else set()
    there = {
        code for code, nation in codes.items() if any(word[:4] in named for word in nation if len(word) > 3)
    }
    usual = _USUAL.get(unit)
    return there | ({usual} if usual else set(codes) if not there else set())


def _names_nation(nation: tuple[str, ...], around: list[str]) -> bool:
    return any(_is_among(word, around) for word in nation if word not in _NO_NATION)


def _is_among(word: str, around: list[str]) -> bool:
    return any(word == other or (len(word) > 4 and word[:5] == other[:5]) for other in around)


def _of_nation(token: str) -> set[str]:
    if len(token) < 5 and token not in ("us", "thai"):
        return set()
    return {code for code, nation in _nations() if nation == token}


_CURRENCY = (
    r"(?:dollars?|euros?|pounds?|quid|bucks?|francs?|kron[ae]r?|kronor|lira|rand|pesos?|rupees?|zloty|s?fr\.?|usd|eur|gbp|chf"
    r"|[$€£])"
)
_COINS = r"(?:cents?|pence|pennies|p|ct|rappen|grosz)\b"
# "19 euros 99" and "3 dollars and 5 cents", but not "19 euros 99%" or "19 and 99".
_MAIN_AND_COINS = re.compile(
    rf"(?<![\w.,])(\d{{1,7}})\s?(?:{_CURRENCY}\s?)?(?:and\s)?(?:(\d{{1,2}})\s?{_COINS}"
    rf"|(?<!\d )(?<!\d)(?<!and )(\d\d)(?![\w.,:%]*\d|\s?%))"
)
# "99 cents", but not "199 cents".
_COINS_ALONE = re.compile(rf"(?<![\w.,])(\d{{1,2}})\s?{_COINS}")
# "2 50" for "two fifty", but not the digits of "2 50 3".
_SPOKEN = re.compile(r"(?<![\w.,:-])(?<!\d\s)(\d{1,3}) ([1-9]\d)(?![\w.,:-]*\d|\s\d)")
# "half a million" after `with_digits`: "half a 1000000", but not "half a dozen".
_PART_OF = re.compile(r"\b(half|quarter|3 quarters)(?: of)?(?: an?)? (100|1000|1000000|1000000000)\b")
# "2 and a half 1000000" and "2 and a half k", but not "2 and a half".
_AND_PART_OF_AMOUNT = re.compile(
    r"\b(\d{1,3}) and (?:a )?(half|quarter|3 quarters) (100|1000|1000000|1000000000|grand|k)\b"
)
_SLANG = (
    (re.compile(r"\ba (?:grand|thou|k)\b"), Decimal(1000)),
    (re.compile(r"\ba couple (?:of )?(?:grand|1000|k)\b"), Decimal(2000)),
    (re.compile(r"\bhalf a grand\b"), Decimal(500)),
    (re.compile(r"\ban? million\b|\ban? mil\b"), Decimal(1_000_000)),
    (re.compile(r"\bfivers?\b"), Decimal(5)),
    (re.compile(r"\btenners?\b"), Decimal(10)),
)


def amounts_in(text: str, spelled: str) -> set[Decimal]:
    """The amounts of money in a text.

    Args:
        text: plain, with digits for number words.
        spelled: the same before that, as "2 50" is an amount only if it was "two fifty".

    >>> amounts_in("it was 19 euros 99", ""), amounts_in("the coffee is 2 50", "the coffee is two fifty")
    ({Decimal('19.99')}, {Decimal('2.50')})
    """
    found: set[Decimal] = set()
    for match in _MAIN_AND_COINS.finditer(text):
        found.add(Decimal(f"{match[1]}.{match[2] or match[3]:0>2}"))
    found |= {Decimal(match[1]) / 100 for match in _COINS_ALONE.finditer(text)}
    for match in _SPOKEN.finditer(text):
        if match.group() not in spelled:
            found.add(Decimal(f"{match[1]}.{match[2]}"))
    found |= {FRACTIONS[match[1]] * int(match[2]) for match in _PART_OF.finditer(text)}
    found |= {
        (int(match[1]) + FRACTIONS[match[2]]) * _size(match[3])
        for match in _AND_PART_OF_AMOUNT.finditer(text)
    }
    return found | {value for pattern, value in _SLANG if pattern.search(text)}


def _size(text: str) -> int:
    return int(text) if text.isdigit() else 1000
