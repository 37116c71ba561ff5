"""What a person sees while a command runs: notices and progress on stderr, results on stdout."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import click

from toolgraph.stages.screen import Screen


def say(text: str) -> None:
    """A notice, on stderr."""
    click.echo(text, err=True)


def show(text: str) -> None:
    """A result, on stdout."""
    click.echo(text)


@contextlib.contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr; yields the function to call after each item."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=5) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


SCREEN = Screen(say, show, progress)
