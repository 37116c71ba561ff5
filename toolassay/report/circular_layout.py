"""A circular layout: tools of a group side by side, and links bundled between the groups.

The bundling follows hierarchical edge bundling (Holten 2006): a link is a curve drawn towards the middles of
the two groups that it connects, so that links between the same groups run together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from toolassay.report.style import given_type, types_by_use
from toolassay.report.tool_groups import ToolGroups
from toolassay.tools import ToolLibrary

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
