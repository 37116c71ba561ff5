"""The API of a user's `tools.py`: the decorator `@tool`, `ToolError`, the current time and the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from toolassay.benchmarks.workbench.tools import ToolFailure

Function = TypeVar("Function", bound=Callable[..., Any])
_MARK = "__workplace_tool__"
_MARKED = "__workplace_marks__"


class ToolError(ToolFailure):
    """Raised by a tool to fail a call. The agent gets the message, and the call's changes are undone."""


class NoDomain(TypeError):
    """`@tool` was used without a domain."""


@dataclass(frozen=True)
class ToolMark:
    """The record that `@tool` leaves on a function.

    Args:
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
        NoDomain: no domain is given.

    >>> @tool("loans", reads_only=True)
    ... def due(db: sqlite3.Connection, member: str) -> list[str]:
    ...     "The books that a member has."
    ...     return [row["title"] for row in db.execute("SELECT title FROM loans WHERE member = ?", [member])]
    """
    if callable(domain) or not domain:  # `@tool` without parentheses passes the function itself
        raise NoDomain("a tool without a domain")

    def mark(function: Function) -> Function:
        made = ToolMark(domain, not reads_only)
        setattr(function, _MARK, made)
        # The module keeps a list as well: of two functions with one name, its namespace has only the second.
        getattr(function, "__globals__", {}).setdefault(_MARKED, []).append((made, function))
        return function

    return mark


def mark_of(value: Any) -> ToolMark | None:
    """The mark of a function; None if it is not marked."""
    found = getattr(value, _MARK, None) if callable(value) else None
    return found if isinstance(found, ToolMark) else None


def marked_in(names: Mapping[str, Any]) -> list[tuple[ToolMark, Callable[..., Any]]]:
    """All marked functions of a module, including those whose name was reassigned.

    Args:
        names: the module's namespace.
    """
    return [*names.get(_MARKED, [])]


def now(db: sqlite3.Connection) -> datetime:
    """The workplace's current time. SQL has a function of the same name."""
    return datetime.fromisoformat(db.execute("SELECT now()").fetchone()[0])


def user(db: sqlite3.Connection) -> str:
    """The person the agent works for. SQL has a function of the same name."""
    return str(db.execute("SELECT user()").fetchone()[0])
