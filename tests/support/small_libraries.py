"""Small libraries and labels for the tests of gates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.builders import call_of, label_of, links_of
from toolassay.gates.gate import Background, Finding, Gate
from toolassay.graph import DependencyType, ToolGraph
from toolassay.plans.gold import Gold
from toolassay.tools.library import Tool, ToolLibrary

ROOT = Path(__file__).resolve().parents[2]
FOLDERS: dict[str, DependencyType] = {
    "huggingface": "resource",
    "multimedia": "resource",
    "dailylifeapis": "temporal",
}

_STUDIO = ToolLibrary(
    [
        Tool("Painter", "", ("text",), ("image",)),
        Tool("Image Editor", "", ("image", "text"), ("image",)),
        Tool("Describer", "", ("image",), ("text",)),
        Tool("Speaker", "", ("text",), ("audio",)),
        Tool("Splicer", "", ("audio", "audio"), ("audio",)),
        Tool("Cutter", "", ("audio",), ("audio", "text")),
        Tool("Dubber", "", ("video", "audio"), ("video",)),
        Tool("Downloader", "", ("url",), ("text",)),
        Tool("Clock", "", (), ("text",)),
        Tool("Printer", "", ("text",), ()),
    ]
)
_OFFICE = ToolLibrary.from_json(
    {
        "nodes": [
            {
                "id": "book_room",
                "parameters": [
                    {"name": "day", "type": "date"},
                    {"name": "seats", "type": "integer"},
                    {"name": "note", "type": "string", "required": False},
                ],
            },
            {"id": "send_mail", "parameters": [{"name": "to", "type": "email"}, {"name": "text"}]},
            {"id": "set_heating", "parameters": [{"name": "mode", "enum": ["eco", "warm"]}]},
            {"id": "make_note", "parameters": [{"name": "text", "type": "string"}]},
            {"id": "lock_up", "parameters": []},
            {"id": "order_tracking", "desc": "says nothing of parameters"},
        ]
    }
)
STUDIO = Background(_STUDIO, "resource", ToolGraph.build(_STUDIO, "resource"))
OFFICE = Background(_OFFICE, "temporal", ToolGraph.build(_OFFICE, "temporal"))
BARE = Background(ToolLibrary([Tool("search"), Tool("book"), Tool("pay")]), "temporal")


def background_of(name: str) -> Background:
    """The background of a data folder of the project."""
    graph = ToolGraph.load(ROOT / f"data_{name}" / "graph_desc.json", dependency_type=FOLDERS[name])
    return Background(graph.library, FOLDERS[name], graph)


def label(*nodes: tuple[str, Any], links: str = "", **others: Any) -> dict[str, Any]:
    """A label of (tool, arguments); links are written "a>b c>d", with _ for blanks in names of tools.

    The sample is that of the plan, and each step names its tool; `others` says otherwise.
    """
    names = [tool for tool, _ in nodes]
    short = {tool.replace(" ", "_"): tool for tool in names}
    pairs = []
    for pair in links.split():
        source, target = (short.get(end, end) for end in pair.split(">"))
        pairs.append((source, target))
    further = {
        "task_steps": [f"Step {number}: Use {tool}" for number, tool in enumerate(names, 1)],
        "sampled_nodes": [{"task": tool} for tool in names],
        "sampled_links": links_of(pairs),
    }
    return label_of("one", *map(call_of, nodes), links=pairs, **{**further, **others})


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """The label without its sample."""
    return {key: value for key, value in record.items() if not key.startswith("sampled_")}


def check(gate: Gate, record: dict[str, Any]) -> list[Finding]:
    """What a gate says of a label."""
    return gate.check(Gold.of(record))


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    """State and place of each finding."""
    return [(finding.state, finding.where) for finding in findings]
