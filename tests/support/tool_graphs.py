"""Random tool graphs, what must hold of every sample, and the largest samples by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import networkx as nx
from hypothesis import strategies as st

from toolassay.graph import ToolGraph
from toolassay.graph.links import COMPLETE, ListedLinks, NumberedLink, TypedLinks
from toolassay.records.dataset import Sample, shape_of
from toolassay.tools.library import Tool, ToolLibrary

TYPES = ("audio", "image", "text", "video")

seeds = st.integers(0, 2**32)


@st.composite
def typed_libraries(draw: st.DrawFn, *, most: int = 8) -> ToolLibrary:
    """Tools of up to three inputs (a type may be taken twice) and two outputs; sinks and sources occur."""
    tools = []
    for number in range(draw(st.integers(1, most))):
        inputs = draw(st.lists(st.sampled_from(TYPES), max_size=3))
        outputs = draw(st.lists(st.sampled_from(TYPES), min_size=not inputs, max_size=2, unique=True))
        tools.append(Tool(f"tool {number}", "", tuple(inputs), tuple(outputs)))
    return ToolLibrary(tools)


def plain_library(size: int) -> ToolLibrary:
    return ToolLibrary([Tool(f"tool {number}") for number in range(size)])


@st.composite
def resource_graphs(draw: st.DrawFn, *, most: int = 8, most_links: int | None = None) -> ToolGraph:
    """Links implied by the types, or some of them listed (so that tools may stand alone)."""
    library = draw(typed_libraries(most=most))
    implied = list(TypedLinks(library))
    if most_links is None and draw(st.booleans()):
        return ToolGraph.build(library, "resource")
    if not implied:
        return ToolGraph(library, "resource", ListedLinks(len(library), []))
    kept = draw(st.lists(st.sampled_from(implied), unique=True, max_size=most_links))
    return ToolGraph(library, "resource", ListedLinks(len(library), kept))


@st.composite
def temporal_graphs(draw: st.DrawFn, *, most: int = 8, most_links: int | None = None) -> ToolGraph:
    """Every pair, or some listed ones."""
    size = draw(st.integers(1, most))
    pairs = [(one, two) for one in range(size) for two in range(size) if one != two]
    if not pairs or (most_links is None and draw(st.booleans())):
        return ToolGraph.build(plain_library(size), "temporal")
    kept = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=most_links))
    return listed(size, kept)


def tool_graphs(*, most: int = 8, most_links: int | None = None) -> st.SearchStrategy[ToolGraph]:
    return st.one_of(
        resource_graphs(most=most, most_links=most_links), temporal_graphs(most=most, most_links=most_links)
    )


def listed(size: int, pairs: Sequence[tuple[int, int]]) -> ToolGraph:
    """A temporal graph of listed links."""
    links = ListedLinks(size, [NumberedLink(one, two, COMPLETE) for one, two in pairs])
    return ToolGraph(plain_library(size), "temporal", links)


def check(sample: Sample, graph: ToolGraph) -> None:
    """Assert all that is promised of a sample."""
    pairs = [(link.source, link.target) for link in sample.links]
    picture = nx.DiGraph(pairs)
    picture.add_nodes_from(sample.nodes)

    assert len(set(sample.nodes)) == len(sample.nodes) == len(picture)
    assert len(set(pairs)) == len(pairs)
    assert nx.is_weakly_connected(picture)
    assert nx.is_directed_acyclic_graph(picture)
    assert sample.shape == shape_of(len(sample.nodes), pairs)
    order = {tool: place for place, tool in enumerate(sample.nodes)}
    assert all(order[source] < order[target] for source, target in pairs)
    for link in sample.links:
        assert link.type in graph.link_types(link.source, link.target)
    if sample.shape == "chain":
        assert pairs == list(zip(sample.nodes, sample.nodes[1:], strict=False))
    if graph.dependency_type == "resource":
        for link in sample.links:
            assert link.type in graph.library[link.source].outputs
            assert link.type in graph.library[link.target].inputs
        for (tool, kind), fed in Counter((link.target, link.type) for link in sample.links).items():
            assert fed <= graph.library[tool].inputs.count(kind)


def longest_chain(graph: ToolGraph) -> int:
    """The number of tools of the longest simple path, by walking them all."""

    def longest(path: tuple[int, ...]) -> int:
        following = [tool for tool in graph.numbered.successors(path[-1]) if tool not in path]
        return max((longest((*path, tool)) for tool in following), default=len(path))

    return max(longest((tool,)) for tool in range(len(graph)))


def largest_dag(graph: ToolGraph) -> int:
    """The number of tools of the largest dag, by trying every set of links; 0 if there is none."""
    return max(_dags(graph), default=0)


def _dags(graph: ToolGraph) -> Iterator[int]:
    links = list(graph.numbered)
    slots = [Counter(tool.inputs) for tool in graph.library]
    for count in range(2, len(links) + 1):
        for chosen in combinations(links, count):
            pairs = {(link.source, link.target) for link in chosen}
            fed = Counter((link.target, link.type) for link in chosen)
            if len(pairs) < count or (
                graph.dependency_type == "resource"
                and any(times > slots[tool][kind] for (tool, kind), times in fed.items())
            ):
                continue
            picture = nx.DiGraph(pairs)
            if (
                nx.is_weakly_connected(picture)
                and nx.is_directed_acyclic_graph(picture)
                and shape_of(len(picture), pairs) == "dag"
            ):
                yield len(picture)
