"""A leaderboard as a LaTeX table (needs the package booktabs)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolassay.report.leaderboard import words
from toolassay.report.leaderboard.board import Board, Row

_SPECIAL = {
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
_PATTERN = re.compile("|".join(map(re.escape, _SPECIAL)))


def latex_table(board: Board) -> str:
    """The board as a `table` with a `tabular` in it; bounds of intervals stand small beside the scores."""
    columns = ("model", "scores", "n", "%", *board.headings, "$ / 1,000", "s")
    heading = " & ".join(map(escaped, columns))
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(' '.join([board.title + '.', *board.captions]))}}}",
        rf"\begin{{tabular}}{{ll{'r' * (len(columns) - 2)}}}",
        r"\toprule",
        rf"{heading} \\",
        r"\midrule",
        *(
            rf"{' & '.join(_cells(row, board.headings, is_first=is_first))} \\"
            for row, is_first in zip(board.rows, board.first_rows(), strict=True)
        ),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return _PATTERN.sub(lambda match: _SPECIAL[match[0]], words.printable(text))


def _cells(row: Row, headings: Sequence[str], *, is_first: bool) -> list[str]:
    scores = []
    for heading in headings:
        value, low, high = row.score(heading)
        around = escaped(words.bounds(low, high))
        scores.append(escaped(words.percent(value)) + (rf" {{\scriptsize {around}}}" if around else ""))
    cost, _, seconds = words.used(row)
    return [
        escaped(row.name) if is_first else "",
        row.kind,
        escaped(row.n),
        escaped(words.whole_percent(row.coverage)),
        *scores,
        escaped(cost) if is_first else "",
        escaped(seconds) if is_first else "",
    ]
