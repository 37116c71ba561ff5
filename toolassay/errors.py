"""Errors for users: one line each, with what is wrong, where, and what to do."""

from __future__ import annotations

import re
import shlex
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

CALLER: ContextVar[Literal["script", "command", "python"]] = ContextVar("caller", default="python")
"""How this process was called: a script (`inference.py`), `toolassay infer`, or a function (`infer`)."""
_SCRIPTS = {
    "generate_graph": "graph",
    "visualize_graph": "visualize",
    "data_engine": "generate",
    "format_data": "format",
    "inference": "infer",
    "evaluate": "evaluate",
}
_FUNCTIONS = {
    "graph": "build_graph",
    "format": "format_data",
    "variety": "measure_variety",
    "review": "start_review",
    **{name: name for name in ("visualize", "generate", "infer", "evaluate", "check", "compare", "execute")},
    **{name: name for name in ("export", "leaderboard", "pipeline", "report", "sample", "split", "verify")},
}
# A command with its options: matches "python inference.py", "evaluate.py --llm m" and "toolassay check", not
# "my/inference.py" or "toolassay import".
_COMMAND = re.compile(
    rf"(?<![\w/\\.-])(?:(?:python )?({'|'.join(_SCRIPTS)})\.py|toolassay ({'|'.join(_FUNCTIONS)}))\b"
    r"((?: --\w+ (?:'[^']*'|[^\s'-][^\s']*?)(?=[,.;)]?(?:\s|$)))*)"
)


def as_called(text: str) -> str:
    """A hint in which commands are spelled as the caller spells them (`CALLER`).

    >>> as_called("run inference.py --llm m, then toolassay check")
    "run infer(llm='m'), then check()"
    """
    caller = CALLER.get()

    def spelled(found: re.Match[str]) -> str:
        command, flags = _SCRIPTS.get(found[1]) or found[2], found[3]
        if caller == "command":
            return f"toolassay {command}{flags}"
        words = shlex.split(flags)
        given = (f"{name[2:]}={value!r}" for name, value in zip(words[::2], words[1::2], strict=True))
        return f"{_FUNCTIONS[command]}({', '.join(given)})"

    return text if caller == "script" else _COMMAND.sub(spelled, text)


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

    def __str__(self) -> str:
        return as_called(super().__str__())

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
