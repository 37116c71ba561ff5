"""Values in the words of a reason: short, on one line, whatever they are."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any

_LONGEST = 60
_short = reprlib.Repr()
_short.maxlevel, _short.maxstring, _short.maxother = 3, _LONGEST, _LONGEST


def shown(value: Any) -> str:
    """A value in quotation marks, cut to be read in a sentence.

    >>> shown("a  b"), shown(["x", 2])
    ("'a b'", "['x', 2]")
    """
    if isinstance(value, str):
        text = " ".join(value[: 4 * _LONGEST].split())
        return f"'{text}'" if len(text) <= _LONGEST else f"'{text[: _LONGEST - 1]}…'"
    try:
        return " ".join(_short.repr(value).split())
    except (ValueError, RecursionError):  # a number of thousands of digits, lists within lists within lists
        return f"a {type(value).__name__}"


def listed(names: Iterable[Any]) -> str:
    """Values one after the other, the first few of them.

    >>> listed(["a", "b"]), listed("abcdefgh")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f' and 2 more")
    """
    names = list(names)
    text = ", ".join(map(shown, names[:6]))
    return text if len(names) <= 6 else f"{text} and {len(names) - 6} more"
