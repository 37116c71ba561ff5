"""A marked Python function as a tool: JSON Schema, description and conversion of its typed arguments, and
its execution.
"""

from __future__ import annotations

import inspect
import json
import keyword
import math
import re
import sqlite3
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import ToolArgument, ToolFailure, WorkplaceTool
from toolassay.benchmarks.workbench.tools.tool import checked_text
from toolassay.files.data_files import unescaped_json
from toolassay.importers.functions import docstring_of

Function = TypeVar("Function", bound=Callable[..., Any])
_MARK = "__workplace_tool__"


class ToolError(ToolFailure):
    """Raised by a tool to fail a call. The agent gets the message, and the call's changes are undone."""


@dataclass(frozen=True)
class ToolMark:
    """The record that `@tool` leaves on a function.

    Attributes:
        domain: the domain the tool belongs to.
        changes_state: whether it may write.
    """

    domain: str
    changes_state: bool


def tool(domain: str = "", *, reads_only: bool = False) -> Callable[[Function], Function]:
    """Mark a function as a tool, called `domain.function` by agents.

    The first argument of the function is the database. The others are typed: str, int, float, bool, Literal,
    lists of these, or one of these and None. The docstring is the tool's description in the agent's prompt,
    and its section "Args:" describes the arguments.

    Args:
        domain: the domain the tool belongs to.
        reads_only: the tool cannot write, and its calls are not compared with those of the ground truth.

    Raises:
        TypeError: no domain is given.

    >>> @tool("loans", reads_only=True)
    ... def due(db: sqlite3.Connection, member: str) -> list[str]:
    ...     "The books that a member has."
    ...     return [row["title"] for row in db.execute("SELECT title FROM loans WHERE member = ?", [member])]
    """
    if callable(domain) or not domain:  # `@tool` without parentheses passes the function itself
        raise TypeError('a tool without a domain: write @tool("some_domain")')

    def mark(function: Function) -> Function:
        setattr(function, _MARK, ToolMark(domain, not reads_only))
        return function

    return mark


def mark_of(value: Any) -> ToolMark | None:
    """The mark of a function; None if it is not marked."""
    found = getattr(value, _MARK, None) if callable(value) else None
    return found if isinstance(found, ToolMark) else None


def now(db: sqlite3.Connection) -> datetime:
    """The workplace's current time. SQL has a function of the same name."""
    return datetime.fromisoformat(db.execute("SELECT now()").fetchone()[0])


def user(db: sqlite3.Connection) -> str:
    """The person the agent works for. SQL has a function of the same name."""
    return str(db.execute("SELECT user()").fetchone()[0])


