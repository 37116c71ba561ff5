"""The data of the page of a graph."""

import sys
from typing import Any

import pytest

from tests.support.film_graphs import film_graph, film_library, film_links
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import ListedLinks
from toolassay.reports import graph_page
from toolassay.reports.graph_page import MOST_TOOLS, link_data, page_data
from toolassay.tools.library import Parameter, Tool, ToolLibrary

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


def read_link(data: dict[str, Any], number: int) -> Dependency:
    """A link of the data, as the page reads it."""
    source, target, score, kind_of, fields, reasons, kind, origin, count, *further = data["links"][number]
    ids, texts = film_library().ids, data["texts"]
    return Dependency.from_json(
        {
            "source": ids[source],
            "target": ids[target],
            "type": texts[kind_of],
            "score": score,
            "fields": [
                {"from": texts[a], "to": texts[b]} for a, b in zip(fields[::2], fields[1::2], strict=True)
            ],
            "reasons": [texts[reason] for reason in reasons],
            "kind": data["kinds"][kind],
            "origin": data["origins"][origin],
            "count": count,
            **(further[0] if further else {}),
        }
    )


def test_links_are_the_same_after_reading_the_best_first() -> None:
    data = link_data(film_graph(), most=100)
    read = [read_link(data, number) for number in range(len(data["links"]))]
    assert read == sorted(film_links(), key=lambda link: -link.score)
    assert len(set(data["texts"])) == len(data["texts"])


def test_a_graph_with_too_many_links_has_a_page_of_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_page, "MOST_LINKS", 3)
    data = page_data(film_graph())
    assert data["number_of_links"] == 5
    assert [link[2] for link in data["links"]] == [0.95, 0.8, 0.45]


def test_the_weakest_links_lose_their_reasons_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not link_data(film_graph(), most=100)["without_reasons"]
    monkeypatch.setattr(sys.modules["toolassay.reports.graph_page"], "MOST_REASONS", 60)
    data = link_data(film_graph(), most=100)
    assert data["without_reasons"]
    # The second has no reason that the first does not have.
    assert [bool(link[5]) for link in data["links"]] == [True, True, False, False, False]
