"""A tool graph drawn tool by tool.

Tools stand on a circle, grouped and coloured by the type they give. A link is a curve that thins from the
tool before to the tool after: where links are many, a taper shows direction better than an arrow head
(Holten and van Wijk, "A user study on visualizing directed edges in graphs", 2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolassay.graph import ToolGraph
from toolassay.report.circle import Circle, Place, Point, arrange
from toolassay.report.colours import (
    ACCENT,
    NEUTRAL,
    NO_TYPE,
    given_type,
    is_complete,
    type_colours,
    types_by_use,
)
from toolassay.report.figures import INK, QUIET, one_line, sheet, text_width
from toolassay.report.type_graph import type_counts
from toolassay.words import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In inches, but letters in points.
_LABEL, _LEGEND = 9.0, 9.5
_MARGIN = 0.35
_FOOT = 0.55
_LEGEND_ROW = 0.25
_NARROWEST = 8.0
_AWAY = 0.14
_THICK, _THIN = 0.034, 0.006
_STEPS = np.linspace(0.0, 1.0, 25)[:, None]


def draw_tools(graph: ToolGraph) -> Figure:
    """The figure of a tool graph; every label is a text with the gid "tool"."""
    library, circle = graph.library, arrange(graph.library)
    names = {tool.id: one_line(tool.id) for tool in library}
    colours = type_colours([*types_by_use(library), NO_TYPE])
    radius = max(circle.slots * 1.35 * _LABEL / 72 / math.tau, min(3.0, 1.0 + 0.07 * circle.slots))
    left, low, right, high = _extent(circle, names, radius)
    width = max(_NARROWEST, right - left + 2 * _MARGIN)
    legend = _Legend.of(graph, colours, width - 2 * _MARGIN)
    figure, axes = sheet(width, high - low + _FOOT + 1.05 + _LEGEND_ROW * legend.rows)
    middle = np.array([(width - left - right) / 2, _FOOT - low])
    if is_complete(graph):
        _draw_all_pairs(axes, circle, middle, radius)
    else:
        _draw_links(axes, graph, circle, middle, radius, colours)
    for tool, place in circle.places.items():
        x, y = middle + place.at(radius)
        fill = colours[given_type(library[tool])] if library.has_types else ACCENT
        axes.plot(x, y, "o", markersize=9, color=fill, markeredgecolor="white", zorder=4)
        _label(axes, names[tool], place, middle + place.at(radius + _AWAY))
    _write(axes, graph, legend, top=figure.get_size_inches()[1])
    return figure


def _extent(circle: Circle, names: Mapping[str, str], radius: float) -> tuple[float, float, float, float]:
    """How far the labels reach from the middle: left, down, right, up, in inches."""
    ends = [(0.0, 0.0)]
    for tool, place in circle.places.items():
        ends.append(place.at(radius + _AWAY + 0.1 + text_width(names[tool], _LABEL)))
    across, up = zip(*ends, strict=True)
    return min(across), min(up), max(across), max(up)


def _label(axes: Axes, name: str, place: Place, point: NDArray[np.float64]) -> None:
    """Write a name along its ray, never upside down."""
    left = math.cos(place.angle) < -1e-9
    axes.text(
        point[0],
        point[1],
        name,
        fontsize=_LABEL,
        color=INK,
        rotation=math.degrees(place.angle) + (180 if left else 0),
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center_baseline",
        gid="tool",
        zorder=5,
    )


def _draw_all_pairs(axes: Axes, circle: Circle, middle: NDArray[np.float64], radius: float) -> None:
    from matplotlib.collections import LineCollection

    points = [middle + place.at(radius) for place in circle.places.values()]
    pairs = [(a, b) for number, a in enumerate(points) for b in points[number + 1 :]]
    alpha = _alpha(len(pairs))
    axes.add_collection(LineCollection(pairs, colors=NEUTRAL, linewidths=0.7, alpha=alpha, zorder=1))


def _draw_links(
    axes: Axes,
    graph: ToolGraph,
    circle: Circle,
    middle: NDArray[np.float64],
    radius: float,
    colours: Mapping[str, str],
) -> None:
    from matplotlib.collections import PolyCollection

    rank = {kind: number for number, kind in enumerate(colours)}
    # The rarer types lie on top of the commoner.
    links = sorted(graph.links(), key=lambda link: rank.get(link.type, -1))
    shapes = []
    thickness = min(1.0, math.sqrt(500 / max(1, len(links))))
    for link in links:
        start, end = (circle.places[tool].at(radius) for tool in (link.source, link.target))
        first, second = circle.controls(link.source, link.target, radius)
        shapes.append(taper(start, first, second, end, thickness) + middle)
    fills = [colours.get(link.type, NEUTRAL) for link in links]
    alpha = _alpha(len(links))
    axes.add_collection(PolyCollection(shapes, facecolors=fills, edgecolors="none", alpha=alpha, zorder=2))


def _alpha(lines: int) -> float:
    """How strong a line is: the fainter the more there are, so that the middle stays light."""
    return min(0.8, max(0.08, 8 / math.sqrt(max(1, lines))))


def taper(
    start: Point, first: Point, second: Point, end: Point, thickness: float = 1.0
) -> NDArray[np.float64]:
    """The outline of a cubic Bézier curve that thins towards its end: 50 points, in inches.

    >>> taper((0, 0), (1, 0), (2, 0), (3, 0)).shape
    (50, 2)
    """
    t, back = _STEPS, 1 - _STEPS
    a, b, c, d = (np.array(point, dtype=np.float64) for point in (start, first, second, end))
    curve = back**3 * a + 3 * back**2 * t * b + 3 * back * t**2 * c + t**3 * d
    slope = np.gradient(curve, axis=0)
    length = np.linalg.norm(slope, axis=1, keepdims=True)
    across = np.column_stack([-slope[:, 1], slope[:, 0]]) / np.where(length == 0, 1, length)
    half = thickness * across * (_THICK * back + _THIN * t) / 2
    return np.concatenate([curve + half, (curve - half)[::-1]])


@dataclass(frozen=True, slots=True)
class _Legend:
    """A colour and counts for every type that some tool gives or some link carries, in rows of `columns`.

    The counts are the tools that give the type, as on the page and in the picture by types.
    """

    entries: Sequence[tuple[str, str]]
    columns: int
    column: float

    @property
    def rows(self) -> int:
        return math.ceil(len(self.entries) / self.columns)

    @classmethod
    def of(cls, graph: ToolGraph, colours: Mapping[str, str], width: float) -> _Legend:
        counts = type_counts(graph)
        entries = []
        for kind, colour in colours.items():
            if colour != NEUTRAL and (counts.givers[kind] or counts.links[kind]):
                tools, links = count_of(counts.givers[kind], "tool"), count_of(counts.links[kind], "link")
                entries.append((colour, f"{one_line(kind, longest=24)}: {tools}, {links}"))
        rest = {kind for kind, colour in colours.items() if colour == NEUTRAL and kind != NO_TYPE}
        if rest:
            givers = sum(not rest.isdisjoint(tool.outputs) for tool in graph.library)
            entries.append((NEUTRAL, f"{count_of(len(rest), 'other type')}: {count_of(givers, 'tool')}"))
        without = sum(not tool.outputs for tool in graph.library)
        if 0 < without < len(graph):
            entries.append((NEUTRAL, f"gives nothing: {count_of(without, 'tool')}"))
        column = max((0.5 + text_width(text, _LEGEND) for _, text in entries), default=1.0)
        return cls(entries, max(1, int(width / column)), column)


def _write(axes: Axes, graph: ToolGraph, legend: _Legend, *, top: float) -> None:
    """Title, legend and caption."""
    title = f"{count_of(len(graph), 'tool')}, {count_of(graph.number_of_links, 'link')}"
    axes.text(_MARGIN, top - 0.38, title, fontsize=15, color=INK, weight="bold", va="center")
    for number, (colour, text) in enumerate(legend.entries):
        x = _MARGIN + 0.08 + legend.column * (number % legend.columns)
        y = top - 0.75 - _LEGEND_ROW * (number // legend.columns)
        axes.plot(x, y, "o", markersize=9, color=colour)
        axes.text(x + 0.15, y, text, fontsize=_LEGEND, color=INK, va="center_baseline", gid="legend")
    axes.text(_MARGIN, 0.3, _caption(graph), fontsize=_LEGEND, color=QUIET, va="center")


def _caption(graph: ToolGraph) -> str:
    if is_complete(graph):
        return "Every tool can follow every other: a line stands for the links both ways."
    text = "A link runs from its thick end, the tool before, to its thin end, the tool after"
    return (
        f"{text}; its colour is the type that flows." if graph.dependency_type == "resource" else f"{text}."
    )
