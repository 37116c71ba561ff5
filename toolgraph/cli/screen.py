"""What a person sees while a command runs: notices and progress on stderr, results on stdout."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

import click

from toolgraph.stages.screen import Screen

_SHORT = 100  # items


def say(text: str) -> None:
    """A notice, on stderr."""
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


@contextlib.contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr, plain lines where nobody watches; yields what to call after each item."""
    if not sys.stderr.isatty():
        yield _plain(what, total)
        return
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


def _plain(what: str, total: int) -> Callable[[], None]:
    """A line each tenth of the way; none for what is done in a moment."""
    step, count = max(_SHORT, total / 10), 0

    def advance() -> None:
        nonlocal count
        count += 1
        if count // step > (count - 1) // step:
            say(f"{what} {count}/{total}")

    return advance


SCREEN = Screen(say, show, show_table, progress)
