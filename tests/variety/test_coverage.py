"""Which tools and links plans use."""

from __future__ import annotations

import pytest

from toolassay.graph import ToolGraph
from toolassay.tools import Tool, ToolLibrary
from toolassay.variety.diversity import link_coverage, tool_coverage

LIBRARY = ToolLibrary(
    [
        Tool("speak", "", ("text",), ("audio",)),
        Tool("hear", "", ("audio",), ("text",)),
        Tool("mix", "", ("audio", "audio"), ("audio",)),
    ]
)


def test_tools_that_are_never_used_are_named() -> None:
    found = tool_coverage({"hear": 3, "speak": 3, "fly": 2}, LIBRARY)
    assert found["used"] == 2 and found["tools"] == 3 and found["share"] == pytest.approx(2 / 3)
    assert found["never_used"] == ["mix"] and found["unknown"] == {"fly": 2}
    assert list(found["uses"].items()) == [("speak", 3), ("hear", 3), ("mix", 0)]


def test_evenness_is_one_where_all_tools_are_used_alike() -> None:
    assert tool_coverage({"speak": 2, "hear": 2, "mix": 2}, LIBRARY)["evenness"] == pytest.approx(1)
    assert tool_coverage({"speak": 2}, LIBRARY)["evenness"] == pytest.approx(0)
    assert tool_coverage({"a": 1}, ToolLibrary([Tool("a")]))["evenness"] is None


def test_links_of_a_resource_graph() -> None:
    graph = ToolGraph.build(LIBRARY, "resource")
    found = link_coverage({("speak", "hear"): 2, ("speak", "mix"): 1, ("hear", "mix"): 1}, graph)
    assert found["possible"] == len({(link.source, link.target) for link in graph.links()}) == 4
    assert (found["used"], found["used_once"], found["not_in_graph"]) == (2, 1, 1)
    assert found["most_used"] == [["speak", "hear", 2], ["speak", "mix", 1]]


def test_a_large_complete_graph_is_not_written_down() -> None:
    size = 20_000
    graph = ToolGraph.build(ToolLibrary([Tool(str(number)) for number in range(size)]), "temporal")
    found = link_coverage({("1", "2"): 1}, graph)
    assert found["possible"] == size * (size - 1) and found["used"] == 1


def test_a_graph_without_links() -> None:
    found = link_coverage({}, ToolGraph.build(ToolLibrary([Tool("a")]), "temporal"))
    assert found["possible"] == 0 and found["share"] is None
