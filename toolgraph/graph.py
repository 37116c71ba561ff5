"""The tool graph: which tool's result can feed, or be followed by, which other tool.

Two kinds of dependency: *resource* (a type one tool gives is a type another takes) and *temporal*
(any order is possible). Links that the types imply are not written down until somebody asks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast, get_args

from toolgraph.errors import UsageError
from toolgraph.files import line_of, read_json
from toolgraph.links import COMPLETE, CompleteLinks, Links, ListedLinks, NumberedLink, Numbers, TypedLinks
from toolgraph.tools import ToolLibrary

DependencyType = Literal["resource", "temporal"]

DEFAULT_MAX_LINKS = 2_000_000


class Link(NamedTuple):
    """A link between tool ids; `type` is the resource that flows, or "complete" in a temporal graph."""

    source: str
    target: str
    type: str

    def to_json(self) -> dict[str, str]:
        """The link as an object of `graph_desc.json`."""
        return {"source": self.source, "target": self.target, "type": self.type}


@dataclass(frozen=True)
class ToolGraph:
    """A library with the links between its tools.

    >>> from toolgraph.tools import Tool
    >>> graph = ToolGraph.build(
    ...     ToolLibrary([Tool("speak", "", ("text",), ("audio",)), Tool("hear", "", ("audio",), ("text",))]),
    ...     "resource",
    ... )
    >>> [tuple(link) for link in graph.links()]
    [('speak', 'hear', 'audio'), ('hear', 'speak', 'text')]
    """

    library: ToolLibrary
    dependency_type: DependencyType
    numbered: Links

    def __len__(self) -> int:
        return len(self.library)

    @property
    def number_of_links(self) -> int:
        """How many links there are, counted without writing them down."""
        return self.numbered.count()

    @property
    def is_implied(self) -> bool:
        """Whether the links follow from the tools alone (rather than from a list in a file)."""
        return not isinstance(self.numbered, ListedLinks)

    def links(self) -> Iterator[Link]:
        """Every link, by source, then target, in library order."""
        ids = self.library.ids
        for source, target, kind in self.numbered:
            yield Link(ids[source], ids[target], kind)

    def link_types(self, source: str, target: str) -> tuple[str, ...]:
        """The types of the links from one tool to another; empty if there is none (or no such tool)."""
        if source not in self.library or target not in self.library:
            return ()
        return self.numbered.types(self.library.index(source), self.library.index(target))

    def successors(self, tool: str) -> list[str]:
        """The ids of the tools that can follow `tool`."""
        return [self.library.ids[number] for number in self.numbered.successors(self.library.index(tool))]

    def predecessors(self, tool: str) -> list[str]:
        """The ids of the tools that can come before `tool`."""
        return [self.library.ids[number] for number in self.numbered.predecessors(self.library.index(tool))]

    @classmethod
    def build(cls, library: ToolLibrary, dependency_type: str) -> ToolGraph:
        """Build the graph a library implies.

        Resource: a link for every type that one tool gives and another takes, in the order of the
        giver's `output-type`. Temporal: every ordered pair, type "complete". (TaskBench, section 3.1.)

        Raises:
            UsageError: unknown dependency type; a tool without types in a resource graph.
        """
        kind = check_dependency_type(dependency_type)
        if kind == "temporal":
            return cls(library, kind, CompleteLinks(len(library)))
        untyped = next((tool for tool in library if not tool.is_resource), None)
        if untyped is not None:
            raise UsageError(
                f"tool '{untyped.id}' has neither input-type nor output-type, a resource graph needs them",
                fix="add the types, or use --dependency_type temporal",
            )
        return cls(library, kind, TypedLinks(library))

    @classmethod
    def load(
        cls, path: str | Path, *, dependency_type: str | None = None, normalise_types: bool = True
    ) -> ToolGraph:
        """Read `graph_desc.json`: `nodes`, and `links` or null where the links are implied.

        Args:
            path: the file.
            dependency_type: what the graph is, if known; else the file's own word, else what its links say.
            normalise_types: as in `ToolLibrary.load`.

        Raises:
            UsageError: missing or malformed file, a link to an unknown tool (with its line).
        """
        path = Path(path)
        value = read_json(path, fix="make it with generate_graph.py")
        library = ToolLibrary.from_json(value, path=path, normalise_types=normalise_types)
        if not isinstance(value, dict) or "links" not in value:
            raise UsageError(
                "holds tools but no links", file=path, fix="make the graph with generate_graph.py"
            )
        links = value["links"]
        kind = dependency_type or value.get("dependency_type") or _kind_of(library, links)
        if links is None:
            return cls.build(library, kind)
        if not isinstance(links, list):
            raise UsageError(
                "'links' is not a list", file=path, fix="write a list, or null for implied links"
            )
        numbered = [_read_link(path, library, number, link) for number, link in enumerate(links, start=1)]
        return cls(library, check_dependency_type(kind), ListedLinks(len(library), numbered))

    def write(self, stream: IO[str], *, max_links: int | None = DEFAULT_MAX_LINKS) -> None:
        """Write the graph as `graph_desc.json`, a link at a time.

        Above `max_links` implied links, `links` is null and `dependency_type` says what they are.
        """
        nodes = json.dumps(self.library.to_json()["nodes"], indent=2, ensure_ascii=False)
        stream.write('{\n  "nodes": ' + nodes.replace("\n", "\n  ") + ",\n")
        if self.is_implied and max_links is not None and self.number_of_links > max_links:
            stream.write(f'  "links": null,\n  "dependency_type": "{self.dependency_type}"\n}}\n')
            return
        stream.write('  "links": [')
        separator = "\n"
        for source, target, kind in self.links():
            entry = (
                (key, json.dumps(text, ensure_ascii=False))
                for key, text in (("source", source), ("target", target), ("type", kind))
            )
            body = ",\n".join(f'      "{key}": {text}' for key, text in entry)
            stream.write(f"{separator}    {{\n{body}\n    }}")
            separator = ",\n"
        stream.write("\n  ]\n}\n" if separator != "\n" else "]\n}\n")


def check_dependency_type(name: str) -> DependencyType:
    """`name` if it is a dependency type.

    Raises:
        UsageError: it is not.
    """
    if name not in get_args(DependencyType):
        raise UsageError(f"unknown dependency type '{name}'", fix="use resource or temporal")
    return cast(DependencyType, name)


def _kind_of(library: ToolLibrary, links: Any) -> DependencyType:
    first = links[0] if isinstance(links, Sequence) and links else None
    complete = isinstance(first, Mapping) and first.get("type") == COMPLETE
    return "temporal" if complete or not library.has_types else "resource"


def _read_link(path: Path, library: ToolLibrary, number: int, link: Any) -> NumberedLink:
    if not isinstance(link, dict):
        raise UsageError(f"link {number} is not an object", file=path, fix='write {"source": …, "target": …}')
    ends = []
    for key in ("source", "target"):
        name = link.get(key)
        if not isinstance(name, str):
            raise UsageError(f"link {number} has no {key}", file=path, fix="name a tool")
        if name not in library:
            raise UsageError(
                f"link {number} names the unknown tool '{name}'",
                file=path,
                line=line_of(path, name, after='"links"'),
                fix="correct the name, or add the tool to 'nodes'",
            )
        ends.append(library.index(name))
    return NumberedLink(ends[0], ends[1], str(link.get("type") or COMPLETE))


__all__ = ["DEFAULT_MAX_LINKS", "DependencyType", "Link", "Numbers", "ToolGraph", "check_dependency_type"]
