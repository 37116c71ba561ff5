"""The graph stage: the tool file is only read, and no graph is ever lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import inside
from toolassay import build_graph
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph

TOOLS = [
    {"id": "load", "desc": "From a URL.", "input-type": ["url"], "output-type": ["Image", "text"]},
    {"id": "draw", "desc": "From text.", "input-type": ["text"], "output-type": ["image"]},
    {"id": "both", "desc": "Of both.", "input-type": ["text", "image"], "output-type": ["image"]},
]


def build_folder(path: Path) -> Path:
    """A data folder whose name has "tools" in it: the published script rewrites the path to "graph"."""
    path = path.rename(path.with_name("my_tools"))
    (path / "tool_desc.json").write_text(json.dumps({"nodes": TOOLS}))
    return path


class Heard:
    """A screen that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.screen = Screen(say=self.lines.append, show=self.lines.append)

    def __contains__(self, text: str) -> bool:
        return text in "\n".join(self.lines)


def test_the_graph_goes_into_the_folder_and_the_tools_are_not_touched(folder: Path) -> None:
    before = (folder / "tool_desc.json").read_bytes()
    heard = Heard()
    graph = build_graph(folder, screen=heard.screen)

    assert (folder / "tool_desc.json").read_bytes() == before
    assert list(ToolGraph.load(folder / "graph_desc.json").links()) == list(graph.links())
    assert "written (3 tools, 4 links, resource)" in heard
    assert "'Image' read as 'image'" in heard
    names = {path.name for path in folder.iterdir()}
    assert names == {"tool_desc.json", "graph_desc.json", "benchmark.json"}


@pytest.mark.parametrize("given", ["tool_desc.json", "my_tools/tool_desc.json"])
def test_the_published_command(given: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of the published README replaces the tools by the graph."""
    monkeypatch.chdir(folder.parent)
    before = (folder / "tool_desc.json").read_bytes()
    arguments = ["--tool_desc", given, "--dependency_type", "resource", "--data_dir", "my_tools"]

    assert inside("graph", *arguments).code == 0
    assert (folder / "tool_desc.json").read_bytes() == before
    assert (folder / "graph_desc.json").exists()


def test_a_folder_alone_reads_its_tools_and_a_file_alone_writes_beside_itself(folder: Path) -> None:
    build_graph(folder)
    first = (folder / "graph_desc.json").read_bytes()
    (folder / "graph_desc.json").unlink()
    build_graph(tool_desc=folder / "tool_desc.json")

    assert (folder / "graph_desc.json").read_bytes() == first


@pytest.mark.parametrize("edit", ["remove a link", "break it"])
def test_a_graph_edited_by_hand_is_kept(edit: str, folder: Path) -> None:
    build_graph(folder)
    path = folder / "graph_desc.json"
    value = json.loads(path.read_text())
    text = json.dumps({**value, "links": value["links"][1:]}) if edit == "remove a link" else "{broken"
    path.write_text(text)
    heard = Heard()
    build_graph(folder, screen=heard.screen)

    copies = sorted(folder.glob("graph_desc.2*.json"))
    assert [copy.read_text() for copy in copies] == [text]
    assert f"written, the one before kept as {copies[0].name}" in heard
    assert len(json.loads(path.read_text())["links"]) == 4


def test_links_above_the_limit_stay_implied(folder: Path) -> None:
    heard = Heard()
    graph = build_graph(folder, max_links=3, screen=heard.screen)
    path = folder / "graph_desc.json"

    assert json.loads(path.read_text())["links"] is None
    assert list(ToolGraph.load(path).links()) == list(graph.links())
    assert "more than 3 links: left implied by the types (a larger --max_links writes them)" in heard
    build_graph(folder, max_links=4)
    assert len(json.loads(path.read_text())["links"]) == 4


def test_published_spelling(folder: Path) -> None:
    graph = build_graph(folder, normalise_types=False)

    assert graph.link_types("load", "both") == ("text",)
    assert json.loads((folder / "graph_desc.json").read_text())["nodes"] == TOOLS


def test_tools_are_not_read_from_the_graph_they_would_become(folder: Path) -> None:
    shutil.copy(folder / "tool_desc.json", folder / "graph_desc.json")
    before = (folder / "graph_desc.json").read_bytes()

    with pytest.raises(UsageError, match=r"graph_desc\.json: the tools would be overwritten"):
        build_graph(folder, tool_desc="graph_desc.json")
    assert (folder / "graph_desc.json").read_bytes() == before
    other = build_graph(folder / "other", tool_desc=folder / "graph_desc.json")
    assert len(other) == 3


def test_tools_without_types_are_taken_as_temporal(tmp_path: Path) -> None:
    (tmp_path / "tool_desc.json").write_text('{"nodes": [{"id": "a"}, {"id": "b"}]}')
    heard = Heard()
    graph = build_graph(tmp_path, screen=heard.screen)

    assert (graph.dependency_type, graph.number_of_links) == ("temporal", 2)
    assert "the dependency type is temporal" in heard
    assert json.loads((tmp_path / "benchmark.json").read_text())["dependency_type"] == "temporal"
    with pytest.raises(UsageError, match=r"tool_desc\.json:1: tool 'a' has neither input-type nor"):
        build_graph(tmp_path, dependency_type="resource")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, ["--data_dir", "."], "tool_desc.json: no such file"),
        (None, [], "no tools given"),
        ({"nodes": TOOLS}, ["--data_dir", ".", "--dependency_type", "causal"], "unknown dependency type"),
        ({"nodes": [*TOOLS, TOOLS[0]]}, ["--data_dir", "."], "tool_desc.json:1: tool id 'load' occurs twice"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    content: Any, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "tool_desc.json").write_text(json.dumps(content))
    before = sorted(tmp_path.iterdir())

    done = inside("graph", *arguments)
    assert done.code == 2 and message in done.error and "Fix: " in done.error
    assert sorted(tmp_path.iterdir()) == before
