"""Graph files: links with further keys, and the tools of a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph

SPEAK = {"id": "speak", "input-type": ["text"], "output-type": ["Audio"]}
HEAR = {"id": "hear", "input-type": ["audio"], "output-type": ["text"]}
DUB = {"id": "dub ü},{", "input-type": ["audio", "text"], "output-type": ["text", "audio"]}
TOOLS = [SPEAK, HEAR, DUB]
PLAIN = [{"id": tool["id"]} for tool in TOOLS]

shared = [
    {"source": source["id"], "target": target["id"], "type": kind}
    for source in TOOLS
    for target in TOOLS
    for kind in (*source["output-type"], "AUDIO")
    if kind.lower() in target["input-type"] and kind.lower() in str(source["output-type"]).lower()
]
PUBLISHED = json.dumps(
    {
        "nodes": TOOLS,
        "links": [
            {"source": "speak", "target": "hear", "type": "audio"},
            {"source": "hear", "target": "dub ü},{", "type": "text"},
            {"source": "dub ü},{", "target": "hear", "type": "audio"},
        ],
    },
    ensure_ascii=False,
    indent=2,
).encode()


def test_links_with_scores_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "graph_desc.json"
    path.write_text(json.dumps({"nodes": TOOLS, "links": [{**shared[0], "score": 0.5, "note": "kept"}]}))
    graph = ToolGraph.load(path)

    assert graph.dependency_type == "schema"
    assert [(one.score, one.further) for one in graph.dependencies()] == [(0.5, (("note", "kept"),))]
    path.write_text(json.dumps({"nodes": TOOLS, "links": [{**shared[0], "note": "kept"}]}))
    assert [one.further for one in ToolGraph.load(path, dependency_type="schema").dependencies()] == [
        (("note", "kept"),)
    ]


def test_the_tools_of_a_folder_are_read_like_those_of_its_graph(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.graph_desc.write_bytes(PUBLISHED)
    assert folder.library().tools == folder.graph(None).library.tools

    folder.graph_desc.write_bytes(PUBLISHED[:-40])
    with pytest.raises(UsageError, match=r"graph_desc\.json:\d+: not valid JSON"):
        folder.library()
    folder.graph_desc.unlink()
    with pytest.raises(UsageError, match="no such file"):
        folder.library()
