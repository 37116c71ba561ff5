"""Where a drawing places the tools: groups of tools, circles of groups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolassay.graph import ToolGraph
from toolassay.report.style import ACCENT, NO_TYPE, given_type, is_complete, type_colours, types_by_use
from toolassay.tools import Tool, ToolLibrary

# Of N tools, at most this share may be groups: more groups than that would tell nothing.
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
    for noun, group_of in (("tag", _tag), ("server", _server), ("path", _path_part(library))):
        groups = {tool.id: group_of(tool) for tool in library}
        sizes = Counter(groups.values())
        if 1 < len(sizes) <= max(2, _MOST_GROUPS * len(library)):
            # The largest groups get the colours; tools without a group are last.
            names = sorted(sizes, key=lambda name: (name == NO_TYPE, -sizes[name], name))
            return ToolGroups(noun, groups, type_colours(names))
    return ToolGroups("", dict.fromkeys(library.ids, NO_TYPE), {NO_TYPE: ACCENT})


def _tag(tool: Tool) -> str:
    return tool.tags[0] if tool.tags else NO_TYPE


def _server(tool: Tool) -> str:
    return _text(tool.source, "server")


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

_BUNDLE_RADIUS = 0.42  # where links bundle: a share of the radius of the circle


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


@dataclass(frozen=True)
class Circle:
    """The places of tools, clockwise from the top.

    Attributes:
        places: the place of each tool.
        middles: the angle of the middle of each group.
        widths: the angle that each group spans.
        slots: the number of places, with the empty ones between groups.
    """

    places: Mapping[str, CirclePlace]
    middles: Mapping[str, float]
    widths: Mapping[str, float]
    slots: int

    def controls(self, source: str, target: str, radius: float) -> tuple[Point, Point]:
        """The two control points of a link's cubic Bézier curve.

        The wider the two groups are, the straighter the link: links of groups that fill the circle would all
        meet in the centre.
        """
        (ax, ay), (bx, by) = (self.places[tool].at(radius) for tool in (source, target))
        straight = max(self.straightness(source), self.straightness(target))
        points = []
        for tool, part in ((source, 1 / 3), (target, 2 / 3)):
            x, y = self.bend(tool, radius)
            points.append(
                (
                    straight * (ax + part * (bx - ax)) + (1 - straight) * x,
                    straight * (ay + part * (by - ay)) + (1 - straight) * y,
                )
            )
        return points[0], points[1]

    def straightness(self, tool: str) -> float:
        """How straight the links of a tool are, from 0 to 1: the share of the circle that its group spans."""
        return self.widths[self.places[tool].group] / math.tau

    def bend(self, tool: str, radius: float) -> Point:
        """The point towards which the links of a tool bend.

        Its angle is a third of the way from the middle of the tool's group to the tool's own angle.
        """
        place = self.places[tool]
        middle = self.middles[place.group]
        turn = math.remainder(place.angle - middle, math.tau)
        return CirclePlace(middle + turn / 3, place.ring, place.group).at(radius * _BUNDLE_RADIUS)


def arrange(library: ToolLibrary, *, rings: int = 1, groups: ToolGroups | None = None) -> Circle:
    """Place the tools by their group, then by their input types.

    Args:
        library: the tools.
        rings: the number of rings over which neighbours alternate, for libraries too large for one.
        groups: the groups of the tools [default: their output types, most used first, none last].
    """
    import networkx

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
    slots: list[tuple[str, str]] = []
    for group, names in members.items():
        slots += [("tool", name) for name in names]
        if len(members) > 1:
            slots += [("gap", f"{group} {number}") for number in range(_gap(len(tools)))]
    # Full turns of all rings: the last tool of a ring is as far from its first as other neighbours are.
    slots += [("gap", f"end {number}") for number in range(-len(slots) % rings)]
    around = networkx.circular_layout(networkx.empty_graph(slots))
    places: dict[str, CirclePlace] = {}
    for number, (kind, name) in enumerate(slots):
        if kind == "tool":
            x, y = around[kind, name]
            # Swapping x and y starts at the top and turns clockwise.
            places[name] = CirclePlace(math.atan2(x, y), number % rings, group_of[name])
    ends = {group: (places[names[0]].angle, places[names[-1]].angle) for group, names in members.items()}
    widths = {group: (first - end) % math.tau for group, (first, end) in ends.items()}
    middles = {group: first - widths[group] / 2 for group, (first, _) in ends.items()}
    return Circle(places, middles, widths, len(slots))


def _gap(tools: int) -> int:
    return max(1, tools // 60)
