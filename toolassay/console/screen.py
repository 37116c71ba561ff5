"""Output of a stage: messages, results, and progress (a bar on a terminal or in a notebook)."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any, Protocol

from toolassay.console.text_formatting import count_of, without_controls

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment
    from rich.table import Table


WARNING = "warning: "
"""Prefix of messages that are shown also with --quiet."""

GRACE = 3.0
"""Seconds after the first Ctrl-C until requests in flight are cancelled; SIGTERM ends all within 5 s."""

Advance = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of a run in progress.

    Attributes:
        asked: Number of items that ended in this start.
        failed: Number of these without an answer.
        answers: Number of model answers in this start.
        timeouts: Number of requests in this start that timed out.
        used: Tokens and cost of the whole run as text; empty if there are none.
    """

    asked: int
    failed: int
    answers: int
    timeouts: int = 0
    used: str = ""


class Progress(Protocol):
    """Shows the progress of `total` items; the context returns the function to call after each item.

    `figures`, for runs with a model, is called several times per second from another thread.
    """

    def __call__(
        self, what: str, total: int, figures: Callable[[], Figures] | None = None, /
    ) -> AbstractContextManager[Advance]: ...


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


@contextmanager
def no_progress(what: str, total: int, figures: Callable[[], Figures] | None = None) -> Iterator[Advance]:
    """Show nothing."""
    yield lambda: None


@dataclass(frozen=True, repr=False)
class Screen:
    """Receives the output of a stage.

    Attributes:
        say: Receives messages; warnings start with `WARNING`.
        show: Receives results.
        table: Receives results that are Markdown tables.
        progress: Shows progress.
    """

    say: Callable[[str], None] = lambda _: None
    show: Callable[[str], None] = lambda _: None
    table: Callable[[str], None] = lambda _: None
    progress: Progress = no_progress

    def __repr__(self) -> str:
        if self == SILENT:
            return "SILENT"
        return "DEFAULT" if self == DEFAULT else "Screen(…)"

    @property
    def quieter(self) -> Screen:
        """A screen that shows only warnings and progress, for a step of something larger."""

        def warn(text: str) -> None:
            if text.startswith(WARNING):
                self.say(text)

        return Screen(warn, progress=self.progress)

    def missing(self, missing: int, total: int, noun: str) -> None:
        """Warn of items without a prediction, which count as wrong."""
        if missing:
            verbs = "has no prediction and counts" if missing == 1 else "have no prediction and count"
            self.say(f"{WARNING}{missing:,} of {count_of(total, noun)} {verbs} as wrong")

    def interrupted(self, in_flight: int) -> None:
        """Announce the grace period after the first Ctrl-C."""
        if in_flight:
            self.say(
                f"{WARNING}finishing the {count_of(in_flight, 'request')} in flight, "
                f"for {GRACE:.0f} s at most; Ctrl-C again ends at once"
            )


def once(say: Callable[[str], None]) -> Callable[[str], None]:
    """Wrap `say` so that each distinct message is shown once.

    >>> say = once(print)
    >>> say("3 tools"), say("3 tools")
    3 tools
    (None, None)
    """
    shown: set[str] = set()

    def say_new(text: str) -> None:
        if text not in shown:
            shown.add(text)
            say(text)

    return say_new


SILENT = Screen()
"""Shows nothing."""


def _warn_in_notebook(text: str) -> None:
    if text.startswith(WARNING) and in_notebook():
        print(without_controls(text), file=sys.stderr)


def _progress_in_notebook(
    what: str, total: int, figures: Callable[[], Figures] | None = None
) -> AbstractContextManager[Advance]:
    if not in_notebook():
        return no_progress(what, total)

    return shown_progress(what, total, figures)


DEFAULT = Screen(say=_warn_in_notebook, progress=_progress_in_notebook)
"""Screen of library calls: progress and warnings in a notebook, nothing elsewhere."""


