from typing import Any

import pytest
from builders import imported_tool
from film_graphs import film_graph, film_library, film_links

from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.report import graph_page
from toolassay.report import link_data as module
from toolassay.report.graph_page import page_data
from toolassay.report.link_data import link_data
from toolassay.tools import ToolLibrary


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
    monkeypatch.setattr(module, "MOST_REASONS", 60)
    data = link_data(film_graph(), most=100)
    assert data["without_reasons"]
    # The second has no reason that the first does not have.
    assert [bool(link[5]) for link in data["links"]] == [True, True, False, False, False]


def test_places_of_results_and_arguments_are_offered() -> None:
    data = link_data(film_graph(), most=100)

    def places(column: str, tool: int) -> list[str]:
        return [data["texts"][number] for number in data["places"][data[column][tool]]]

    assert places("paths", 0) == ["", "page", "results", "results[]", "results[].id", "results[].title"]
    assert places("arguments", 0) == ["query"]
    assert places("paths", 3) == [""]
    assert places("arguments", 2) == ["filter", "filter.film_id", "filter.since"]


def test_places_of_recursive_and_wide_schemas_are_bounded() -> None:
    wide = {"properties": {f"p{number}": {"$ref": "#"} for number in range(30)}}
    choice = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"properties": {"id": {}}}}]}
    tools = [imported_tool("wide", "", {}, output=wide), imported_tool("choice", "", {}, output=choice)]
    data = link_data(ToolGraph.of_dependencies(ToolLibrary.from_json(tools), []), most=100)
    assert len(data["places"][0]) == 61
    assert "[].id" in data["texts"]
