"""Text search with a pattern that an agent wrote, with a time limit."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterable, Iterator
from math import prod
from typing import Any, TypeAlias

import regex

from toolassay.benchmarks.workbench.sandbox.records import Record
from toolassay.benchmarks.workbench.tools.tool import ToolFailure

_Pattern: TypeAlias = re.Pattern[str] | regex.Pattern[str]

SECONDS = 1.0
"""A search that takes longer is given up."""
LONGEST_PATTERN = 2_000
"""Characters in a pattern; compiling cannot be cut off, so long ones are refused."""
LARGEST_PATTERN = 1_000_000
"""Characters of a pattern with its counted repeats written out."""
_PLAIN = re.compile(r"(?:[^*+?|({]|\{(?![\d,])){0,200}")
"""Patterns without repeats, branches and groups: no text makes them explode."""
_COUNTS = re.compile(r"\{(\d*),?(\d*)\}")


class Search:
    """One call's searches: case is ignored, the pattern may be anywhere in the text.

    All searches of one call share the time. What the `re` module cannot compile is an error, as published.

    Args:
        seconds: for all searches together.

    >>> rows = [{"name": "Ann Lee"}, {"name": "Bo"}]
    >>> Search().contains(rows, "^ann", "name")
    [{'name': 'Ann Lee'}]
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def contains(self, rows: Iterable[Record], pattern: Any, column: str) -> list[Record]:
        """The rows in which the column has the pattern.

        Raises:
            ToolFailure: the pattern cannot be read, takes too long, or a row has no text in the column.
        """
        compiled = _compile(pattern)
        found = []
        for row in rows:
            if not isinstance(row[column], str):
                raise ToolFailure(f"cannot search {column}: a row has no text there")
            if self._matches(compiled, row[column]):
                found.append(row)
        return found

    def either_contains(self, rows: Iterable[Record], pattern: Any, column: str, other: str) -> list[Record]:
        """The rows in which one of two columns has the pattern; none without text in the first, as published.

        Raises:
            ToolFailure: the pattern cannot be read, or takes too long.
        """
        compiled = _compile(pattern)
        return [
            row
            for row in rows
            if isinstance(row[column], str)
            and any(
                self._matches(compiled, cell) for cell in (row[column], row[other]) if isinstance(cell, str)
            )
        ]

    def _matches(self, compiled: _Pattern, text: str) -> bool:
        left = self._end - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            if isinstance(compiled, re.Pattern):
                return compiled.search(text) is not None
            return compiled.search(text, timeout=left) is not None
        except TimeoutError:
            raise ToolFailure(
                f"the search took more than {self._seconds:g} s; use a simpler pattern"
            ) from None


def _compile(pattern: Any) -> _Pattern:
    """As published (`re`), which cannot be cut off; where it may have to be, `regex`, nearly the same."""
    if not isinstance(pattern, str):
        raise ToolFailure(f"a search pattern is text, not {type(pattern).__name__}")
    if len(pattern) > LONGEST_PATTERN:
        raise ToolFailure(f"the search pattern is longer than {LONGEST_PATTERN:,} characters")
    if len(pattern) * prod(_counts(pattern)) > LARGEST_PATTERN:
        raise ToolFailure("the search pattern repeats too much; use smaller counts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = re.compile(pattern, re.IGNORECASE)
            return plain if _PLAIN.fullmatch(pattern) else regex.compile(pattern, regex.IGNORECASE)
    except (re.error, regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise ToolFailure(f"not a regular expression: {error}") from None


def _counts(pattern: str) -> Iterator[int]:
    """The larger number in each `{least,most}`, which compiling writes out."""
    for numbers in _COUNTS.findall(pattern):
        yield max((int(number) for number in numbers if number), default=1) or 1
