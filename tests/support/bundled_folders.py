"""Copies of bundled data folders that are small enough for a test."""

from __future__ import annotations

import shutil
from pathlib import Path

_HEADS = {
    "data.json": 0,
    "user_requests.json": 0,
    "tasks.jsonl": 0,
    "messages.csv": 1,
    "jailbreak_prompts.csv": 3,
}
"""The files that are cut, each with the number of its lines that are kept beside the items."""


def first_items(root: Path, name: str, target: Path, count: int = 12) -> Path:
    """A copy of the bundled folder `name` with its first `count` items, without predictions and metrics."""
    target.mkdir(parents=True)
    for file in (root / name).iterdir():
        if file.suffix in (".json", ".jsonl", ".csv", ".sqlite") and "raw" not in file.name:
            shutil.copy(file, target)
            if (head := _HEADS.get(file.name)) is not None:
                lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
                (target / file.name).write_text("".join(lines[: count + head]), encoding="utf-8")
    return target
