"""The picture of a tool graph: `graph_desc.png` and `graph_desc.pdf`.

A small graph is drawn tool by tool, on a circle, grouped and coloured by output type. A link is a curve that
gets thinner from its source to its target: with many links, a taper shows the direction better than an arrow
head (Holten and van Wijk, "A user study on visualizing directed edges in graphs", 2009).

A large resource graph is drawn type by type, as a table of the number of tools with each input and output
type. With many types, the arrows of a node-link drawing could not be distinguished. A large schema graph is a
table of the number of links between groups of tools; without groups, its tools with the most links are drawn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.report.circular_layout import Circle, CirclePlace, Point, arrange
from toolassay.report.style import (
    INK,
    NEUTRAL,
    NO_TYPE,
    QUIET,
    blank_figure,
    is_complete,
    one_line,
    plain_style,
    save,
    text_width,
    type_colours,
)
from toolassay.report.tool_groups import ToolGroups, tool_groups
from toolassay.report.type_graph import MOST_TYPES, type_counts, type_graph
from toolassay.text_formatting import count_of
from toolassay.tools import ToolLibrary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LABEL, _LEGEND = 9.0, 9.5  # points
# In inches.
_MARGIN = 0.35
_FOOT = 0.55
_LEGEND_ROW = 0.25
_NARROWEST = 8.0
_AWAY = 0.14
_THICK, _THIN = 0.034, 0.006
_STEPS = np.linspace(0.0, 1.0, 25)[:, None]


def draw_tools(graph: ToolGraph, *, most_links: int | None = None, note: str = "") -> Figure:
    """Draw a graph tool by tool; every label is a text with the gid "tool".

    Args:
        graph: the tool graph.
        most_links: the number of links of a schema graph to draw, the best first [default: all].
        note: what the caption begins with.
    """
    library, groups = graph.library, tool_groups(graph)
    circle = arrange(library, groups=groups)
    names = {tool.id: one_line(tool.id) for tool in library}
    radius = max(circle.slots * 1.35 * _LABEL / 72 / math.tau, min(3.0, 1.0 + 0.07 * circle.slots))
    left, low, right, high = _extent(circle, names, radius)
    width = max(_NARROWEST, right - left + 2 * _MARGIN)
    legend = _Legend.of(graph, groups, width - 2 * _MARGIN)
    figure, axes = blank_figure(width, high - low + _FOOT + 1.05 + _LEGEND_ROW * legend.rows)
    middle = np.array([(width - left - right) / 2, _FOOT - low])
    if is_complete(graph):
        _draw_all_pairs(axes, circle, middle, radius)
    elif graph.dependency_type == "schema":
        links = sorted(graph.dependencies(), key=lambda link: -link.score)[:most_links]
        _draw_dependencies(axes, links[::-1], circle, middle, radius, groups)
    else:
        _draw_links(axes, graph, circle, middle, radius, groups.colours)
    for tool, place in circle.places.items():
        x, y = middle + place.at(radius)
        fill = groups.colours[groups.of[tool]]
        axes.plot(x, y, "o", markersize=9, color=fill, markeredgecolor="white", zorder=4)
        _label(axes, names[tool], place, middle + place.at(radius + _AWAY))
    best = f"The {most_links:,} best links." if most_links and graph.number_of_links > most_links else ""
    caption = " ".join(part for part in (note, best, _caption(graph)) if part)
    _write_legend(axes, graph, legend, caption, top=figure.get_size_inches()[1])
    return figure


def _extent(circle: Circle, names: Mapping[str, str], radius: float) -> tuple[float, float, float, float]:
    """How far the labels extend from the centre, in inches: left, down, right, up."""
    ends = [(0.0, 0.0)]
    for tool, place in circle.places.items():
        ends.append(place.at(radius + _AWAY + 0.1 + text_width(names[tool], _LABEL)))
    across, up = zip(*ends, strict=True)
    return min(across), min(up), max(across), max(up)


def _label(axes: Axes, name: str, place: CirclePlace, point: NDArray[np.float64]) -> None:
    """Write a name along its radius, never upside down."""
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
    # Rare types are drawn last, on top of common ones.
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


def _draw_dependencies(
    axes: Axes,
    links: Sequence[Dependency],
    circle: Circle,
    middle: NDArray[np.float64],
    radius: float,
    groups: ToolGroups,
) -> None:
    """Draw links in the given order: the wider and darker, the better; dashed if only the order was seen."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import to_rgba

    thickness, alpha = min(1.0, math.sqrt(500 / max(1, len(links)))), min(0.85, 3 * _alpha(len(links)))
    # Among few links, weak ones can be seen too.
    weakest = min(0.4, 20 / max(1, len(links)))
    shapes, fills, dashed, colours = [], [], [], []
    for link in links:
        start, end = (circle.places[tool].at(radius) for tool in (link.source, link.target))
        first, second = circle.controls(link.source, link.target, radius)
        colour = to_rgba(
            groups.colours[groups.of[link.source]], alpha * (weakest + (1 - weakest) * link.score**2)
        )
        if link.kind == "observed":
            dashed.append(bezier(start, first, second, end) + middle)
            colours.append(colour)
        else:
            width = thickness * (0.3 + 0.9 * link.score)
            shapes.append(taper(start, first, second, end, width) + middle)
            fills.append(colour)
    axes.add_collection(PolyCollection(shapes, facecolors=fills, edgecolors="none", zorder=2))
    lines = LineCollection(dashed, colors=colours, linewidths=0.9, linestyles="dashed", zorder=3)
    axes.add_collection(lines)


