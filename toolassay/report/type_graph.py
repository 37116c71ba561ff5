"""Counts of tools and links by type, for the pictures and the page of a tool graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.report.style import is_complete, types_by_use

MOST_TYPES = 24  # rows of the table of types that fit a page


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


@dataclass(frozen=True)
class TypeGraph:
    """A tool library with types as nodes and tools as links.

    Attributes:
        types: the most used types, those of the most tools first.
        left_out: the number of other types.
        givers: the number of tools with each output type.
        takers: the number of tools with each input type.
        makers: the number of tools with each pair of input and output type.
    """

    types: tuple[str, ...]
    left_out: int
    givers: dict[str, int]
    takers: dict[str, int]
    makers: dict[tuple[str, str], int]


def type_graph(graph: ToolGraph, *, most: int = MOST_TYPES) -> TypeGraph:
    """Count the tools between each two types of a graph.

    Args:
        graph: a resource graph.
        most: the number of types to keep.

    Raises:
        UsageError: no tool has types.
    """
    library = graph.library
    if not library.has_types:
        raise UsageError(
            f"{len(library):,} tools without resource types are too many to draw",
            fix="draw a smaller tool_desc.json",
        )
    every = types_by_use(library)
    types = tuple(every[:most])
    counts = type_counts(graph)
    makers: Counter[tuple[str, str]] = Counter()
    for tool in library:
        makers.update((a, b) for a in dict.fromkeys(tool.inputs) for b in dict.fromkeys(tool.outputs))
    kept = set(types)
    return TypeGraph(
        types,
        len(every) - len(types),
        {kind: counts.givers[kind] for kind in types},
        {kind: counts.takers[kind] for kind in types},
        {pair: makers[pair] for pair in sorted(makers) if kept.issuperset(pair)},
    )
