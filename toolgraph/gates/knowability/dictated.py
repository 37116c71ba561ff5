"""Addresses as people dictate them: "kai dot brandt at webpost dot example"."""

from __future__ import annotations

import re

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
_DIGITS = re.compile(r"(?<=[a-z])\s(?=\d{1,6}(?:[@._+/-]|$))")


def dictated(text: str) -> str:
    """The rows of words in a plain text that dictate an address, written as addresses; one a line.

    >>> dictated("write to kai dot brandt at webpost dot example")
    'kai.brandt@webpost.example'
    """
    found = []
    text = _BRACKETS.sub(lambda sign: f" {sign[1].replace('@', 'at').replace('.', 'dot')} ", text)
    for match in _ROW.finditer(text):
        row = re.sub(rf"\s({_NAMES})(?=\s)", lambda sign: f" {_SIGNS[sign[1]]}", match.group())
        row = re.sub(r"\s?([@._+/-])\s", r"\1", row)
        row = _DIGITS.sub("", row)
        if "." in row:
            found.append(row)
    return "\n".join(found)
