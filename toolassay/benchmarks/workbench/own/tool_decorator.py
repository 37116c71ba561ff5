"""What `tools.py` of an own workplace imports: the `@tool` decorator, `ToolError`, the current
moment and the user.
"""

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
    """What an agent is told instead of a result; the call has changed nothing."""


class NoDomain(TypeError):
    """`@tool` without the domain."""


@dataclass(frozen=True)
class ToolMark:
    """That a function is a tool.

    Args:
        domain: the part of the workplace it belongs to.
        changes_state: whether it may write.
    """

    domain: str
    changes_state: bool


def tool(domain: str = "", *, reads_only: bool = False) -> Callable[[Function], Function]:
    """Mark a function as a tool, called `domain.function` by agents.

    The function takes the database first and then typed arguments: str, int, float, bool, Literal, lists of
    these, or None. Agents are told its docstring; the section "Args:" tells of the arguments.

    Args:
        domain: the part of the workplace it belongs to.
        reads_only: it cannot write, and does not count when calls are compared with those that are wanted.

    Raises:
        NoDomain: there is none.

    >>> @tool("loans", reads_only=True)
    ... def due(db: sqlite3.Connection, member: str) -> list[str]:
    ...     "The books that a member has."
    ...     return [row["title"] for row in db.execute("SELECT title FROM loans WHERE member = ?", [member])]
    """
    if callable(domain) or not domain:  # the function itself, where the mark has no brackets
        raise NoDomain("a tool without a domain")

    def mark(function: Function) -> Function:
        made = ToolMark(domain, not reads_only)
        setattr(function, _MARK, made)
        # The file of tools keeps a list: of two functions with one name only the second is found by it.
        getattr(function, "__globals__", {}).setdefault(_MARKED, []).append((made, function))
        return function

    return mark


def mark_of(value: Any) -> ToolMark | None:
    """The mark of a function; None if it has none."""
    found = getattr(value, _MARK, None) if callable(value) else None
    return found if isinstance(found, ToolMark) else None


def marked_in(names: Mapping[str, Any]) -> list[tuple[ToolMark, Callable[..., Any]]]:
    """All functions that were marked in a module, those included that its names no longer stand for."""
    return [*names.get(_MARKED, [])]


def now(db: sqlite3.Connection) -> datetime:
    """The moment it is in the workplace; in SQL, a function of the same name."""
    return datetime.fromisoformat(db.execute("SELECT now()").fetchone()[0])


def user(db: sqlite3.Connection) -> str:
    """Who the agent works for; in SQL, a function of the same name."""
    return str(db.execute("SELECT user()").fetchone()[0])
