from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.support.tool_graphs import tool_graphs
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.tools.library import Tool, ToolLibrary

SPEAK = {"id": "speak", "desc": "Text to audio.", "input-type": ["text"], "output-type": ["audio"]}
HEAR = {"id": "hear", "desc": "Audio to text.", "input-type": ["audio"], "output-type": ["text"]}
DUB = {"id": "dub", "input-type": ["audio", "text"], "output-type": ["text", "audio"]}


def graph_file(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "graph_desc.json"
    path.write_text(json.dumps(value, indent=2))
    return path


def written(graph: ToolGraph, **settings: Any) -> str:
    stream = io.StringIO()
    graph.write(stream, **settings)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "kind", "tools", "links"),
    [
        ("huggingface", "resource", 23, 225),
        ("multimedia", "resource", 40, 449),
        ("dailylifeapis", "temporal", 40, 1560),
    ],
)
def test_the_published_graphs_to_the_byte(
    name: str, kind: str, tools: int, links: int, reference: Path
) -> None:
    folder = reference / "taskbench" / name
    library = ToolLibrary.load(folder / "tool_desc.json", normalise_types=False)
    graph = ToolGraph.build(library, kind)
    published = (folder / "graph_desc.json").read_bytes()

    assert (len(graph), graph.number_of_links) == (tools, links)
    value = json.loads(published)
    assert graph.library.to_json()["nodes"] == value["nodes"]
    assert [link.to_json() for link in graph.links()] == value["links"]
    assert written(graph).encode() == published
    read = ToolGraph.load(folder / "graph_desc.json", normalise_types=False)
    assert list(read.links()) == list(graph.links())
    assert read.dependency_type == kind


def test_the_corrected_type_gives_image_search_its_successors(reference: Path) -> None:
    library = ToolLibrary.load(reference / "taskbench" / "multimedia" / "tool_desc.json")
    graph = ToolGraph.build(library, "resource")

    assert graph.number_of_links == 455
    assert len(graph.successors("Image Search")) == 6
    assert library.normalised == ("resource type 'Image' read as 'image'",)


@pytest.mark.parametrize("name", ["tmdb", "ultratool"])
def test_published_graphs_without_link_types(name: str, reference: Path) -> None:
    """The published sampler stops with a KeyError there."""
    graph = ToolGraph.load(reference / "gnn4taskplan" / name / "graph_desc.json")

    assert graph.dependency_type == "temporal"
    assert {link.type for link in graph.links()} == {"complete"}


@settings(deadline=None)
@given(tool_graphs())
def test_a_written_graph_is_read_back(tmp_path_factory: pytest.TempPathFactory, graph: ToolGraph) -> None:
    path = tmp_path_factory.mktemp("graph") / "graph_desc.json"
    path.write_text(written(graph), encoding="utf-8")
    read = ToolGraph.load(path, dependency_type=graph.dependency_type)

    assert list(read.links()) == list(graph.links())
    assert read.library.tools == graph.library.tools
    assert json.loads(path.read_text()) == {
        "nodes": graph.library.to_json()["nodes"],
        "links": [link.to_json() for link in graph.links()],
    }


def test_implied_links_are_written_as_null_and_read_back(tmp_path: Path) -> None:
    for kind, tools in (
        ("resource", [Tool(f"t{n}", "", ("x",), ("x",)) for n in range(5)]),
        ("temporal", [Tool(f"t{n}") for n in range(5)]),
    ):
        graph = ToolGraph.build(ToolLibrary(tools), kind)
        path = tmp_path / f"{kind}.json"
        path.write_text(written(graph, max_links=19))
        value = json.loads(path.read_text())
        assert (value["links"], value["dependency_type"]) == (None, kind)
        assert list(value) == ["nodes", "links", "dependency_type"]

        read = ToolGraph.load(path)
        assert read.is_implied and read.dependency_type == kind
        assert list(read.links()) == list(graph.links())
        assert len(json.loads(written(graph, max_links=20))["links"]) == 20
        assert len(json.loads(written(graph, max_links=None))["links"]) == 20


def test_a_link_without_type_gets_the_shared_types(tmp_path: Path) -> None:
    links = [{"source": "speak", "target": "hear"}, {"source": "dub", "target": "dub"}]
    nodes = [{**SPEAK, "output-type": ["Audio"]}, HEAR, DUB, {**DUB, "id": "mix"}]
    path = graph_file(tmp_path, {"nodes": nodes, "links": [*links, {"source": "dub", "target": "mix"}]})

    assert [tuple(link) for link in ToolGraph.load(path).links()] == [
        ("speak", "hear", "audio"),
        ("dub", "mix", "text"),
        ("dub", "mix", "audio"),
    ]


@pytest.mark.parametrize(
    ("link", "line", "message"),
    [
        ({"source": "speak", "target": "audio"}, 42, "names the unknown tool 'audio'"),
        ({"source": "speak"}, 40, "link 2 has no target"),
        (["speak", "hear"], 40, "link 2 is not an object"),
        ({"source": "speak", "target": "speak2"}, 42, "nothing of any type goes from 'speak' to 'speak2'"),
        ({"source": "speak", "target": "hear", "type": "text"}, 43, "nothing of type 'text' goes from"),
        ({"source": "speak", "target": "hear", "type": ["audio"]}, 43, "type of link 2 is not text"),
    ],
)
def test_a_malformed_link_is_named_with_its_line(link: Any, line: int, message: str, tmp_path: Path) -> None:
    good = {"source": "speak", "target": "hear", "type": "audio"}
    nodes = [SPEAK, {**SPEAK, "id": "speak2", "desc": "hear"}, {**HEAR, "desc": 'the "links" are below'}]
    path = graph_file(tmp_path, {"nodes": nodes, "links": [good, link]})

    with pytest.raises(UsageError, match=message) as caught:
        ToolGraph.load(path)
    assert caught.value.line == line
    assert f"graph_desc.json:{line}: " in str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"nodes": [SPEAK]}, "has no links"),
        ({"nodes": [SPEAK], "links": {}}, "'links' is not a list"),
        ({"nodes": [], "links": []}, "the tool library is empty"),
        ({"nodes": [SPEAK], "links": None, "dependency_type": "causal"}, "unknown dependency type 'causal'"),
        ({"nodes": [SPEAK, {"id": "bare"}], "links": []}, "'bare' has neither input-type nor output-type"),
    ],
)
def test_a_malformed_graph(value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        ToolGraph.load(graph_file(tmp_path, value))

    assert "graph_desc.json" in str(caught.value)


def test_asking_for_neighbours_by_name() -> None:
    library = ToolLibrary.from_json([SPEAK, HEAR, DUB])
    graph = ToolGraph.build(library, "resource")

    assert graph.successors("speak") == ["hear", "dub"]
    assert graph.predecessors("speak") == ["hear", "dub"]
    assert graph.link_types("speak", "dub") == ("audio",)
    assert graph.link_types("speak", "nobody") == ()
