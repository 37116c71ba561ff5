"""Output of a command: notices and progress on stderr, results on stdout."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import click

from toolassay.console.screen import WARNING, Advance, Figures, Screen, console, no_progress, shown_progress

_QUIET = ContextVar("quiet", default=False)


@contextlib.contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """If `quiet`, hide progress and every notice that is not a warning, within this block."""
    token = _QUIET.set(quiet)
    try:
        yield
    finally:
        _QUIET.reset(token)


def say(text: str) -> None:
    """Print a notice on stderr."""
    if text.startswith(WARNING) or not _QUIET.get():
        click.echo(text, err=True)


def show(text: str) -> None:
    """Print a result on stdout."""
    click.echo(text)


def show_table(markdown: str) -> None:
    """Print a Markdown table on stdout: rendered on a terminal, as Markdown in a file or a pipe."""
    from rich.markdown import Markdown

    terminal = console()
    if terminal.is_terminal:
        terminal.print(Markdown(markdown, hyperlinks=False))  # the text of a link may hide its address
    else:
        click.echo(markdown)


def progress(
    what: str, total: int, figures: Callable[[], Figures] | None = None
) -> contextlib.AbstractContextManager[Advance]:
    """Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing with `--quiet`."""
    return (no_progress if _QUIET.get() else shown_progress)(what, total, figures)


SCREEN = Screen(say, show, show_table, progress)
