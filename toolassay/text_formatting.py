"""A count with its noun, for messages and reports."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    >>> count_of(1, "tool"), count_of(1560, "link")
    ('1 tool', '1,560 links')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def two_digits(number: int) -> str:
    """A number rounded up to two significant digits.

    >>> two_digits(14_737), two_digits(101), two_digits(31)
    ('15,000', '110', '31')
    """
    unit = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // unit) * unit:,}"
