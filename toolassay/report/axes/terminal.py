"""The axes as a table for the screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from toolassay.report.axes.axes import Axes
from toolassay.report.axes.words import HEADINGS, Lines, cells
from toolassay.report.leaderboard.words import printable

_NAME = 24  # characters of a name before it is folded, at least


def terminal_table(runs: Sequence[Axes]) -> Table:
    """A row a run, the rows of a model together; below a number its interval, and what else is said of it."""
    rows = [_row(axes) for axes in runs]
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    for place, heading in enumerate(("model", "benchmark", "n", *HEADINGS)):
        lines = [line for row in rows for line in row[place]]
        widest = max(map(cell_len, [heading, *lines]))
        if place < 2:
            table.add_column(heading, overflow="fold", min_width=min(widest, _NAME))
        else:
            table.add_column(heading, justify="right", no_wrap=True, min_width=widest)
    before = None
    for axes, (model, *others) in zip(runs, rows, strict=True):
        table.add_row(_dimmed(model) if axes.model != before else "", *map(_dimmed, others))
        before = axes.model
    return table


def _row(axes: Axes) -> list[Lines]:
    return [(printable(axes.name),), (printable(axes.marked_title),), (axes.n,), *cells(axes)]


def _dimmed(lines: Lines) -> str:
    first, *more = map(escape, lines)
    return "\n".join((first, *(f"[dim]{line}[/]" for line in more)))
