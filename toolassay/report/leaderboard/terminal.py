"""A leaderboard for the screen."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from toolassay.report.leaderboard import words
from toolassay.report.leaderboard.board import Board, Row

_WIDE = 140  # characters
_USED = ("$ / 1,000", "$", "s (median)")
_NAME = 24  # characters of a model's name before it is folded, at least


def terminal_table(board: Board) -> Table:
    """The board as a table of rich; the bounds of an interval stand below its score.

    Columns in which nothing is known are left out.
    """
    headings = [
        heading
        for heading in board.headings
        if any(row.score(heading).value is not None for row in board.rows)
    ]
    has_usage = any(row.usage is not None for row in board.rows)
    table = Table(
        title=escape(words.printable(board.title)),
        caption=escape("\n".join(map(_foldable, board.captions_of(headings)))),
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    rows = [
        (
            escape(words.printable(row.name)) if is_first else "",
            f"[bold]{row.kind}" if row.kind == "strict" else row.kind,
            row.n,
            words.whole_percent(row.coverage),
            *(_score(row, heading) for heading in headings),
            *((words.used(row) if is_first else ("", "", "")) if has_usage else ()),
        )
        for row, is_first in zip(board.rows, board.first_rows(), strict=True)
    ]
    names = ("model", "scores", "n", "%", *headings, *(_USED if has_usage else ()))
    for place, heading in enumerate(names):
        # Without a minimum rich takes from a column what a narrow screen lacks, and lets "model" go first.
        widest = max(map(_width, (heading, *(row[place] for row in rows))))
        if place == 0:
            table.add_column(heading, overflow="fold", min_width=min(widest, _NAME))
        else:
            table.add_column(
                heading, justify="left" if place == 1 else "right", no_wrap=True, min_width=widest
            )
    for row in rows:
        table.add_row(*row)
    return table


def _width(cell: str) -> int:
    """The characters of the widest line of a cell."""
    return max(map(cell_len, Text.from_markup(cell).plain.split("\n")))


def _foldable(caption: str) -> str:
    """A caption; a signature in it is folded between its parts."""
    text = words.printable(caption)
    return text.replace("|", "| ") if text.startswith("signature: ") else text


def _score(row: Row, heading: str) -> str:
    value, low, high = row.score(heading)
    around = words.bounds(low, high)
    shown = f"[bold]{words.percent(value)}[/]" if row.kind == "strict" else words.percent(value)
    return f"{shown}\n[dim]{around}[/]" if around else shown


def terminal_text(board: Board) -> str:
    """The same without colours, for a file."""
    from rich.console import Console

    console, table = Console(width=_WIDE, color_system=None), terminal_table(board)
    unlimited = console.options.update(max_width=10 * _WIDE)
    console.width = max(_WIDE, Measurement.get(console, unlimited, table).minimum)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"
