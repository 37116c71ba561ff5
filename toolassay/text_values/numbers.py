"""The numbers in a text: quantities, the same in smaller units, and shares."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from toolassay.text_values.vocabulary import FRACTIONS, longest_first

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
