"""The numbers in a text, however they are written."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_SCALES = {
    **dict.fromkeys(("dozen", "dozens"), 12),
    **dict.fromkeys(("hundred", "100"), 100),
    **dict.fromkeys(("k", "grand", "thousand", "1000"), 1_000),
    **dict.fromkeys(("m", "mn", "mio", "mil", "million", "1000000"), 1_000_000),
    **dict.fromkeys(("bn", "billion", "1000000000"), 10**9),
}
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
NUMBER = re.compile(
    r"(?<![\w])(?P<minus>(?<![\w)]\s)(?<![\w)])-|\b(?:minus|negative)\s)?"
    rf"(?P<body>\d+(?:[.,' ]\d{{3}}(?!\d))*(?:[.,]\d+)?|\.\d+)(?:\s?(?P<scale>{_SCALE})\b)?"
)
_THOUSANDS = re.compile(r"\d{1,3}(?P<mark>[.,' ])\d{3}(?:(?P=mark)\d{3})*")
_ONE = re.compile(r"\b(?:an?|single|once)\b")
_SAID = (
    (re.compile(r"\b(?:couple|both|pair|twice|double|duo)\b"), "2"),
    (re.compile(r"\b(?:thrice|triple|trio|triplets?)\b"), "3"),
    (re.compile(r"(?<!\d )(?<!half )(?<!half-)(?<!half a )\bdozen\b"), "12"),
    (re.compile(r"\bhalf\b"), "0.5"),
    (re.compile(r"\bhalf[ -](?:a )?dozen\b"), "6"),
    (re.compile(r"\bquarter\b"), "0.25"),
    (re.compile(r"\bthree quarters\b|\b3 quarters\b"), "0.75"),
    (re.compile(r"\b(?:fortnight)\b"), "14"),
)
_FRACTION = re.compile(r"(?<![\w/])(\d{1,3})/(\d{1,3})(?![\w/])")
_MIXED = re.compile(r"(?<![\w/.,])(\d+) (\d{1,2})/(\d{1,2})(?![\w/])")
_AND_A_HALF = re.compile(r"\b(an?|1|\d+)(?: \w+)? and a half\b")
_AND_PART = re.compile(r"\b(\d+) and (?:a (half|quarter)|(3 quarters))\b")
_PART_SIZES = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "3 quarters": Decimal("0.75")}
_BELOW = re.compile(r"(\d+(?:\.\d+)?)(?: \w+)? below (?:0|zero|freezing)")
# What one unit is in the next smaller ones.
_SMALLER: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("km", "kilometer", "kilometre", "kg", "kilo", "litre", "liter"), (1000,)),
    **dict.fromkeys(("metre", "meter"), (100,)),
}
_UNIT = re.compile(
    rf"\b(?P<count>half an|an?|\d+(?:\.\d+)?)(?P<half> and a half)?[ -]?(?P<unit>{'|'.join(_SMALLER)})s?\b"
    r"(?P<more> and a half)?"
)


def readings(body: str) -> set[Decimal]:
    """The numbers that digits with marks may mean: a comma or point may group or divide.

    >>> sorted(readings("1,000")), sorted(readings("3,50")), sorted(readings("1.250,75"))
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


def numbers_of(match: re.Match[str]) -> set[Decimal]:
    """The numbers that a match of `NUMBER` may mean."""
    sign = -1 if match["minus"] else 1
    scale = match["scale"]
    found = {value * sign for value in readings(match["body"])}
    if scale:
        # "5 m" may be metres as well as millions.
        found = {value * _SCALES[scale] for value in found} | (
            found if scale in ("m", "k", "grand", "mil") else set()
        )
    return found


def numbers_in(text: str) -> set[Decimal]:
    """All numbers that a text (plain, number words in digits) says.

    >>> sorted(numbers_in("a pair of shoes for $1,200.50 and 3 million bolts"))
    [Decimal('2'), Decimal('3'), Decimal('1200.50'), Decimal('3000000')]
    """
    found: set[Decimal] = set()
    for match in NUMBER.finditer(text):
        if _AND_PART.match(text, match.start("body")):
            continue
        found |= numbers_of(match)
        if not match["minus"]:
            found |= readings(match["body"])
        if match["scale"] and match["scale"].isdigit():
            found.add(Decimal(match["scale"]))
    for match in re.finditer(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?=[a-z]{1,3}\b)", text):
        found |= readings(match[1])
    for pattern, value in _SAID:
        if pattern.search(text):
            found.add(Decimal(value))
    found |= {Decimal(m[1]) / Decimal(m[2]) for m in _FRACTION.finditer(text) if int(m[2])}
    found |= {
        Decimal(m[1]) + Decimal(m[2]) / Decimal(m[3]) for m in _MIXED.finditer(text) if int(m[2]) < int(m[3])
    }
    for match in _AND_PART.finditer(text):
        found.add(int(match[1]) + _PART_SIZES[match[2] or match[3]])
    for match in _AND_A_HALF.finditer(text):
        found.add((Decimal(match[1]) if match[1].isdigit() else Decimal(1)) + Decimal("0.5"))
    found |= {-Decimal(match[1]) for match in _BELOW.finditer(text)}
    return found


def says_one(text: str) -> bool:
    """Whether a text says "one" by an article.

    >>> says_one("a pizza"), says_one("pizza")
    (True, False)
    """
    return _ONE.search(text) is not None


def converted_in(text: str) -> set[Decimal]:
    """The numbers that a text says in larger units: the metres of its kilometres.

    >>> sorted(converted_in("a run of 2.5 km"))
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
