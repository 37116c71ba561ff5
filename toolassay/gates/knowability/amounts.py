"""Numbers as people say prices and large sums: "nineteen euros ninety-nine", "half a million"."""

from __future__ import annotations

import re
from decimal import Decimal

_CURRENCY = (
    r"(?:dollars?|euros?|pounds?|quid|bucks?|francs?|kron[ae]r?|kronor|lira|rand|pesos?|rupees?|zloty|s?fr\.?|usd|eur|gbp|chf"
    r"|[$€£])"
)
_COINS = r"(?:cents?|pence|pennies|p|ct|rappen|grosz)\b"
_MAIN_AND_COINS = re.compile(
    rf"(?<![\w.,])(\d{{1,7}})\s?(?:{_CURRENCY}\s?)?(?:and\s)?(?:(\d{{1,2}})\s?{_COINS}"
    rf"|(?<!\d )(?<!\d)(?<!and )(\d\d)(?![\w.,:%]*\d|\s?%))"
)
_COINS_ALONE = re.compile(rf"(?<![\w.,])(\d{{1,2}})\s?{_COINS}")
# "Two fifty", once its words are digits.
_SPOKEN = re.compile(r"(?<![\w.,:-])(?<!\d\s)(\d{1,3}) ([1-9]\d)(?![\w.,:-]*\d|\s\d)")
_PARTS = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "3 quarters": Decimal("0.75")}
_PART_OF = re.compile(r"\b(half|quarter|3 quarters)(?: of)?(?: an?)? (100|1000|1000000|1000000000)\b")
_AND_PART = re.compile(
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
    """The amounts that a text says; `text` with its number words in digits, `spelled` before that.

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
    found |= {_PARTS[match[1]] * int(match[2]) for match in _PART_OF.finditer(text)}
    found |= {(int(match[1]) + _PARTS[match[2]]) * _size(match[3]) for match in _AND_PART.finditer(text)}
    return found | {value for pattern, value in _SLANG if pattern.search(text)}


def _size(text: str) -> int:
    return int(text) if text.isdigit() else 1000
