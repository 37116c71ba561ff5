"""The callback through which long computations report progress."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""`progress(what, total)` returns a context; it yields the function to call after each of `total` items."""


def no_progress(what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
    """Report nothing."""
    return nullcontext(lambda: None)
