"""The figures of a security run in a metrics file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolgraph.benchmarks.security import figure_lines, figures_beside
from toolgraph.stages.screen import Screen

SECURITY = "security"


def security_beside(predictions: Path, llm: str, screen: Screen) -> dict[str, Any]:
    """What a metrics file says under `security`, told to the screen; nothing without a security run.

    Raises:
        UsageError: its file is malformed.
    """
    figures = figures_beside(predictions, llm)
    if figures is None:
        return {}
    for line in figure_lines(llm, figures):
        screen.say(line)
    return {SECURITY: figures}
