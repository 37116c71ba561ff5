"""A leaderboard as a table: Markdown, LaTeX, CSV, and on the screen."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolassay.report.leaderboard.ranking import UNKNOWN, Board, LeaderboardRow
from toolassay.runs.recorded_usage import RecordedUsage

if TYPE_CHECKING:
    from rich.table import Table


def percent(value: float | None) -> str:
    """A score.

    >>> percent(61.5), percent(None)
    ('61.50', '–')
    """
    return UNKNOWN if value is None else f"{value:.2f}"


def bounds(low: float | None, high: float | None) -> str:
    """The bounds of an interval; empty where there are none.

    >>> bounds(58.25, 64.0)
    '58.2–64.0'
    """
    return "" if low is None or high is None else f"{low:.1f}–{high:.1f}"


def whole_percent(value: float | None) -> str:
    """A share, rounded down so that 100 means all."""
    return UNKNOWN if value is None else str(int(value + 1e-9))


def money(value: float | None, *, at_least: bool = False) -> str:
    """US dollars; "≥" where some of the cost is unknown.

    >>> money(0.0421), money(12.5, at_least=True), money(None)
    ('0.0421', '≥ 12.50', '–')
    """
    if value is None:
        return UNKNOWN
    return f"{'≥ ' if at_least else ''}{value:.{2 if value >= 10 else 4}f}"


def used(row: LeaderboardRow) -> tuple[str, str, str]:
    """US dollars for 1,000 items, those of the whole run, and the median seconds to an answer."""
    usage = row.usage
    if usage is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    at_least = usage.unknown_cost > 0
    return (
        money(usage.cost_of_1000, at_least=at_least),
        money(usage.cost, at_least=at_least),
        seconds(usage.seconds, local=usage.is_local),
    )


def seconds(value: float | None, *, local: bool) -> str:
    """Seconds; those of this machine with more digits, and named so.

    >>> seconds(1.234, local=False), seconds(0.0041, local=True), seconds(None, local=True)
    ('1.23', '0.0041 local', '–')
    """
    if value is None:
        return UNKNOWN
    if not local:
        return f"{value:.2f}"
    return f"{value:.4f} local" if value >= 0.0001 else "<0.0001 local"


def printable(text: str) -> str:
    r"""A name without line breaks and control characters, which would change the table around it.

    >>> printable("a\x1b[31mb")
    'a?[31mb'
    """
    return "".join(character if character.isprintable() else "?" for character in text)


_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#!$@])")


def markdown_table(board: Board) -> str:
    """The board in GitHub's Markdown, ending with a line break; a score is `value (low–high)`."""
    columns = ("model", "scores", "n", "%", *board.headings, "$ / 1,000", "$", "s (median)")
    lines = [
        f"## {markdown_escaped(board.title)}",
        "",
        f"| {' | '.join(columns)} |",
        f"| --- | --- |{' ---: |' * (len(columns) - 2)}",
    ]
    for row, is_first in zip(board.rows, board.first_rows(), strict=True):
        lines.append(f"| {' | '.join(_markdown_cells(row, board.headings, is_first=is_first))} |")
    for caption in board.captions:
        lines += ["", markdown_escaped(caption)]
    return "\n".join(lines) + "\n"


