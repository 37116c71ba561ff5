"""Groups of tools, which share a colour in a picture and an arc of its circle; tools and links by type."""

from __future__ import annotations

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
