"""The shares in a text: a half, three fifths, 20 %, full brightness."""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction

_NAMES = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SIZES = {name: size for size, name in enumerate(_NAMES, 2)} | {"halve": 2, "fourth": 4}
# "A quarter past two" and "a quarter hour" are none.
_TIME = r"(?![ -](?:hour|past|to|after|before|til|of \d|of an hour))"
_PARTS = re.compile(
    r"(?<!and )\b(?P<count>\d{1,2}|an?|one)[ -](?:(?P<digits>\d{1,2})(?:nd|rd|th)|(?P<word>half|halve|third"
    r"|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth))(?P<many>s)?\b" + _TIME
)
_SHARE_BEFORE = re.compile(r"\b(?:by|to|at|only|about)\s$")
_SHARE_BEHIND = re.compile(
    r"\s(?:of(?! \w+day)|off|less|more|full|the|power|volume|brightness|speed)\b|[.,;!?]|$"
)
_OF = re.compile(r"(?<![\w/])(\d{1,3})(?:/|\s(?:out of|in)\s)(\d{1,3})(?![\w/])")
_PERCENT = re.compile(r"(?<![\w.,])(\d{1,4}(?:[.,]\d{1,4})?)\s?(?:%|percent|per cent|pct)")
_DECIMAL = re.compile(r"(?<![\w.,])0?[.,]\d{1,4}(?![\w.,]*\d)")
_PLAIN = (
    (re.compile(r"(?<!and a )\bhal(?:f(?! past| an? | \d)|ve|ves|ved|ving)\b"), Fraction(1, 2)),
    (re.compile(r"\bquarter\b" + _TIME), Fraction(1, 4)),
    (re.compile(r"\b(?:full|fully|max|maximum|completely|all the way)\b"), Fraction(1)),
)


def shares_in(text: str) -> set[Fraction]:
    """The shares that a text (plain, number words in digits) says.

    >>> sorted(shares_in("three fifths of it at full volume, then 20 %".replace("three fifths", "3 5ths")))
    [Fraction(1, 5), Fraction(3, 5), Fraction(1, 1)]
    """
    found = {share for pattern, share in _PLAIN if pattern.search(text)}
    for match in _PARTS.finditer(text):
        size = int(match["digits"]) if match["digits"] else _SIZES[match["word"]]
        count = int(match["count"]) if match["count"].isdigit() else 1
        sure = match["many"] or match["count"].isdigit() or match["word"] in ("half", "quarter")
        near = _SHARE_BEFORE.search(text, max(0, match.start() - 8), match.start())
        if size > 1 and count < size and (sure or near or _SHARE_BEHIND.match(text, match.end())):
            found.add(Fraction(count, size))
    found |= {Fraction(int(m[1]), int(m[2])) for m in _OF.finditer(text) if int(m[1]) <= int(m[2]) != 0}
    found |= {Fraction(match[1].replace(",", ".")) / 100 for match in _PERCENT.finditer(text)}
    return found | {Fraction(match.group().replace(",", ".")) for match in _DECIMAL.finditer(text)}


def is_share(number: Decimal, shares: Collection[Fraction]) -> bool:
    """Whether a number gives one of these shares, as a part of one or in percent, rounded as it is written.

    >>> is_share(Decimal(67), [Fraction(2, 3)]), is_share(Decimal("0.6"), [Fraction(3, 5)])
    (True, True)
    >>> is_share(Decimal("0.7"), [Fraction(2, 3)]), is_share(Decimal(66), [Fraction(2, 3)])
    (False, False)
    """
    exponent = number.as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if decimals > 6 or not -1 < number < 10_000:
        return False
    said = Fraction(number)
    endless = [share for share in shares if 100_000 % share.denominator]
    return any(said in (share, share * 100) for share in shares) or any(
        (decimals > 1 and said == round(share, decimals)) or said == round(share * 100, decimals)
        for share in endless
    )
