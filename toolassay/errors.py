"""Errors for users: one line each, with what is wrong, where, and what to do."""

from __future__ import annotations

import shlex
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

Caller = Literal["script", "command", "python"]
CALLER: ContextVar[Caller] = ContextVar("caller", default="python")
"""How this process was called: a script (`inference.py`), `toolassay infer`, or a function (`infer`)."""
# The published scripts, by the command that each of them runs.
_SCRIPTS = {
    "graph": "generate_graph.py",
    "visualize": "visualize_graph.py",
    "generate": "data_engine.py",
    "format": "format_data.py",
    "infer": "inference.py",
    "evaluate": "evaluate.py",
}
# Functions of the package that are not called as their commands.
_FUNCTIONS = {
    "graph": "build_graph",
    "format": "format_data",
    "variety": "measure_variety",
    "review": "start_review",
}


def as_called(name: str, **options: object) -> str:
    """A command with options, spelled as the caller of this process would write it (`CALLER`).

    Args:
        name: Name of the command.
        options: Values of its options.

    >>> as_called("infer", llm="acme/one"), as_called("graph")
    ("infer(llm='acme/one')", 'build_graph()')
    """
    caller = CALLER.get()
    if caller == "python":
        given = ", ".join(f"{option}={value!r}" for option, value in options.items())
        return f"{_FUNCTIONS.get(name, name)}({given})"
    flags = "".join(
        f" --{option} {str(value).lower() if isinstance(value, bool) else shlex.quote(str(value))}"
        for option, value in options.items()
    )
    is_script = caller == "script" and name in _SCRIPTS
    return f"{_SCRIPTS[name] if is_script else f'toolassay {name}'}{flags}"


def made_by(name: str) -> str:
    """The fix for a file that is missing or malformed: the command that makes it.

    >>> made_by("infer")
    'make it with infer()'
    """
    return f"make it with {as_called(name)}"


class ToolassayError(Exception):
    """Something the user can fix. The command line prints it as one line, without a traceback.

    Args:
        reason: what is wrong; line breaks become spaces.
        file: the file it is about, if any.
        line: the line in that file, counted from 1, if known.
        fix: what the user should do.

    Attributes:
        exit_code: the exit status of the command.

    The other attributes are the arguments. The text is one line with all of them.

    >>> str(ToolassayError("not JSON", file="a.json", line=3, fix="remove the comma"))
    'a.json:3: not JSON. Fix: remove the comma'
    """

    exit_code = 1

    def __init__(
        self, reason: str, *, file: str | Path | None = None, line: int | None = None, fix: str | None = None
    ) -> None:
        self.reason = reason.rstrip(".").replace("\n", " ")
        self.file = file
        self.line = line
        self.fix = None if fix is None else fix.replace("\n", " ")
        parts = [str(part) for part in (file, line) if part is not None]
        place = f"{':'.join(parts)}: " if parts else ""
        remedy = "" if fix is None else f". Fix: {self.fix}"
        super().__init__(f"{place}{self.reason}{remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        # The text is complete: `__init__` of a subclass may add to it.
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[ToolassayError], args: tuple[Any, ...], state: dict[str, Any]) -> ToolassayError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class Unsent(Exception):
    """A call did not reach its tool, so it may be made again."""


class UsageError(ToolassayError):
    """The command cannot be run as given: a wrong flag, a missing or malformed input file."""

    exit_code = 2


class UnknownNameError(UsageError, KeyError):
    """There is no such score or group; the fix lists those there are. It is a `KeyError` as well."""

    __str__ = Exception.__str__


class IncompleteError(ToolassayError):
    """People must do something first, e.g. settle conflicts; then the same command continues."""

    exit_code = 3


def install(extra: str) -> str:
    """The fix for a missing package: the command that installs an extra of this project.

    Args:
        extra: its name under `project.optional-dependencies` in `pyproject.toml`.

    >>> install("chats")
    "in the checkout: pip install '.[chats]'"
    """
    return f"in the checkout: pip install '.[{extra}]'"
