"""Errors for users: one line each, with what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class ToolassayError(Exception):
    """Something the user can fix. The command line prints it as one line, without a traceback.

    Args:
        message: what is wrong; line breaks become spaces.
        file: the file it is about, if any.
        line: the line in that file, counted from 1, if known.
        fix: what the user should do.

    Attributes:
        exit_code: the exit status of the command.

    >>> str(ToolassayError("not JSON", file="a.json", line=3, fix="remove the comma"))
    'a.json:3: not JSON. Fix: remove the comma'
    """

    exit_code = 1

    def __init__(
        self, message: str, *, file: str | Path | None = None, line: int | None = None, fix: str | None = None
    ) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        remedy = "" if fix is None else f". Fix: {fix}"
        super().__init__(" ".join(f"{place}{message.rstrip('.')}{remedy}".split("\n")))
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        # The text is complete: `__init__` of a subclass may add to it.
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[ToolassayError], args: tuple[Any, ...], state: dict[str, Any]) -> ToolassayError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class UsageError(ToolassayError):
    """The command cannot be run as given: a wrong flag, a missing or malformed input file."""

    exit_code = 2


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
