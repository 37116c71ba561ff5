"""The tool graph, and reading and writing `graph_desc.json`.

There are three dependency types. *resource*: a tool can follow another if it takes a type that the other
gives. *temporal*: any order is possible. *schema*: a field of a tool's result can fill an argument of another
(`Dependency`). Links that follow from the types are computed on demand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast, get_args

from toolassay.console.text_formatting import some_of
from toolassay.declarations import Option
from toolassay.errors import UsageError, as_called, made_by
from toolassay.files.data_files import line_of_item, read_json, write_nodes
from toolassay.graph.dependencies import Dependency, DependencyLinks
from toolassay.graph.links import COMPLETE, CompleteLinks, Links, ListedLinks, NumberedLink, TypedLinks
from toolassay.tools.argument_schemas import with_subschemas
from toolassay.tools.library import Tool, ToolLibrary, normal_type

# Differences that an error names; the next run names the others.
_MOST_NAMED = 3


class ToolFilesDiffer(UsageError):
    """The two files differ in ids, types or parameters, so the links belong to other tools."""


def agreed_tools(
    tools: ToolLibrary,
    nodes: ToolLibrary,
    *,
    schemas: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> ToolLibrary:
    """The tools of `tool_desc.json` with the type spelling of the graph, from which implied links follow.

    Descriptions, order and further keys are those of `tool_desc.json`.

    Args:
        tools: Tools of `tool_desc.json`.
        nodes: Nodes of `graph_desc.json`.
        schemas: Whether schemas must agree, too, apart from their descriptions: the links of a schema graph
            follow from them.
        say: Called with one notice if descriptions or other details, such as schemas, differ.

    Raises:
        ToolFilesDiffer: Ids, types, or names or types of parameters differ, or which of them an
            `input_schema` requires. The spelling of types (`Image`, `image`), the order of parameters and
            the rest of a schema do not count.
    """
    differences = list(_differences(tools, nodes, schemas))
    if differences:
        what = some_of(differences, _MOST_NAMED, between="; ", last="; and ")
        folder = "FOLDER" if nodes.path is None else nodes.path.parent
        raise ToolFilesDiffer(
            f"differs from {nodes.path or 'the graph'}: {what}",
            file=tools.path,
            fix="regenerate the graph: "
            + as_called("graph", data_dir=str(folder), tool_desc=str(tools.path)),
        )
    merged = [replace(tool, inputs=nodes[tool.id].inputs, outputs=nodes[tool.id].outputs) for tool in tools]
    edited = [tool.id for tool in merged if tool.to_json() != nodes[tool.id].to_json()]
    if edited:
        named = some_of([f"'{name}'" for name in edited], _MOST_NAMED)
        say(f"using the descriptions of {tools.path}; {nodes.path} has others for {named}")
    return tools.with_tools(merged)


def tools_agree(tools: ToolLibrary, nodes: ToolLibrary, *, schemas: bool = False) -> bool:
    """Whether `agreed_tools` accepts the two files."""
    return next(_differences(tools, nodes, schemas), None) is None


def _differences(tools: ToolLibrary, nodes: ToolLibrary, schemas: bool) -> Iterator[str]:
    """The differences that affect links or plans, one phrase per tool."""
    for tool in tools:
        if tool.id not in nodes:
            yield f"'{tool.id}' is not in the graph"
            continue
        ours = _facts(tool, nodes[tool.id], schemas)
        theirs = _facts(nodes[tool.id], tool, schemas)
        if others := [name for name, value in ours.items() if value != theirs[name]]:
            yield f"'{tool.id}' has other {some_of(others, _MOST_NAMED)}"
    yield from (f"the graph also has '{node.id}'" for node in nodes if node.id not in tools)


def _facts(tool: Tool, other: Tool, schemas: bool) -> dict[str, Any]:
    """What two files must say alike of a tool; which parameters are required only if both say it."""
    both = tool.input_schema is not None and other.input_schema is not None
    return {
        "types of inputs": [*map(normal_type, tool.inputs)],
        "types of outputs": [*map(normal_type, tool.outputs)],
        "parameters": {parameter.name: parameter.type for parameter in tool.parameters},
        "required parameters": {
            parameter.name for parameter in tool.parameters if both and parameter.required
        },
        **({"input_schema": _without_texts(tool.input_schema)} if schemas else {}),
        **({"output_schema": _without_texts(tool.output_schema)} if schemas else {}),
    }


def _without_texts(schema: Any, path: str = "") -> Any:
    """A schema without its texts, which do not say what a tool takes or gives."""
    if not isinstance(schema, Mapping):
        return schema
    texts = ("description", "title", "examples", "$comment")
    kept = {key: value for key, value in schema.items() if key not in texts}
    return with_subschemas(kept, _without_texts)


DependencyType = Literal["resource", "temporal", "schema"]
DEPENDENCY_TYPE = Option(
    "What a link means. resource: an output type of one tool is an input type of the other; temporal: any "
    "order; schema: a result of one tool can fill an argument of the other [default: the one in "
    "benchmark.json, else by what the tools declare].",
    metavar="resource|temporal|schema",
)
"""What a link means. Plans of temporal and schema graphs name their arguments and list their links."""

# A link takes about 100 bytes of the file. Beyond this, readers derive the links from the types.
DEFAULT_MAX_LINKS = 2_000_000


class Link(NamedTuple):
    """A link between tool ids.

    `type` is the type of the resource, "complete" in a temporal graph, or in a schema graph the argument that
    is filled; `ToolGraph.dependency` has the rest.
    """

    source: str
    target: str
    type: str

    def to_json(self) -> dict[str, str]:
        """The link as an object of `graph_desc.json`."""
        return {"source": self.source, "target": self.target, "type": self.type}


@dataclass(frozen=True)
class ToolGraph:
    """A tool library with the links between its tools.

    Attributes:
        library: The tools.
        dependency_type: What a link means.
        numbered: The links, between tool numbers.

    >>> from toolassay.tools.library import Tool
    >>> graph = ToolGraph.build(
    ...     ToolLibrary([Tool("speak", "", ("text",), ("audio",)), Tool("hear", "", ("audio",), ("text",))]),
    ...     "resource",
    ... )
    >>> "; ".join(f"{link.type} of {link.source} to {link.target}" for link in graph.links())
    'audio of speak to hear; text of hear to speak'
    """

    library: ToolLibrary
    dependency_type: DependencyType
    numbered: Links

    def __len__(self) -> int:
        return len(self.library)

    @property
    def number_of_links(self) -> int:
        """The number of links, computed without listing implied ones."""
        return self.numbered.count()

    @property
    def is_implied(self) -> bool:
        """Whether the links follow from the tools, rather than from a list in a file."""
        return not isinstance(self.numbered, ListedLinks | DependencyLinks)

    def links(self) -> Iterator[Link]:
        """Every link, by source, then target, in library order."""
        ids = self.library.ids
        for source, target, kind in self.numbered:
            yield Link(ids[source], ids[target], kind)

    def dependency(self, source: str, target: str) -> Dependency | None:
        """The link of a schema graph from one tool to another; None without one or in another graph."""
        if not isinstance(self.numbered, DependencyLinks):
            return None
        if source not in self.library or target not in self.library:
            return None
        return self.numbered.get(self.library.index(source), self.library.index(target))

    def dependencies(self) -> Iterator[Dependency]:
        """The links of a schema graph, by source, then target, in library order; none in another graph."""
        if isinstance(self.numbered, DependencyLinks):
            yield from self.numbered.dependencies()

    def link_types(self, source: str, target: str) -> tuple[str, ...]:
        """The types of the links from one tool to another; empty without a link or for an unknown tool."""
        if source not in self.library or target not in self.library:
            return ()
        return self.numbered.types(self.library.index(source), self.library.index(target))

    def successors(self, tool: str) -> list[str]:
        """The ids of the tools that can follow `tool`, in library order."""
        numbers = sorted(self.numbered.successors(self.library.index(tool)))
        return [self.library.ids[number] for number in numbers]

    def predecessors(self, tool: str) -> list[str]:
        """The ids of the tools that can come before `tool`, in library order."""
        numbers = sorted(self.numbered.predecessors(self.library.index(tool)))
        return [self.library.ids[number] for number in numbers]

    def within(self, tools: Container[str]) -> ToolGraph:
        """The graph of some of the tools, with the links between them."""
        kept_numbers = [number for number, tool in enumerate(self.library) if tool.id in tools]
        library = self.library.with_tools([self.library.tools[number] for number in kept_numbers])
        if self.is_implied:
            return ToolGraph.build(library, self.dependency_type)
        if self.dependency_type == "schema":
            kept_dependencies = (
                dependency
                for dependency in self.dependencies()
                if dependency.source in library and dependency.target in library
            )
            return ToolGraph.of_dependencies(library, kept_dependencies)
        new = {number: position for position, number in enumerate(kept_numbers)}
        links = (
            NumberedLink(new[source], new[target], kind)
            for source, target, kind in self.numbered
            if source in new and target in new
        )
        return ToolGraph(library, self.dependency_type, ListedLinks(len(library), links))

    @classmethod
    def of_dependencies(cls, library: ToolLibrary, dependencies: Iterable[Dependency]) -> ToolGraph:
        """The schema graph with these links, whose tools must be in the library."""
        return cls(library, "schema", DependencyLinks(library.ids, dependencies))

    @classmethod
    def build(cls, library: ToolLibrary, dependency_type: str) -> ToolGraph:
        """Build the graph that follows from a library (Shen et al., 2024, section 3.1).

        Resource: a link for every type that one tool gives and another takes, in the order of the first
        tool's `output-type`. Temporal: a link of type "complete" for every ordered pair. Schema: the links
        that `derive_dependencies` finds.

        Raises:
            UsageError: The dependency type is unknown, or a tool has no types in a resource graph.
        """
        kind = check_dependency_type(dependency_type)
        if kind == "schema":
            from toolassay.graph.derive import derive_dependencies

            return cls.of_dependencies(library, derive_dependencies(library))
        if kind == "temporal":
            return cls(library, kind, CompleteLinks(len(library)))
        _check_types(library)
        return cls(library, kind, TypedLinks(library))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        dependency_type: str | None = None,
        normalise_types: bool = True,
        tools: ToolLibrary | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> ToolGraph:
        """Read `graph_desc.json`: `nodes`, and `links`, which is null if the links are implied.

        Args:
            path: The file.
            dependency_type: Dependency type [default: the one in the file, else by the types of its links].
            normalise_types: As for `ToolLibrary.load`.
            tools: Tools of `tool_desc.json`, used instead of the file's nodes.
            say: Called with a notice if the descriptions of `tools` differ.

        Raises:
            UsageError: The file is missing or malformed, or a link names an unknown tool (with its line).
            ToolFilesDiffer: `tools` are not the tools of the file.
        """
        from toolassay.graph.graph_file import LinkReader, WrittenLinks, read_graph_file

        path = Path(path)
        value = read_graph_file(path, fix=made_by("graph"))
        if not isinstance(value, dict) or "links" not in value:
            raise UsageError("has no links", file=path, fix=f"make the graph with {as_called('graph')}")
        # Implied links depend on the spelling of types with which the file was written.
        normalise_types = normalise_types and value.get("normalise_types") is not False
        library = ToolLibrary.from_json(value, path=path, normalise_types=normalise_types)
        links = value["links"]
        if links is not None and not isinstance(links, list | WrittenLinks):
            raise UsageError(
                "'links' is not a list", file=path, fix="write a list, or null for implied links"
            )
        named = dependency_type or value.get("dependency_type")
        kind = check_dependency_type(named, file=path) if named else _kind_of(library, links)
        if tools is not None:
            library = agreed_tools(tools, library, schemas=kind == "schema", say=say)
        if links is None:
            return cls.build(library, kind)
        reader = LinkReader(path, library, resource=kind == "resource", normalise_types=normalise_types)
        if kind == "schema":
            if isinstance(links, WrittenLinks):
                links = read_json(path)["links"]  # the links may have further keys
            return cls.of_dependencies(
                library, (reader.dependency(number, item) for number, item in enumerate(links, start=1))
            )
        if kind == "resource":
            _check_types(library)
        return cls(library, kind, reader.read_all(links))

    def write(self, stream: IO[str], *, max_links: int | None = DEFAULT_MAX_LINKS) -> None:
        """Write the graph as `graph_desc.json`, one link at a time.

        The layout equals the published files (Shen et al., 2024) to the byte: an indent of 2, no newline at
        the end. In a schema graph, each tool and each link is one line.

        Args:
            stream: Where to write.
            max_links: Maximum number of implied links to write; None for no limit. Above it, `links` is null,
                `dependency_type` is added, and also `normalise_types: false` if types have several spellings.
        """
        is_schema = self.dependency_type == "schema"
        write_nodes(stream, (tool.to_json() for tool in self.library), compact=is_schema)
        stream.write(",\n")
        if self.is_implied and max_links is not None and self.number_of_links > max_links:
            spelling = "" if self._has_normal_types else ',\n  "normalise_types": false'
            stream.write(f'  "links": null,\n  "dependency_type": "{self.dependency_type}"{spelling}\n}}')
            return
        stream.write('  "links": [')
        separator = "\n"
        if is_schema:
            for link in self.dependencies():
                stream.write(f"{separator}    {json.dumps(link.to_json(), ensure_ascii=False)}")
                separator = ",\n"
            end = "]" if separator == "\n" else "\n  ]"
            stream.write(f'{end},\n  "dependency_type": "schema"\n}}')
            return
        encode = lru_cache(None)(partial(json.dumps, ensure_ascii=False))
        ids = [encode(tool) for tool in self.library.ids]
        for source, target, kind in self.numbered:
            stream.write(
                f'{separator}    {{\n      "source": {ids[source]},\n      "target": {ids[target]},\n'
                f'      "type": {encode(kind)}\n    }}'
            )
            separator = ",\n"
        stream.write("\n  ]\n}" if separator != "\n" else "]\n}")

    @property
    def _has_normal_types(self) -> bool:
        return all(kind == normal_type(kind) for tool in self.library for kind in tool.inputs + tool.outputs)


def check_dependency_type(name: object, *, file: Path | None = None) -> DependencyType:
    """Return `name` if it is a dependency type.

    Args:
        name: The value to check.
        file: File that it comes from, for the message.

    Raises:
        UsageError: It is not.
    """
    if name not in get_args(DependencyType):
        raise UsageError(
            f"unknown dependency type '{name}'", file=file, fix="use resource, temporal or schema"
        )
    return cast(DependencyType, name)


def _check_types(library: ToolLibrary) -> None:
    """Raise a UsageError if a tool has no types, which a resource graph needs."""
    for number, tool in enumerate(library, start=1):
        if not tool.is_resource:
            path = library.path
            raise UsageError(
                f"tool '{tool.id}' has neither input-type nor output-type, a resource graph needs them",
                file=path,
                line=None if path is None else line_of_item(path, library.list_name, number),
                fix="add the types, or use --dependency_type temporal",
            )


def _kind_of(library: ToolLibrary, links: Iterable[Any] | None) -> DependencyType:
    first = next(iter(links or ()), None)
    if isinstance(first, Mapping) and "score" in first:
        return "schema"
    complete = isinstance(first, Mapping) and first.get("type") == COMPLETE
    return "temporal" if complete or not library.has_types else "resource"
