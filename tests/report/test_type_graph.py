from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.graph.links import ListedLinks
from toolassay.report.type_graph import type_counts, type_graph
from toolassay.tools import Tool, ToolLibrary

KINDS = st.lists(st.sampled_from("abc"), max_size=3).map(tuple)


@given(st.lists(st.tuples(KINDS, KINDS).filter(any), min_size=1, max_size=12))
def test_counts_are_those_of_a_count_by_hand(rows: list[tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
    library = ToolLibrary([Tool(f"t{n}", "", *row) for n, row in enumerate(rows)])
    types = type_graph(ToolGraph.build(library, "resource"))
    assert set(types.types) == {kind for row in rows for side in row for kind in side}
    for kind in types.types:
        assert types.takers[kind] == sum(kind in takes for takes, _ in rows)
        assert types.givers[kind] == sum(kind in gives for _, gives in rows)
        for other in types.types:
            expected = sum(kind in takes and other in gives for takes, gives in rows)
            assert types.makers.get((kind, other), 0) == expected


def test_rarer_types_are_left_out_and_counted() -> None:
    tools = [Tool(f"t{n}", "", ("text",), (f"kind {n % 40}",)) for n in range(60)]
    types = type_graph(ToolGraph.build(ToolLibrary(tools), "resource"), most=10)
    assert len(types.types) == 10
    assert types.types[0] == "text"
    assert types.left_out == 31
    assert all(pair[1] in types.types for pair in types.makers)


def test_tools_without_types_cannot_be_drawn_by_type() -> None:
    graph = ToolGraph.build(ToolLibrary([Tool("a"), Tool("b")]), "temporal")
    with pytest.raises(UsageError, match="without resource types"):
        type_graph(graph)


def test_links_are_counted_by_type_whether_implied_or_listed() -> None:
    tools = [
        Tool("a", inputs=("text", "text"), outputs=("text", "image")),
        Tool("b", inputs=("text",), outputs=("image", "text")),
        Tool("c", inputs=("image",)),
    ]
    implied = ToolGraph.build(ToolLibrary(tools), "resource")
    listed = ToolGraph(implied.library, "resource", ListedLinks(3, implied.numbered))
    for graph in (implied, listed):
        counts = type_counts(graph)
        assert +counts.links == Counter(link.type for link in graph.links()) == {"text": 2, "image": 2}
        assert counts.givers == {"text": 2, "image": 2}
        assert counts.takers == {"text": 2, "image": 1}
    complete = ToolGraph.build(ToolLibrary(tools), "temporal")
    assert not type_counts(complete).links
