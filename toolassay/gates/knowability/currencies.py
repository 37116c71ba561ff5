"""The currencies that a text speaks of: by name ("Moroccan dirhams"), nation ("50 Canadian") or sign."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from toolassay.gates.knowability.normalization import plain

# What people call a currency, by the noun of its name in the list.
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
# What people mean who do not say whose.
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
_EMPTY = frozenset({"new", "islands", "convertible", "st"} | {"north", "south", "central", "west", "east"})
_TOKEN = re.compile(r"[a-z]{1,3}[$¥]|[$£€¥₹₩₪₫₱₺₽฿₴₦]|\d[\d.,]*k?|[^\W\d_]+|[.,;:!?()]")
# Behind the adjective stands no noun that it belongs to.
_BEHIND = "to in into for from and or as at on is are via by with please worth . , ; : ! ? ( )"
_NO_NOUN = frozenset(_BEHIND.split())
_WINDOW = 3
_MOST_TOKENS = 20_000


class Currencies(NamedTuple):
    """The codes of currencies: those that are said, and those that somebody may mean by what is said."""

    sure: frozenset[str]
    possible: frozenset[str]


def currencies_in(text: str) -> Currencies:
    """The currencies that a plain text speaks of.

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
            sure |= _meant(_unit(token), of_unit, around, named)
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
    """Whether three letters are the code of a currency that is in use.

    >>> is_currency("eur"), is_currency("abc")
    (True, False)
    """
    return code.upper() in _names()


def names_of(code: str) -> list[str]:
    """The English names of a currency, plain.

    >>> names_of("cad")
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
    """By the noun for a currency, the codes that share it, each with the words for its nation."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for code in _names():
        for name in names_of(code):
            words = re.findall(r"[^\W\d_]+", name)
            found.setdefault(_unit(words[-1]), {})[code] = tuple(words[:-1])
    return found


def _unit(word: str) -> str:
    return _CALLED.get(word) or (word.removesuffix("s") if len(word) > 3 else word)


@cache
def _nations() -> list[tuple[str, str]]:
    """Each code with the word that tells its nation best."""
    rows = []
    for code in _names():
        for name in names_of(code):
            words = [word for word in re.findall(r"[^\W\d_]+", name)[:-1] if word not in _EMPTY]
            if words:
                rows.append((code, words[-1]))
    return list(dict.fromkeys(rows))


def _meant(unit: str, codes: Mapping[str, tuple[str, ...]], around: list[str], named: set[str]) -> set[str]:
    if len(codes) == 1:
        return set(codes)
    counts = {code: sum(_is_said(word, around) for word in nation) for code, nation in codes.items()}
    most = max(counts.values())
    if most:
        best = {code for code, count in counts.items() if count == most}
        fewest = min(len(codes[code]) for code in best)
        best = {code for code in best if len(codes[code]) == fewest} if len(best) > 1 else best
        return best if most > 1 or any(_tells(codes[code], around) for code in best) else set()
    there = {
        code for code, nation in codes.items() if any(word[:4] in named for word in nation if len(word) > 3)
    }
    usual = _USUAL.get(unit)
    return there | ({usual} if usual else set(codes) if not there else set())


def _tells(nation: tuple[str, ...], around: list[str]) -> bool:
    return any(_is_said(word, around) for word in nation if word not in _EMPTY)


def _is_said(word: str, around: list[str]) -> bool:
    return any(word == other or (len(word) > 4 and word[:5] == other[:5]) for other in around)


def _of_nation(token: str) -> set[str]:
    if len(token) < 5 and token not in ("us", "thai"):
        return set()
    return {code for code, nation in _nations() if nation == token}
