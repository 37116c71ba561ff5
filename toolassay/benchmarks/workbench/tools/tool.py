"""A tool of a workplace, and how tools read dates and search patterns."""

from __future__ import annotations

import re
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from math import isfinite, prod
from typing import Any

import msgspec
import regex

from toolassay.benchmarks.workbench.records import Record, Records
from toolassay.benchmarks.workbench.sandbox import Layout, Sandbox
from toolassay.files.data_files import readable

Function = Callable[..., Any]

LONGEST_VALUE = 100_000
"""Maximum characters in the value of an argument."""
# The published tools raise these for unexpected values, e.g. `.lower()` on a number. They fail the call.
_MISTAKES = (TypeError, AttributeError, ValueError, ArithmeticError, sqlite3.Error, RecursionError)


class ToolFailure(Exception):
    """A call failed and left the sandbox unchanged. The agent gets the message as the result."""


@dataclass(frozen=True)
class ToolArgument:
    """One argument of a tool.

    Attributes:
        description: for the agent.
        required: whether the tool does nothing useful without it. Missing ones are answered, not refused.
        choices: the accepted values, if there are only a few.
    """

    description: str
    required: bool = False
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        listed = {"enum": list(self.choices)} if self.choices else {}
        return {"type": "string", "description": self.description, **listed}

    def prompt_text(self) -> str:
        """The argument's description in a prompt."""
        return self.description + (f" One of: {', '.join(self.choices)}." if self.choices else "")


