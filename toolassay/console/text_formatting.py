"""A count with its noun, and text without control characters, for messages and reports."""

from __future__ import annotations

import re
from collections.abc import Sequence

# What moves the cursor, starts an escape sequence or re-orders a line: controls but tab and line ends, line
# and paragraph separators, marks of direction. And halves of surrogate pairs, which cannot be written.
# Matches "\x1b" and "\u202e", not "\n" or the joiner of an emoji.
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)


def without_controls(text: str) -> str:
    r"""Text for a screen or a report, with "?" for characters that control how it is shown.

    >>> without_controls("tool\x1b[2J\n\u202egnp.exe")
    'tool?[2J\n?gnp.exe'
    """
    return _CONTROL.sub("?", text)


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    >>> count_of(1, "tool"), count_of(1560, "link")
    ('1 tool', '1,560 links')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, most: int) -> str:
    """A text of at most `most` characters, of which the last shows that it is cut.

    >>> shortened("a long text", 7), shortened("a text", 7)
    ('a long…', 'a text')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def joined(items: Sequence[str]) -> str:
    """Items with commas and "and".

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def some_of(texts: Sequence[str], most: int, *, between: str = ", ", last: str = " and ") -> str:
    """The first texts, and the number of the others.

    >>> some_of(["a", "b", "c"], 2), some_of(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    more = f"{last}{len(texts) - most:,} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


def two_digits(number: int) -> str:
    """A number rounded up to two significant digits.

    >>> two_digits(14_737), two_digits(101), two_digits(31)
    ('15,000', '110', '31')
    """
    unit = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // unit) * unit:,}"
