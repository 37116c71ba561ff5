"""Scores on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from toolassay.cli.screen import show
from toolassay.console.screen import console as clean_console
from toolassay.console.tables import fitting_width, plain_text
from toolassay.evaluation.evaluation import FolderEvaluation
from toolassay.evaluation.metrics_file import read_signature
from toolassay.models.registry import BASELINES, BUILT_IN
from toolassay.runs.outcomes import RowMark, legend_of, mark_of, marked

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


Evaluated = TypeVar("Evaluated", bound=FolderEvaluation)


def shown(result: FolderEvaluation) -> str:
    """A model's name with its mark."""
    return marked(result.llm, _mark(result))


def baselines_last(evaluations: Sequence[Evaluated]) -> list[Evaluated]:
    """Built-in programs are not ranked: they are below the models."""
    return sorted(evaluations, key=lambda result: (result.llm in BUILT_IN, result.llm in BASELINES))


def print_marks(evaluations: Sequence[FolderEvaluation], *, with_times: bool = False) -> None:
    """What the marks mean, a line each; `with_times` also what local times are."""
    times = (result.whole.get("latency") for result in evaluations if with_times)
    is_local = any(latency and latency.get("local") for latency in times)
    for line in legend_of(map(_mark, evaluations), is_local=is_local):
        show(line)


def _mark(result: FolderEvaluation) -> RowMark | None:
    return mark_of(result.llm, read_signature(result.evaluation.signature))


def print_signatures(evaluations: Sequence[FolderEvaluation]) -> None:
    """What the scores of each model were made with, to be quoted with them."""
    for result in evaluations:
        show(f"signature of {result.llm}: {result.evaluation.signature}")


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table, wider than the screen rather than with numbers cut off; into a file without padding."""
    console = console or clean_console()
    if console.is_terminal:
        console.width = fitting_width(table, console.width)
        console.print(table)
    else:
        show(plain_text(table, width=console.width).removesuffix("\n"))
