"""What a stage tells the person who started it; silent unless a command is listening."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

Advance = Callable[[], None]


@contextmanager
def _no_progress(what: str, total: int) -> Iterator[Advance]:
    yield lambda: None


@dataclass(frozen=True)
class Screen:
    """Where a stage's words go.

    `say` takes notices, `show` results, `table` results that are a Markdown table; `progress(what, total)`
    gives the function to call after each item.
    """

    say: Callable[[str], None] = lambda _: None
    show: Callable[[str], None] = lambda _: None
    table: Callable[[str], None] = lambda _: None
    progress: Callable[[str, int], AbstractContextManager[Advance]] = _no_progress

    def interrupted(self, in_flight: int) -> None:
        """Say what the first Ctrl-C does."""
        if in_flight:
            self.say(f"finishing the {in_flight} requests in flight; Ctrl-C once more stops at once")


SILENT = Screen()
