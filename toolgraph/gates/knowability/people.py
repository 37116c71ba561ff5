"""How many people a request speaks of, where it names them and gives no number."""

from __future__ import annotations

import re

_SINGLE = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|spouse|son|daughter|kid|child|baby|toddler|friend|mate|colleague"
    r"|mum|mom|mother|dad|father|sister|brother|cousin|aunt|uncle|boss|guest|adult|infant|teenager|dog|cat|nan|gran"
    r"|grandma|grandpa|neighbou?r|roommate|flatmate)"
)
_MANY = (
    r"(?:people|persons?|adults?|children|kids?|friends?|guests?|colleagues?|coworkers?|mates?|others?|sons?"
    r"|daughters?|babies|infants?|toddlers?|sisters?|brothers?|cousins?"
    r"|of us|of them|seniors?|students?|boys?|girls?"
    r"|dogs?|cats?|more)"
)
_COUNTED = re.compile(rf"\b(\d{{1,3}})\s(?:\w+\s)?{_MANY}\b")
_ONE = re.compile(rf"\b(?:my|our|his|her|their|an?|the)\s(?:\w+\s)?{_SINGLE}\b")
_TWO = re.compile(r"\b(?:my|our|his|her|their|the)\s(?:parents|grandparents|twins|couple)\b|\bboth of\b")
_SPEAKER = re.compile(r"\b(?:me|i|myself|i'm)\b")
_NAMES = re.compile(r"\b[A-Z]\w+(?:,\s[A-Z]\w+)*,?\s(?:and|&|plus)\s[A-Z]\w+")


def heads_in(digits: str, text: str) -> set[int]:
    """The numbers of people that somebody would count; `digits` is the text, plain and with digits for words.

    >>> sorted(heads_in("my wife and 2 kids", "my wife and two kids"))
    [3, 4]
    """
    counts = [int(match[1]) for match in _COUNTED.finditer(digits)]
    others = sum(counts) + len(_ONE.findall(digits)) + 2 * len(_TWO.findall(digits))
    found = (
        {others, others + 1} if others and (_SPEAKER.search(digits) or others > sum(counts[:1])) else set()
    )
    for match in _NAMES.finditer(text):
        names = len(re.findall(r"[A-Z]\w+", match.group()))
        found |= {names, names + 1}
    return found - {0, 1}
