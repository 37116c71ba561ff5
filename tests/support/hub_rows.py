"""Rows of a small data set in the two published forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TYPES = {"input-type": ["text"], "output-type": ["text"]}
TOOLS = {"nodes": [{"id": name, "desc": f"{name}.", **TYPES} for name in ("Summariser", "Translator")]}


def repository_row(number: int) -> dict[str, Any]:
    """A label as the repository writes it."""
    return {
        "id": str(number),
        "seed": number,
        "n_tools": 2,
        "sampled_nodes": [{"task": "Summariser"}, {"task": "Translator"}],
        "sampled_links": [{"source": "Summariser", "target": "Translator"}],
        "user_request": f"Sum 'café {number}' up in English.",
        "task_steps": ["Step 1: sum up", "Step 2: translate"],
        "task_nodes": [
            {"task": "Summariser", "arguments": [f"café {number}"]},
            {"task": "Translator", "arguments": ["<node-0>"]},
        ],
        "task_links": [{"source": "Summariser", "target": "Translator"}],
        "type": "chain",
    }


HUB_NAMES = {
    "user_request": "instruction",
    "task_steps": "tool_steps",
    "task_nodes": "tool_nodes",
    "task_links": "tool_links",
}


def hub_row(number: int) -> dict[str, Any]:
    """The same as the hub writes it: other names, lists as JSON in strings."""
    return {
        HUB_NAMES.get(key, key): json.dumps(value) if isinstance(value, list) else value
        for key, value in repository_row(number).items()
    }


def write_rows(path: Path, rows: list[Any], *, as_list: bool = False) -> Path:
    """A JSON Lines file, or one list."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) for row in rows]
    path.write_text(f"[{', '.join(lines)}]" if as_list else "\n".join(lines) + "\n", encoding="utf-8")
    return path