def _alpha(lines: int) -> float:
    """The opacity of a line: with more lines each is fainter, so that the middle stays light."""
    return min(0.8, max(0.08, 8 / math.sqrt(max(1, lines))))


def taper(
    start: Point, first: Point, second: Point, end: Point, thickness: float = 1.0
) -> NDArray[np.float64]:
    """The outline of a cubic Bézier curve that gets thinner towards its end: 50 points, in inches.

    >>> taper((0, 0), (1, 0), (2, 0), (3, 0)).shape
    (50, 2)
    """
    curve = bezier(start, first, second, end)
    slope = np.gradient(curve, axis=0)
    length = np.linalg.norm(slope, axis=1, keepdims=True)
    across = np.column_stack([-slope[:, 1], slope[:, 0]]) / np.where(length == 0, 1, length)
    half = thickness * across * (_THICK * (1 - _STEPS) + _THIN * _STEPS) / 2
    return np.concatenate([curve + half, (curve - half)[::-1]])


def bezier(start: Point, first: Point, second: Point, end: Point) -> NDArray[np.float64]:
    """Points of a cubic Bézier curve."""
    t, back = _STEPS, 1 - _STEPS
    a, b, c, d = (np.array(point, dtype=np.float64) for point in (start, first, second, end))
    curve: NDArray[np.float64] = back**3 * a + 3 * back**2 * t * b + 3 * back * t**2 * c + t**3 * d
    return curve


@dataclass(frozen=True, slots=True)
class _Legend:
    """A colour and counts for each group, or each type that a tool gives or a link carries.

    Attributes:
        entries: colour and text.
        columns: the number of entries in a row.
        column: the width of an entry, in inches.
    """

    entries: Sequence[tuple[str, str]]
    columns: int
    column: float

    @property
    def rows(self) -> int:
        return math.ceil(len(self.entries) / self.columns)

    @classmethod
    def of(cls, graph: ToolGraph, groups: ToolGroups, width: float) -> _Legend:
        entries = _group_entries(groups) if graph.dependency_type == "schema" else cls.types(graph, groups)
        column = max((0.5 + text_width(text, _LEGEND) for _, text in entries), default=1.0)
        return cls(entries, max(1, int(width / column)), column)

    @staticmethod
    def types(graph: ToolGraph, groups: ToolGroups) -> list[tuple[str, str]]:
        """The entries of types."""
        counts, colours = type_counts(graph), groups.colours
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
        return entries


