"""The types `WorkplaceTool` and `ToolArgument`, and the decorator that turns a function into a tool."""

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
"""Maximum characters in the value of an argument."""
# The published tools raise these for unexpected values, e.g. `.lower()` on a number. They fail the call.
_MISTAKES = (TypeError, AttributeError, ValueError, ArithmeticError, sqlite3.Error, RecursionError)


class ToolFailure(Exception):
    """A call failed and left the sandbox unchanged. The agent gets the message as the result."""


@dataclass(frozen=True)
class ToolArgument:
    """One argument of a tool.

    Args:
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

    Args:
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
                return self.function(sandbox, **values)
        except _MISTAKES as error:
            given = ", ".join(f"{name}={str(value)[:100]!r}" for name, value in values.items())
            raise ToolFailure(f"{self.name} cannot work with {given}: {error}") from error

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


def tool(
    domain: str, description: str, *, changes_state: bool = False, **arguments: ToolArgument
) -> Callable[[Function], WorkplaceTool]:
    """Decorator that turns a function into a published tool.

    Args:
        domain: the part of the workplace it acts on.
        description: for the agent.
        changes_state: whether it can change judged tables.
        arguments: its arguments by name.
    """

    def decorate(function: Function) -> WorkplaceTool:
        return WorkplaceTool(domain, function, description, arguments, changes_state)

    return decorate


def required(description: str, *choices: str) -> ToolArgument:
    """An argument without which the tool does nothing useful."""
    return ToolArgument(description, required=True, choices=choices)


def optional(description: str, *choices: str) -> ToolArgument:
    """An argument that may be omitted."""
    return ToolArgument(description, choices=choices)
