"""The one kind of error a user sees: a line that says what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path


class ToolassayError(Exception):
    """Something the user can mend. Printed as one line, without a traceback.

    Args:
        message: what is wrong.
        file: the file it is about, if any.
        line: the line in that file, counted from 1, if known.
        fix: what to do about it.

    >>> str(ToolassayError("not JSON", file="a.json", line=3, fix="mend it"))
    'a.json:3: not JSON. Fix: mend it'
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


class UsageError(ToolassayError):
    """The command cannot be run as given: a wrong flag, a missing or malformed input file."""

    exit_code = 2


class IncompleteError(ToolassayError):
    """Something that people have to do first is not done; the same command goes on afterwards."""

    exit_code = 3


def install(extra: str) -> str:
    """The fix for a package that is missing: the project is installed from its checkout.

    Args:
        extra: the optional dependencies of `pyproject.toml` that hold it.

    >>> install("chats")
    "in the checkout: pip install '.[chats]'"
    """
    return f"in the checkout: pip install '.[{extra}]'"
