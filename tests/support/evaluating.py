"""Metrics as they are written, and what *verify* says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolassay import verify
from toolassay.console.screen import Screen


def metrics_of(folder: Path, llm: str = "m", place: str = "metrics") -> dict[str, Any]:
    """The metrics of a model on all items, as they are written."""
    return dict(json.loads((folder / place / f"{llm}.json").read_text())["overall_overall"])


def verified(folder: Path, llm: str = "offline", **more: Any) -> tuple[bool, str]:
    """Whether all is equal, and what is said."""
    lines: list[str] = []
    found = verify(folder, llm=llm, screen=Screen(say=lines.append, show=lines.append), **more)
    return found.is_equal, "\n".join(lines)


def changed(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file, which must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
