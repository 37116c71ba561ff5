"""The three tool libraries that come with the project, and how they stand to the published ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolassay.graph import ToolGraph
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import ToolLibrary

ROOT = Path(__file__).parents[1]
# A parameter may be described in the same few words by anybody ("the date"); a sentence may not.
LONGEST_CHANCE_LIKENESS = 25


class Expected(NamedTuple):
    dependency_type: str
    tools: int
    links: int
    types: frozenset[str]


LIBRARIES = {
    "huggingface": Expected("resource", 23, 225, frozenset({"text", "image", "audio", "video"})),
    "multimedia": Expected("resource", 40, 455, frozenset({"text", "image", "audio", "video", "url"})),
    "dailylifeapis": Expected("temporal", 40, 1560, frozenset()),
}

each_library = pytest.mark.parametrize("name", LIBRARIES)


def folder(name: str) -> DataFolder:
    return DataFolder(ROOT / f"data_{name}")


def tool_objects(path: Path) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["nodes"]
    return nodes


def without_descriptions(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as a library states it, less every `desc`."""
    bare = {key: value for key, value in tool.items() if key not in ("desc", "parameters")}
    if "parameters" in tool:
        bare["parameters"] = [without_descriptions(parameter) for parameter in tool["parameters"]]
    return bare


def descriptions(tools: list[dict[str, Any]]) -> list[str]:
    """Every `desc` of tools and parameters, as compared: lower case, no final dot."""
    items = [item for tool in tools for item in (tool, *tool.get("parameters", []))]
    return [item["desc"].strip().casefold().rstrip(".") for item in items]


@each_library
def test_size_and_types(name: str) -> None:
    library = ToolLibrary.load(folder(name).tool_desc)
    expected = LIBRARIES[name]

    assert len(library) == expected.tools
    assert {kind for tool in library for kind in tool.inputs + tool.outputs} == expected.types
    assert any(tool.parameters for tool in library) == (expected.dependency_type == "temporal")
    assert library.normalised == ()  # spelt one way already
    graph = ToolGraph.build(library, folder(name).dependency_type(None))
    assert (graph.dependency_type, graph.number_of_links) == (expected.dependency_type, expected.links)


@each_library
def test_tools_are_the_published_ones(name: str, reference: Path) -> None:
    published = tool_objects(reference / "taskbench" / name / "tool_desc.json")
    ours = tool_objects(folder(name).tool_desc)

    expected = [without_descriptions(tool) for tool in published]
    for tool in expected:
        if name == "multimedia" and tool["id"] == "Image Search":
            tool["output-type"] = ["image"]
    assert [without_descriptions(tool) for tool in ours] == expected


@each_library
def test_descriptions_are_our_own(name: str, reference: Path) -> None:
    published = {
        text
        for other in LIBRARIES
        for text in descriptions(tool_objects(reference / "taskbench" / other / "tool_desc.json"))
    }
    ours = descriptions(tool_objects(folder(name).tool_desc))

    assert [text for text in ours if text in published and len(text) > LONGEST_CHANCE_LIKENESS] == []