POSSIBLE = "str, int, float, bool, Literal[…], list[…], or one of these and None"
_NAMES: dict[Any, tuple[str, str]] = {
    str: ("string", "text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
    types.NoneType: ("null", "null"),
}


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type hint.

    Raises:
        TypeError: the type is not supported.

    >>> schema_of(list[int] | None)
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """
    if hint in _NAMES:
        return {"type": _NAMES[hint][0]}
    kind = get_origin(hint)
    inner = get_args(hint)
    if kind is Literal and len({type(value) for value in inner}) == 1 and type(inner[0]) in (str, int):
        return {"type": _NAMES[type(inner[0])][0], "enum": list(inner)}
    if kind is list and len(inner) == 1:
        return {"type": "array", "items": schema_of(inner[0])}
    if kind in (Union, types.UnionType) and len(inner) == 2 and types.NoneType in inner:
        return {"anyOf": [schema_of(one) for one in inner]}
    raise TypeError(getattr(hint, "__name__", str(hint)))


def describe_type(hint: Any) -> str:
    """The description of a type in a prompt.

    >>> describe_type(list[Literal["a", "b"]])
    'a list, of each: one of "a", "b"'
    """
    if hint in _NAMES:
        return _NAMES[hint][1]
    kind = get_origin(hint)
    inner = get_args(hint)
    if kind is Literal:
        return "one of " + ", ".join(
            f'"{value}"' if isinstance(value, str) else str(value) for value in inner
        )
    if kind is list:
        return f"a list, of each: {describe_type(inner[0])}"
    return " or ".join(map(describe_type, inner))


def convert_value(name: str, hint: Any, value: Any) -> Any:
    """Convert a value that a model passed. Numbers and booleans written as text are converted.

    Raises:
        ValueError: the value does not have the type.
        ToolFailure: the value is a text longer than `LONGEST_VALUE`.

    >>> convert_value("days", int, "7"), convert_value("days", float | None, None)
    (7, None)
    """
    try:
        no_number = hint is bool and not isinstance(value, str)  # 1 is not true
        converted = msgspec.convert(_checked(name, value), hint, strict=no_number)
        if isinstance(converted, float) and not math.isfinite(converted):  # of the text "nan" or "inf"
            raise ValueError
        return converted
    except ValueError:
        raise ValueError(f"{name} is {describe_type(hint)}, not {str(value)[:100]!r}") from None


def _checked(name: str, value: Any) -> Any:
    """A value whose texts were checked (`checked_text`)."""
    if isinstance(value, list):
        return [_checked(name, item) for item in value]
    return checked_text(name, value) if isinstance(value, str) else value


# Matches "find_books"; not "find__books": a double underscore separates domain and tool in model interfaces.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_LONGEST_NAME = 64  # the limit of OpenAI's API


@dataclass(frozen=True)
class TypedArgument(ToolArgument):
    """A typed argument of a user's tool.

    Attributes:
        hint: the type hint.
        default: the value if the argument is omitted.
    """

    hint: Any = str
    default: Any = None

    def schema(self) -> dict[str, Any]:
        about = {"description": self.description} if self.description else {}
        default = {} if self.required else {"default": self.default}
        return {**schema_of(self.hint), **about, **default}

    def prompt_text(self) -> str:
        """The argument's description in a prompt, with its type and default."""
        default = "" if self.required else f" Default: {unescaped_json(self.default)}."
        words = describe_type(self.hint)
        return f"{self.description} ".lstrip() + f"{words[0].upper()}{words[1:]}.{default}"


class OwnTool(WorkplaceTool):
    """A tool whose function takes a connection and typed arguments."""

    def recorded_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as recorded: unchanged, because they keep their types."""
        return dict(arguments)

    def execute(self, sandbox: Sandbox, arguments: Mapping[str, Any]) -> Any:
        """Run the tool on a sandbox. Numbers and booleans written as text are converted.

        Raises:
            ToolFailure: an argument is missing, unknown or of the wrong type, or the function raised. The
                sandbox is then unchanged.
        """
        assert isinstance(sandbox, OwnSandbox), "a tool acts on its own workplace"
        values: dict[str, Any] = {}
        for name, value in arguments.items():
            argument = self.argument(name)
            assert isinstance(argument, TypedArgument)
            if value is None and not argument.required:
                continue
            try:
                values[name] = convert_value(name, argument.hint, value)
            except ValueError as error:
                raise ToolFailure(f"{self.name}: {error}") from error
        if missing := [name for name, one in self.arguments.items() if one.required and name not in values]:
            raise ToolFailure(f"{self.name} needs {', '.join(missing)}")
        try:
            with sandbox.connection.call(reads_only=not self.changes_state):
                value = self.function(sandbox.connection, **values)
                return json.loads(json.dumps(value, default=_json_value, ensure_ascii=False, allow_nan=False))
        except ToolFailure:
            raise
        except sqlite3.Error as error:
            words = {"not authorized": sandbox.connection.denied, "interrupted": "it took too long"}
            raise ToolFailure(f"{self.name}: {words.get(str(error), error)}") from error
        except (Exception, SystemExit) as error:  # a defect in a user's tool must not end the run
            raise ToolFailure(f"{self.name}: {type(error).__name__}: {error}") from error


def tool_of(function: Callable[..., Any], mark: ToolMark) -> OwnTool:
    """The tool that a marked function defines.

    Raises:
        ValueError: the function cannot be a tool; the message says why.
    """
    if not inspect.isfunction(function):
        raise ValueError(f"{function!r} is not a function")
    name = function.__name__
    for word in (mark.domain, name):
        if not _NAME.fullmatch(word) or keyword.iskeyword(word):
            raise ValueError(
                f"{word!r} cannot be a tool's name: use letters, digits and single underscores, no keyword"
            )
    if len(mark.domain) + len(name) + 2 > _LONGEST_NAME:
        raise ValueError(f"{mark.domain}.{name} is longer than {_LONGEST_NAME - 1} characters")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise ValueError(f"{name} is a coroutine or generator function; make it a plain function")
    parameters = [*inspect.signature(function).parameters.values()]
    first = parameters.pop(0) if parameters else None
    if first is None or first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise ValueError(f"{name} takes no positional argument; the first one must be the database")
    if not (function.__doc__ or "").strip():
        raise ValueError(f"{name} has no docstring, which is its description for agents")
    docstring = docstring_of(function)
    hints = get_type_hints(function)
    arguments = {p.name: _argument(name, p, hints, docstring.parameters) for p in parameters}
    description = " ".join(docstring.description.split())
    return OwnTool(mark.domain, function, description, arguments, mark.changes_state)


def _argument(
    function: str, parameter: inspect.Parameter, hints: Mapping[str, Any], about: Mapping[str, str]
) -> TypedArgument:
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise ValueError(f"{function}: {name} stands for several arguments; write each one out")
    if name not in hints:
        raise ValueError(f"{function}: {name} has no type; write e.g. {name}: str")
    try:
        schema_of(hints[name])
    except TypeError as error:
        raise ValueError(f"{function}: {name} is of type {error}, not {POSSIBLE}") from None
    required = parameter.default is parameter.empty
    default = None if required else parameter.default
    return TypedArgument(about.get(name, ""), required, hint=hints[name], default=default)


def _json_value(value: Any) -> Any:
    if isinstance(value, sqlite3.Row):
        return dict(zip(value.keys(), value, strict=True))
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"returns {type(value).__name__}, which is no JSON value")
