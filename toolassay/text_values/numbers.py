"""Numbers and amounts of money in a text.

Numbers are quantities, the same in smaller units, and shares. Currencies are given by name ("Moroccan
dirhams"), nation ("50 Canadian") or sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from toolassay.files.data_files import package_data
from toolassay.text_values.vocabulary import longest_first, plain

# Words, and the numbers that they become before this, by which a number before them is multiplied.
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
# "an hour" and "once" mean 1; not the "an" of "plan".
_ONE = re.compile(r"\b(?:an?|single|once)\b")
# Words for numbers that `with_digits` leaves as they are.
_WORDS = (
    (re.compile(r"\b(?:couple|both|pair|twice|double|duo)\b"), "2"),
    (re.compile(r"(?<!\d )(?<!half )(?<!half-)(?<!half a )\bdozen\b"), "12"),
    (re.compile(r"\bhalf[ -](?:a )?dozen\b"), "6"),
)
# "3/4" and "2 3/4", but not "3/4/26".
_FRACTION = re.compile(r"(?<![\w/.,])(?:(\d+) )?(\d{1,3})/(\d{1,3})(?![\w/])")
# "2 kilos and a half" and "2 and a half", but not "2 and half".
_AND_A_HALF = re.compile(r"\b(\d+|an?)(?: \w+)? and a half\b")
# "20 %" and "20,5 percent", but not the "5 %" of "1.5.5 %".
_PERCENT = re.compile(r"(?<![\w.,])(\d{1,4}(?:[.,]\d{1,4})?)\s?(?:%|percent|per cent|pct)")
# "half of it" and "halve", but not "half past 6" and "2 and a half".
_HALF = re.compile(r"(?<!and a )\bhal(?:f(?! past| \d)|ve|ves|ved|ving)\b")


def parse_number(body: str) -> set[Decimal]:
    """The numbers that digits with marks may mean: a comma or a point groups digits or starts decimals.

    >>> sorted(parse_number("1,000")), sorted(parse_number("3,50")), sorted(parse_number("1.250,75"))
    ([Decimal('1000')], [Decimal('3.50')], [Decimal('1250.75')])
    """
    readings = []
    if _THOUSANDS.fullmatch(body):
        readings.append(re.sub(r"\D", "", body))
        if " " in body:
            readings.extend(body.split(" "))
        if body.count(".") == 1:
            readings.append(body)
    else:
        *groups, last = re.split("[.,]", re.sub("[' ]", "", body))
        readings.append("".join(groups) + ("." if groups else "") + last)
    return set(map(Decimal, readings))


def find_numbers(text: str) -> Iterator[tuple[re.Match[str], set[Decimal]]]:
    """Each number in digits, with the values it may mean; the match has the groups minus, body and scale."""
    for match in _NUMBER.finditer(text):
        values = {value * (-1 if match["minus"] else 1) for value in parse_number(match["body"])}
        if scale := match["scale"]:
            # "5 m" may be metres as well as millions.
            same = values if scale in ("m", "k", "grand", "mil") else set()
            values = same | {value * _SCALES[scale] for value in values}
        yield match, values


def numbers_in(text: str) -> set[Decimal]:
    """All numbers that a plain text with digits for number words states.

    >>> sorted(numbers_in("a pair of shoes for $1,200.50 and 3 million bolts"))
    [Decimal('2'), Decimal('3'), Decimal('1200.50'), Decimal('3000000')]
    """
    numbers: set[Decimal] = set()
    for match, values in find_numbers(text):
        numbers |= values
        if not match["minus"]:
            numbers |= parse_number(match["body"])
        if match["scale"] and match["scale"].isdigit():
            numbers.add(Decimal(match["scale"]))
    # The "20" of "20kg", but not of "20kilos".
    for match in re.finditer(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?=[a-z]{1,3}\b)", text):
        numbers |= parse_number(match[1])
    for pattern, value in _WORDS:
        if pattern.search(text):
            numbers.add(Decimal(value))
    for match in _FRACTION.finditer(text):
        if int(match[3]):
            numbers.add(int(match[1] or 0) + Decimal(match[2]) / Decimal(match[3]))
    for match in _AND_A_HALF.finditer(text):
        numbers.add((Decimal(match[1]) if match[1].isdigit() else Decimal(1)) + Decimal("0.5"))
    return numbers


def shares_in(text: str) -> set[Decimal]:
    """The shares that a plain text states in percent or as a half: of 1, and a half in percent too.

    >>> sorted(shares_in("half of it, then 20 %"))
    [Decimal('0.2'), Decimal('0.5'), Decimal('50')]
    """
    shares = {Decimal(match[1].replace(",", ".")) / 100 for match in _PERCENT.finditer(text)}
    return shares | {Decimal("0.5"), Decimal(50)} if _HALF.search(text) else shares


def has_article(text: str) -> bool:
    """Whether a text may mean 1 by an article.

    >>> has_article("a pizza"), has_article("pizza")
    (True, False)
    """
    return _ONE.search(text) is not None


COPIED_NUMBER = re.compile(
    r"(?<![\w.])[$€£¥]?\d+(?:,\d{3})*(?:\.\d+)?%?(?!\w)|\b[A-Z0-9-]{0,20}\d[A-Z0-9-]{0,20}\b"
)
"""A number, amount or code as a request words it, to be copied unread: "$1,200.50", "AB-12"; not "a12"."""


# What people call a currency, by the noun of its name in `data/currencies.json`.
_CALLED: dict[str, str] = package_data(__package__, "data/currency_words.json")


def currency_words(code: str) -> frozenset[str]:
    """The words that may name a currency: its English nouns, short names and signs, plain.

    >>> sorted(currency_words("cad"))
    ['$', 'buck', 'bucks', 'dollar', 'dollars']
    """
    nouns = {name.split()[-1] for name in currency_names(code)}
    return frozenset(nouns.union(*(_CALLED[noun].split() for noun in nouns & _CALLED.keys())))


def currency_names(code: str) -> list[str]:
    """The English names of a currency, plain.

    >>> currency_names("cad")
    ['canadian dollar', 'canadian dollars']
    """
    return [plain(name) for name in package_data(__package__, "data/currencies.json").get(code.upper(), [])]


# "euros", "bucks" and "$"; not "cents", which are `_COINS`.
_CURRENCY = (
    r"(?:dollars?|euros?|pounds?|quid|bucks?|francs?|kron[ae]r?|kronor|lira|rand|pesos?|rupees?|zloty|s?fr\.?|usd|eur|gbp|chf"
    r"|[$€£])"
)
# "cents", "p" and "pence"; not the "p" of "pm".
_COINS = r"(?:cents?|pence|pennies|p|ct|rappen|grosz)\b"
# "19 euros 99" and "3 dollars and 5 cents", but not "19 euros 99%" or "19 and 99".
_MAIN_AND_COINS = re.compile(
    rf"(?<![\w.,])(\d{{1,7}})\s?(?:{_CURRENCY}\s?)?(?:and\s)?(?:(\d{{1,2}})\s?{_COINS}"
    rf"|(?<!\d )(?<!\d)(?<!and )(\d\d)(?![\w.,:%]*\d|\s?%))"
)
# "99 cents", but not "199 cents".
_COINS_ALONE = re.compile(rf"(?<![\w.,])(\d{{1,2}})\s?{_COINS}")


def amounts_in(text: str) -> set[Decimal]:
    """The amounts of money of two parts in a plain text with digits for number words.

    >>> amounts_in("it was 19 euros 99")
    {Decimal('19.99')}
    """
    amounts = {Decimal(f"{match[1]}.{match[2] or match[3]:0>2}") for match in _MAIN_AND_COINS.finditer(text)}
    return amounts | {Decimal(match[1]) / 100 for match in _COINS_ALONE.finditer(text)}