def markdown_escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> markdown_escaped("a_b|c")
    'a\\_b\\|c'
    """
    return _MARKDOWN_SPECIAL.sub(r"\\\1", printable(text))


def _markdown_cells(row: LeaderboardRow, headings: Sequence[str], *, is_first: bool) -> list[str]:
    scores = []
    for heading in headings:
        value, low, high = row.score(heading)
        around = bounds(low, high)
        scores.append(f"{percent(value)} ({around})" if around else percent(value))
    return [
        markdown_escaped(row.name) if is_first else "",
        row.kind,
        row.n,
        whole_percent(row.coverage),
        *scores,
        *(used(row) if is_first else ("", "", "")),
    ]


_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≥": r"$\geq$",
    "–": "--",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_LATEX_PATTERN = re.compile("|".join(map(re.escape, _LATEX_SPECIAL)))


def latex_table(board: Board) -> str:
    """The board as a `table` with a `tabular` in it; bounds of intervals stand small beside the scores."""
    columns = ("model", "scores", "n", "%", *board.headings, "$ / 1,000", "s")
    heading = " & ".join(map(latex_escaped, columns))
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_escaped(' '.join([board.title + '.', *board.captions]))}}}",
        rf"\begin{{tabular}}{{ll{'r' * (len(columns) - 2)}}}",
        r"\toprule",
        rf"{heading} \\",
        r"\midrule",
        *(
            rf"{' & '.join(_latex_cells(row, board.headings, is_first=is_first))} \\"
            for row, is_first in zip(board.rows, board.first_rows(), strict=True)
        ),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> latex_escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return _LATEX_PATTERN.sub(lambda match: _LATEX_SPECIAL[match[0]], printable(text))


def _latex_cells(row: LeaderboardRow, headings: Sequence[str], *, is_first: bool) -> list[str]:
    scores = []
    for heading in headings:
        value, low, high = row.score(heading)
        around = latex_escaped(bounds(low, high))
        scores.append(latex_escaped(percent(value)) + (rf" {{\scriptsize {around}}}" if around else ""))
    cost, _, seconds = used(row)
    return [
        latex_escaped(row.name) if is_first else "",
        row.kind,
        latex_escaped(row.n),
        latex_escaped(whole_percent(row.coverage)),
        *scores,
        latex_escaped(cost) if is_first else "",
        latex_escaped(seconds) if is_first else "",
    ]


_CSV_DIGITS = 10  # more is the noise of multiplying by 100


def csv_table(board: Board) -> str:
    """The board as CSV: each score in three columns, the value and the bounds of its interval."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    scores = [name for heading in board.headings for name in (heading, f"{heading}_low", f"{heading}_high")]
    used = ["cost_usd", "cost_usd_per_1000", "requests_of_unknown_cost", "seconds_p50", "seconds_are_local"]
    more = [*scores, *used, "signature", "is_baseline", "note"]
    writer.writerow(["model", "scores", "items", "asked", "coverage", *more])
    for row in board.rows:
        numbers = [number for heading in board.headings for number in row.score(heading)]
        writer.writerow(
            [
                printable(row.model),
                row.kind,
                row.items,
                row.asked,
                *map(_rounded, (row.coverage, *numbers)),
                *(_csv_used(row.usage) if row.usage is not None else [None] * len(used)),
                row.signature,
                row.is_baseline,
                row.mark.line if row.mark is not None else None,
            ]
        )
    return text.getvalue()


def _csv_used(usage: RecordedUsage) -> list[float | None]:
    cost = (usage.cost, usage.cost_of_1000)
    local = usage.is_local if usage.seconds is not None else None
    return [*map(_rounded, cost), usage.unknown_cost, usage.seconds, local]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _CSV_DIGITS)


_SCREEN_WIDTH = 140  # characters
_USAGE_HEADINGS = ("$ / 1,000", "$", "s (median)")
_NAME_WIDTH = 24  # characters of a model's name before it is folded, at least


def terminal_table(board: Board) -> Table:
    """The board as a table of rich; the bounds of an interval stand below its score.

    Columns in which nothing is known are left out.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    headings = [
        heading
        for heading in board.headings
        if any(row.score(heading).value is not None for row in board.rows)
    ]
    has_usage = any(row.usage is not None for row in board.rows)
    table = Table(
        title=escape(printable(board.title)),
        caption=escape("\n".join(map(_foldable, board.captions_of(headings)))),
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    rows = [
        (
            escape(printable(row.name)) if is_first else "",
            f"[bold]{row.kind}" if row.kind == "strict" else row.kind,
            row.n,
            whole_percent(row.coverage),
            *(_terminal_score(row, heading) for heading in headings),
            *((used(row) if is_first else ("", "", "")) if has_usage else ()),
        )
        for row, is_first in zip(board.rows, board.first_rows(), strict=True)
    ]
    names = ("model", "scores", "n", "%", *headings, *(_USAGE_HEADINGS if has_usage else ()))
    for place, heading in enumerate(names):
        # Without a minimum rich takes from a column what a narrow screen lacks, and lets "model" go first.
        widest = max(map(_width, (heading, *(row[place] for row in rows))))
        if place == 0:
            table.add_column(heading, overflow="fold", min_width=min(widest, _NAME_WIDTH))
        else:
            table.add_column(
                heading, justify="left" if place == 1 else "right", no_wrap=True, min_width=widest
            )
    for row in rows:
        table.add_row(*row)
    return table


def _width(cell: str) -> int:
    """The characters of the widest line of a cell."""
    from rich.cells import cell_len
    from rich.text import Text

    return max(map(cell_len, Text.from_markup(cell).plain.split("\n")))


def _foldable(caption: str) -> str:
    """A caption; a signature in it is folded between its parts."""
    text = printable(caption)
    return text.replace("|", "| ") if text.startswith("signature: ") else text


def _terminal_score(row: LeaderboardRow, heading: str) -> str:
    value, low, high = row.score(heading)
    around = bounds(low, high)
    shown = f"[bold]{percent(value)}[/]" if row.kind == "strict" else percent(value)
    return f"{shown}\n[dim]{around}[/]" if around else shown


def terminal_text(board: Board) -> str:
    """The same without colours, for a file."""
    from rich.console import Console
    from rich.measure import Measurement

    console, table = Console(width=_SCREEN_WIDTH, color_system=None), terminal_table(board)
    unlimited = console.options.update(max_width=10 * _SCREEN_WIDTH)
    console.width = max(_SCREEN_WIDTH, Measurement.get(console, unlimited, table).minimum)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"
