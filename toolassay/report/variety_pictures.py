"""The pictures of a variety report, each a PNG file.

A sunburst of the first two words of requests (the first word inside), a heat map of sizes and shapes, and bar
charts of tools, lengths and similarity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, pairwise
from math import cos, degrees, log1p, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.report.style import ACCENT, INK, NEUTRAL, QUIET, one_line, plain_style, save
from toolassay.text_formatting import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PICTURES", "draw_variety"]


SHAPE_COLOURS = {"single": "#CCBB44", "chain": "#4477AA", "dag": "#AA3377"}
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
    """The similarity of each request with the most similar other one."""
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


_COLOURS = (
    *("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377"),
    *("#44AA99", "#DDAA55", "#6F5FC4", "#999933", "#CC6677", "#882255"),
)
_LIGHT = ("#CCBB44", "#66CCEE", "#DDAA55")
_FIRST, _SECOND = 2 * len(_COLOURS), 6
"""The number of first words shown, and of second words of each."""
_LEAST_ROOM = 0.055  # the least length of an arc, for a circle of radius 1, with room for a word
_WIDE_EDGE = (
    150  # slices from this part of a turn (1/150) have an edge of one point, narrower ones a finer one
)
_REST = "…"


class _Slice(NamedTuple):
    word: str
    requests: int
    colour: str
    inner: float
    width: float
    strength: float


def draw_sunburst(axes: Axes, openings: Sequence[Sequence[Any]], total: int) -> None:
    """Draw a sunburst of the first two words of requests, with the rare ones as one slice.

    Args:
        axes: from about -1 to 1 in both directions.
        openings: `[first word, second word, requests]`, the most frequent ones in order.
        total: the number of all requests.
    """
    firsts: dict[str, dict[str, int]] = {}
    for first, second, count in openings:
        firsts.setdefault(first, {})[second] = count
    ranked = sorted(firsts.items(), key=lambda item: (-sum(item[1].values()), item[0]))[:_FIRST]
    start = 0.0
    for (first, seconds), colour in zip(ranked, cycle(_COLOURS), strict=False):
        count = sum(seconds.values())
        _draw_slice(axes, _Slice(first, count, colour, 0.34, 0.32, 1.0), start, total)
        inner_start = start
        for second, part in _most_frequent(seconds):
            _draw_slice(axes, _Slice(second, part, colour, 0.67, 0.33, 0.55), inner_start, total)
            inner_start += part / total
        start += count / total
    if start < 1 - 1e-9:
        rest = total - round(start * total)
        _draw_slice(axes, _Slice(_REST, rest, NEUTRAL, 0.34, 0.32, 0.35), start, total)
    axes.text(0, 0.03, f"{total:,}", ha="center", va="bottom", size=13, color=INK, weight="bold")
    axes.text(0, -0.01, "request" if total == 1 else "requests", ha="center", va="top", size=9, color=QUIET)


def _most_frequent(seconds: Mapping[str, int]) -> list[tuple[str, int]]:
    ranked = sorted(seconds.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(count for _, count in ranked[_SECOND:])
    return [*ranked[:_SECOND], *([(_REST, rest)] if rest else [])]


def _draw_slice(axes: Axes, piece: _Slice, start: float, total: int) -> None:
    """Draw a slice and its word; `start` is a share of the turn, clockwise from the top."""
    from matplotlib.patches import Wedge

    share = piece.requests / total
    ends = 90 - 360 * (start + share), 90 - 360 * start
    axes.add_patch(
        Wedge(
            (0, 0),
            piece.inner + piece.width,
            *ends,
            width=piece.width,
            facecolor=piece.colour,
            alpha=piece.strength,
            edgecolor="white",
            linewidth=min(1.0, share * _WIDE_EDGE),  # edges of thin slices would hide them
        )
    )
    radius = piece.inner + piece.width / 2
    if share * 2 * pi * radius < _LEAST_ROOM:
        return
    angle = pi / 2 - 2 * pi * (start + share / 2)
    turned = 0.0 if len(piece.word) < 3 else degrees(angle) if cos(angle) >= 0 else degrees(angle) + 180
    axes.text(
        radius * cos(angle),
        radius * sin(angle),
        one_line(piece.word, longest=11),
        rotation=turned,
        rotation_mode="anchor",
        ha="center",
        va="center",
        size=8.5,
        color="white" if piece.strength == 1 and piece.colour not in _LIGHT else INK,
    )


PICTURES = ("first_words", "sizes_and_shapes", "tools", "lengths", "likeness")
_DPI = 130
_WIDTH, _HEIGHT = 7.0, 3.2  # inches


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
    pictures: dict[str, tuple[str, float, Callable[[Axes, Any], None]]] = {
        "first_words": ("first_words", 5.8, lambda axes, part: _sunburst(axes, part, figures["requests"])),
        "sizes_and_shapes": ("sizes", 2.3, draw_sizes),
        "tools": ("tools", _tools_height(figures["tools"]), draw_tools),
        "lengths": ("lengths", _HEIGHT, draw_lengths),
        "likeness": ("likeness", _HEIGHT, draw_likeness),
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
        figure = Figure(figsize=(_WIDTH, height), facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure.subplots(), part)
        return save(figure, path, dpi=_DPI)


def _sunburst(axes: Axes, part: Mapping[str, Any], requests: int) -> None:
    axes.set_xlim(-1.04, 1.04)
    axes.set_ylim(-1.04, 1.04)
    axes.set_aspect("equal")
    axes.set_axis_off()
    title = f"How requests begin: {count_of(part['different_openings'], 'pair')} of first words"
    axes.set_title(title, loc="left", size=11, color=INK, weight="bold")
    draw_sunburst(axes, part["openings"], requests)


def _tools_height(tools: Mapping[str, Any]) -> float:
    shown = len(tools.get("uses", ()))
    return _HEIGHT if shown > MOST_TOOLS else 0.9 + 0.19 * shown