def _group_entries(groups: ToolGroups) -> list[tuple[str, str]]:
    """The legend of groups: those with a colour of their own, then all others in one entry."""
    if not groups.noun:
        return []
    sizes = Counter(groups.of.values())
    own = {name: colour for name, colour in groups.colours.items() if colour != NEUTRAL}
    entries = [
        (colour, f"{one_line(name, longest=24)}: {count_of(sizes[name], 'tool')}")
        for name, colour in own.items()
    ]
    if others := set(sizes) - {*own, NO_TYPE}:
        tools = sum(sizes[name] for name in others)
        entries.append(
            (NEUTRAL, f"{count_of(len(others), f'other {groups.noun}')}: {count_of(tools, 'tool')}")
        )
    if sizes[NO_TYPE]:
        entries.append((NEUTRAL, f"no {groups.noun}: {count_of(sizes[NO_TYPE], 'tool')}"))
    return entries


def _write_legend(axes: Axes, graph: ToolGraph, legend: _Legend, caption: str, *, top: float) -> None:
    """Title, legend and caption."""
    title = f"{count_of(len(graph), 'tool')}, {count_of(graph.number_of_links, 'link')}"
    axes.text(_MARGIN, top - 0.38, title, fontsize=15, color=INK, weight="bold", va="center")
    for number, (colour, text) in enumerate(legend.entries):
        x = _MARGIN + 0.08 + legend.column * (number % legend.columns)
        y = top - 0.75 - _LEGEND_ROW * (number // legend.columns)
        axes.plot(x, y, "o", markersize=9, color=colour)
        axes.text(x + 0.15, y, text, fontsize=_LEGEND, color=INK, va="center_baseline", gid="legend")
    axes.text(_MARGIN, 0.3, caption, fontsize=_LEGEND, color=QUIET, va="center")


def _caption(graph: ToolGraph) -> str:
    if is_complete(graph):
        return "Every tool can follow every other: a line stands for the links both ways."
    if graph.dependency_type == "schema":
        ends = "A link runs from its thick to its thin end"
        return f"{ends}; darker: a higher score; dashed: only the order was seen."
    text = "A link runs from its thick end, the tool before, to its thin end, the tool after"
    return (
        f"{text}; its colour is the type that flows." if graph.dependency_type == "resource" else f"{text}."
    )


# In inches.
_CELL_WIDTH, _CELL_HEIGHT = 0.62, 0.4
_ROW_NAMES, _COLUMN_NAMES = 2.5, 1.6
_TABLE_HEAD, _TABLE_MARGIN = 1.05, 0.35


@dataclass(frozen=True)
class _Table:
    """A table of counts, with the same names for its rows and its columns.

    Attributes:
        title: what is counted.
        note: what is left out.
        caption: what a cell counts.
        colours: the colour of each name.
        rows: the label of each row.
        columns: the label of each column.
        cells: the count of each row and column.
    """

    title: str
    note: str
    caption: str
    colours: Mapping[str, str]
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], int]


def draw_types(graph: ToolGraph) -> Figure:
    """Draw a resource graph type by type; every label is a text with the gid "type"."""
    types = type_graph(graph)
    names = {kind: one_line(kind, longest=16) for kind in types.types}
    return _draw_table(
        _Table(
            f"{count_of(len(graph), 'tool')}, {count_of(graph.number_of_links, 'link')}, by type of resource",
            _table_note(types.left_out, "type"),
            "A cell counts the tools that take the type of its row and give the type of its column.",
            type_colours(types.types),
            [f"{names[kind]}, taken by {types.takers[kind]:,}" for kind in types.types],
            [f"{names[kind]}, given by {types.givers[kind]:,}" for kind in types.types],
            types.makers,
        )
    )


