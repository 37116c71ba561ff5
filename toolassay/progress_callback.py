"""The callback through which long computations report progress."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""`progress(what, total)` gives a context, and that what to call after each of `total` things."""


def no_progress(what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
    """Nobody watches."""
    return nullcontext(lambda: None)
