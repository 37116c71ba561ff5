"""Amounts of money and currencies in a text: by name ("Moroccan dirhams"), nation ("50 Canadian") or sign."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from toolassay.text_values.spelling import plain
from toolassay.text_values.vocabulary import FRACTIONS

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


def is_currency(code: str) -> bool:
    """Whether three letters are the ISO 4217 code of a currency in use.

    >>> is_currency("eur"), is_currency("abc")
    (True, False)
    """
    return code.upper() in _names()


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
