"""A large tool graph drawn type by type: a table of which type is made into which, by how many tools.

A table, for between many types the arrows of a node-link drawing cannot be told apart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from toolassay.graph import ToolGraph
from toolassay.report.colours import type_colours
from toolassay.report.figures import INK, QUIET, one_line, sheet
from toolassay.report.type_graph import TypeGraph, type_graph
from toolassay.words import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In inches.
_WIDE, _HIGH = 0.62, 0.4
_ROW_NAMES, _COLUMN_NAMES = 2.5, 1.6
_HEAD, _MARGIN = 1.05, 0.35


def draw_types(graph: ToolGraph) -> Figure:
    """The figure of a resource graph, type by type; every label is a text with the gid "type"."""
    types = type_graph(graph)
    size = len(types.types)
    width = max(8.0, _MARGIN + _ROW_NAMES + size * _WIDE + 1.1)
    height = _HEAD + _COLUMN_NAMES + size * _HIGH + 0.75
    figure, axes = sheet(width, height)
    title = f"{count_of(len(graph), 'tool')}, {count_of(graph.number_of_links, 'link')}, by type of resource"
    axes.text(_MARGIN, height - 0.38, title, fontsize=15, color=INK, weight="bold", va="center")
    axes.text(_MARGIN, height - 0.75, _note(types), fontsize=9.5, color=QUIET, va="center")
    caption = "A cell counts the tools that take the type of its row and give the type of its column."
    axes.text(_MARGIN, 0.3, caption, fontsize=9.5, color=QUIET, va="center")
    left, top = _MARGIN + _ROW_NAMES, height - _HEAD - _COLUMN_NAMES
    _draw_names(axes, types, left, top)
    _draw_cells(axes, types, left, top)
    return figure


def _note(types: TypeGraph) -> str:
    left_out = f" {count_of(types.left_out, 'rarer type')} left out." if types.left_out else ""
    return f"Too many to draw one by one.{left_out}"


def _draw_names(axes: Axes, types: TypeGraph, left: float, top: float) -> None:
    colours = type_colours(types.types)
    for number, kind in enumerate(types.types):
        name = one_line(kind, longest=16)
        y = top - _HIGH * (number + 0.5)
        axes.text(
            left - 0.3,
            y,
            f"{name}, taken by {types.takers[kind]:,}",
            fontsize=9,
            color=INK,
            ha="right",
            va="center_baseline",
            gid="type",
        )
        axes.plot(left - 0.15, y, "o", markersize=8, color=colours[kind])
        x = left + _WIDE * (number + 0.5)
        axes.text(
            x,
            top + 0.3,
            f"{name}, given by {types.givers[kind]:,}",
            fontsize=9,
            color=INK,
            ha="left",
            va="center_baseline",
            rotation=50,
            rotation_mode="anchor",
            gid="type",
        )
        axes.plot(x, top + 0.15, "o", markersize=8, color=colours[kind])


def _draw_cells(axes: Axes, types: TypeGraph, left: float, top: float) -> None:
    from matplotlib.patches import Rectangle

    colours = type_colours(types.types)
    most = max(types.makers.values(), default=1)
    for row, taken in enumerate(types.types):
        for column, given in enumerate(types.types):
            tools = types.makers.get((taken, given), 0)
            x, y = left + _WIDE * column, top - _HIGH * (row + 1)
            strength = 0.12 + 0.6 * math.log1p(tools) / math.log1p(most) if tools else 0.05
            colour = colours[given] if tools else QUIET
            cell = Rectangle((x, y), _WIDE, _HIGH, facecolor=colour, alpha=strength, edgecolor="none")
            axes.add_patch(cell)
            if tools:
                middle = (x + _WIDE / 2, y + _HIGH / 2)
                axes.text(*middle, _short(tools), fontsize=8.5, color=INK, ha="center", va="center_baseline")
    for line in range(len(types.types) + 1):
        right, bottom = left + _WIDE * len(types.types), top - _HIGH * len(types.types)
        axes.plot([left, right], [top - _HIGH * line] * 2, color="white", linewidth=1.5)
        axes.plot([left + _WIDE * line] * 2, [bottom, top], color="white", linewidth=1.5)


def _short(number: int) -> str:
    """A count that fits a cell.

    >>> _short(9_999), _short(123_456), _short(12_345_678)
    ('9,999', '123k', '12M')
    """
    if number < 100_000:
        return f"{number:,}"
    return f"{number // 1000:,}k" if number < 10_000_000 else f"{number // 1_000_000:,}M"
