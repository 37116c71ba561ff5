"""Text formatting for reports: counts with nouns, and cells of Markdown tables."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    >>> count_of(1, "tool"), count_of(1560, "link")
    ('1 tool', '1,560 links')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cell_of(text: str) -> str:
    r"""Escape a text for a cell of a Markdown table, on one line.

    >>> print(cell_of("a | b"))
    a \| b
    """
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())
