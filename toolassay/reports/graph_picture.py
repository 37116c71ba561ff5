"""The picture of a tool graph: `graph_desc.png` and `graph_desc.pdf`.

A small graph is drawn tool by tool, on a circle, grouped and coloured by output type. A link is a curve that
gets thinner from its source to its target: with many links, a taper shows the direction better than an arrow
head (Holten and van Wijk, "A user study on visualizing directed edges in graphs", 2009).

Of a large graph, the tools with the most links are drawn; the page `graph_desc.html` shows all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolassay.console.text_formatting import count_of
from toolassay.graph import ToolGraph
from toolassay.reports.style import (
    ACCENT,
    INK,
    NEUTRAL,
    NO_TYPE,
    QUIET,
    blank_figure,
    given_type,
    is_complete,
    one_line,
    plain_style,
    save,
    text_width,
    type_colours,
    types_by_use,
)
from toolassay.tools.library import Tool, ToolLibrary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Of N tools, at most this share may be groups: more groups than that would show nothing.
_MOST_GROUPS = 0.6


@dataclass(frozen=True)
class ToolGroups:
    """The groups of a library's tools.

    Attributes:
        noun: What a group is: "type" (of the first output), "tag", "server" or "path"; "" if all tools are in
            one group.
        of: The group of each tool.
        colours: The colour of each group, in the order in which groups are drawn and listed.
    """

    noun: str
    of: Mapping[str, str]
    colours: Mapping[str, str]

    def links(self, graph: ToolGraph) -> Counter[tuple[str, str]]:
        """The number of listed links from each group to each group."""
        groups = [self.of[tool] for tool in graph.library.ids]
        return Counter((groups[source], groups[target]) for source, target, _ in graph.numbered)


def tool_groups(graph: ToolGraph) -> ToolGroups:
    """The groups of a graph's tools.

    In a resource or temporal graph, the types of their first outputs. In a schema graph the first of these
    that separates the tools: their first tag, their server, the first part of their path that differs.
    """
    library = graph.library
    if graph.dependency_type != "schema":
        colours = type_colours([*types_by_use(library), NO_TYPE])
        if not library.has_types:
            colours[NO_TYPE] = ACCENT
        return ToolGroups("type", {tool.id: given_type(tool) for tool in library}, colours)
    ways: dict[str, Callable[[Tool], str]] = {
        "tag": lambda tool: tool.tags[0] if tool.tags else NO_TYPE,
        "server": lambda tool: _text(tool.source, "server"),
        "path": _path_part(library),
    }
    for noun, group_of in ways.items():
        groups = {tool.id: group_of(tool) for tool in library}
        sizes = Counter(groups.values())
        if 1 < len(sizes) <= max(2, _MOST_GROUPS * len(library)):
            # The largest groups get the colours; tools without a group are last.
            names = sorted(sizes, key=lambda name: (name == NO_TYPE, -sizes[name], name))
            return ToolGroups(noun, groups, type_colours(names))
    return ToolGroups("", dict.fromkeys(library.ids, NO_TYPE), {NO_TYPE: ACCENT})


def _path_part(library: ToolLibrary) -> Callable[[Tool], str]:
    """The function that gives the first part of a tool's path that not all tools share.

    Of `/v1/movie/{id}` and `/v1/search`, these are "movie" and "search".
    """
    paths = {tool.id: _text(tool.source, "path").strip("/").split("/") for tool in library}
    shared = 0
    while all(len(parts) > shared + 1 for parts in paths.values()) and (
        len({parts[shared] for parts in paths.values()}) == 1
    ):
        shared += 1
    return lambda tool: paths[tool.id][shared]


def _text(source: Mapping[str, Any], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else NO_TYPE


@dataclass(frozen=True)
class TypeCounts:
    """Counts by type.

    Attributes:
        givers: tools with the type among their outputs.
        takers: tools with the type among their inputs.
        links: links of the type; empty for a complete graph.
    """

    givers: Counter[str]
    takers: Counter[str]
    links: Counter[str]


def type_counts(graph: ToolGraph) -> TypeCounts:
    """Count tools and links by type; links that the types imply are counted without listing them."""
    givers: Counter[str] = Counter()
    takers: Counter[str] = Counter()
    loops: Counter[str] = Counter()
    for tool in graph.library:
        givers.update(set(tool.outputs))
        takers.update(set(tool.inputs))
        loops.update(set(tool.outputs) & set(tool.inputs))
    if is_complete(graph):
        links: Counter[str] = Counter()
    elif graph.is_implied:
        links = Counter({kind: givers[kind] * takers[kind] - loops[kind] for kind in givers})
    else:
        links = Counter(kind for _, _, kind in graph.numbered)
    return TypeCounts(givers, takers, links)


Point = tuple[float, float]

_BUNDLE_RADIUS = 0.42  # towards which links bend: a share of the radius of the circle


@dataclass(frozen=True, slots=True)
class CirclePlace:
    """The place of a tool.

    Attributes:
        angle: in radians, counter-clockwise from the right.
        ring: number of its ring, from 0.
        group: its group, by default its output type.
    """

    angle: float
    ring: int
    group: str

    def at(self, radius: float) -> Point:
        """The point at this angle, `radius` from the centre."""
        return radius * math.cos(self.angle), radius * math.sin(self.angle)


class Circle(NamedTuple):
    """The places of tools, clockwise from the top.

    Attributes:
        places: the place of each tool.
        slots: the number of places, with the empty ones between groups.
    """

    places: Mapping[str, CirclePlace]
    slots: int


def arrange(library: ToolLibrary, *, rings: int = 1, groups: ToolGroups | None = None) -> Circle:
    """Place the tools by their group, then by their input types.

    Args:
        library: the tools.
        rings: the number of rings over which neighbours alternate, for libraries too large for one.
        groups: the groups of the tools [default: their output types, most used first, none last].
    """
    types = {kind: number for number, kind in enumerate(types_by_use(library))}
    last = len(types)
    group_of = {tool.id: given_type(tool) for tool in library} if groups is None else groups.of
    ranks = types if groups is None else {group: number for number, group in enumerate(groups.colours)}
    tools = sorted(
        library.tools,
        key=lambda tool: (
            ranks.get(group_of[tool.id], len(ranks)),
            tuple(types.get(kind, last) for kind in tool.inputs),
            library.index(tool.id),
        ),
    )
    members: dict[str, list[str]] = {}
    for tool in tools:
        members.setdefault(group_of[tool.id], []).append(tool.id)
    slots: list[str | None] = []
    for names in members.values():
        slots += names
        if len(members) > 1:
            slots += [None] * max(1, len(tools) // 60)
    # Full turns of all rings: the last tool of a ring is as far from its first as other neighbours are.
    slots += [None] * (-len(slots) % rings)
    positions = {
        name: CirclePlace(math.pi / 2 - math.tau * number / len(slots), number % rings, group_of[name])
        for number, name in enumerate(slots)
        if name is not None
    }
    return Circle(positions, len(slots))


# Of more tools those with the most links are drawn: names around the circle must stay legible.
MOST_TOOLS = 200
MOST_LINKS = 4_000
# Sizes of letters in points.
_LABEL = 9.0
_LEGEND = 9.5
# In inches.
_MARGIN = 0.35
_FOOT = 0.55
_LEGEND_ROW = 0.25
_NARROWEST = 8.0
_AWAY = 0.14
_THICK = 0.034
_THIN = 0.006
# Points at which a curve is computed, as the parameter of its Bézier form.
_STEPS = np.linspace(0.0, 1.0, 25)[:, None]


def draw_graph(graph: ToolGraph, folder: Path) -> list[Path]:
    """Draw a tool graph; the same graph gives the same bytes.

    Of more than `MOST_TOOLS` tools those with the most links are drawn.

    Args:
        graph: the tool graph.
        folder: where `graph_desc.png` and `graph_desc.pdf` are written; created if missing.

    Returns:
        The two files.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    note = ""
    if len(graph) > MOST_TOOLS:
        note = f"The {MOST_TOOLS} tools with the most links, of {count_of(len(graph), 'tool')}."
        graph = graph.within(_most_linked(graph))
    with plain_style():
        figure = draw_tools(graph, note=note)
        return [save(figure, folder / f"graph_desc.{kind}", dpi=150) for kind in ("png", "pdf")]


