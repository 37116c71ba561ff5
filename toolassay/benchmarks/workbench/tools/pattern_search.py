"""Text search with a regular expression that an agent wrote, limited in time and memory."""

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
"""Time limit of one call's searches."""
LONGEST_PATTERN = 2_000
"""Maximum characters in a pattern. Compiling cannot be interrupted, so longer ones are refused."""
LARGEST_PATTERN = 1_000_000
"""Maximum characters in a pattern after its counted repeats are expanded, as compiling does."""
# Patterns without repeats, branches and groups, which cannot backtrack exponentially on any text.
# Matches "^ann" and "{x}"; not "a+", "a|b", "(a)" or "a{2}".
_PLAIN = re.compile(r"(?:[^*+?|({]|\{(?![\d,])){0,200}")
# Matches "{2}", "{2,}" and "{,5}"; not "{x}".
_COUNTS = re.compile(r"\{(\d*),?(\d*)\}")


class Search:
    """The searches of one call, which share a time limit. Case is ignored; a pattern may match anywhere.

    A pattern that Python's `re` cannot compile is an error, as in the published program.

    Args:
        seconds: time limit for all searches together.

    >>> rows = [{"name": "Ann Lee"}, {"name": "Bo"}]
    >>> Search().contains(rows, "^ann", "name")
    [{'name': 'Ann Lee'}]
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def contains(self, rows: Iterable[Record], pattern: Any, column: str) -> list[Record]:
        """The rows whose cell in the column matches.

        Raises:
            ToolFailure: the pattern is invalid or takes too long, or a cell is not text.
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
        """The rows in which one of two columns matches. Rows whose first column is not text are left out, as
        in the published program.

        Raises:
            ToolFailure: the pattern is invalid or takes too long.
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
    """Compile with `re` like the published program if the search cannot take long, else with `regex`.

    `regex` accepts a time limit and understands nearly the same patterns; `re` cannot be interrupted.
    """
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
    """The larger number of each `{least,most}`: compiling expands the repeat that many times."""
    for numbers in _COUNTS.findall(pattern):
        yield max((int(number) for number in numbers if number), default=1) or 1
