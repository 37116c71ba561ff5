"""Lists against the enumerations of the request: items that are left out, and items that it excludes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from toolassay.gates.grounding.source_text import SourceText
from toolassay.text_values.spelling import plain

_SEPARATOR = re.compile(r"\s*(?:,\s*(?:and|plus|or|&)?|\band\b|&|\bplus\b|\bas well as\b)\s*")
_ARTICLES = (
    r"(?:(?:the|a|an|my|some|also|our|his|her|one|two|three|four|five|six|seven|eight|nine|ten|dozen|\d+)\s)*"
)
EXCLUDING = re.compile(r"\b(?:not|no|without|except|but|instead|rather|skip|leave out|drop|minus)\b")


# "'red', 'green' and 'blue'" and "3, 5 and 8"; not "3 and later 5".
_AND = r"\s*(?:,\s*(?:and\s|or\s)?|\band\s|&)\s*"
_QUOTED = r"(?:'[^'\n]{1,60}'|\"[^\"\n]{1,60}\")"
_NUMBER = r"(?<![\w.])-?\d{1,9}(?:\.\d{1,6})?(?![\w%]|[.:/]\d)"
_ENUMERATIONS = (
    (re.compile(rf"{_QUOTED}(?:{_AND}{_QUOTED})+"), re.compile(_QUOTED)),
    (re.compile(rf"{_NUMBER}(?:{_AND}{_NUMBER})+"), re.compile(_NUMBER)),
)
_MOST_MISSING = 2


def list_fault(name: str, values: list[Any], source: SourceText) -> str:
    """What a list lacks of an enumeration in the request, or has though the request excludes it; else empty.

    >>> list_fault("guests", ["Ana", "Cy"], SourceText("Invite Ana, Bo and Cy"))
    "'guests' lacks 'Bo', which the request lists among 'Ana', 'Cy'"
    """
    if not 1 < len(values) <= 20:
        return ""
    own = {_as_item(item) for item in values}
    for pattern, each in _ENUMERATIONS:
        for row in pattern.finditer(source.plain):
            stated = list(dict.fromkeys(_as_item(found) for found in each.findall(row.group())))
            missing = [found for found in stated if found not in own]
            if own < set(stated) and len(missing) <= _MOST_MISSING:
                return _missing(name, values, missing[0])
    items = [plain(item).strip() for item in values if isinstance(item, str) and "<node" not in item]
    if len(items) != len(values) or any(item[:1].isdigit() for item in items):
        return ""
    text = source.plain
    for item in items:
        if out := re.search(rf"{_LEFT_OUT}{_ARTICLES}{re.escape(item)}(?!\w)", text):
            return f"'{name}' has '{item}', but the request says '{out[0]}'"
    spans = []
    for item in items:
        match = re.search(rf"(?<!\w){re.escape(item)}(?:e?s)?(?!\w)", text)
        if match is None:
            return ""
        spans.append(match.span())
    spans.sort()
    for (_, end), (start, _) in pairwise(spans):
        between = text[end:start]
        if len(between) > 80 or re.search(r"[.;!?]\s", between) or EXCLUDING.search(between):
            continue
        parts = [re.sub(rf"^{_ARTICLES}", "", part.strip()) for part in _SEPARATOR.split(between)]
        missed = [part for part in parts[1:-1] if 0 < len(part.split()) <= 4 and len(part) > 1]
        is_enumeration = len(parts) > 2 and not parts[0].strip() and not parts[-1].strip(" \"'")
        if missed and is_enumeration:
            place = source.folded.find(missed[0])
            is_same = place >= 0 and len(source.folded) == len(source.text)
            original = source.text[place : place + len(missed[0])] if is_same else missed[0]
            return _missing(name, values, original)
    is_row = all(
        re.fullmatch(rf"{_AND}{_ARTICLES}", text[end:start]) for (_, end), (start, _) in pairwise(spans)
    )
    behind = re.match(
        rf"{_AND}{_ARTICLES}(?P<item>[\w'’-]+(?: [\w'’-]+){{0,3}})\s*(?=[.!?;]|$)", text[spans[-1][1] :]
    )
    if not is_row or behind is None or _VERB.match(behind["item"]) or _POLITE.search(behind["item"]):
        return ""
    is_listed = any(item.split()[0] == behind["item"].split()[0] for item in items)
    place = text.find(behind["item"], spans[-1][1])
    original = source.text[place : place + len(behind["item"])] if len(text) == len(source.text) else ""
    are_names = all(isinstance(item, str) and item[:1].isupper() for item in values)
    if not is_listed and (original[:1].isupper() if are_names else True):
        return _missing(name, values, original or behind["item"])
    return ""


# "skip the varnish", "but leave out annex_a.pdf", "not Beth".
_LEFT_OUT = r"\b(?:skip|leave out|leaving out|without|except(?: for)?|but not|not|no need for)\s"
# What follows an enumeration and is no item: "and tell Cy", "and let me know".
_POLITE = re.compile(r"\b(?:too|please|thanks|as well)\b")
_VERB = re.compile(
    r"(?:tell|let|send|mail|call|ask|remind|text|make|then|please|also|but|not|no|me|i|we|it|they|he|she)\b"
)


def _as_item(value: object) -> str:
    """An item of a list in one spelling: 5.0 and "5" are the same."""
    text = plain(str(value)).strip(" '\"")
    return text.removesuffix(".0") if re.fullmatch(r"-?\d+\.0", text) else text


def _missing(name: str, values: Sequence[Any], item: str) -> str:
    return f"'{name}' lacks '{item}', which the request lists among {_some(values)}"


def _some(values: Sequence[Any]) -> str:
    return ", ".join(f"'{value}'" for value in list(values)[:3])
