"""How many people a request speaks of, where it names them and gives no number."""

from __future__ import annotations

import re

_KIN = (
    r"wife|husband|partner|girlfriend|boyfriend|spouse|son|daughter|kid|child|baby|toddler|friend|mate|colleague"
    r"|mum|mom|mother|dad|father|sister|brother|cousin|aunt|uncle|boss|guest|adult|infant|teenager|nan|gran"
    r"|grandma|grandpa|neighbou?r|roommate|flatmate|classmate|teammate|coworker|assistant|person|nephew|niece|dog"
)
# Whoever these are of, they are counted; other things count only beside people.
_PEOPLE = re.compile(
    rf"\b(?:{_KIN}|couple|adult)s?\b|\bof us\b|\bpeople\b|\bchildren\b|\bbabies\b|\bparents\b"
)
_COUNTED = re.compile(
    r"\b(\d{1,2})\s(?:of (?:us|them)\b|people\b|children\b"
    r"|(?!couples|pairs)(?:\w{1,20}\s)?\w{2,20}s\b|more\b|others?\b)"
)
_ONE = re.compile(
    rf"\b(?:my|our|his|her|their|an?|the|1)\s(?:(?!and\b)\w{{1,20}}\s)?(?:{_KIN})\b"
    r"|\b(?<!my )(?:grandma|grandpa|mum|mom|dad)\b"
)
_TWO = re.compile(
    r"\b(?:my|our|his|her|their|the)\s(?:parents|grandparents|twins|couple)\b|\bboth of\b|\ba couple\b(?! of)"
)
_FOR_TWO = re.compile(r"\b(?:twin|double|couple|pair|both|each other|the other (?:one|person))\b")
_ALONE = re.compile(
    r"\b(?:(?:just|only) (?:for )?(?:me|myself|him|her)|(?:for|by) (?:myself|himself|herself)|alone|solo"
    r"|on my own|nobody else|no one else|single (?:room|bed|ticket|traveller))\b"
)
_COUPLES = re.compile(r"\b(\d{1,2})\s(?:couples|pairs)\b")
_SPEAKER = re.compile(r"\b(?:me|i|myself|i'm)\b")
_NAMES = re.compile(r"\b[A-Z]\w+(?:,\s[A-Z]\w+)*,?\s(?:and|&|plus)\s(?:[A-Z]\w+|I\b|me\b|myself\b)")


def heads_in(digits: str, text: str) -> set[int]:
    """The numbers of people that somebody would count; `digits` is the text, plain and with digits for words.

    >>> sorted(heads_in("my wife and 2 kids", "my wife and two kids"))
    [3, 4]
    """
    found: set[int] = set()
    if _PEOPLE.search(digits):
        counts = [int(match[1]) for match in _COUNTED.finditer(digits)]
        couples = sum(2 * int(match[1]) for match in _COUPLES.finditer(digits))
        singles = len(_ONE.findall(digits)) + 2 * len(_TWO.findall(digits))
        others = sum(counts) + couples + singles
        if couples or singles or len(counts) > 1 or _SPEAKER.search(digits):
            found = {others, others + 1}
    for match in _NAMES.finditer(text):
        names = len(re.findall(r"[A-Z]\w+", match.group()))
        found |= {names, names + 1}
    found -= {0, 1}
    if _ALONE.search(digits):
        found.add(1)
    return found | ({2} if _FOR_TWO.search(digits) else set())