def _most_linked(graph: ToolGraph) -> set[str]:
    counts = type_counts(graph)
    ids = graph.library.ids
    uses = Counter[str]()
    for tool in graph.library:
        uses[tool.id] = sum(counts.takers[kind] for kind in tool.outputs) if graph.is_implied else 0
        uses[tool.id] += sum(counts.givers[kind] for kind in tool.inputs) if graph.is_implied else 0
    if not graph.is_implied:
        uses.update(ids[end] for source, target, _ in graph.numbered for end in (source, target))
    return {tool for tool, _ in uses.most_common(MOST_TOOLS)}


# Tool by tool


class _Line(NamedTuple):
    """A drawn link; `width` is a share of the widest."""

    source: str
    target: str
    colour: str
    opacity: float
    width: float
    is_dashed: bool = False


def draw_tools(graph: ToolGraph, *, most_links: int = MOST_LINKS, note: str = "") -> Figure:
    """Draw a graph tool by tool; every label is a text with the gid "tool".

    Args:
        graph: the tool graph.
        most_links: the number of links to draw, the most important first; a complete graph has all.
        note: what the caption begins with.
    """
    groups = tool_groups(graph)
    circle = arrange(graph.library, groups=groups)
    names = {tool.id: one_line(tool.id) for tool in graph.library}
    radius = max(circle.slots * 1.35 * _LABEL / 72 / math.tau, min(3.0, 1.0 + 0.07 * circle.slots))
    # How far the labels extend from the centre.
    labels = [
        position.at(radius + _AWAY + 0.1 + text_width(names[tool], _LABEL))
        for tool, position in circle.places.items()
    ]
    across, up = zip((0.0, 0.0), *labels, strict=True)
    width = max(_NARROWEST, max(across) - min(across) + 2 * _MARGIN)
    legend = list(_legend(graph, groups))
    column = max((0.5 + text_width(text, _LEGEND) for _, text in legend), default=1.0)
    columns = max(1, int((width - 2 * _MARGIN) / column))
    top = max(up) - min(up) + _FOOT + 1.05 + _LEGEND_ROW * math.ceil(len(legend) / columns)
    figure, axes = blank_figure(width, top)
    middle = np.array([(width - min(across) - max(across)) / 2, _FOOT - min(up)])
    if is_complete(graph):
        from matplotlib.collections import LineCollection

        pairs = list(combinations([middle + position.at(radius) for position in circle.places.values()], 2))
        look: dict[str, Any] = {"linewidths": 0.7, "alpha": _alpha(len(pairs)), "zorder": 1}
        axes.add_collection(LineCollection(pairs, colors=NEUTRAL, **look))
    else:
        _draw_lines(axes, _lines(graph, groups, most_links), circle, middle, radius)
    for tool, position in circle.places.items():
        axes.plot(
            *(middle + position.at(radius)),
            "o",
            markersize=9,
            color=groups.colours[groups.of[tool]],
            markeredgecolor="white",
            zorder=4,
        )
        is_on_left = math.cos(position.angle) < -1e-9  # a name runs along its radius, never upside down
        x, y = middle + position.at(radius + _AWAY)
        axes.text(
            x,
            y,
            names[tool],
            fontsize=_LABEL,
            color=INK,
            rotation=math.degrees(position.angle) + (180 if is_on_left else 0),
            rotation_mode="anchor",
            ha="right" if is_on_left else "left",
            va="center_baseline",
            gid="tool",
            zorder=5,
        )
    for number, (colour, text) in enumerate(legend):
        x = _MARGIN + 0.08 + column * (number % columns)
        y = top - 0.75 - _LEGEND_ROW * (number // columns)
        axes.plot(x, y, "o", markersize=9, color=colour)
        axes.text(x + 0.15, y, text, fontsize=_LEGEND, color=INK, va="center_baseline", gid="legend")
    number = graph.number_of_links
    drawn = f"{most_links:,} of the links are drawn." * (number > most_links and not is_complete(graph))
    title = f"{count_of(len(graph), 'tool')}, {count_of(number, 'link')}"
    axes.text(_MARGIN, top - 0.38, title, fontsize=15, color=INK, weight="bold", va="center")
    caption = " ".join(filter(None, (note, drawn, _caption(graph))))
    axes.text(_MARGIN, 0.3, caption, fontsize=_LEGEND, color=QUIET, va="center")
    return figure


def _lines(graph: ToolGraph, groups: ToolGroups, most: int) -> list[_Line]:
    """The links, the most important last, on top: rare types, and better scores.

    In a schema graph, a link is wider and darker by its score, and dashed if only the order was seen.
    """
    if graph.dependency_type != "schema":
        rank = {kind: number for number, kind in enumerate(groups.colours)}
        links = sorted(graph.links(), key=lambda link: rank.get(link.type, -1))[-most:]
        width = _width(len(links))
        alpha = _alpha(len(links))
        colours = (groups.colours.get(link.type, NEUTRAL) for link in links)
        return [
            _Line(link.source, link.target, colour, alpha, width)
            for link, colour in zip(links, colours, strict=True)
        ]
    best = sorted(graph.dependencies(), key=lambda link: -link.score)[:most][::-1]
    width = _width(len(best))
    alpha = min(0.85, 3 * _alpha(len(best)))
    weakest = min(0.4, 20 / max(1, len(best)))  # among few links, weak ones can be seen too
    return [
        _Line(
            link.source,
            link.target,
            groups.colours[groups.of[link.source]],
            alpha * (weakest + (1 - weakest) * link.score**2),
            width * (0.3 + 0.9 * link.score),
            link.kind == "observed",
        )
        for link in best
    ]


def _width(lines: int) -> float:
    return min(1.0, math.sqrt(500 / max(1, lines)))


def _alpha(lines: int) -> float:
    """The opacity of a line: with more lines each is fainter, so that the middle stays light."""
    return min(0.8, max(0.08, 8 / math.sqrt(max(1, lines))))


def _draw_lines(
    axes: Axes, lines: Iterable[_Line], circle: Circle, middle: NDArray[np.float64], radius: float
) -> None:
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import to_rgba

    shapes = []
    fills = []
    dashed = []
    colours = []
    for line in lines:
        source = circle.places[line.source]
        target = circle.places[line.target]
        inner = radius * _BUNDLE_RADIUS
        curve = bezier(source.at(radius), source.at(inner), target.at(inner), target.at(radius)) + middle
        colour = to_rgba(line.colour, line.opacity)
        if line.is_dashed:
            dashed.append(curve)
            colours.append(colour)
        else:
            shapes.append(taper(curve, line.width))
            fills.append(colour)
    axes.add_collection(PolyCollection(shapes, facecolors=fills, edgecolors="none", zorder=2))
    if dashed:
        style: dict[str, Any] = {"linewidths": 0.9, "linestyles": "dashed", "zorder": 3}
        axes.add_collection(LineCollection(dashed, colors=colours, **style))


def taper(curve: NDArray[np.float64], width: float = 1.0) -> NDArray[np.float64]:
    """The outline of a curve that gets thinner towards its end, in inches.

    >>> taper(bezier((0, 0), (1, 0), (2, 0), (3, 0))).shape
    (50, 2)
    """
    slope = np.gradient(curve, axis=0)
    length = np.linalg.norm(slope, axis=1, keepdims=True)
    across = np.column_stack([-slope[:, 1], slope[:, 0]]) / np.where(length == 0, 1, length)
    half = width * across * (_THICK * (1 - _STEPS) + _THIN * _STEPS) / 2
    return np.concatenate([curve + half, (curve - half)[::-1]])


def bezier(start: Point, first: Point, second: Point, end: Point) -> NDArray[np.float64]:
    """Points of a cubic Bézier curve."""
    t = _STEPS
    back = 1 - _STEPS
    a, b, c, d = (np.array(point, dtype=np.float64) for point in (start, first, second, end))
    curve: NDArray[np.float64] = back**3 * a + 3 * back**2 * t * b + 3 * back * t**2 * c + t**3 * d
    return curve


def _legend(graph: ToolGraph, groups: ToolGroups) -> Iterable[tuple[str, str]]:
    """A colour and counts for each group, or each type that a tool gives or a link carries."""
    sizes = Counter(groups.of.values())
    colours = groups.colours
    own_colours = {name: colour for name, colour in colours.items() if colour != NEUTRAL}
    if graph.dependency_type == "schema":
        if not groups.noun:
            return
        for name, colour in own_colours.items():
            yield colour, f"{one_line(name, longest=24)}: {count_of(sizes[name], 'tool')}"
        if others := set(sizes) - {*own_colours, NO_TYPE}:
            tools = count_of(sum(sizes[name] for name in others), "tool")
            yield NEUTRAL, f"{count_of(len(others), f'other {groups.noun}')}: {tools}"
        if sizes[NO_TYPE]:
            yield NEUTRAL, f"no {groups.noun}: {count_of(sizes[NO_TYPE], 'tool')}"
        return
    counts = type_counts(graph)
    for kind, colour in own_colours.items():
        if counts.givers[kind] or counts.links[kind]:
            tools = count_of(counts.givers[kind], "tool")
            links = count_of(counts.links[kind], "link")
            yield colour, f"{one_line(kind, longest=24)}: {tools}, {links}"
    if neutral_types := set(colours) - {*own_colours, NO_TYPE}:
        givers = sum(not neutral_types.isdisjoint(tool.outputs) for tool in graph.library)
        yield NEUTRAL, f"{count_of(len(neutral_types), 'other type')}: {count_of(givers, 'tool')}"
    if 0 < (without := sum(not tool.outputs for tool in graph.library)) < len(graph):
        yield NEUTRAL, f"gives nothing: {count_of(without, 'tool')}"


def _caption(graph: ToolGraph) -> str:
    if is_complete(graph):
        return "Every tool can follow every other: a line is a link in both directions."
    if graph.dependency_type == "schema":
        ends = "A link runs from its thick to its thin end"
        return f"{ends}; darker: a higher score; dashed: only the order was seen."
    text = "A link runs from its thick end, the tool before, to its thin end, the tool after"
    return f"{text}{'; its colour is the type that flows' * (graph.dependency_type == 'resource')}."