class CleanStream:
    """A text stream without control characters (`without_controls`); the command line writes to no other.

    Consoles of rich write to `rich_proxied_file`, as they style text; `console` makes one that cleans it.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Write text; returns its length."""
        return self.rich_proxied_file.write(without_controls(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def console(*, stderr: bool = False) -> Console:
    """A console of rich that cleans each text before it is styled."""
    from rich import console

    stream = sys.stderr if stderr else sys.stdout

    class CleanConsole(console.Console):
        def render(self, *given: Any, **more: Any) -> Iterator[Segment]:
            for one in super().render(*given, **more):
                yield one if one.control else one._replace(text=without_controls(one.text))

    return CleanConsole(file=getattr(stream, "rich_proxied_file", stream))


REFRESH = 4  # times a second
SHORT = 100  # minimum number of items between two plain lines
CELL_BAR = 24  # characters of the bar in a notebook
SILENCE = 30.0  # maximum seconds between two plain lines
WINDOW = 120.0  # seconds over which rates are averaged: a slow model answers once a minute

Clock = Callable[[], float]


class Count:
    """Counts finished items and formats the progress as text.

    Rate and remaining time are computed from the items of this start: earlier answers are counted at once.

    Args:
        what: Name of the activity.
        total: Number of items.
        figures: Counts of a run with a model.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        what: str,
        total: int,
        figures: Callable[[], Figures] | None = None,
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._figures = figures
        self._clock = clock
        self._started = clock()
        self._seen: deque[tuple[float, int, int]] = deque([(self._started, 0, 0)])

    def advance(self) -> None:
        """Count one finished item."""
        self.done += 1

    def words(self) -> str:
        """The progress, e.g. `12/80, 1 failed, 192 answers/min, 2 timed out, 5.1k tokens, 0:00:21 left`."""
        figures = self._figures() if self._figures else None
        asked, answers = (figures.asked, figures.answers) if figures else (self.done, 0)
        items_a_second, answers_a_second = self._rates(asked, answers)
        parts = [f"{self.done}/{self.total}"]
        if figures:
            parts.append(f"{figures.failed} failed")
            if answers:
                rate = 60 * answers_a_second
                parts.append(f"{rate:,.{0 if rate >= 10 else 1}f} answers/min")
            if figures.timeouts:
                parts.append(f"{figures.timeouts} timed out")
            if figures.used:
                parts.append(figures.used)
        if self.done >= self.total:
            parts.append(f"took {_duration(self._clock() - self._started)}")
        elif items_a_second:
            parts.append(f"{_duration((self.total - self.done) / items_a_second)} left")
        return ", ".join(parts)

    def _rates(self, *counts: int) -> tuple[float, float]:
        """Items and answers per second over the last `WINDOW` seconds."""
        now = self._clock()
        items, answers = counts
        self._seen.append((now, items, answers))
        while len(self._seen) > 2 and self._seen[1][0] <= now - WINDOW:
            self._seen.popleft()
        then, items_then, answers_then = self._seen[0]
        seconds = now - then
        if seconds <= 0:
            return 0.0, 0.0
        return (items - items_then) / seconds, (answers - answers_then) / seconds


class PlainLines(Count):
    """Prints a line for each tenth of the items, and after `SILENCE` seconds without one.

    Items that were answered before the start print no line.

    Args:
        say: Receives the lines; the other arguments are those of `Count`.
    """

    def __init__(
        self,
        what: str,
        total: int,
        figures: Callable[[], Figures] | None = None,
        *,
        say: Callable[[str], None],
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(what, total, figures, clock=clock)
        self._say = say
        self._step = self._next = max(SHORT, total / 10)
        self._said = clock()

    def advance(self) -> None:
        """Count one finished item; print a line at every tenth."""
        self.done += 1
        if self.done >= self._next:
            self._next = (self.done // self._step + 1) * self._step
            if (
                self._figures is None or self._figures().asked
            ):  # otherwise all items so far were answered before this start
                self._line()

    def tick(self) -> None:
        """Print a line after `SILENCE` seconds without one, so that a slow run shows activity."""
        if self._clock() - self._said >= SILENCE:
            self._line()

    def _line(self) -> None:
        self._said = self._clock()
        self._say(f"{self.what} {self.words()}")


def shown_progress(
    what: str, total: int, figures: Callable[[], Figures] | None = None
) -> contextlib.AbstractContextManager[Advance]:
    """A bar in a notebook or if stderr is a terminal, else plain lines on stderr."""
    import click

    count = Count(what, total, figures)
    if in_notebook():
        return _cell(count)
    if sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        return _bar(count)
    return _plain(PlainLines(what, total, figures, say=lambda line: click.echo(line, err=True)))


@contextlib.contextmanager
def _bar(count: Count) -> Iterator[Advance]:
    from rich.live import Live

    settings: dict[str, Any] = {
        "console": console(stderr=True),
        "refresh_per_second": REFRESH,
        "redirect_stdout": sys.stdout.isatty(),  # otherwise results would be printed to stderr
        "get_renderable": lambda: drawn(count),
    }
    with Live(**settings):
        yield count.advance


def drawn(count: Count) -> Table:
    """The row of the terminal with name, bar and text."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(no_wrap=True)
    row.add_column(ratio=1)
    row.add_column(no_wrap=True)
    row.add_row(count.what, ProgressBar(count.total, count.done), count.words())
    return row


@contextlib.contextmanager
def _plain(lines: PlainLines) -> Iterator[Advance]:
    with _every(1, lines.tick):
        yield lines.advance


@contextlib.contextmanager
def _cell(count: Count) -> Iterator[Advance]:
    """A bar in the output of a notebook's cell, in plain text, which every front end shows and stores."""
    from IPython.display import display

    def shown() -> dict[str, str]:
        filled = CELL_BAR if count.done >= count.total else CELL_BAR * count.done // count.total
        return {"text/plain": f"{count.what} {'━' * filled}{'─' * (CELL_BAR - filled)} {count.words()}"}

    handle = display(shown(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
    try:
        with _every(1 / REFRESH, lambda: handle.update(shown(), raw=True)):
            yield count.advance
    finally:
        handle.update(shown(), raw=True)


@contextlib.contextmanager
def _every(seconds: float, call: Callable[[], None]) -> Iterator[None]:
    """Call a function periodically within this block, from a thread with the caller's context.

    A notebook assigns output to a cell by the context.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(seconds):
            call()

    watcher = threading.Thread(target=copy_context().run, args=(watch,), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
