"""Texts that match a regular expression of a schema.

The packages that do this did not fit: rstr chooses from Python sets, so that a seed does not fix what it
draws, and repeats without a bound on the whole; jsf brings Faker and smart_open with it; exrex is AGPL.
"""

from __future__ import annotations

import importlib
import re
import string
import warnings
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Any

_LONGEST = 120  # characters of a text
_MOST_STEPS = 2_000  # of one text: hostile patterns nest repetitions
_MORE_REPEATS = 5  # repetitions beyond the fewest
_LONGEST_PATTERN = 500
_HEAVIEST = 20_000  # parts of a pattern with its repetitions written out
_WHOLE = string.ascii_lowercase + string.digits
_LETTERS = string.ascii_letters + string.digits
# In the order in which a class of characters is narrowed to those that read well.
_READABLE = (string.ascii_lowercase + string.digits, _LETTERS, _LETTERS + "-_./ ")
_PRINTABLE = "".join(chr(code) for code in range(32, 127))


class PatternError(ValueError):
    """No text was found: the pattern is unknown to Python, or its texts are too long."""


def matching_text(pattern: str, rng: Random) -> str:
    """A short text that matches a pattern, of lower-case letters and digits where the pattern allows them.

    Lookarounds are skipped, so the caller checks the result.

    Raises:
        PatternError: See there.

    >>> text = matching_text("^BN[0-9]{4}$", Random(1))
    >>> text[:2], text[2:].isdigit(), len(text)
    ('BN', True, 6)
    """
    try:
        return _Writer(rng).text(_parsed(pattern))
    except RecursionError:
        raise PatternError("the pattern is nested too deeply") from None


@lru_cache(maxsize=1024)
def is_usable(pattern: str) -> bool:
    """Whether a pattern can be compiled without harm: `regex` writes its repetitions out, in memory.

    >>> is_usable("^[a-z]{2,40}$"), is_usable("(((a{99}){99}){99})")
    (True, False)
    """
    try:
        return _weight(_parsed(pattern)) <= _HEAVIEST
    except (PatternError, RecursionError):
        # What only JavaScript knows is short; `regex` may know it, too.
        return len(pattern) <= _LONGEST_PATTERN and pattern.count("{") - pattern.count("\\p{") < 3


def _weight(parts: Any) -> int:
    """The number of parts, with those of repetitions counted as often as they may be repeated."""
    total = 0
    for operation, value in parts:
        total += 1
        match str(operation):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                times = int(least) if str(most) == "MAXREPEAT" else int(most)
                total += max(1, times) * _weight(inner)
            case "SUBPATTERN":
                total += _weight(value[-1])
            case "ATOMIC_GROUP":
                total += _weight(value)
            case "ASSERT" | "ASSERT_NOT":
                total += _weight(value[1])
            case "BRANCH":
                total += sum(_weight(one) for one in value[1])
    return total


# The name of a group in JavaScript, "(?<year>"; not a lookbehind, "(?<=" or "(?<!".
_GROUP_NAME = re.compile(r"\(\?<(?=[A-Za-z_])")


@lru_cache(maxsize=1024)
def _parsed(pattern: str) -> Any:
    if len(pattern) > _LONGEST_PATTERN:
        raise PatternError("the pattern is too long")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about spellings that are errors in later versions of Python
        try:
            return importlib.import_module("re._parser").parse(_GROUP_NAME.sub("(?P<", pattern))
        except (re.error, OverflowError, RecursionError) as error:
            raise PatternError(f"the pattern is unknown: {error}") from None


class _Writer:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.groups: dict[int, str] = {}
        self.steps = 0

    def text(self, parts: Any) -> str:
        written = ""
        for operation, value in parts:
            self.steps += 1
            if self.steps > _MOST_STEPS or len(written) > _LONGEST:
                raise PatternError("texts of the pattern are too long")
            written += self.part(str(operation), value)
        return written

    def part(self, operation: str, value: Any) -> str:
        match operation:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL":
                return self.one_of(_PRINTABLE.replace(chr(value), ""))
            case "ANY":
                return self.one_of(_WHOLE)
            case "IN":
                return self.one_of(_members(value))
            case "BRANCH":
                return self.text(value[1][int(self.rng.random() * len(value[1]))])
            case "SUBPATTERN":
                text = self.text(value[-1])
                if value[0] is not None:
                    self.groups[value[0]] = text
                return text
            case "ATOMIC_GROUP":
                return self.text(value)
            case "GROUPREF":
                return self.groups.get(value, "")
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self.repeated(*value)
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return ""
        raise PatternError(f"the pattern has {operation.lower()}")

    def repeated(self, least: int, most: int, parts: Any) -> str:
        # "^[a-z]*$" should not be empty, but an optional part may be left out.
        low = max(least, 1) if most > 1 else least
        high = min(int(most), low + _MORE_REPEATS)
        times = low + int(self.rng.random() * (high - low + 1))
        written = ""
        for _ in range(times):
            self.steps += 1
            if self.steps > _MOST_STEPS or len(written) > _LONGEST:
                raise PatternError("texts of the pattern are too long")
            written += self.text(parts)
        return written

    def one_of(self, characters: str) -> str:
        if not characters:
            raise PatternError("the pattern has an empty class")
        for readable in _READABLE:
            if found := [one for one in characters if one in readable]:
                return found[int(self.rng.random() * len(found))]
        return characters[int(self.rng.random() * len(characters))]


def _members(parts: Sequence[Any]) -> str:
    """The printable characters of a class; those of other scripts only if it has no others."""
    kept: list[str] = []
    others: list[str] = []
    negated = False
    for operation, value in parts:
        name = str(operation)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            (kept if chr(value) in _PRINTABLE else others).append(chr(value))
        elif name == "RANGE":
            kept += [one for one in _PRINTABLE if value[0] <= ord(one) <= value[1]]
            if value[0] > 126:
                others += [chr(code) for code in range(value[0], min(value[1], value[0] + 50) + 1)]
        elif name == "CATEGORY":
            kept += [one for one in _PRINTABLE if _in_category(str(value), one)]
    if negated:
        return "".join(one for one in _PRINTABLE if one not in kept)
    return "".join(dict.fromkeys(kept or others))


def _in_category(name: str, character: str) -> bool:
    kind = name.removeprefix("CATEGORY_").removeprefix("UNI_")
    has = {
        "DIGIT": character.isdigit(),
        "SPACE": character == " ",
        "WORD": character.isalnum() or character == "_",
    }
    return not has[kind.removeprefix("NOT_")] if kind.startswith("NOT_") else has[kind]
