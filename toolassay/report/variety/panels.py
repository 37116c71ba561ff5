"""Bars and maps of a variety report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log1p
from typing import TYPE_CHECKING, Any

from toolassay.report.colours import ACCENT, NEUTRAL
from toolassay.report.figures import INK, QUIET, one_line
from toolassay.words import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHAPE_COLOURS = {"single": "#CCBB44", "chain": "#4477AA", "dag": "#AA3377"}
MOST_TOOLS = 40
MOST_SIZES = 24
_WARNING = "#EE6677"


def tidy(axes: Axes, title: str, x: str, y: str) -> None:
    """A title at the left, names of the axes, and no box."""
    axes.set_title(title, loc="left", size=11, color=INK, weight="bold")
    axes.set_xlabel(x, color=QUIET, size=9)
    axes.set_ylabel(y, color=QUIET, size=9)
    axes.tick_params(colors=QUIET, labelsize=8, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#D7DBE2")


def _whole_ticks(axes: Axes, *, x: bool = False, y: bool = False) -> None:
    """No half requests on the scale of a small set."""
    from matplotlib.ticker import MaxNLocator

    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted:
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))


def draw_lengths(axes: Axes, lengths: Mapping[str, Any]) -> None:
    """How many words requests have, stacked by shape."""
    edges = lengths["edges"]
    widths = [right - left for left, right in pairwise(edges)]
    base = [0] * len(widths)
    for shape, counts in lengths["histogram"].items():
        colour = SHAPE_COLOURS.get(shape, ACCENT)
        bars = axes.bar(edges[:-1], counts, widths, base, align="edge", color=colour, ec="white", lw=0.6)
        bars.set_label(shape or "_nolegend_")
        base = [low + count for low, count in zip(base, counts, strict=True)]
    if any(lengths["histogram"]):
        axes.legend(frameon=False, fontsize=8, labelcolor=QUIET)
    axes.axvline(lengths["median"], color=INK, lw=1, ls=(0, (4, 3)))
    _whole_ticks(axes, x=True, y=True)
    tidy(axes, f"Half of the requests have {lengths['median']:.0f} words or fewer", "words", "requests")


def draw_likeness(axes: Axes, likeness: Mapping[str, Any]) -> None:
    """How like each request is to the one that is most like it."""
    counts = likeness["histogram"]
    width = 1 / len(counts)
    above = likeness["above"]
    for place, count in enumerate(counts):
        colour = _WARNING if place * width >= above - 1e-9 else ACCENT
        axes.bar(place * width, count, width, align="edge", color=colour, ec="white", lw=0.6)
    axes.axvline(above, color=INK, lw=1, ls=(0, (4, 3)))
    axes.set_xlim(0, 1)
    _whole_ticks(axes, y=True)
    title = f"{likeness['share_above']:.1%} are more than {above:g} like another request"
    tidy(axes, title, "ROUGE-L with the request most like it", "requests")


def draw_tools(axes: Axes, tools: Mapping[str, Any]) -> None:
    """In how many plans each tool stands; of a large library, the curve from the most used to the least."""
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
    # By place: two names may look the same once they are cut.
    colours = [ACCENT if count else _WARNING for count in uses.values()]
    axes.barh(range(len(names)), list(uses.values()), color=colours, height=0.72)
    for place, count in enumerate(uses.values()):
        axes.text(count, place, f" {count:,}", va="center", size=7.5, color=QUIET if count else _WARNING)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    _whole_ticks(axes, x=True)
    tidy(axes, title, "plans", "")


def draw_sizes(axes: Axes, sizes: Mapping[str, Mapping[str, int]]) -> None:
    """How many plans there are of each shape and size, as a map."""
    columns = sorted({int(size) for counts in sizes.values() for size in counts})
    shown = columns[:MOST_SIZES]
    rows: list[Sequence[int]] = [[counts.get(str(size), 0) for size in shown] for counts in sizes.values()]
    most = log1p(max(map(max, rows)))
    shades = [[log1p(count) / most for count in row] for row in rows]
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
    for y, row in enumerate(rows):
        for x, count in enumerate(row):
            # Colours follow the logarithm, so that rare sizes are seen beside frequent ones.
            colour = "white" if log1p(count) / most > 0.7 else INK if count else NEUTRAL
            axes.text(x, y, f"{count:,}" if count else "·", ha="center", va="center", size=8.5, color=colour)
    axes.set_xticks(range(len(shown)), [str(size) for size in shown])
    axes.set_yticks(range(len(rows)), list(sizes))
    total = sum(sum(counts.values()) for counts in sizes.values())
    more = f" (larger ones, up to {columns[-1]:,}, are not shown)" if len(columns) > len(shown) else ""
    tidy(axes, f"{count_of(total, 'plan')} by shape and size{more}", "tools in the plan", "")
    axes.spines["bottom"].set_visible(False)
