"""A leaderboard as a Markdown table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolassay.report.leaderboard import words
from toolassay.report.leaderboard.board import Board, Row

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#!$@])")


def markdown_table(board: Board) -> str:
    """The board in GitHub's Markdown, ending with a line break; a score is `value (low–high)`."""
    columns = ("model", "scores", "n", "%", *board.headings, "$ / 1,000", "$", "s (median)")
    lines = [
        f"## {escaped(board.title)}",
        "",
        f"| {' | '.join(columns)} |",
        f"| --- | --- |{' ---: |' * (len(columns) - 2)}",
    ]
    for row, is_first in zip(board.rows, board.first_rows(), strict=True):
        lines.append(f"| {' | '.join(_cells(row, board.headings, is_first=is_first))} |")
    for caption in board.captions:
        lines += ["", escaped(caption)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> escaped("a_b|c")
    'a\\_b\\|c'
    """
    return _SPECIAL.sub(r"\\\1", words.printable(text))


def _cells(row: Row, headings: Sequence[str], *, is_first: bool) -> list[str]:
    scores = []
    for heading in headings:
        value, low, high = row.score(heading)
        around = words.bounds(low, high)
        scores.append(f"{words.percent(value)} ({around})" if around else words.percent(value))
    return [
        escaped(row.name) if is_first else "",
        row.kind,
        row.n,
        words.whole_percent(row.coverage),
        *scores,
        *(words.used(row) if is_first else ("", "", "")),
    ]
