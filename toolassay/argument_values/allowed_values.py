"""The values that a parameter may take, from its type and description: a list, or the numbers of a range."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from toolassay.graph.derive.fields import meaning_of
from toolassay.tools.argument_schemas import (
    ArgumentValidator,
)
from toolassay.tools.library import Parameter
from toolassay.tools.type_names import read_type

# Values of one argument. Further ones of a longer list are dropped.
_MOST = 24
# One value: "New Zealand" and "in_stock"; not "a|b", "{id}" or a text of more than 60 characters.
_ITEM = re.compile(r"[^|{}\n]{1,60}")
# "one of: red, blue" and "options: a, b", but not "optional: a".
_CHOICE = re.compile(
    r"(?:\bone of(?: the following)?(?: values)?\s*:?|(?<!use )(?<!provide )\beither\b"
    r"|\b(?:options?|choices|values?)\s*:)"
    r"\s*(?P<list>(?:[^.;()\n]|\.(?=\d))+)",
    re.IGNORECASE,
)
_QUOTED = r"(?:'[^'\n]{1,40}'|\"[^\"\n]{1,40}\"|`[^`\n]{1,40}`)"
# "YYYY-MM-DD" and "hh:mm"
_DATE_FORM = re.compile(r"(?:[yY]{2,4}+|[mM]{2}|[dD]{2}|[hH]{2}|[sS]{2}|[-/:. T]){2,}")
# Between the items of a list: ", ", ", or " and " or "; not "for".
_OR = re.compile(r",\s*(?:or\b|and\b)?|\bor\b")
# Punctuation of sentences, which no value contains.
_OF_SENTENCE = re.compile(r"[,;\"“”，。：；、？！]")
# "'metric' or 'imperial'", but not "'metric'" alone.
_QUOTES = re.compile(rf"(?<!\w){_QUOTED}(?:\s*(?:,\s*(?:or\b|and\b)?|\bor\b|\band\b|/|\|)\s*{_QUOTED})+")
# The words before such a list: "Valid values are: ", "must be ", "Unit: ". Others have another role:
# "required for 'add' or 'reply'", "the filters are 'artist' and 'year'", "e.g. 'a', 'b'".
_ANNOUNCED = re.compile(
    r"(?:^|\b(?:values?|types?|options?|choices?|enum)\]?(?:\s+(?:are|is|include))?\s*:?|\beither"
    r"|\bone of(?: the following)?\s*:?|\b(?:must|can|may|should) be|^(?!examples?)[^.,:(]{1,40}:)"
    r"\s*[\[(]?\s*$",
    re.IGNORECASE,
)
# "(asc/desc)", but not "(a/b)", whose parts are too short, or "asc/desc".
_SLASHES = re.compile(r"\(\s*(?P<list>[\w+-]{2,}(?:\s*/\s*[\w+-]{2,})+)\s*\)")
# "LOCK" and "IN_STOCK"; not "ID", "Lock" or the parts of "YYYY-MM-DD".
_CAPITALS = re.compile(r"(?<![\w-])[A-Z][A-Z0-9_]{2,40}(?![\w-])")
# "[Enum]: LOCK, UNLOCK" and "(CSV/JSON)"; not "CSV" alone, or "an ID or URL" in a sentence.
_CAPITAL_LIST = re.compile(
    rf"(?:^|[:(\[])\s*(?P<list>{_CAPITALS.pattern}(?:\s*(?:,\s*(?:or\b|and\b)?|\bor\b|/)\s*{_CAPITALS.pattern})+)"
    r"(?=\s*(?:[.)\];]|$))"
)
# "Site: Hamburg, Lyon or Porto", "(US or New Zealand)" and "Must be Rome or Oslo."; not "e.g. Rome or Oslo".
_NAMES = r"[^\W\d_][\w+-]*(?: (?-i:[A-Z])[\w+-]*)*"
_NAMED_LIST = re.compile(
    r"(?:(?P<alone>^|(?<!\be\.g)(?<!\beg)(?<!\bex)(?<!\bi\.e)(?<!example)(?<!examples)[.:]\s)"
    r"|\(|\b(?:must|can|may|should) be\b)"
    rf"\s*(?P<list>{_NAMES}(?:,\s*{_NAMES})*,?\s+or\s+{_NAMES})(?=\s*(?:[.);]|$))",
    re.IGNORECASE,
)
# "enum: a, b" and "Literal[a, b]", but not "string".
_TYPE = re.compile(r"^(?:enum|literal|choice|one ?of)\s*[:(\[<]?\s*(?P<list>.+?)[)\]>]?$", re.IGNORECASE)
# Lists of types and of parts of a pattern look the same: "string | null", "(dd/mm/yyyy)".
_NO_VALUES = frozenset(
    re.findall(
        r"\w+",
        "str string int integer float number bool boolean null none object array list dict any and or "
        "dd mm yy yyyy hh ss lat lon latitude longitude",
    )
)
_SIGNED = r"-?\d+(?:\.\d+)?"
# "from 5 to 30", "1-5" and "0..1", but not "2026-05-14" or "10:15".
_RANGE = re.compile(
    rf"(?<![\w.:/-])(?P<low>{_SIGNED})\s?%?\s?(?:\bto\b|\band\b|-|–|\.\.\.?)\s?(?P<high>{_SIGNED})(?![\w:/-]|\.\d)"
)
# "5 to 30 characters" limits the length of a value, not the value.
_LENGTH = re.compile(r"\s*(?:characters?|letters?|words?|digits?|lines?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` to `high` inclusive, with `decimals` digits after the point."""

    low: float
    high: float
    decimals: int = 0

    def holds(self, text: str) -> bool:
        """Whether a text is a number of the range, currency and percent signs apart.

        >>> Range(1, 5).holds("3"), Range(1, 5).holds("7"), Range(1, 5).holds("three")
        (True, False, False)
        """
        number = re.fullmatch(rf"[$€£¥]?({_SIGNED})\s?%?", text.replace(",", ""))
        return number is not None and self.low <= float(number[1]) <= self.high


