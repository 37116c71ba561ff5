"""Text for reports: a count with its noun, and the text of a Markdown table cell."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """A count with its noun.

    >>> count_of(1, "tool"), count_of(1560, "link")
    ('1 tool', '1,560 links')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cell_of(text: str) -> str:
    r"""A text that breaks no Markdown table.

    >>> print(cell_of("a | b"))
    a \| b
    """
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())
