"""Dependencies: the links of a schema graph, each with a score, the fields that flow, reasons and its origin.

A dependency says that a result of one tool can fill arguments of another. There is at most one for each
ordered pair of tools.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import line_of_item, read_json
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
        further: Other keys of its object, such as `pinned`, the `model` that proposed it, `when` it holds.
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
        link, further = converted(value, _Link)
        fields = filled_by(link.fields or ())
        shared = tuple(FieldPair(pair.start, pair.end) for pair in link.shared or ())
        type_ = link.type or (fields[0].target if fields else ORDER)
        return cls(
            link.source,
            link.target,
            type_,
            link.score,
            fields,
            tuple(link.reasons or ()),
            link.kind,
            link.origin,
            link.count,
            shared,
            further,
        )

    def with_further(self, **values: Any) -> Dependency:
        """A copy with further keys; None removes a key."""
        kept = {**dict(self.further), **values}
        return replace(self, further=tuple((key, item) for key, item in kept.items() if item is not None))


Form = TypeVar("Form", bound=msgspec.Struct)
Item = TypeVar("Item")
Further = tuple[tuple[str, Any], ...]


def converted(value: Any, form: type[Form]) -> tuple[Form, Further]:
    """An object of a file in its form, and its other keys.

    Raises:
        ValueError: A key has a value that it cannot have; the message names it.
    """
    try:
        parsed = msgspec.convert(value, form)
    except msgspec.ValidationError as error:
        raise ValueError(str(error).replace("`", "'")) from None
    return parsed, tuple((key, item) for key, item in value.items() if key not in form.__struct_fields__)


def read_items(path: Path, key: str, read: Callable[[Any], Item], *, fix: str) -> list[Item]:
    """The items of a list in a JSON file.

    Args:
        path: The file, an object.
        key: The key of the list, a noun in the plural.
        read: Reads an item; raises ValueError if it cannot.
        fix: What to do about a malformed file.

    Raises:
        UsageError: The file is missing or malformed (with the line).
    """
    value = read_json(path, fix=fix)
    items = value.get(key) if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise UsageError(f"has no list '{key}'", file=path, fix=fix)
    read_so_far = []
    for number, item in enumerate(items, start=1):
        try:
            read_so_far.append(read(item))
        except ValueError as error:
            what = f"{key[:-1]} {number}: {error}"
            line = line_of_item(path, key, number)
            raise UsageError(what, file=path, line=line, fix=fix) from None
    return read_so_far


class WrittenPair(msgspec.Struct, frozen=True):
    """A value that flows, as a file has it."""

    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")


def filled_by(pairs: Iterable[WrittenPair]) -> tuple[FieldPair, ...]:
    """The values that flow.

    Raises:
        ValueError: Two of them fill one argument.
    """
    fields = tuple(FieldPair(pair.start, pair.end) for pair in pairs)
    if len({pair.target for pair in fields}) < len(fields):
        raise ValueError("'fields' fill an argument twice")
    return fields


class _Link(msgspec.Struct, frozen=True):
    """The form of a link in a file; null is as good as absent for lists and the type."""

    source: str
    target: str
    type: str | None = None
    score: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    fields: list[WrittenPair] | None = None
    reasons: list[str] | None = None
    kind: Kind = "dependency"
    origin: Origin = "user"
    count: Annotated[int, msgspec.Meta(ge=0)] = 0
    shared: list[WrittenPair] | None = None


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
            (numbers[dependency.source], numbers[dependency.target]): dependency
            for dependency in dependencies
            if dependency.source != dependency.target
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
    links_from: dict[str, int] = {}
    most = math.inf if max_edges_per_tool is None else max_edges_per_tool
    for link in sorted(dependencies, key=lambda dependency: (not is_pinned(dependency), -dependency.score)):
        if is_pinned(link) or (link.score >= min_confidence and links_from.get(link.source, 0) < most):
            kept.append(link)
            links_from[link.source] = links_from.get(link.source, 0) + 1
    return kept


def fields_of(link: Dependency) -> tuple[FieldPair, ...]:
    """The values that flow through a link; none if only the order of its tools is known."""
    return link.fields if link.kind == "dependency" else ()


def is_pinned(link: Dependency) -> bool:
    """Whether a person decided on a link, so that no rule removes it."""
    return link.origin == "user" or bool(dict(link.further).get("pinned"))


def condition_of(link: Dependency) -> str:
    """Under which condition a proposed link holds; empty if it always does."""
    return str(dict(link.further).get("when") or "")
