"""A picture of one sampled subgraph: boxes from left to right, and arrows with the types of the links."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from toolassay.dataset import Sample
from toolassay.graph.links import COMPLETE
from toolassay.report.style import INK, NEUTRAL, blank_figure, one_line, plain_style, save, type_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In inches.
_BOX_WIDTH, _BOX_HEIGHT = 1.5, 0.62
_COLUMN, _ROW, _MARGIN = 2.35, 0.95, 0.2
_LETTERS = 19  # characters on a line of a box

Point = tuple[float, float]
# A point on the route of a link: (source, target, column); the box of a tool is (tool, tool, column).
Stop = tuple[str, str, int]


def draw_sample(sample: Sample, path: Path) -> Path:
    """Draw a sample as a PNG file; the same sample gives the same bytes.

    Args:
        sample: the sampled subgraph.
        path: the file to write, ending in `.png`; its folder is created if missing.

    Returns:
        `path`.

    Raises:
        ToolassayError: the file cannot be written.
    """
    columns = _columns(sample)
    ways = {(link.source, link.target): _way(link.source, link.target, columns) for link in sample.links}
    points = _arrange(sample, columns, ways)
    width = max(x for x, _ in points.values()) + _BOX_WIDTH / 2 + _MARGIN
    height = max(y for _, y in points.values()) + _BOX_HEIGHT / 2 + _MARGIN
    types: dict[tuple[str, str], list[str]] = {}
    for link in sample.links:
        types.setdefault((link.source, link.target), []).append(link.type)
    with plain_style():
        figure, axes = blank_figure(width, height)
        colours = type_colours(link.type for link in sample.links if link.type != COMPLETE)
        for pair, kinds in types.items():
            _draw_link(axes, [points[stop] for stop in ways[pair]], colours.get(kinds[0], NEUTRAL))
        for pair, kinds in types.items():
            if kinds != [COMPLETE]:
                _draw_types(axes, [points[stop] for stop in ways[pair]], kinds)
        for tool in sample.nodes:
            _draw_box(axes, tool, points[tool, tool, columns[tool]])
        return save(figure, path, dpi=110)


def _columns(sample: Sample) -> dict[str, int]:
    """The column of each tool: its topological generation."""
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_nodes_from(sample.nodes)
    graph.add_edges_from((link.source, link.target) for link in sample.links)
    generations = networkx.topological_generations(graph)
    return {tool: number for number, tools in enumerate(generations) for tool in tools}


def _way(source: str, target: str, columns: Mapping[str, int]) -> list[Stop]:
    """The route of a link: both boxes, and a free place in each column between them.

    The free places keep a long link from crossing boxes (Sugiyama, Tagawa and Toda 1981).
    """
    between = range(columns[source] + 1, columns[target])
    passing = [(source, target, column) for column in between]
    return [(source, source, columns[source]), *passing, (target, target, columns[target])]


def _arrange(
    sample: Sample, columns: Mapping[str, int], ways: Mapping[tuple[str, str], list[Stop]]
) -> dict[Stop, Point]:
    """The centre of each stop; the stops of a column are in the order of those that lead to them."""
    stops = [(tool, tool, columns[tool]) for tool in sample.nodes]
    stops += [stop for way in ways.values() for stop in way[1:-1]]
    before: dict[Stop, list[Stop]] = {stop: [] for stop in stops}
    for way in ways.values():
        for stop, following in pairwise(way):
            before[following].append(stop)
    by_column = [[stop for stop in stops if stop[2] == column] for column in range(max(columns.values()) + 1)]
    middle = (max(map(len, by_column)) - 1) / 2
    points: dict[Stop, Point] = {}
    for number, column in enumerate(by_column):
        # One pass of the barycentre method: a stop is as high as the mean of those that lead to it.
        column.sort(key=lambda stop: -_mean([points[item][1] for item in before[stop]]))
        x = _MARGIN + _BOX_WIDTH / 2 + number * _COLUMN
        for place, stop in enumerate(column):
            row = middle + (len(column) - 1) / 2 - place
            points[stop] = (x, _MARGIN + _BOX_HEIGHT / 2 + row * _ROW)
    return points


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _ends(points: Sequence[Point]) -> list[Point]:
    """The points of a link, from the right side of its first box to the left side of its last.

    In the columns between, it is level over the width of a box, so that it cuts no corner of a box.
    """
    (ax, ay), *between, (bx, by) = points
    half = _BOX_WIDTH / 2
    passing = [(x + side, y) for x, y in between for side in (-half, half)]
    return [(ax + half, ay), *passing, (bx - half - 0.03, by)]


def _draw_link(axes: Axes, points: Sequence[Point], colour: str) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    through = _ends(points)
    vertices, codes = [through[0]], [Curve.MOVETO]
    for (ax, ay), (bx, by) in pairwise(through):
        half = (ax + bx) / 2
        vertices += [(half, ay), (half, by), (bx, by)]
        codes += [Curve.CURVE4] * 3
    axes.add_patch(
        FancyArrowPatch(
            path=Curve(vertices, codes),
            arrowstyle="-|>",
            mutation_scale=13,
            linewidth=1.6,
            color=colour,
            zorder=1,
        )
    )


def _draw_types(axes: Axes, points: Sequence[Point], types: Sequence[str]) -> None:
    (ax, ay), (bx, by) = _ends(points)[:2]
    # Nearer the source, where links to one target are still apart.
    part = 0.4
    eased = 3 * part**2 * (1 - part) + part**3
    place = (ax + (1.5 * part * (1 - part) + part**3) * (bx - ax), ay + eased * (by - ay))
    text = textwrap.fill(one_line(", ".join(types)), 12)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    axes.text(*place, text, fontsize=8, color=INK, ha="center", va="center", bbox=box, gid="type", zorder=2)


def _draw_box(axes: Axes, tool: str, middle: Point) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y = middle
    corner = (x - _BOX_WIDTH / 2, y - _BOX_HEIGHT / 2)
    axes.add_patch(
        FancyBboxPatch(
            corner,
            _BOX_WIDTH,
            _BOX_HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor="#EEF2F7",
            edgecolor="#9AA5B4",
            zorder=3,
        )
    )
    axes.text(x, y, box_text(tool), fontsize=9, color=INK, ha="center", va="center", gid="tool", zorder=4)


def box_text(name: str) -> str:
    r"""A tool's name on up to three lines of 19 characters; an underscore may end a line.

    >>> box_text("share_by_social_network")
    'share_by_social_\nnetwork'
    """
    parts = one_line(name, longest=50).replace("_", "_\u200b").replace("-", "-\u200b")
    lines: list[str] = [""]
    for word in parts.replace(" ", " \u200b").split("\u200b"):
        if lines[-1] and len((lines[-1] + word).rstrip()) > _LETTERS:
            lines.append("")
        lines[-1] += word
    broken = [piece for line in lines for piece in textwrap.wrap(line, _LETTERS)]
    return "\n".join(broken if len(broken) <= 3 else [*broken[:2], f"{broken[2][: _LETTERS - 1]}…"])
