"""The tools of `tool_desc.json` and the nodes of `graph_desc.json`, compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import each_has
from toolassay.errors import UsageError
from toolassay.graph import ToolFilesDiffer, ToolGraph, agreed_tools
from toolassay.tools.library import ToolLibrary

PAINT = {"id": "paint", "desc": "Paints.", "input-type": ["text"], "output-type": ["image"]}
READ = {"id": "read", "desc": "Reads.", "input-type": ["image"], "output-type": ["text"]}
BOOK: dict[str, Any] = {
    "id": "book",
    "desc": "Books.",
    "parameters": [{"name": "city", "type": "string"}, {"name": "day", "type": "date"}],
}
MAIL = {"id": "mail", "desc": "Sends.", "parameters": [{"name": "to", "type": "string"}]}
LINK = {"source": "paint", "target": "read", "type": "image"}


def library(*tools: dict[str, Any], path: str = "d/tool_desc.json") -> ToolLibrary:
    return ToolLibrary.from_json({"nodes": list(tools)}, path=Path(path))


def imported(*required: str, **changes: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}}
    return {"id": "stay", "input_schema": {**schema, "required": list(required), **changes}}


GRAPH = [PAINT, READ, BOOK, imported("city")]


def changed(tool: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools of the graph with another one of this id."""
    return [tool if one["id"] == tool["id"] else one for one in GRAPH]


@pytest.mark.parametrize(
    ("tools", "difference"),
    [
        (GRAPH[:1], "the graph also has 'read'"),
        ([*GRAPH, MAIL], "'mail' is not in the graph"),
        (changed({**READ, "output-type": ["audio"]}), "'read' has other types of outputs"),
        (changed({**READ, "input-type": []}), "'read' has other types of inputs"),
        (changed({**READ, "input-type": ["image", "image"]}), "'read' has other types of inputs"),
        (changed({**BOOK, "parameters": ["city"]}), "'book' has other parameters"),
        (
            changed({**BOOK, "parameters": [*BOOK["parameters"], {"name": "hotel"}]}),
            "'book' has other parameters",
        ),
        (
            changed({**BOOK, "parameters": [{"name": "city", "type": "enum"}, BOOK["parameters"][1]]}),
            "'book' has other parameters",
        ),
        (changed(imported()), "'stay' has other required parameters"),
        (
            changed(imported("city", properties={"city": {"type": "string"}, "n": {"type": "string"}})),
            "'stay' has other parameters",
        ),
    ],
)
def test_other_tools_types_and_parameters_are_named(tools: list[dict[str, Any]], difference: str) -> None:
    with pytest.raises(ToolFilesDiffer) as caught:
        agreed_tools(library(*tools), library(*GRAPH, path="d/graph_desc.json"))
    assert str(caught.value).startswith("d/tool_desc.json: differs from d/graph_desc.json: ")
    assert difference in str(caught.value)
    assert str(caught.value).endswith("build_graph(data_dir='d', tool_desc='d/tool_desc.json')")
    assert isinstance(caught.value, UsageError)


def test_other_descriptions_are_used_with_one_notice() -> None:
    said: list[str] = []
    tools = library({**PAINT, "desc": "Draws."}, {**READ, "price": 2}, path="d/tool_desc.json")
    merged = agreed_tools(tools, library(PAINT, READ, path="d/graph_desc.json"), say=said.append)
    assert [tool.description for tool in merged] == ["Draws.", "Reads."]
    assert merged.to_json() == tools.to_json()
    assert each_has(said, "d/graph_desc.json has others for 'paint', 'read'")


def test_links_follow_their_tools_into_another_order(tmp_path: Path) -> None:
    path = tmp_path / "graph_desc.json"
    path.write_text(json.dumps({"nodes": [PAINT, READ], "links": [LINK]}))
    graph = ToolGraph.load(path, tools=library(READ, PAINT))
    assert graph.library.ids == ("read", "paint")
    assert [link.to_json() for link in graph.links()] == [LINK]


@pytest.mark.parametrize("spelled", [True, False])
def test_a_graph_that_this_project_writes_agrees_with_its_tools(tmp_path: Path, spelled: bool) -> None:
    tools = ToolLibrary.from_json(
        [{"output-type": "Image", "input-type": ["text"], "description": "x", "id": "a"}, READ],
        normalise_types=not spelled,
    )
    path = tmp_path / "graph_desc.json"
    for limit in (0, None):
        with path.open("w") as stream:
            ToolGraph.build(tools, "resource").write(stream, max_links=limit)
        said: list[str] = []
        read = ToolGraph.load(path)
        merged = ToolGraph.load(path, tools=tools, say=said.append)
        assert said == []
        assert json.dumps(merged.library.to_json()) == json.dumps(read.library.to_json())
        assert list(merged.links()) == list(read.links())


@pytest.mark.parametrize(
    ("name", "notices"),
    [
        *((f"taskbench/{name}", 0) for name in ("huggingface", "multimedia", "dailylifeapis")),
        *((f"gnn4taskplan/{name}", 1) for name in ("ultratool", "tmdb")),
    ],
)
def test_published_files_agree(reference: Path, name: str, notices: int) -> None:
    said: list[str] = []
    tools = ToolLibrary.load(reference / name / "tool_desc.json")
    graph = ToolGraph.load(reference / name / "graph_desc.json", tools=tools, say=said.append)
    assert graph.library.tools == tools.tools
    assert len(said) == notices


def test_other_details_of_an_input_schema_give_one_notice() -> None:
    graph = library(imported("city"), path="d/graph_desc.json")
    notices: list[str] = []
    bounds = {"city": {"type": "string", "maxLength": 9}, "n": {"type": "integer", "maximum": 3}}
    agreed = agreed_tools(library(imported("city", properties=bounds)), graph, say=notices.append)
    assert len(notices) == 1 and "'stay'" in notices[0]
    schema = agreed["stay"].input_schema
    assert schema is not None and schema["properties"] == bounds
