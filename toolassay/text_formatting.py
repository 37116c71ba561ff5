"""A count with its noun, for messages and reports."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    >>> count_of(1, "tool"), count_of(1560, "link")
    ('1 tool', '1,560 links')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
