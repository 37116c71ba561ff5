"""What a tool of the workplace is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.files import readable

Function = Callable[..., Any]

LONGEST_VALUE = 100_000
"""Characters in the value of an argument."""
_MISTAKES = (TypeError, AttributeError, ValueError, ArithmeticError, sqlite3.Error, RecursionError)


class ToolFailure(Exception):
    """A call that was not carried out; the sandbox is as it was. Its text is what the agent is told."""


@dataclass(frozen=True)
class ToolArgument:
    """One argument of a tool.

    Args:
        description: what it is.
        required: whether the tool does nothing useful without it.
        choices: the only values that are accepted, if they are few.
    """

    description: str
    required: bool = False
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        listed = {"enum": list(self.choices)} if self.choices else {}
        return {"type": "string", "description": self.description, **listed}

    def told(self) -> str:
        """What a prompt says of it."""
        return self.description + (f" One of: {', '.join(self.choices)}." if self.choices else "")


@dataclass(frozen=True)
class WorkplaceTool:
    """One tool.

    Args:
        domain: the part of the workplace it acts on.
        function: takes the sandbox and the arguments by name; returns a JSON value.
        description: what it does, for the agent.
        arguments: in order.
        changes_state: whether it can change what is judged.
    """

    domain: str
    function: Function
    description: str
    arguments: Mapping[str, ToolArgument]
    changes_state: bool

    @property
    def name(self) -> str:
        """As published, e.g. `calendar.create_event`."""
        return f"{self.domain}.{self.function.__name__}"

    @property
    def function_name(self) -> str:
        """The name for model interfaces that allow no dot, e.g. `calendar__create_event`."""
        return self.name.replace(".", "__")

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {name: argument.schema() for name, argument in self.arguments.items()},
            "required": [name for name, argument in self.arguments.items() if argument.required],
            "additionalProperties": False,
        }

    def to_openai(self) -> dict[str, Any]:
        """The entry of this tool in the `tools` of a chat request."""
        return {
            "type": "function",
            "function": {
                "name": self.function_name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a model's call as they are recorded."""
        return as_texts(arguments)

    def carry_out(self, sandbox: Sandbox, arguments: Mapping[str, Any]) -> Any:
        """Act on a sandbox.

        Raises:
            ToolFailure: unknown argument, or the tool could not work with the values; the sandbox is as it
                was.
        """
        values = {name: self._checked(name, value) for name, value in arguments.items()}
        try:
            with sandbox.transaction():
                return self.function(sandbox, **values)
        except _MISTAKES as error:
            given = ", ".join(f"{name}={str(value)[:100]!r}" for name, value in values.items())
            raise ToolFailure(f"{self.name} cannot work with {given}: {error}") from error

    def argument(self, name: str) -> ToolArgument:
        """The argument of a name.

        Raises:
            ToolFailure: there is none.
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
    """Numbers as texts, as the published tools have them; null is left out."""
    return {
        name: value if isinstance(value, str | list | dict) else str(value)
        for name, value in arguments.items()
        if value is not None
    }


def checked_text(name: str, value: str) -> str:
    """The text of an argument; halves of a surrogate pair, which SQLite does not store, become a character.

    Raises:
        ToolFailure: it is too long.
    """
    if len(value) > LONGEST_VALUE:
        raise ToolFailure(f"{name} is longer than {LONGEST_VALUE:,} characters")
    return readable(value)


def tool(
    domain: str, description: str, *, changes_state: bool = False, **arguments: ToolArgument
) -> Callable[[Function], WorkplaceTool]:
    """Make a tool of a function."""

    def decorate(function: Function) -> WorkplaceTool:
        return WorkplaceTool(domain, function, description, arguments, changes_state)

    return decorate


def required(description: str, *choices: str) -> ToolArgument:
    """An argument without which a tool does nothing useful."""
    return ToolArgument(description, required=True, choices=choices)


def optional(description: str, *choices: str) -> ToolArgument:
    """An argument that may be left out."""
    return ToolArgument(description, choices=choices)
