"""Identifiers that must be stated exactly, apart from case and grouping: addresses, files, phones, codes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate

from toolassay.offline.planner.mentions import FILE_TYPES

# "https://x.org/a", "www.x.org" and "x.com/a", but not "x.y" or the host of "a@x.com".
URL = re.compile(
    r"(?:(?:https?|ftp|s3|file)://|www\.)[^\s'<>`\[\]{}]{1,2000}"
    r"|(?<![\w@./-])(?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|io|edu|gov|ai|dev|app|info|co|de|fr|uk|eu|us"
    r"|example|test|shop|online|site|xyz|ch|es|nl|se|ca|au|jp|nz|biz|tv|pl|dk|ie)\b(?!@)"
    r"(?:[/?#][^\s'<>`\[\]{}]{0,2000})?"
)
# "a.b+c@x.org" and "mailto:a@x.org", but not "a@x".
EMAIL = re.compile(r"(?:mailto:)?[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_ENDINGS = "|".join([*FILE_TYPES, "zip", "log", "yaml", "yml", "sql"])
# "c:\\data\\report.pdf" and "~/a.png", but not "report" or "a.xyz".
FILE = re.compile(rf"(?:[\w:.~-]{{0,60}}[/\\]){{0,12}}[\w.+~()-]{{1,120}}\.(?:{_ENDINGS})\b")
# "ab-12", "b2/7" and "#12", but not "12" or "ab".
CODE = re.compile(r"(?<![\w.])(?=[\w#/-]*\d)(?=[\w#/-]*[^\W\d_])[^\W_]+(?:[-_/][^\W_]+)*|#\d+")
# "+61 (2) 5550-9325" and "555", but not the digits of "5.550,25" or "b555".
PHONE = re.compile(
    r"(?<![\w.,-])\+?\(?(?:\d{6,15}|\d{1,5})\)?(?:[ .()/-]{1,3}\d{1,10}){0,7}(?![\w]|[.,]\d|-\d)"
)
# A number with its unit rather than a code: "5km", "2.5kg"; not "5miles".
MEASURE = re.compile(r"(\d+(?:[.,]\d+)?)([a-z]{1,3})")
_RUN = re.compile(r"[^\W_]+")
_FEWEST_DIGITS = 7


def url_key(text: str) -> str:
    """A web address without scheme, "www." and final punctuation.

    >>> url_key("https://www.example.com/a/."), url_key("example.com/a")
    ('example.com/a', 'example.com/a')
    """
    text = text.rstrip(".,;:!?)'/")
    return re.sub(r"^(?:https?|ftp)://", "", text).removeprefix("www.")


def email_key(text: str) -> str:
    """An e-mail address without "mailto:" and final punctuation."""
    return text.removeprefix("mailto:").strip(".-")


def file_key(text: str) -> str:
    r"""A file name without its folders.

    >>> file_key("c:\\data\\report.pdf"), file_key("~/report.pdf")
    ('report.pdf', 'report.pdf')
    """
    return re.split(r"[/\\]", text)[-1].lstrip("(")


def media_of(name: str) -> str:
    """The kind of a file by its extension: image, audio, video or text (also if unknown).

    >>> media_of("a.png"), media_of("a.zip")
    ('image', 'text')
    """
    return FILE_TYPES.get(name.rpartition(".")[2], "text")


def digits_of(text: str) -> str:
    """The digits of a text.

    >>> digits_of("+61 (2) 5550")
    '6125550'
    """
    return re.sub(r"\D", "", text)


def is_phone(text: str) -> bool:
    """Whether a text has enough digits for a phone number.

    >>> is_phone("+61 2 5550 9325"), is_phone("1,200")
    (True, False)
    """
    return len(digits_of(text)) >= _FEWEST_DIGITS


def phones_in(text: str) -> list[str]:
    """The phone numbers of a text as they are spelled.

    >>> phones_in("+44 (0)20 7946 0123, or 0049 30 901820; room 12")
    ['+44 (0)20 7946 0123', '0049 30 901820']
    """
    return [match.group() for match in PHONE.finditer(text) if is_phone(match.group())]


def is_phone_of(value: str, phones: Iterable[str]) -> bool:
    """Whether a text is one of these numbers, with or without the country code.

    >>> is_phone_of("+44 20 7946 0123", ["020 7946 0123"]), is_phone_of("+442079460124", ["020 7946 0123"])
    (True, False)
    """
    # In "+44 (0)20" and "020", the 0 is dialled only inside the country.
    digits, *phone_digits = (digits_of(text.replace("(0)", "")).lstrip("0") for text in (value, *phones))
    return any(number.endswith(digits) or digits.endswith(number) for number in phone_digits if number)


def codes_in(text: str) -> set[str]:
    """Every letter and digit sequence of a text that may be a code, without the marks between groups.

    >>> sorted(codes_in("order AB-12"))
    ['12', 'ab12', 'orderab12']
    """
    codes: set[str] = set()
    runs = _RUN.findall(text.casefold())
    for start, run in enumerate(runs):
        nearby = runs[start : start + 4]
        if any(character.isdigit() for character in "".join(nearby)):
            longer = runs[start : start + 10] if any(map(str.isdigit, nearby)) else nearby
            rows = accumulate(longer)
            codes.update(row for row in rows if any(character.isdigit() for character in row))
        elif run.isdigit():
            codes.add(run)
    return codes


def code_key(text: str) -> str:
    """A code without the marks between its letters and digits."""
    return re.sub(r"[\W_]", "", text)
