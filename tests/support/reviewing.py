"""A small data folder to review, and gates that are strict about two words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.builders import tool_desc
from tests.support.running import write_lines
from toolassay.gates.gate import Background, Finding, Gate
from toolassay.graph import ToolGraph
from toolassay.plans.gold import Gold
from toolassay.review.decision import RequestedDecision, ReviewStore
from toolassay.review.samples import read_samples
from toolassay.review.server import ReviewServer
from toolassay.review.session import AfterAction, Findings, Session
from toolassay.tools.library import ToolLibrary

HOSTILE = "<img src=x onerror=\"alert('seen')\"><script>window.seen = 1</script>"


class KnownTools:
    """Rejects tools that the library does not hold."""

    name = "schema"

    def __init__(self, library: ToolLibrary) -> None:
        self._library = library

    def check(self, gold: Gold) -> list[Finding]:
        return [
            Finding(self.name, "reject", f"'{node.tool}' is no tool", node.where)
            for node in gold.nodes
            if node.tool not in self._library
        ]


class NoTools:
    """Puts requests that name a tool in quarantine."""

    name = "leak"

    def check(self, gold: Gold) -> list[Finding]:
        named = [node.tool for node in gold.nodes if node.tool.casefold() in gold.request.casefold()]
        return [
            Finding(self.name, "quarantine", f"the request names '{tool}'", "user_request") for tool in named
        ]


def label(number: int) -> dict[str, Any]:
    """A chain of two, or (every third) a single tool."""
    nodes = [
        {"task": "Text Translator", "arguments": [f"bonjour {number}"]},
        {"task": "Painter", "arguments": ["<node-0>"]},
    ][: 1 if number % 3 == 2 else 2]
    links = [{"source": "Text Translator", "target": "Painter"}][: len(nodes) - 1]
    return {
        "id": f"s{number}" if number % 2 else number,
        "type": "chain" if links else "single",
        "n_tools": len(nodes),
        "sampled_nodes": [{"task": node["task"]} for node in nodes],
        "sampled_links": links,
        "user_request": f"Say 'bonjour {number}' in English, then paint it.",
        "task_steps": [f"Step {at + 1}: call {node['task']}" for at, node in enumerate(nodes)],
        "task_nodes": nodes,
        "task_links": links,
        "check_by_teacher": "pass",
    }


def folder_of(path: Path, labels: Sequence[dict[str, Any]]) -> Path:
    """A data folder with these labels."""
    desc = tool_desc(path / "tool_desc.json")
    graph = ToolGraph.build(ToolLibrary.load(desc), "resource")
    (path / "graph_desc.json").write_text(
        json.dumps(
            {
                "nodes": graph.library.to_json()["nodes"],
                "links": [link.to_json() for link in graph.links()],
            }
        ),
        encoding="utf-8",
    )
    write_lines(path / "data.json", list(labels))
    return path


def folder_with(path: Path, count: int = 6) -> Path:
    """A data folder with so many labels."""
    return folder_of(path, [label(number) for number in range(count)])


def session_of(path: Path) -> Session:
    """The review of a folder, held against the gates above."""
    library = ToolLibrary.load(path / "tool_desc.json")
    gates: tuple[Gate, ...] = (KnownTools(library), NoTools())
    background = Background(library, "resource", ToolGraph.load(path / "graph_desc.json"))
    samples = read_samples(path / "data.json")
    return Session(path.name, samples, background, gates, Findings({}, gates), ReviewStore(path))


def say(
    session: Session, reviewer: str, number: int, action: str, *, queue: Any = "all", **more: Any
) -> AfterAction:
    """One decision."""
    fingerprint = more.pop("fingerprint", session.samples[number].fingerprint)
    wanted = RequestedDecision(number, fingerprint, action, more.pop("parts", {}), **more)
    return session.decide(reviewer, queue, wanted)


def actions(path: Path) -> Iterator[tuple[Any, str]]:
    """(id, action) of every line of a file of reviews."""
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        for record in entry.get("batch", [entry]):
            yield record["id"], record["action"]


@asynccontextmanager
async def serving(session: Session, **settings: Any) -> Any:
    """A server that listens while the block lasts."""
    server = ReviewServer(session, **settings)
    await server.open()
    try:
        yield server
    finally:
        await server.close()
