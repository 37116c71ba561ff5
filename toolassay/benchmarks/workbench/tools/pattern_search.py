"""Text search with a regular expression that an agent wrote, limited in time and memory."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import regex

from toolassay.benchmarks.workbench.sandbox.records import Record
from toolassay.benchmarks.workbench.tools.tool import ToolFailure

SECONDS = 1.0
"""Time limit of one call's searches."""
LONGEST_PATTERN = 2_000
"""Maximum characters in a pattern. Compiling cannot be interrupted, so longer ones are refused."""
LARGEST_PATTERN = 1_000_000
"""Maximum characters in a pattern after its counted repeats are expanded, as compiling does."""
# What is remembered of former searches: at most 10 MB, mostly less than 1 MB.
_PATTERNS_KEPT, _TEXTS_KEPT, _LONGEST_KEPT = 32, 1_000, 200
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
        matches = self._verdicts(pattern)
        found = []
        for row in rows:
            text = row[column]
            if not isinstance(text, str):
                raise ToolFailure(f"cannot search {column}: a row has no text there")
            if matches[text]:
                found.append(row)
        matches.keep()
        return found

    def either_contains(self, rows: Iterable[Record], pattern: Any, column: str, other: str) -> list[Record]:
        """The rows in which one of two columns matches. Rows whose first column is not text are left out, as
        in the published program.

        Raises:
            ToolFailure: the pattern is invalid or takes too long.
        """
        matches = self._verdicts(pattern)
        found = [
            row
            for row in rows
            if isinstance(row[column], str)
            and (matches[row[column]] or (isinstance(row[other], str) and matches[row[other]]))
        ]
        matches.keep()
        return found

    def _verdicts(self, pattern: Any) -> _Verdicts:
        if not isinstance(pattern, str):
            raise ToolFailure(f"a search pattern is text, not {type(pattern).__name__}")
        verdicts = _Verdicts(_compile(pattern), self._end, self._seconds)
        verdicts.seconds_left()
        return verdicts


class _Verdicts(dict[str, bool]):
    """Whether a pattern matches each text of one search. A text that occurs again is not searched again.

    Args:
        pattern: the compiled pattern.
        end: when to give up, on the monotonic clock.
        seconds: the time limit, for the message.
    """

    def __init__(self, pattern: _Compiled, end: float, seconds: float) -> None:
        self._pattern, self._end, self._seconds = pattern, end, seconds
        self._new: dict[str, bool] = {}

    def __missing__(self, text: str) -> bool:
        verdict = self._pattern.verdicts.get(text)
        if verdict is None:
            verdict = self._search(text)
            if len(text) <= _LONGEST_KEPT:
                self._new[text] = verdict
        self[text] = verdict
        return verdict

    def keep(self) -> None:
        """Remember the verdicts for later searches, once a search has succeeded.

        After part of one that took too long, the same call would succeed at some later attempt.
        """
        kept = self._pattern.verdicts
        if len(kept) + len(self._new) > _TEXTS_KEPT:
            kept.clear()
        if len(self._new) <= _TEXTS_KEPT:
            kept.update(self._new)

    def seconds_left(self) -> float:
        """The time until the search is given up.

        Raises:
            ToolFailure: there is none.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise self._failure()
        return left

    def _search(self, text: str) -> bool:
        engine, left = self._pattern.engine, self.seconds_left()
        if isinstance(engine, re.Pattern):
            return engine.search(text) is not None
        try:
            return engine.search(text, timeout=left) is not None
        except TimeoutError:
            raise self._failure() from None

    def _failure(self) -> ToolFailure:
        return ToolFailure(f"the search took more than {self._seconds:g} s; use a simpler pattern")


class _Compiled(NamedTuple):
    """A compiled pattern, and whether it matches the texts of former searches."""

    engine: re.Pattern[str] | regex.Pattern[str]
    verdicts: dict[str, bool]


@lru_cache(_PATTERNS_KEPT)
def _compile(pattern: str) -> _Compiled:
    """Compile with `re` like the published program if the search cannot take long, else with `regex`.

    `regex` accepts a time limit and understands nearly the same patterns; `re` cannot be interrupted.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise ToolFailure(f"the search pattern is longer than {LONGEST_PATTERN:,} characters")
    if len(pattern) * prod(_counts(pattern)) > LARGEST_PATTERN:
        raise ToolFailure("the search pattern repeats too much; use smaller counts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = re.compile(pattern, re.IGNORECASE)
            is_plain = _PLAIN.fullmatch(pattern)
            return _Compiled(plain if is_plain else regex.compile(pattern, regex.IGNORECASE), {})
    except (re.error, regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise ToolFailure(f"not a regular expression: {error}") from None


def _counts(pattern: str) -> Iterator[int]:
    """The larger number of each `{least,most}`: compiling expands the repeat that many times."""
    for numbers in _COUNTS.findall(pattern):
        yield max((int(number) for number in numbers if number), default=1) or 1
