"""A function of somebody's own as a tool."""

from __future__ import annotations

import inspect
import json
import keyword
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, get_type_hints

from toolassay.benchmarks.workbench.own.kinds import POSSIBLE, read_value, schema_of, words_of
from toolassay.benchmarks.workbench.own.marking import Mark
from toolassay.benchmarks.workbench.own.sandbox import OwnSandbox
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import Argument, Tool, ToolFailure

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_LONGEST_NAME = 64  # what model interfaces accept
_ARGS = re.compile(r"^(Args|Arguments|Parameters):[ \t]*$", re.MULTILINE)
_SECTION = re.compile(r"^\S[^\n]*:[ \t]*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^ +(\w+)(?: *\([^)]*\))?: *(.+(?:\n {8,}.+)*)", re.MULTILINE)


@dataclass(frozen=True)
class TypedArgument(Argument):
    """An argument with a type.

    Args:
        hint: the type.
        default: what it is if it is left out.
    """

    hint: Any = str
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        about = {"description": self.description} if self.description else {}
        default = {} if self.required else {"default": self.default}
        return {**schema_of(self.hint), **about, **default}

    def told(self) -> str:
        """What a prompt says of it."""
        default = "" if self.required else f" Default: {json.dumps(self.default, ensure_ascii=False)}."
        words = words_of(self.hint)
        return f"{self.description} ".lstrip() + f"{words[0].upper()}{words[1:]}.{default}"


class OwnTool(Tool):
    """A tool whose function takes the database and typed arguments."""

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a model's call as they are recorded: as they are."""
        return dict(arguments)

    def carry_out(self, sandbox: Sandbox, arguments: Mapping[str, Any]) -> Any:
        """Act on a sandbox.

        Raises:
            ToolFailure: an argument is missing, unknown or of another type, or the function raised; the
                sandbox is as it was.
        """
        assert isinstance(sandbox, OwnSandbox), "a tool acts on its own workplace"
        values = self._read(arguments)
        try:
            with sandbox.connection.call(reads_only=not self.changes_state):
                value = self.function(sandbox.connection, **values)
                return json.loads(json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False))
        except ToolFailure:
            raise
        except sqlite3.Error as error:
            words = {"not authorized": sandbox.connection.denied, "interrupted": "it took too long"}
            raise ToolFailure(f"{self.name}: {words.get(str(error), error)}") from error
        except (Exception, SystemExit) as error:  # whatever a function does, the run goes on
            raise ToolFailure(f"{self.name}: {type(error).__name__}: {error}") from error

    def _read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in arguments.items():
            argument = self.argument(name)
            assert isinstance(argument, TypedArgument)
            if value is None and not argument.required:
                continue
            try:
                values[name] = read_value(name, argument.hint, value)
            except ValueError as error:
                raise ToolFailure(f"{self.name}: {error}") from error
        if missing := [
            name for name, argument in self.arguments.items() if argument.required and name not in values
        ]:
            raise ToolFailure(f"{self.name} needs {', '.join(missing)}")
        return values


def tool_of(function: Callable[..., Any], mark: Mark) -> OwnTool:
    """The tool that a marked function is.

    Raises:
        ValueError: it cannot be one; the text says why.
    """
    if not inspect.isfunction(function):
        raise ValueError(f"{function!r} is no function")
    name = function.__name__
    for word in (mark.domain, name):
        if not _NAME.fullmatch(word) or keyword.iskeyword(word):
            raise ValueError(f"{word!r} is no name for a tool: write letters, digits and single underscores")
    if len(mark.domain) + len(name) + 2 > _LONGEST_NAME:
        raise ValueError(f"{mark.domain}.{name} is longer than {_LONGEST_NAME - 1} characters")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise ValueError(f"{name} is no plain function")
    parameters = [*inspect.signature(function).parameters.values()]
    first = parameters.pop(0) if parameters else None
    if first is None or first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise ValueError(f"{name} takes nothing; its first argument is the database")
    text = inspect.cleandoc(function.__doc__ or "")
    if not text:
        raise ValueError(f"{name} has no docstring, which is what agents are told")
    start = _ARGS.search(text)
    about = _described(text[start.end() :]) if start else {}
    hints = get_type_hints(function)
    if hints.get(first.name, Any) not in (sqlite3.Connection, Any):
        raise ValueError(
            f"{name}: its first argument is the database, not {first.name}; write db: sqlite3.Connection"
        )
    arguments = {p.name: _argument(name, p, hints, about) for p in parameters}
    told = _SECTION.split(text)[0] if not start else text[: start.start()]
    return OwnTool(mark.domain, function, " ".join(told.split()), arguments, mark.changes_state)


def _argument(
    function: str, parameter: inspect.Parameter, hints: Mapping[str, Any], about: Mapping[str, str]
) -> TypedArgument:
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise ValueError(f"{function}: {name} has no name of its own; write out each argument")
    if name not in hints:
        raise ValueError(f"{function}: {name} has no type; write {name}: str, say")
    try:
        schema_of(hints[name])
    except TypeError as error:
        raise ValueError(f"{function}: {name} is of type {error}, not {POSSIBLE}") from None
    required = parameter.default is parameter.empty
    default = None if required else parameter.default
    if default is not None:
        try:
            read_value(name, hints[name], default)
        except ValueError as error:
            raise ValueError(f"{function}: the default of {error}") from None
    return TypedArgument(about.get(name, ""), required, hint=hints[name], default=default)


def _described(section: str) -> dict[str, str]:
    """What a docstring says of each argument."""
    body = _SECTION.split(section)[0]
    return {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(body)}


def _plain(value: Any) -> Any:
    if isinstance(value, sqlite3.Row):
        return dict(zip(value.keys(), value, strict=True))
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"returns {type(value).__name__}, which is no JSON value")