def allowed_values(parameter: Parameter) -> list[str]:
    """The values that a parameter is restricted to, in the order given; empty if it is not restricted.

    They come from the `enum` of the library file, the type or the description.

    >>> allowed_values(Parameter("size", "string", "small | medium | large"))
    ['small', 'medium', 'large']
    >>> allowed_values(Parameter("units", "string", "'metric' or 'imperial'"))
    ['metric', 'imperial']
    >>> allowed_values(Parameter("customer", "string", "one of the customers"))
    []
    """
    given = parameter.declaration.get("enum")
    if isinstance(given, list):
        texts = (
            str(item).lower() if isinstance(item, bool) else str(item) for item in given if item is not None
        )
        if values := _clean(texts, fewest=1):
            return values
    kind = _TYPE.match(parameter.type.strip())
    for text in (kind["list"] if kind else "", parameter.type if "|" in parameter.type else ""):
        if values := _clean(re.split(r"[,|]", text)):
            return values
    values = _described(parameter.description)
    pattern = parameter.declaration.get("pattern")
    if values and isinstance(pattern, str) and not all(_meets(pattern, value) for value in values):
        return []
    return values


@lru_cache(maxsize=1024)
def _meets(pattern: str, text: str) -> bool:
    return not ArgumentValidator({"properties": {"value": {"pattern": pattern}}}).problems({"value": text})


def quoted_in(description: str) -> list[str]:
    """The texts in quotation marks, which are examples where they list no alternatives.

    Forms of dates are none.

    >>> quoted_in("A city, e.g. 'Porto'; not the customer's, on 'DD.MM.YYYY'")
    ['Porto']
    """
    quotations = re.findall(rf"(?<![A-Za-z\d_]){_QUOTED}(?![A-Za-z\d_])", description)
    return [quotation[1:-1] for quotation in quotations if not _DATE_FORM.fullmatch(quotation[1:-1])]


def allowed_range(parameter: Parameter) -> Range | None:
    """The range that a parameter is restricted to, by its description or its `minimum` and `maximum`.

    >>> allowed_range(Parameter("level", "int", "from 5 to 30"))
    Range(low=5.0, high=30.0, decimals=0)
    """
    source = parameter.declaration
    match = _RANGE.search(parameter.description)
    if isinstance(source.get("minimum"), int | float) and isinstance(source.get("maximum"), int | float):
        low = str(source["minimum"])
        high = str(source["maximum"])
    elif match and not _LENGTH.match(parameter.description, match.end()):
        low = match["low"]
        high = match["high"]
    else:
        return None
    if not re.fullmatch(_SIGNED, low) or not re.fullmatch(_SIGNED, high) or float(low) >= float(high):
        return None
    decimals = max(len(text.partition(".")[2]) for text in (low, high))
    whole = (read_type(parameter.type) or {}).get("type") == "integer"
    if not whole and float(high) - float(low) <= 1:
        decimals = max(decimals, 2)
    return Range(float(low), float(high), 0 if whole else decimals)


def _described(description: str) -> list[str]:
    """The values that a description lists, other than examples."""
    parts = re.split(r"[:;()\[\]\n]|\.\s", description)
    piped = [[item.strip() for item in part.split("|")] for part in parts if "|" in part]
    # A "|" in a sentence is what the values of a list are divided by.
    if any(_OF_SENTENCE.search(item) for items in piped for item in items[1:]):
        piped = []
    for items in piped:
        if all(len(item.split()) <= 3 for item in items[1:]):
            first = items[0] if len(items[0].split()) <= 3 else items[0].split()[-1]
            if values := _clean([first, *items[1:]]):
                return values
    if (match := _QUOTES.search(description)) and _ANNOUNCED.search(description[: match.start()]):
        return _clean(text[1:-1] for text in re.findall(_QUOTED, match[0]))
    if match := _CAPITAL_LIST.search(description):
        return _clean(_CAPITALS.findall(match["list"]))
    if match := _SLASHES.search(description):
        return _clean(match["list"].split("/"))
    if match := _CHOICE.search(description):
        items = [item.strip() for item in _OR.split(match["list"])]
        if not any(
            re.match(r"(?:an?|the|our|your|my|this|these|those|its?|their|any)\b", item) for item in items
        ):
            return _clean(item for item in items if len(item.split()) <= 4)
    if match := _NAMED_LIST.search(description):
        items = [item.strip() for item in _OR.split(match["list"])]
        # Proper names, or words in place of a sentence. "Email or phone" are kinds of values.
        is_list = all(item[0].isupper() for item in items) or (
            match["alone"] is not None and match["list"][1:].islower()
        )
        return _clean(items) if is_list and not any(meaning_of(item).attribute for item in items) else []
    return []


def _clean(items: Iterable[str], *, fewest: int = 2) -> list[str]:
    """The items without quotation marks and repetitions; empty if they are no values."""
    values = list(dict.fromkeys(item.strip(" .'\"`") for item in items))
    values = [value for value in values if value and value.casefold() != "etc" and _ITEM.fullmatch(value)]
    if len(values) < fewest or _NO_VALUES.intersection(value.casefold() for value in values):
        return []
    return values[:_MOST]