def draw_groups(graph: ToolGraph, groups: ToolGroups) -> Figure:
    """Draw a schema graph as links between its largest groups; every label is a text with the gid "type"."""
    sizes = Counter(groups.of.values())
    names = sorted(groups.colours, key=lambda name: -sizes[name])[:MOST_TYPES]
    label = {
        name: f"{one_line(name or f'no {groups.noun}', longest=16)}, {count_of(sizes[name], 'tool')}"
        for name in names
    }
    return _draw_table(
        _Table(
            f"{count_of(len(graph), 'tool')}, {count_of(graph.number_of_links, 'link')}, by {groups.noun}",
            _table_note(len(sizes) - len(names), groups.noun, rarer="smaller"),
            "A cell counts the links from tools of its row to tools of its column.",
            {name: groups.colours[name] for name in names},
            [label[name] for name in names],
            [label[name] for name in names],
            groups.links(graph),
        )
    )


def _table_note(left_out: int, noun: str, rarer: str = "rarer") -> str:
    others = f" {count_of(left_out, f'{rarer} {noun}')} left out." if left_out else ""
    return f"Too many to draw one by one.{others}"


def _draw_table(table: _Table) -> Figure:
    size = len(table.rows)
    width = max(8.0, _TABLE_MARGIN + _ROW_NAMES + size * _CELL_WIDTH + 1.1)
    height = _TABLE_HEAD + _COLUMN_NAMES + size * _CELL_HEIGHT + 0.75
    figure, axes = blank_figure(width, height)
    axes.text(_TABLE_MARGIN, height - 0.38, table.title, fontsize=15, color=INK, weight="bold", va="center")
    axes.text(_TABLE_MARGIN, height - 0.75, table.note, fontsize=9.5, color=QUIET, va="center")
    axes.text(_TABLE_MARGIN, 0.3, table.caption, fontsize=9.5, color=QUIET, va="center")
    left, top = _TABLE_MARGIN + _ROW_NAMES, height - _TABLE_HEAD - _COLUMN_NAMES
    _draw_names(axes, table, left, top)
    _draw_cells(axes, table, left, top)
    return figure


def _draw_names(axes: Axes, table: _Table, left: float, top: float) -> None:
    for number, (colour, row, column) in enumerate(
        zip(table.colours.values(), table.rows, table.columns, strict=True)
    ):
        y = top - _CELL_HEIGHT * (number + 0.5)
        axes.text(left - 0.3, y, row, fontsize=9, color=INK, ha="right", va="center_baseline", gid="type")
        axes.plot(left - 0.15, y, "o", markersize=8, color=colour)
        x = left + _CELL_WIDTH * (number + 0.5)
        axes.text(
            x,
            top + 0.3,
            column,
            fontsize=9,
            color=INK,
            ha="left",
            va="center_baseline",
            rotation=50,
            rotation_mode="anchor",
            gid="type",
        )
        axes.plot(x, top + 0.15, "o", markersize=8, color=colour)


def _draw_cells(axes: Axes, table: _Table, left: float, top: float) -> None:
    from matplotlib.patches import Rectangle

    names = list(table.colours)
    most = max(table.cells.values(), default=1)
    for row, before in enumerate(names):
        for column, after in enumerate(names):
            number = table.cells.get((before, after), 0)
            x, y = left + _CELL_WIDTH * column, top - _CELL_HEIGHT * (row + 1)
            strength = 0.12 + 0.6 * math.log1p(number) / math.log1p(most) if number else 0.05
            colour = table.colours[after] if number else QUIET
            cell = Rectangle(
                (x, y), _CELL_WIDTH, _CELL_HEIGHT, facecolor=colour, alpha=strength, edgecolor="none"
            )
            axes.add_patch(cell)
            if number:
                middle = (x + _CELL_WIDTH / 2, y + _CELL_HEIGHT / 2)
                text = _short_count(number)
                axes.text(*middle, text, fontsize=8.5, color=INK, ha="center", va="center_baseline")
    for line in range(len(names) + 1):
        right, bottom = left + _CELL_WIDTH * len(names), top - _CELL_HEIGHT * len(names)
        axes.plot([left, right], [top - _CELL_HEIGHT * line] * 2, color="white", linewidth=1.5)
        axes.plot([left + _CELL_WIDTH * line] * 2, [bottom, top], color="white", linewidth=1.5)


