"""The pictures of a variety report, PNG files: a heat map of sizes and shapes, and a bar chart of tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.report.style import ACCENT, INK, NEUTRAL, QUIET, one_line, plain_style, save
from toolassay.text_formatting import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PICTURES", "draw_variety"]


MOST_TOOLS = 40  # bars with legible names; a larger library is drawn as a curve
MOST_SIZES = 24  # columns of the heat map
_WARNING = "#EE6677"


def tidy(axes: Axes, title: str, x: str, y: str) -> None:
    """Set the title at the left and the names of the axes, and remove the box."""
    axes.set_title(title, loc="left", size=11, color=INK, weight="bold")
    axes.set_xlabel(x, color=QUIET, size=9)
    axes.set_ylabel(y, color=QUIET, size=9)
    axes.tick_params(colors=QUIET, labelsize=8, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#D7DBE2")


def _whole_ticks(axes: Axes, *, x: bool = False, y: bool = False) -> None:
    """Put ticks at integers only; a small set would have half requests on its axis."""
    from matplotlib.ticker import MaxNLocator

    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted:
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))


def draw_tools(axes: Axes, tools: Mapping[str, Any]) -> None:
    """The number of plans that use each tool: bars, or a curve for a large library."""
    uses = tools["uses"]
    title = f"{tools['used']:,} of {tools['tools']:,} tools are used"
    if len(uses) > MOST_TOOLS:
        axes.fill_between(range(1, len(uses) + 1), list(uses.values()), color=ACCENT, alpha=0.85, lw=0)
        axes.set_xlim(1, len(uses))
        axes.set_ylim(bottom=0)
        _whole_ticks(axes, y=True)
        tidy(axes, title, "tools, most used first", "plans")
        return
    names = [one_line(name, longest=34) for name in uses]
    # Bars are placed by number, as two names may be equal once they are shortened.
    colours = [ACCENT if count else _WARNING for count in uses.values()]
    axes.barh(range(len(names)), list(uses.values()), color=colours, height=0.72)
    for place, count in enumerate(uses.values()):
        axes.text(count, place, f" {count:,}", va="center", size=7.5, color=QUIET if count else _WARNING)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    _whole_ticks(axes, x=True)
    tidy(axes, title, "plans", "")


def draw_sizes(axes: Axes, sizes: Mapping[str, Mapping[str, int]]) -> None:
    """The number of plans of each shape and size, as a heat map."""
    columns = sorted({int(size) for counts in sizes.values() for size in counts})
    shown = columns[:MOST_SIZES]
    rows: list[Sequence[int]] = [[counts.get(str(size), 0) for size in shown] for counts in sizes.values()]
    most = log1p(max(map(max, rows)))
    shades = [[log1p(count) / most for count in row] for row in rows]
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
    for y, row in enumerate(rows):
        for x, count in enumerate(row):
            # Colours are on a logarithmic scale, so that rare sizes are visible beside frequent ones.
            colour = "white" if log1p(count) / most > 0.7 else INK if count else NEUTRAL
            axes.text(x, y, f"{count:,}" if count else "·", ha="center", va="center", size=8.5, color=colour)
    axes.set_xticks(range(len(shown)), [str(size) for size in shown])
    axes.set_yticks(range(len(rows)), list(sizes))
    total = sum(sum(counts.values()) for counts in sizes.values())
    more = f" (larger ones, up to {columns[-1]:,}, are not shown)" if len(columns) > len(shown) else ""
    tidy(axes, f"{count_of(total, 'plan')} by shape and size{more}", "tools in the plan", "")
    axes.spines["bottom"].set_visible(False)


PICTURES = ("sizes_and_shapes", "tools")


def draw_variety(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the pictures of a variety report; the same figures give the same bytes.

    Args:
        figures: as in `variety.json`; a part that is not applicable has no picture.
        folder: where the files of `PICTURES` are written; created if missing. The picture of a part that is
            not applicable any more is removed.

    Returns:
        The files, in the order of `PICTURES`.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    shown = len(figures["tools"].get("uses", ()))
    pictures: dict[str, tuple[str, float, Callable[[Axes, Any], None]]] = {
        "sizes_and_shapes": ("sizes", 2.3, draw_sizes),
        "tools": ("tools", 3.2 if shown > MOST_TOOLS else 0.9 + 0.19 * shown, draw_tools),
    }
    made = []
    for name, (part, height, draw) in pictures.items():
        path = folder / f"{name}.png"
        if "not_applicable" in figures[part]:
            path.unlink(missing_ok=True)
        else:
            made.append(_draw_picture(path, height, draw, figures[part]))
    return made


def _draw_picture(path: Path, height: float, draw: Callable[[Axes, Any], None], part: Any) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with plain_style():
        figure = Figure(figsize=(7.0, height), facecolor="white", layout="constrained")  # inches
        FigureCanvasAgg(figure)
        draw(figure.subplots(), part)
        return save(figure, path, dpi=130)
