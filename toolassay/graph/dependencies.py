"""Dependencies: the links of a schema graph, each with a score, the fields that flow, reasons and its origin.

A dependency says that a result of one tool can fill arguments of another. There is at most one for each
ordered pair of tools.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import msgspec

from toolassay.graph.links import FieldPair, NumberedLink

Kind = Literal["dependency", "observed"]
Origin = Literal["schema", "description", "trace", "user", "proposed", "critic"]

ORDER = "order"
"""The type of a link that carries no value: one tool comes after another."""

DEFAULT_MIN_CONFIDENCE = 0.4
"""Least score of the links that `graph` writes."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A link of a schema graph.

    Attributes:
        source: Id of the tool that comes first.
        target: Id of the tool that takes its result.
        type: Name of what flows: the argument that it fills, or "order" if no value does.
        score: How certain the dependency is, from 0 to 1.
        fields: The values that flow, one for each argument that they fill, the most certain first.
        reasons: Why the link is there, one clause each.
        kind: "dependency" if a value flows, "observed" if only the order is known.
        origin: Where it comes from: schemas of both tools, names and descriptions, recorded calls, a person,
            a model that proposed it, or one that reviewed it (earlier versions).
        count: How often it was seen in recorded calls.
        shared: Arguments of both tools that take the same value, such as the show of which a season and then
            an episode is requested: `FieldPair(argument of the source, argument of the target)`.
        further: Other keys of its object, such as `pinned` and the `model` that proposed it.
    """

    source: str
    target: str
    type: str = ORDER
    score: float = 1.0
    fields: tuple[FieldPair, ...] = ()
    reasons: tuple[str, ...] = ()
    kind: Kind = "dependency"
    origin: Origin = "schema"
    count: int = 0
    shared: tuple[FieldPair, ...] = ()
    further: tuple[tuple[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The link as an object of `graph_desc.json`."""
        return {
            "source": self.source,
            "target": self.target,
            "type": self.type,
            "score": round(self.score, 3),
            "fields": [pair.to_json() for pair in self.fields],
            "reasons": list(self.reasons),
            "kind": self.kind,
            "origin": self.origin,
            "count": self.count,
            **({"shared": [pair.to_json() for pair in self.shared]} if self.shared else {}),
            **dict(self.further),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Dependency:
        """Read an object of `graph_desc.json`; only `source` and `target` are needed.

        Raises:
            ValueError: A key has a value that it cannot have; the message names it.
        """
        try:
            link = msgspec.convert(value, _Link)
        except msgspec.ValidationError as error:
            raise ValueError(str(error).replace("`", "'")) from None
        fields, shared = (
            tuple(FieldPair(one.start, one.end) for one in pairs or ())
            for pairs in (link.fields, link.shared)
        )
        if len({pair.target for pair in fields}) < len(fields):
            raise ValueError("'fields' fill an argument twice")
        type_ = link.type or (fields[0].target if fields else ORDER)
        further = tuple((key, item) for key, item in value.items() if key not in _Link.__struct_fields__)
        known = link.score, fields, tuple(link.reasons or ()), link.kind, link.origin, link.count
        return cls(link.source, link.target, type_, *known, shared, further)

    def with_further(self, **values: Any) -> Dependency:
        """A copy with further keys; None removes a key."""
        kept = {**dict(self.further), **values}
        return replace(self, further=tuple((key, item) for key, item in kept.items() if item is not None))


class _Pair(msgspec.Struct, frozen=True):
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")


class _Link(msgspec.Struct, frozen=True):
    """The form of a link in a file; null is as good as absent for lists and the type."""

    source: str
    target: str
    type: str | None = None
    score: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    fields: list[_Pair] | None = None
    reasons: list[str] | None = None
    kind: Kind = "dependency"
    origin: Origin = "user"
    count: Annotated[int, msgspec.Meta(ge=0)] = 0
    shared: list[_Pair] | None = None


class DependencyLinks:
    """The links of a schema graph, as adjacency lists (see `Links`).

    Args:
        ids: The ids of the tools, by number.
        dependencies: The links, whose tools must be known. Of several for a pair the last one counts;
            self-links are left out.
    """

    def __init__(self, ids: Sequence[str], dependencies: Iterable[Dependency]) -> None:
        numbers = {name: number for number, name in enumerate(ids)}
        self._links = {
            (numbers[one.source], numbers[one.target]): one
            for one in dependencies
            if one.source != one.target
        }
        self._after = [array("i") for _ in ids]
        self._before = [array("i") for _ in ids]
        for source, target in sorted(self._links):
            self._after[source].append(target)
            self._before[target].append(source)

    def count(self) -> int:
        return len(self._links)

    def successors(self, tool: int) -> Sequence[int]:
        return self._after[tool]

    def predecessors(self, tool: int) -> Sequence[int]:
        return self._before[tool]

    def types(self, source: int, target: int) -> tuple[str, ...]:
        link = self._links.get((source, target))
        return () if link is None else (link.type,)

    def get(self, source: int, target: int) -> Dependency | None:
        """The link from one tool to another, if there is one."""
        return self._links.get((source, target))

    def __iter__(self) -> Iterator[NumberedLink]:
        for source, target in sorted(self._links):
            link = self._links[source, target]
            yield NumberedLink(source, target, link.type)

    def dependencies(self) -> Iterator[Dependency]:
        """The links, by source, then target, in library order."""
        for pair in sorted(self._links):
            yield self._links[pair]


def strongest(
    dependencies: Iterable[Dependency], *, min_confidence: float = 0.0, max_edges_per_tool: int | None = None
) -> list[Dependency]:
    """The links with a sufficient score, and of each tool's outgoing links the best.

    Links of people (`origin` "user", or pinned) are always kept.

    Args:
        dependencies: The links.
        min_confidence: Least score.
        max_edges_per_tool: Maximum number of links from each tool [default: no limit]. Equal scores keep the
            order of `dependencies`.
    """
    kept: list[Dependency] = []
    taken: dict[str, int] = {}
    most = math.inf if max_edges_per_tool is None else max_edges_per_tool
    for link in sorted(dependencies, key=lambda one: (not is_pinned(one), -one.score)):
        if is_pinned(link) or (link.score >= min_confidence and taken.get(link.source, 0) < most):
            kept.append(link)
            taken[link.source] = taken.get(link.source, 0) + 1
    return kept


def fields_of(link: Dependency) -> tuple[FieldPair, ...]:
    """The values that flow through a link; none if only the order of its tools is known."""
    return link.fields if link.kind == "dependency" else ()


def is_pinned(link: Dependency) -> bool:
    """Whether a person decided on a link, so that no rule removes it."""
    return link.origin == "user" or bool(dict(link.further).get("pinned"))