def _short_count(number: int) -> str:
    """A count of at most six characters.

    >>> _short_count(9_999), _short_count(123_456), _short_count(12_345_678)
    ('9,999', '123k', '12M')
    """
    if number < 100_000:
        return f"{number:,}"
    return f"{number // 1000:,}k" if number < 10_000_000 else f"{number // 1_000_000:,}M"


MOST_TOOLS = 200
MOST_LINKS = 4_000


def draw_graph(graph: ToolGraph, folder: Path) -> list[Path]:
    """Draw a tool graph; the same graph gives the same bytes.

    A resource graph of more than `MOST_TOOLS` tools or `MOST_LINKS` links is drawn type by type. Of a schema
    graph, the best links are drawn; with more tools, the links between groups.

    Args:
        graph: the tool graph.
        folder: where `graph_desc.png` and `graph_desc.pdf` are written; created if missing.

    Returns:
        The two files.

    Raises:
        UsageError: the graph is too large to draw tool by tool, and is temporal or has no types.
        ToolassayError: the folder cannot be written.
    """
    with plain_style():
        if graph.dependency_type == "schema":
            figure = _draw_schema(graph)
        elif drawn_by_tools(graph, most_tools=MOST_TOOLS, most_links=MOST_LINKS):
            figure = draw_tools(graph)
        else:
            figure = draw_types(graph)
        return [save(figure, folder / f"graph_desc.{kind}", dpi=150) for kind in ("png", "pdf")]


def _draw_schema(graph: ToolGraph) -> Figure:
    """Draw the tools of a schema graph, its groups, or its tools with the most links."""
    if len(graph) <= MOST_TOOLS:
        return draw_tools(graph, most_links=MOST_LINKS)
    groups = tool_groups(graph)
    if groups.noun:
        return draw_groups(graph, groups)
    uses = Counter(tool for link in graph.dependencies() for tool in (link.source, link.target))
    kept = {tool for tool, _ in uses.most_common(MOST_TOOLS)}
    library = ToolLibrary(
        [tool for tool in graph.library if tool.id in kept] or graph.library.tools[:MOST_TOOLS]
    )
    links = [link for link in graph.dependencies() if link.source in library and link.target in library]
    note = f"The tools with the most links, of {count_of(len(graph), 'tool')}."
    return draw_tools(ToolGraph.of_dependencies(library, links), most_links=MOST_LINKS, note=note)


def drawn_by_tools(graph: ToolGraph, *, most_tools: int, most_links: int) -> bool:
    """Whether a graph is drawn tool by tool, rather than type by type.

    A complete temporal graph has no limit of links, as they are not listed.

    Raises:
        UsageError: the graph is too large to draw tool by tool, and is temporal or has no types.
    """
    if len(graph) <= most_tools and (is_complete(graph) or graph.number_of_links <= most_links):
        return True
    if graph.dependency_type == "resource" and graph.library.has_types:
        return False
    raise UsageError(
        f"a {graph.dependency_type} graph of {count_of(len(graph), 'tool')} and "
        f"{count_of(graph.number_of_links, 'link')} is too large to draw "
        f"(up to {most_tools:,} tools and {most_links:,} links can be)",
        fix="draw the graph of a smaller tool_desc.json",
    )
