"""Generates and prints one sample without saving it, to try a prompt or a model before a long run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolassay.data_folder import DataFolder, find_file
from toolassay.locks import temporary_folder
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.generate import generate


def play(
    data_dir: str | Path | None = None,
    *,
    graph_desc: str | Path | None = None,
    screen: Screen = DEFAULT,
    **settings: Any,
) -> dict[str, Any] | None:
    """Generate one sample in a temporary folder and print its record.

    Args:
        data_dir: Data folder with the graph.
        graph_desc: Another graph file.
        screen: Receives messages, results and progress.
        settings: Keywords of `generate`.

    Returns:
        The raw record, or None if the model's answer cannot be parsed.

    Raises:
        UsageError: There is no graph.
        ToolassayError: The model cannot be reached.
    """
    place = Path(data_dir) if data_dir is not None else None
    source = find_file(graph_desc or "graph_desc.json", place)
    if place is not None and settings.get("dependency_type") is None:
        settings["dependency_type"] = DataFolder(place).benchmark.get("dependency_type")
    tools = settings.pop("tool_desc", None)
    if tools is not None:
        tools = find_file(tools, place)
    elif (beside := DataFolder(source.parent)).graph_desc == source and beside.tool_desc.exists():
        beside.library(say=screen.say)
        tools = beside.tool_desc
    with temporary_folder() as name:
        settings |= {"number_of_samples": 1, "tool_desc": tools, "save_figure": False}
        quiet = Screen(
            say=lambda text: screen.say(text) if text.startswith(WARNING) else None, progress=screen.progress
        )
        folder, complete = generate(name / "play", graph_desc=source, screen=quiet, **settings)
        if not complete:
            return None
        record: dict[str, Any] = json.loads(DataFolder(folder).data_raw.read_text(encoding="utf-8"))
    result = record["result"]
    screen.say("\n".join([result["user_request"], "", *map(str, result["task_steps"]), ""]))
    screen.show(json.dumps(record, indent=2, ensure_ascii=False))
    return record
