"""The funnel as a picture: a bar for each gate, of samples that go on, are put aside, or are rejected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from toolassay.report.style import INK, QUIET, blank_figure, one_line, plain_style, save

_COLOURS = ("#4477AA", "#DDAA55", "#CC6677")
# In inches: the widths of names, of the longest bar and of counts; the heights of a row and of the legend.
_NAMES, _BAR, _COUNTS, _ROW, _TOP, _MARGIN = 1.6, 5.2, 2.5, 0.44, 0.62, 0.2
_HALF = 0.14  # half the height of a bar


class FunnelBar(NamedTuple):
    """The samples at one gate; the fields are those of a row of `funnel.json`."""

    gate: str
    entering: int
    reject: int
    quarantine: int
    leaving: int


def draw_funnel(bars: Sequence[FunnelBar], path: Path) -> Path:
    """Draw the funnel as a PNG file; the same counts give the same bytes.

    Args:
        bars: from the first gate to the last.
        path: the file to write, ending in `.png`.

    Returns:
        The file.

    Raises:
        ToolassayError: the file cannot be written.
    """
    height = _TOP + len(bars) * _ROW + _MARGIN
    most = max((bar.entering for bar in bars), default=0) or 1
    with plain_style():
        figure, axes = blank_figure(2 * _MARGIN + _NAMES + _BAR + _COUNTS, height)
        left = _MARGIN + _NAMES
        for place, (name, colour) in enumerate(
            zip(("goes on", "quarantine", "rejected"), _COLOURS, strict=True)
        ):
            x = left + 1.3 * place
            axes.barh(height - 0.3, 0.16, 0.16, x, color=colour)
            axes.text(x + 0.24, height - 0.3, name, va="center", fontsize=9, color=INK)
        for number, bar in enumerate(bars):
            y = height - _TOP - (number + 0.5) * _ROW
            axes.text(left - 0.15, y, one_line(bar.gate), ha="right", va="center", fontsize=10, color=INK)
            start = left
            for count, colour in zip((bar.leaving, bar.quarantine, bar.reject), _COLOURS, strict=True):
                axes.barh(y, count / most * _BAR, 2 * _HALF, start, color=colour)
                start += count / most * _BAR
            lost = [f"{bar.quarantine:,} put aside"] * bool(bar.quarantine)
            lost += [f"{bar.reject:,} rejected"] * bool(bar.reject)
            text = ", ".join([f"{bar.leaving:,} go on", *lost])
            axes.text(start + 0.1, y, text, va="center", fontsize=9, color=QUIET)
        return save(figure, path, dpi=110)
