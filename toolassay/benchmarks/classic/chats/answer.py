"""What one annotator said of one message."""

from __future__ import annotations

from dataclasses import dataclass

Key = tuple[str, int]
"""A message: its conversation and its place in it."""


@dataclass(frozen=True)
class Answer:
    """A filled row.

    Args:
        first: id of a workflow, an empty text for the choice of none, None where none was made.
        second: id of another workflow that would be right too.
        flags: reasons to leave the conversation out.
    """

    first: str | None
    second: str | None = None
    flags: frozenset[str] = frozenset()
