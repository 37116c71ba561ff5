"""The types of a tool graph in numbers, the same on every picture and on the page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.report.style import is_complete, types_by_use

MOST_TYPES = 24


@dataclass(frozen=True)
class TypeCounts:
    """How often each type occurs.

    Attributes:
        givers: how many tools give it.
        takers: how many tools take it.
        links: how many links carry it; none in a graph in which every tool can follow every other.
    """

    givers: Counter[str]
    takers: Counter[str]
    links: Counter[str]


def type_counts(graph: ToolGraph) -> TypeCounts:
    """Count tools and links by type; links that the types imply are not listed for it."""
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
    """A library too large to draw, with types as nodes and tools as links.

    Attributes:
        types: the most used types, the one most tools touch first.
        left_out: how many further types there are.
        givers: for every type, how many tools give it.
        takers: for every type, how many tools take it.
        makers: for a pair (taken, given), how many tools take the one and give the other.
    """

    types: tuple[str, ...]
    left_out: int
    givers: dict[str, int]
    takers: dict[str, int]
    makers: dict[tuple[str, str], int]


def type_graph(graph: ToolGraph, *, most: int = MOST_TYPES) -> TypeGraph:
    """The types of a tool graph, and how many tools lead from one to another.

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
