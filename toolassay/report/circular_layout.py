"""A circular layout: tools with the same output type side by side, and links bundled between these groups.

The bundling follows hierarchical edge bundling (Holten 2006): a link is a curve drawn towards the middles of
the two groups that it connects, so that links between the same groups run together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from toolassay.report.style import given_type, types_by_use
from toolassay.tools import ToolLibrary

Point = tuple[float, float]

_BUNDLE_RADIUS = 0.42  # where links bundle: a share of the radius of the circle


@dataclass(frozen=True, slots=True)
class CirclePlace:
    """The place of a tool.

    Attributes:
        angle: in radians, counter-clockwise from the right.
        ring: number of its ring, from 0.
        group: its output type.
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
        start, end = self.places[source], self.places[target]
        (ax, ay), (bx, by) = start.at(radius), end.at(radius)
        straight = max(self.widths[start.group], self.widths[end.group]) / math.tau
        points = []
        for place, part in ((start, 1 / 3), (end, 2 / 3)):
            x, y = self._bundle(place).at(radius * _BUNDLE_RADIUS)
            points.append(
                (
                    straight * (ax + part * (bx - ax)) + (1 - straight) * x,
                    straight * (ay + part * (by - ay)) + (1 - straight) * y,
                )
            )
        return points[0], points[1]

    def _bundle(self, place: CirclePlace) -> CirclePlace:
        """A third of the way from the middle of the tool's group to the tool's own angle."""
        middle = self.middles[place.group]
        turn = math.remainder(place.angle - middle, math.tau)
        return CirclePlace(middle + turn / 3, place.ring, place.group)


def arrange(library: ToolLibrary, *, rings: int = 1) -> Circle:
    """Place the tools by their output type (most used first, none last), then by their input types.

    Args:
        library: the tools.
        rings: the number of rings over which neighbours alternate, for libraries too large for one.
    """
    import networkx

    types = {kind: number for number, kind in enumerate(types_by_use(library))}
    last = len(types)
    tools = sorted(
        library.tools,
        key=lambda tool: (
            types.get(given_type(tool), last),
            tuple(types.get(kind, last) for kind in tool.inputs),
            library.index(tool.id),
        ),
    )
    slots: list[tuple[str, str]] = []
    groups = list(dict.fromkeys(given_type(tool) for tool in tools))
    for group in groups:
        slots += [("tool", tool.id) for tool in tools if given_type(tool) == group]
        if len(groups) > 1:
            slots += [("gap", f"{group} {number}") for number in range(_gap(len(tools)))]
    # Full turns of all rings: the last tool of a ring is as far from its first as other neighbours are.
    slots += [("gap", f"end {number}") for number in range(-len(slots) % rings)]
    around = networkx.circular_layout(networkx.empty_graph(slots))
    places: dict[str, CirclePlace] = {}
    for number, (kind, name) in enumerate(slots):
        if kind == "tool":
            x, y = around[kind, name]
            # Swapping x and y starts at the top and turns clockwise.
            places[name] = CirclePlace(math.atan2(x, y), number % rings, given_type(library[name]))
    members: dict[str, list[CirclePlace]] = {}
    for place in places.values():
        members.setdefault(place.group, []).append(place)
    widths = {group: (items[0].angle - items[-1].angle) % math.tau for group, items in members.items()}
    middles = {group: items[0].angle - widths[group] / 2 for group, items in members.items()}
    return Circle(places, middles, widths, len(slots))


def _gap(tools: int) -> int:
    return max(1, tools // 60)
