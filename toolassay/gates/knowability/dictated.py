"""Addresses as people dictate them: "kai dot brandt at webpost dot example"."""

from __future__ import annotations

import re
from itertools import pairwise

_SIGNS = {
    "dot": ".",
    "period": ".",
    "underscore": "_",
    "dash": "-",
    "hyphen": "-",
    "minus": "-",
    "at": "@",
    "slash": "/",
    "plus": "+",
}
_NAMES = "|".join(sorted(_SIGNS, key=len, reverse=True))
_BRACKETS = re.compile(rf"\s?[(\[{{<]\s?({_NAMES}|@|\.)\s?[)\]}}>]\s?")
_WORD = r"[a-z0-9][\w.+@-]{0,60}"
_ROW = re.compile(
    rf"(?<![\w@.])(?:{_WORD} (?:\d{{1,6}} )?(?:(?:{_NAMES}) ){{1,2}}){{1,12}}{_WORD}"
    rf"(?: \d{{1,6}}(?= (?:{_NAMES})))?"
)
_DIGIT_NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_DIGIT = {name: str(digit) for digit, name in enumerate(_DIGIT_NAMES)} | dict.fromkeys(
    ("oh", "o", "nought"), "0"
)
_ANY_DIGIT = rf"(?:(?:double|triple)[ -])?(?:{'|'.join(_DIGIT)})"
_SPOKEN_DIGITS = re.compile(rf"\b{_ANY_DIGIT}(?:[ ,-]{{1,3}}{_ANY_DIGIT}){{3,20}}\b")
_DIGITS = re.compile(r"(?<=[a-z])\s(?=\d{1,6}(?:[@._+/-]|$))")


def dictated(text: str) -> str:
    """The rows of words in a plain text that dictate an address, written as addresses; one a line.

    >>> dictated("write to kai dot brandt at webpost dot example")
    'kai.brandt@webpost.example'
    """
    found: list[str] = []
    text = _BRACKETS.sub(lambda sign: f" {sign[1].replace('@', 'at').replace('.', 'dot')} ", text)
    for match in _ROW.finditer(text):
        row = re.sub(rf"\s({_NAMES})(?=\s)", lambda sign: f" {_SIGNS[sign[1]]}", match.group())
        row = re.sub(r"\s?([@._+/-])\s", r"\1", row)
        row = _DIGITS.sub("", row)
        if "." in row:
            pieces = row.split("@")
            found.extend([row] if len(pieces) < 3 else map("@".join, pairwise(pieces)))
    return "\n".join(found)


def dictated_digits(text: str) -> str:
    """The rows of digits that a plain text says one by one; one a line.

    >>> dictated_digits("ring oh two oh, seven double four")
    '020744'
    """
    found = []
    for match in _SPOKEN_DIGITS.finditer(text):
        digits, times = "", 1
        for word in re.findall(r"\w+", match.group()):
            times = {"double": 2, "triple": 3}.get(word, 1) if word in ("double", "triple") else times
            if word not in ("double", "triple"):
                digits += _DIGIT[word] * times
                times = 1
        found.append(digits)
    return "\n".join(found)
