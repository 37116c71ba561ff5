"""A picture of one sampled subgraph: boxes from left to right, and arrows with the types of the links."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from toolassay.dataset import Sample
from toolassay.graph.links import COMPLETE
from toolassay.report.style import INK, NEUTRAL, blank_figure, one_line, plain_style, save, type_colours

# In inches.
_BOX_WIDTH, _BOX_HEIGHT = 1.5, 0.62
_COLUMN, _ROW, _MARGIN = 2.35, 0.95, 0.2
_LETTERS = 19  # characters on a line of a box

Point = tuple[float, float]
# A point on the route of a link: (source, target, column); the box of a tool is (tool, tool, 0).
Stop = tuple[str, str, int]
_CENTRED: dict[str, Any] = {"color": INK, "ha": "center", "va": "center"}


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
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path as Curve

    boxes, ways = arrange(sample)
    points = [*boxes.values(), *(point for way in ways.values() for point in way)]
    width, height = (max(one[axis] for one in points) for axis in (0, 1))
    types: dict[tuple[str, str], list[str]] = {}
    for link in sample.links:
        types.setdefault((link.source, link.target), []).append(link.type)
    with plain_style():
        figure, axes = blank_figure(width + _BOX_WIDTH / 2 + _MARGIN, height + _BOX_HEIGHT / 2 + _MARGIN)
        colours = type_colours(link.type for link in sample.links if link.type != COMPLETE)
        for pair, kinds in types.items():
            way = ways[pair]
            vertices, codes = [way[0]], [Curve.MOVETO]
            for (ax, ay), (bx, by) in pairwise(way):
                vertices += [((ax + bx) / 2, ay), ((ax + bx) / 2, by), (bx, by)]
                codes += [Curve.CURVE4] * 3
            arrow: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 13, "linewidth": 1.6, "zorder": 1}
            colour = colours.get(kinds[0], NEUTRAL)
            axes.add_patch(FancyArrowPatch(path=Curve(vertices, codes), color=colour, **arrow))
            if kinds != [COMPLETE]:
                # On the first curve, nearer the source, where links to one target are still apart.
                part, ((ax, ay), (bx, by)) = 0.4, way[:2]
                eased, along = 3 * part**2 * (1 - part), 1.5 * part * (1 - part)
                x, y = ax + (along + part**3) * (bx - ax), ay + (eased + part**3) * (by - ay)
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
                text = textwrap.fill(one_line(", ".join(kinds)), 12)
                axes.text(x, y, text, fontsize=8, bbox=box, gid="type", zorder=2, **_CENTRED)
        for tool, (x, y) in boxes.items():
            corner = (x - _BOX_WIDTH / 2, y - _BOX_HEIGHT / 2)
            look: dict[str, Any] = {
                "boxstyle": "round,pad=0,rounding_size=0.08",
                "facecolor": "#EEF2F7",
                "edgecolor": "#9AA5B4",
            }
            axes.add_patch(FancyBboxPatch(corner, _BOX_WIDTH, _BOX_HEIGHT, zorder=3, **look))
            axes.text(x, y, box_text(tool), fontsize=9, gid="tool", zorder=4, **_CENTRED)
        return save(figure, path, dpi=110)


def arrange(sample: Sample) -> tuple[dict[str, Point], dict[tuple[str, str], list[Point]]]:
    """The centre of each tool's box, and the points of each link from the edge of one box to that of another.

    The columns are topological generations. A long link has a free place in each column between, which keeps
    it from crossing boxes (Sugiyama, Tagawa and Toda 1981); there it is level over the width of a box.
    """
    import networkx

    graph: networkx.DiGraph[Stop] = networkx.DiGraph()
    graph.add_nodes_from((tool, tool, 0) for tool in sample.nodes)
    graph.add_edges_from(((link.source,) * 2 + (0,), (link.target,) * 2 + (0,)) for link in sample.links)
    generations = list(networkx.topological_generations(graph))
    columns = {tool: number for number, stops in enumerate(generations) for tool, _, _ in stops}
    ways = {}
    by_column: list[list[Stop]] = [list(stops) for stops in generations]
    before: dict[Stop, list[Stop]] = {}
    for link in sample.links:
        pair = link.source, link.target
        if pair not in ways:
            passing = [(*pair, column) for column in range(columns[pair[0]] + 1, columns[pair[1]])]
            ways[pair] = [(pair[0], pair[0], 0), *passing, (pair[1], pair[1], 0)]
            for stop in passing:
                by_column[stop[2]].append(stop)
            for stop, following in pairwise(ways[pair]):
                before.setdefault(following, []).append(stop)
    middle = (max(map(len, by_column)) - 1) / 2
    places: dict[Stop, Point] = {}
    for number, column in enumerate(by_column):
        # One pass of the barycentre method: a stop is as high as the mean of those that lead to it.
        column.sort(key=lambda stop: -fmean([places[one][1] for one in before.get(stop, ())] or [0.0]))
        x = _MARGIN + _BOX_WIDTH / 2 + number * _COLUMN
        for place, stop in enumerate(column):
            row = middle + (len(column) - 1) / 2 - place
            places[stop] = (x, _MARGIN + _BOX_HEIGHT / 2 + row * _ROW)
    half = _BOX_WIDTH / 2
    routes = {}
    for pair, way in ways.items():
        (ax, ay), *between, (bx, by) = (places[stop] for stop in way)
        level = [(x + side, y) for x, y in between for side in (-half, half)]
        routes[pair] = [(ax + half, ay), *level, (bx - half - 0.03, by)]
    return {tool: places[tool, tool, 0] for tool in sample.nodes}, routes


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