@dataclass(frozen=True)
class WorkplaceTool:
    """One tool.

    Attributes:
        domain: the part of the workplace it acts on.
        function: takes the sandbox and the arguments by name; returns a JSON value.
        description: for the agent.
        arguments: in order.
        changes_state: whether it can change judged tables.
    """

    domain: str
    function: Function
    description: str
    arguments: Mapping[str, ToolArgument]
    changes_state: bool

    @property
    def name(self) -> str:
        """The published name, e.g. `calendar.create_event`."""
        return f"{self.domain}.{self.function.__name__}"

    @property
    def function_name(self) -> str:
        """The name for model interfaces, which allow no dot, e.g. `calendar__create_event`."""
        return self.name.replace(".", "__")

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {name: argument.schema() for name, argument in self.arguments.items()},
            "required": [name for name, argument in self.arguments.items() if argument.required],
            "additionalProperties": False,
        }

    def to_openai(self) -> dict[str, Any]:
        """The tool as an entry of `tools` in a chat request."""
        return {
            "type": "function",
            "function": {
                "name": self.function_name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }

    def recorded_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a model's call in the form in which they are recorded."""
        return as_texts(arguments)

    def execute(self, sandbox: Sandbox, arguments: Mapping[str, Any]) -> Any:
        """Run the tool on a sandbox.

        Raises:
            ToolFailure: an argument is unknown, or the tool cannot process a value. The sandbox is then
                unchanged.
        """
        values = {name: self._checked(name, value) for name, value in arguments.items()}
        try:
            with sandbox.transaction():
                return sandbox.edition.result(self.function(sandbox, **values))
        except _MISTAKES as error:
            given = ", ".join(f"{name}={str(value)[:100]!r}" for name, value in values.items())
            raise ToolFailure(f"{self.name} cannot work with {given}: {error}") from error

    def allows(self, name: str, value: Any) -> bool:
        """Whether a value is among the choices of an argument."""
        return value in self.arguments[name].choices

    def argument(self, name: str) -> ToolArgument:
        """Look up an argument by name.

        Raises:
            ToolFailure: the tool has no such argument.
        """
        if name not in self.arguments:
            raise ToolFailure(
                f"{self.name} has no argument {name[:100]!r}; its arguments are: {', '.join(self.arguments)}"
            )
        return self.arguments[name]

    def _checked(self, name: str, value: Any) -> Any:
        self.argument(name)
        if isinstance(value, str):
            return checked_text(name, value)
        if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
            return value
        raise ToolFailure(f"{name} is text or a number, not {type(value).__name__}")


def as_texts(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers become strings, as the published tools take them; null is omitted."""
    return {
        name: value if isinstance(value, str | list | dict) else str(value)
        for name, value in arguments.items()
        if value is not None
    }


def checked_text(name: str, value: str) -> str:
    """Check the length of a string and replace lone surrogates, which SQLite cannot store.

    Raises:
        ToolFailure: the text is longer than `LONGEST_VALUE`.
    """
    if len(value) > LONGEST_VALUE:
        raise ToolFailure(f"{name} is longer than {LONGEST_VALUE:,} characters")
    return readable(value)


class _Declaration(msgspec.Struct, frozen=True):
    description: str
    arguments: dict[str, ToolArgument]
    changes_state: bool = False


DECLARED = msgspec.json.decode(
    files(__package__).joinpath("tools.json").read_bytes(), type=dict[str, dict[str, _Declaration]]
)
"""What agents read of the published tools, by domain and name, in the order of the published prompt."""


def tool(domain: str) -> Callable[[Function], WorkplaceTool]:
    """Decorator that turns a function into a published tool, with what `tools.json` declares of it.

    Args:
        domain: the part of the workplace it acts on.
    """

    def decorate(function: Function) -> WorkplaceTool:
        declared = DECLARED[domain][function.__name__]
        return WorkplaceTool(
            domain, function, declared.description, declared.arguments, declared.changes_state
        )

    return decorate


def remove_rows(sandbox: Sandbox, table: Layout, noun: str, key: Any) -> str:
    """Delete every row with this id. Returns the published reply, which calls the row `noun`."""
    if not key:
        return f"{noun} ID not provided."
    return f"{noun} {'deleted successfully' if Records(sandbox, table).remove(key) else 'not found'}."


def look_up(sandbox: Sandbox, table: Layout, noun: str, key: Any, field: Any) -> Any:
    """One cell of the row with this id, or the published reply, which calls the row `noun`."""
    if not key:
        return f"{noun} ID not provided."
    if not field:
        return "Field not provided."
    row = Records(sandbox, table).first(key)
    if row is None:
        return f"{noun} not found."
    return {field: row[field]} if field in row else "Field not found."


# Characters. A longer text is no date, and is refused without parsing.
_LONGEST = 200
_DATES_KEPT = 4_096  # a search by time parses every row of a table: less than 2 MB
# Matches the start of "9:30" and "13:00 sharp"; not "9am" or "Dec 1, 9:30".
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_NEVER = frozenset({"NaT", "nat", "NAT", "nan", "NaN", "NAN"})  # pandas reads these as "not a time"


def parse_moment(text: Any, now: datetime) -> datetime | None:
    """Parse a date or time as leniently as the published program (pandas) does.

    A date alone is its midnight. A time alone, such as 13:00, is on the day the published program runs, which
    is after all data; here it is in the year 9999. Two differences: `now` and `today` are the sandbox's, and
    quarters ("2023Q4") are not accepted.

    Args:
        text: what the agent wrote.
        now: the sandbox's current time.

    Returns:
        The time; None for words such as "nan", which compare as neither before nor after anything.

    Raises:
        ToolFailure: the text is not a date or time.

    >>> parse_moment("Dec 1, 2023 9am", datetime(2023, 11, 30))
    datetime.datetime(2023, 12, 1, 9, 0)
    """
    if isinstance(text, str) and len(text) <= _LONGEST:
        return _moment(text, now)
    raise _not_a_moment(text)


def _not_a_moment(text: Any) -> ToolFailure:
    return ToolFailure(f"not a date or time: {str(text)[:100]!r}; write YYYY-MM-DD HH:MM:SS")


@lru_cache(_DATES_KEPT)
def _moment(text: str, now: datetime) -> datetime | None:
    if text in _NEVER:
        return None
    if text in ("now", "today"):
        return now
    try:
        if "W" not in text:  # pandas rejects ISO weeks such as 2023-W48; fromisoformat accepts them
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    from dateutil import parser

    # dateutil would read a number below 1000 as a day, which pandas does not.
    with suppress(ValueError):
        if not text.startswith("0") and float(text) < 1000:
            raise _not_a_moment(text)
    # dateutil fills missing parts from the default. Parsing with two defaults shows which parts were missing.
    try:
        moment: datetime = parser.parse(text, default=datetime(1, 1, 1))
        other_moment: datetime = parser.parse(text, default=datetime(2, 2, 2, 2))
    except (ValueError, OverflowError, TypeError):
        raise _not_a_moment(text) from None
    if (
        moment.year == other_moment.year
        or moment.month == other_moment.month
        or moment.day == other_moment.day
    ):
        return moment
    if moment.hour != other_moment.hour:  # neither a date nor an hour, e.g. only a weekday
        raise _not_a_moment(text)
    return moment.replace(year=9999) if _CLOCK.match(text) else moment


SECONDS = 1.0
"""Time limit of one call's searches."""
LONGEST_PATTERN = 2_000
"""Maximum characters in a pattern. Compiling cannot be interrupted, so longer ones are refused."""
LARGEST_PATTERN = 1_000_000
"""Maximum characters in a pattern after its counted repeats are expanded, as compiling does."""
# Compiled patterns that are kept. Each may have `LARGEST_PATTERN` characters, so the number is small.
_PATTERNS_KEPT = 32
# Patterns without repeats, branches and groups, which cannot backtrack exponentially on any text.
# Matches "^ann" and "{x}"; not "a+", "a|b", "(a)" or "a{2}".
_PLAIN = re.compile(r"(?:[^*+?|({]|\{(?![\d,])){0,200}")
# Matches "{2}", "{2,}" and "{,5}"; not "{x}".
_COUNTS = re.compile(r"\{(\d*),?(\d*)\}")


class Search:
    """The searches of one call, which share a time limit. A pattern may match anywhere.

    A pattern that Python's `re` cannot compile is an error, as in the published program.

    Args:
        seconds: time limit for all searches together.
        literal: patterns are searched as they are.
        case: whether case matters.

    >>> rows = [{"name": "Ann Lee"}, {"name": "Bo"}]
    >>> Search().contains(rows, "^ann", "name")
    [{'name': 'Ann Lee'}]
    """

    def __init__(self, seconds: float = SECONDS, *, literal: bool = False, case: bool = False) -> None:
        self._seconds = seconds
        self._literal = literal
        self._case = case
        self._end = time.monotonic() + seconds

    def contains(self, rows: Iterable[Record], pattern: Any, column: str) -> list[Record]:
        """The rows whose cell in the column matches.

        Raises:
            ToolFailure: the pattern is invalid or takes too long, or a cell is not text.
        """
        matches = self._matching(pattern)
        matching_rows = []
        for row in rows:
            text = row[column]
            if not isinstance(text, str):
                raise ToolFailure(f"cannot search {column}: a row has no text there")
            if matches(text):
                matching_rows.append(row)
        return matching_rows

    def either_contains(self, rows: Iterable[Record], pattern: Any, column: str, other: str) -> list[Record]:
        """The rows in which one of two columns matches. Rows whose first column is not text are left out, as
        in the published program.

        Raises:
            ToolFailure: the pattern is invalid or takes too long.
        """
        matches = self._matching(pattern)
        return [
            row
            for row in rows
            if isinstance(row[column], str)
            and (matches(row[column]) or (isinstance(row[other], str) and matches(row[other])))
        ]

    def _matching(self, pattern: Any) -> Callable[[str], bool]:
        """Whether a text matches; one that occurs again is not searched again."""
        if not isinstance(pattern, str):
            raise ToolFailure(f"a search pattern is text, not {type(pattern).__name__}")
        if len(pattern) > LONGEST_PATTERN:
            raise ToolFailure(f"the search pattern is longer than {LONGEST_PATTERN:,} characters")
        engine = _compile(re.escape(pattern) if self._literal else pattern, case=self._case)

        @cache
        def matches(text: str) -> bool:
            left = self._end - time.monotonic()
            # `regex` raises it after `timeout`: the same refusal as for a search that has no time left.
            with suppress(TimeoutError):
                if left > 0:
                    limit = {} if isinstance(engine, re.Pattern) else {"timeout": left}
                    return engine.search(text, **limit) is not None
            raise ToolFailure(f"the search took more than {self._seconds:g} s; use a simpler pattern")

        return matches


@lru_cache(_PATTERNS_KEPT)
def _compile(pattern: str, *, case: bool) -> Any:
    """Compile with `re` like the published program if the search cannot take long, else with `regex`.

    `regex` accepts a time limit and understands nearly the same patterns; `re` cannot be interrupted.
    """
    # Compiling expands each `{least,most}` by its larger number.
    counts = (max((int(n) for n in pair if n), default=1) or 1 for pair in _COUNTS.findall(pattern))
    if len(pattern) * prod(counts) > LARGEST_PATTERN:
        raise ToolFailure("the search pattern repeats too much; use smaller counts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Compiled in any case: what `re` refuses is an error in the published program.
            plain = re.compile(pattern, 0 if case else re.IGNORECASE)
            if _PLAIN.fullmatch(pattern):
                return plain
            return regex.compile(pattern, 0 if case else regex.IGNORECASE)
    except (re.error, regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise ToolFailure(f"not a regular expression: {error}") from None
