"""A small library (that of `running`), and labels for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.builders import tool_desc
from toolassay.gates.gate import Background
from toolassay.graph import ToolGraph
from toolassay.plans.gold import Gold
from toolassay.tools.library import ToolLibrary

YES = "Both calls are needed.\nExecutable: yes\nCorrect: yes"
NO = "The picture is not described.\nExecutable: yes\nCorrect: no"
_ANIMALS = ("red fox", "grey owl", "black swan", "tame otter", "young hare", "old badger", "white stork")


def label(number: int, **more: Any) -> dict[str, Any]:
    """A label that is sound; requests of different numbers have different words."""
    animal = _ANIMALS[number % len(_ANIMALS)]
    tools, link = ["Painter", "Captioner"], {"source": "Painter", "target": "Captioner"}
    return {
        "id": f"item-{number}",
        "sampled_nodes": [{"task": tool} for tool in tools],
        "sampled_links": [link],
        "user_request": f"Draw a {animal} in street {number} for me, and say in words what it shows.",
        "task_steps": ["Step 1: draw it", "Step 2: say what it shows"],
        "task_nodes": [
            {"task": "Painter", "arguments": [f"a {animal} in street {number}"]},
            {"task": "Captioner", "arguments": ["<node-0>"]},
        ],
        "task_links": [link],
        **more,
    }


def gold(number: int = 0, line: int = 1, **more: Any) -> Gold:
    """The same as it is read."""
    return Gold.of(label(number, **more), line)


def background(path: Path) -> Background:
    """The library, in a file of this folder."""
    library = ToolLibrary.load(tool_desc(path / "tool_desc.json"))
    return Background(library, "resource", ToolGraph.build(library, "resource"))
