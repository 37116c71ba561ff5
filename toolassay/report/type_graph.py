"""A library too large to draw, seen by its types: which is made into which, by how many tools."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.report.colours import types_by_use

MOST_TYPES = 24


@dataclass(frozen=True)
class TypeGraph:
    """Types as nodes, tools as links.

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
    givers: Counter[str] = Counter()
    takers: Counter[str] = Counter()
    makers: Counter[tuple[str, str]] = Counter()
    for tool in library:
        taken, given = dict.fromkeys(tool.inputs), dict.fromkeys(tool.outputs)
        takers.update(list(taken))
        givers.update(list(given))
        makers.update((a, b) for a in taken for b in given)
    kept = set(types)
    return TypeGraph(
        types,
        len(every) - len(types),
        {kind: givers[kind] for kind in types},
        {kind: takers[kind] for kind in types},
        {pair: makers[pair] for pair in sorted(makers) if kept.issuperset(pair)},
    )
