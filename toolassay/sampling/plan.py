"""A subgraph under construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from toolassay.graph.links import NumberedLink
from toolassay.sampling.search import Neighbours


class Plan:
    """A subgraph under construction: connected, acyclic, no input slot fed twice."""

    def __init__(self, neighbours: Neighbours, first: int) -> None:
        self.neighbours = neighbours
        self.nodes = [first]
        self.inside = {first}
        self.links: list[NumberedLink] = []
        self._fed: Counter[tuple[int, str]] = Counter()
        self._fed_tools: set[int] = set()
        self._after: dict[int, list[int]] = {first: []}

    def type_for(self, source: int, target: int) -> str | None:
        """The type of a link that may still be drawn from `source` to `target`, or None."""
        for kind in self.neighbours.types(source, target):
            if self._fed[target, kind] < self.neighbours.slots(target, kind):
                return kind
        return None

    def givers(self, tool: int) -> Sequence[int]:
        """Where to look for a tool that can still feed `tool`; some that cannot may be among them."""
        if not self.neighbours.limits or tool not in self._fed_tools:
            return self.neighbours.before(tool)
        free = [
            kind
            for kind in self.neighbours.kinds(tool)
            if self._fed[tool, kind] < self.neighbours.slots(tool, kind)
        ]
        return self.neighbours.before_by(tool, free) if free else ()

    def link(self, source: int, target: int) -> bool:
        """Draw a link (adding the tool that is new) if a slot is free and no cycle comes of it."""
        kind = self.type_for(source, target)
        if kind is None or target in self._after.get(source, ()):
            return False
        if source in self.inside and target in self.inside and self._reaches(target, source):
            return False
        self.add(NumberedLink(source, target, kind))
        return True

    def add(self, link: NumberedLink) -> None:
        """Draw a link that is known to fit."""
        for tool in (link.source, link.target):
            if tool not in self.inside:
                self.inside.add(tool)
                self.nodes.append(tool)
                self._after[tool] = []
        self.links.append(link)
        self._fed[link.target, link.type] += 1
        self._fed_tools.add(link.target)
        self._after[link.source].append(link.target)

    def _reaches(self, start: int, goal: int) -> bool:
        waiting, seen = [start], {start}
        while waiting:
            tool = waiting.pop()
            if tool == goal:
                return True
            for following in self._after[tool]:
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return False

    def ordered(self) -> tuple[int, ...]:
        """The tools in an order in which every link points forward; ties as they were added."""
        waiting = Counter(link.target for link in self.links)
        ready = [tool for tool in self.nodes if not waiting[tool]]
        order: list[int] = []
        while ready:
            tool = ready.pop(0)
            order.append(tool)
            for following in self._after[tool]:
                waiting[following] -= 1
                if not waiting[following]:
                    ready.append(following)
        return tuple(order)
