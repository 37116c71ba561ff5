"""The numbers in a text: quantities, spoken prices, shares, and the number of people named."""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal, InvalidOperation
from fractions import Fraction

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
_AMOUNT_PARTS = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "3 quarters": Decimal("0.75")}
_PART_OF = re.compile(r"\b(half|quarter|3 quarters)(?: of)?(?: an?)? (100|1000|1000000|1000000000)\b")
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
    found |= {_AMOUNT_PARTS[match[1]] * int(match[2]) for match in _PART_OF.finditer(text)}
    found |= {
        (int(match[1]) + _AMOUNT_PARTS[match[2]]) * _size(match[3])
        for match in _AND_PART_OF_AMOUNT.finditer(text)
    }
    return found | {value for pattern, value in _SLANG if pattern.search(text)}


def _size(text: str) -> int:
    return int(text) if text.isdigit() else 1000


_SHARE_NAMES = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SHARE_SIZES = {name: size for size, name in enumerate(_SHARE_NAMES, 2)} | {"halve": 2, "fourth": 4}
# "A quarter past two" and "a quarter hour" are none.
_TIME = r"(?![ -](?:hour|past|to|after|before|til|of \d|of an hour))"
_SHARE_PARTS = re.compile(
    r"(?<!and )\b(?P<count>\d{1,2}|an?|one)[ -](?:(?P<digits>\d{1,2})(?:nd|rd|th)|(?P<word>half|halve|third"
    r"|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth))(?P<many>s)?\b" + _TIME
)
_SHARE_BEFORE = re.compile(r"\b(?:by|to|at|only|about)\s$")
_SHARE_BEHIND = re.compile(
    r"\s(?:of(?! \w+day)|off|less|more|full|the|power|volume|brightness|speed)\b|[.,;!?]|$"
)
_OF = re.compile(r"(?<![\w/])(\d{1,3})(?:/|\s(?:out of|in)\s)(\d{1,3})(?![\w/])")
_PERCENT_SHARE = re.compile(r"(?<![\w.,])(\d{1,4}(?:[.,]\d{1,4})?)\s?(?:%|percent|per cent|pct)")
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
    for match in _SHARE_PARTS.finditer(text):
        size = int(match["digits"]) if match["digits"] else _SHARE_SIZES[match["word"]]
        count = int(match["count"]) if match["count"].isdigit() else 1
        sure = match["many"] or match["count"].isdigit() or match["word"] in ("half", "quarter")
        near = _SHARE_BEFORE.search(text, max(0, match.start() - 8), match.start())
        if size > 1 and count < size and (sure or near or _SHARE_BEHIND.match(text, match.end())):
            found.add(Fraction(count, size))
    found |= {Fraction(int(m[1]), int(m[2])) for m in _OF.finditer(text) if int(m[1]) <= int(m[2]) != 0}
    found |= {Fraction(match[1].replace(",", ".")) / 100 for match in _PERCENT_SHARE.finditer(text)}
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
_ONE_PERSON = re.compile(
    rf"\b(?:my|our|his|her|their|an?|the|1)\s(?:(?!and\b)\w{{1,20}}\s)?(?:{_KIN})\b"
    r"|\b(?<!my )(?:grandma|grandpa|mum|mom|dad)\b"
)
_TWO_PEOPLE = re.compile(
    r"\b(?:my|our|his|her|their|the)\s(?:parents|grandparents|twins|couple)\b|\bboth of\b|\ba couple\b(?! of)"
)
_FOR_TWO = re.compile(r"\b(?:twin|double|couple|pair|both|each other|the other (?:one|person))\b")
_ONE_ALONE = re.compile(
    r"\b(?:(?:just|only) (?:for )?(?:me|myself|him|her)|(?:for|by) (?:myself|himself|herself)|alone|solo"
    r"|on my own|nobody else|no one else|single (?:room|bed|ticket|traveller))\b"
)
_COUPLES = re.compile(r"\b(\d{1,2})\s(?:couples|pairs)\b")
_SPEAKER = re.compile(r"\b(?:me|i|myself|i'm)\b")
_NAMED_PEOPLE = re.compile(r"\b[A-Z]\w+(?:,\s[A-Z]\w+)*,?\s(?:and|&|plus)\s(?:[A-Z]\w+|I\b|me\b|myself\b)")


def heads_in(digits: str, text: str) -> set[int]:
    """The numbers of people that somebody would count; `digits` is the text, plain and with digits for words.

    >>> sorted(heads_in("my wife and 2 kids", "my wife and two kids"))
    [3, 4]
    """
    found: set[int] = set()
    if _PEOPLE.search(digits):
        counts = [int(match[1]) for match in _COUNTED.finditer(digits)]
        couples = sum(2 * int(match[1]) for match in _COUPLES.finditer(digits))
        singles = len(_ONE_PERSON.findall(digits)) + 2 * len(_TWO_PEOPLE.findall(digits))
        others = sum(counts) + couples + singles
        if couples or singles or len(counts) > 1 or _SPEAKER.search(digits):
            found = {others, others + 1}
    for match in _NAMED_PEOPLE.finditer(text):
        names = len(re.findall(r"[A-Z]\w+", match.group()))
        found |= {names, names + 1}
    found -= {0, 1}
    if _ONE_ALONE.search(digits):
        found.add(1)
    return found | ({2} if _FOR_TWO.search(digits) else set())
