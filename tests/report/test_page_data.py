import pytest

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.graph.links import ListedLinks
from toolassay.report.graph_page import MOST_TOOLS, page_data
from toolassay.tools import Parameter, Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [
        Tool("hear", "Writes down speech.", ("audio",), ("text",)),
        Tool("speak", "", ("text",), ("audio",)),
        Tool("read", "", ("text", "image"), ()),
    ]
)


def typed(size: int) -> ToolLibrary:
    return ToolLibrary([Tool(f"t{n}", "", ("text",), ("text",)) for n in range(size)])


def test_numbers_of_tools_and_links_are_reported() -> None:
    data = page_data(ToolGraph.build(LIBRARY, "resource"))
    names = [kind["name"] for kind in data["types"]]
    links = [(data["tools"][a]["id"], data["tools"][b]["id"], names[kind]) for a, b, kind in data["links"]]
    assert links == [
        ("hear", "speak", "text"),
        ("hear", "read", "text"),
        ("speak", "hear", "audio"),
    ]
    assert [names[kind] for kind in data["tools"][2]["takes"]] == ["text", "image"]
    assert data["show_all"]


def test_links_that_follow_from_the_types_are_known_though_listed() -> None:
    built = ToolGraph.build(typed(40), "resource")
    listed = ToolGraph(built.library, "resource", ListedLinks(40, built.numbered))
    for graph in (built, listed):
        data = page_data(graph)
        assert data["rule"] == "types"
        assert data["links"] == []
        assert data["number_of_links"] == 1560


def test_a_complete_graph_lists_no_links() -> None:
    tools = [Tool(f"t{n}", parameters=(Parameter("when", "date", "The day."),)) for n in range(40)]
    data = page_data(ToolGraph.build(ToolLibrary(tools), "temporal"))
    assert data["rule"] == "complete"
    assert data["links"] == []
    assert not data["show_all"]
    assert data["tools"][0]["parameters"] == [["when", "date", "The day."]]


@pytest.mark.parametrize("size", [1, 40, 700])
def test_tools_stand_apart(size: int) -> None:
    tools = page_data(ToolGraph.build(typed(size), "resource"))["tools"]
    points = sorted((tool["x"], tool["y"]) for tool in tools)
    near = [
        (a, b)
        for number, a in enumerate(points)
        for b in points[number + 1 : number + 60]
        if abs(a[0] - b[0]) < 15 and abs(a[1] - b[1]) < 15 and (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 < 225
    ]
    assert near == []


def test_too_many_tools_are_an_error_with_the_limit() -> None:
    graph = ToolGraph.build(typed(MOST_TOOLS + 1), "resource")
    with pytest.raises(UsageError, match=r"up to 5,000 tools.*Fix: "):
        page_data(graph)
