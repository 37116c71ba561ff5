"""What a data set consists of, for the report's page: graph, sizes, coverage, variety, duplicates, funnel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from toolassay.benchmarks.registry import has_plans
from toolassay.data_folder import DataFolder
from toolassay.dataset import read_labels
from toolassay.errors import UsageError
from toolassay.files import read_json
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.variety.measures import VarietyPart, measure_variety

FUNNEL = "funnel.json"
MOST_LINKS = 3_000
"""With more links than this, the page draws only those that gold plans use."""
_SHORT = 200  # characters of a tool's description


def data_summary(folder: DataFolder) -> dict[str, Any] | None:
    """The facts of a data set of plans; None for other data, or if a file of it cannot be read."""
    if not folder.data.is_file() or not has_plans(folder):
        return None
    used: Counter[tuple[str, str]] = Counter()

    def golds() -> Iterator[Gold]:
        for number, record in read_labels(folder.data):
            links = record.get("task_links")
            for link in links if isinstance(links, list) else ():
                if isinstance(link, dict):
                    used[str(link.get("source")), str(link.get("target"))] += 1
            yield Gold.of(record, number)

    try:
        graph = folder.graph(folder.benchmark.get("dependency_type")) if folder.graph_desc.exists() else None
        library = graph.library if graph is not None else folder.library()
        parts = (VarietyPart([gold]) for gold in golds())
        found = measure_variety(parts, library=library, graph=graph, sample=300)
    except UsageError:
        return None
    return {
        "requests": found["requests"],
        "sizes": found["sizes"],
        "tools": found["tools"],
        "links": found["links"],
        "repeats": found["repeats"],
        "nearest": found["likeness"].get("nearest"),
        "wording": found["wording"],
        "funnel": _funnel(folder),
        "graph": _drawn(graph, used) if graph is not None else None,
    }


def _funnel(folder: DataFolder) -> list[Any] | None:
    try:
        funnel = read_json(folder.path / FUNNEL)["funnel"]
    except (UsageError, KeyError, TypeError):
        return None
    return funnel if isinstance(funnel, list) else None


def _drawn(graph: ToolGraph, used: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """Tools, and links as positions of their tools with the number of gold plans that use them."""
    library = graph.library
    every = graph.number_of_links <= MOST_LINKS
    pairs = (
        {(link.source, link.target) for link in graph.links()}
        if every
        else {pair for pair in used if all(tool in library for tool in pair)}
    )
    return {
        "nodes": [[tool.id, tool.description[:_SHORT]] for tool in library],
        "links": sorted(
            [library.index(source), library.index(target), used.get((source, target), 0)]
            for source, target in pairs
        ),
        "every": every,
        "number_of_links": graph.number_of_links,
    }
