from collections import Counter
from typing import Any

import pytest

from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import ListedLinks
from toolassay.reports.graph_picture import ToolGroups, tool_groups, type_counts
from toolassay.reports.style import NEUTRAL
from toolassay.tools.library import Tool, ToolLibrary


def groups_of(*tools: dict[str, Any]) -> ToolGroups:
    library = ToolLibrary([Tool(f"t{number}", **keys) for number, keys in enumerate(tools)])
    return tool_groups(ToolGraph.of_dependencies(library, []))


def test_tools_are_grouped_by_their_first_tag() -> None:
    tags = [("a", "b"), ("b",), ("b",), ("b", "a"), ()]
    found = groups_of(*({"tags": own, "source": {"server": f"s{len(own)}"}} for own in tags))
    assert found.noun == "tag"
    assert list(found.of.values()) == ["a", "b", "b", "b", ""]
    # The largest group first, tools without one last and without a colour.
    assert list(found.colours) == ["b", "a", ""]
    assert found.colours[""] == NEUTRAL


def test_a_tag_that_all_tools_share_is_no_group() -> None:
    common: dict[str, Any] = {"tags": ("all",)}
    found = groups_of(*(common | {"source": {"server": name}} for name in "xxy"))
    assert found.noun == "server"
    assert list(found.of.values()) == ["x", "x", "y"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/movie/{id}", "/movie", "/search"], ["movie", "movie", "search"]),
        (["/v1/movie/{id}", "/v1/movie", "/v1/search"], ["movie", "movie", "search"]),
        (["/v1", "/v1/movie", "/v2/movie"], ["v1", "v1", "v2"]),
    ],
)
def test_tools_of_one_server_are_grouped_by_the_first_part_of_their_paths_that_differs(
    paths: list[str], expected: list[str]
) -> None:
    found = groups_of(*({"source": {"server": "api", "path": path}} for path in paths))
    assert found.noun == "path"
    assert list(found.of.values()) == expected


def test_links_are_counted_between_groups() -> None:
    library = ToolLibrary([Tool(name, tags=(name[0],)) for name in ("a1", "a2", "b1", "b2")])
    pairs = [("a1", "b1"), ("a1", "b2"), ("a1", "a2"), ("b1", "a1")]
    graph = ToolGraph.of_dependencies(library, [Dependency(*pair) for pair in pairs])
    assert tool_groups(graph).links(graph) == {("a", "b"): 2, ("a", "a"): 1, ("b", "a"): 1}


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
