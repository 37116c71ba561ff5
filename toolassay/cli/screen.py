"""What a person sees while a command runs: notices and progress on stderr, results on stdout."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import click

from toolassay.screen import WARNING, Advance, Figures, Screen, no_progress, shown_progress

_QUIET = ContextVar("quiet", default=False)


@contextlib.contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Within this, where `quiet`: no progress, and of the notices the warnings only."""
    token = _QUIET.set(quiet)
    try:
        yield
    finally:
        _QUIET.reset(token)


def say(text: str) -> None:
    """A notice, on stderr."""
    if text.startswith(WARNING) or not _QUIET.get():
        click.echo(text, err=True)


def show(text: str) -> None:
    """A result, on stdout."""
    click.echo(text)


def show_table(markdown: str) -> None:
    """A Markdown table, on stdout: drawn for a terminal, as it is for a file or a pipe."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    if console.is_terminal:
        console.print(Markdown(markdown))
    else:
        click.echo(markdown)


def progress(
    what: str, total: int, figures: Callable[[], Figures] | None = None
) -> contextlib.AbstractContextManager[Advance]:
    """A progress bar on stderr, plain lines where nobody watches, nothing where quiet is wanted."""
    return (no_progress if _QUIET.get() else shown_progress)(what, total, figures)


SCREEN = Screen(say, show, show_table, progress)
