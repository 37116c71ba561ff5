"""What a stage tells the person who started it: a command all of it, a notebook how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from toolassay.text_formatting import count_of

WARNING = "warning: "
"""How a notice begins that a person who wants quiet must see all the same."""

Advance = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Figures:
    """How far a run that asks a model has come.

    Attributes:
        asked: items brought to an end since it was started; those answered before are not among them.
        failed: how many of these have no answer.
        answers: of the model since it was started.
        timeouts: requests since then that ended without an answer in time.
        used: tokens and money of the whole run, in words; empty where there are none.
    """

    asked: int
    failed: int
    answers: int
    timeouts: int = 0
    used: str = ""


class Progress(Protocol):
    """Shows how far something of `total` items is; what it gives is called after each item.

    `figures`, of a run that asks a model, is called a few times a second, from another thread.
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


@dataclass(frozen=True)
class Screen:
    """Where a stage's words go.

    `say` takes notices, `show` results, `table` results that are a Markdown table; `progress(what, total)`
    gives the function to call after each item.
    """

    say: Callable[[str], None] = lambda _: None
    show: Callable[[str], None] = lambda _: None
    table: Callable[[str], None] = lambda _: None
    progress: Progress = no_progress

    def missing(self, missing: int, total: int, noun: str) -> None:
        """Warn of items without a prediction that count as wrong."""
        if missing:
            verbs = "has no prediction and counts" if missing == 1 else "have no prediction and count"
            self.say(f"{WARNING}{missing:,} of {count_of(total, noun)} {verbs} as wrong")

    def interrupted(self, in_flight: int) -> None:
        """Say what the first Ctrl-C does."""
        if in_flight:
            from toolassay.runs.runner import GRACE

            self.say(
                f"{WARNING}finishing the {count_of(in_flight, 'request')} in flight, "
                f"for {GRACE:.0f} s at most; Ctrl-C again ends at once"
            )


def once(say: Callable[[str], None]) -> Callable[[str], None]:
    """`say`, without the notices that it has shown already: what is true of a folder is said once.

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
        print(text, file=sys.stderr)


def _progress_in_notebook(
    what: str, total: int, figures: Callable[[], Figures] | None = None
) -> AbstractContextManager[Advance]:
    if not in_notebook():
        return no_progress(what, total)
    from toolassay.progress_bar import shown_progress

    return shown_progress(what, total, figures)


DEFAULT = Screen(say=_warn_in_notebook, progress=_progress_in_notebook)
"""The screen of a library call: progress and warnings in a notebook, nothing elsewhere."""
