"""Phone numbers, with or without the code of their country and the zero before an area."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_NUMBER = re.compile(
    r"(?<![\w.,-])\+?\(?(?:\d{6,15}|\d{1,5})\)?(?:[ .()/-]{1,3}\d{1,10}){0,7}(?![\w]|[.,]\d|-\d)"
)
_EXTENSION = re.compile(
    r"(?:\b(?:ext(?:ension|n)?|durchwahl)\b\.?:?\s?|(?<=\d)\s?x\s?|(?<=\d)[,;#]\s?)(\d{1,6})\b"
)
_FEWEST = 7
_ENDING = 6
_MOST = 20
_LONGEST_COUNTRY = 3


def phones_of(text: str) -> set[str]:
    """The phone numbers of a text by their digits; "+" first where they begin with the code of a country.

    >>> sorted(phones_of("+44 (0)20 7946 0123, 0049 30 901820 or 020 7946 0123"))
    ['+442079460123', '+4930901820', '02079460123']
    """
    found = set()
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"\D", "", match.group().replace("(0)", ""))
        if len(digits) < _FEWEST:
            continue
        if match.group().startswith("+"):
            found.add("+" + digits)
        elif digits.startswith("00"):
            found.add("+" + digits[2:])
        else:
            found.add(digits)
    return found


def by_ending(phones: Collection[str]) -> dict[str, list[str]]:
    """Phone numbers by their last digits, which are the same however they begin."""
    found: dict[str, list[str]] = {}
    for phone in phones:
        found.setdefault(phone[-_ENDING:], []).append(phone)
    return found


def is_phone_of(value: str, phones: Mapping[str, list[str]]) -> bool:
    """Whether a text is one of these numbers, the code of the country apart where one leaves it out.

    >>> said = by_ending(phones_of("ring 020 7946 0123"))
    >>> is_phone_of("+44 20 7946 0123", said), is_phone_of("+442079460124", said)
    (True, False)
    """
    return any(
        one == other or _is_local_form(one, other) or _is_local_form(other, one)
        for one in phones_of(value)
        for other in phones.get(one[-_ENDING:], [])[:_MOST]
    )


def extensions_in(text: str) -> list[re.Match[str]]:
    """The extensions behind phone numbers.

    >>> [match[1] for match in extensions_in("555-0134 ext. 12 or 555-0134 x7")]
    ['12', '7']
    """
    return list(_EXTENSION.finditer(text))


def _is_local_form(local: str, whole: str) -> bool:
    """Whether a number is another one without the code of its country."""
    if local.startswith(("+", "00")) or len(local) < _FEWEST + 1:
        return False
    if not whole.startswith("+") and (not local.startswith("0") or whole.startswith("0")):
        return False
    digits, national = whole.removeprefix("+"), local.removeprefix("0")
    return digits.endswith(national) and 0 < len(digits) - len(national) <= _LONGEST_COUNTRY
