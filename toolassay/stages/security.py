"""The figures of security runs in a metrics file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.security.published import published_score_beside
from toolassay.benchmarks.security import figure_lines, figures_beside
from toolassay.screen import Screen

SECURITY = "security"


def published_security_beside(predictions: Path, llm: str) -> dict[str, Any]:
    """What compat of CLASSic says under `security`; nothing without a run of the published test.

    Raises:
        UsageError: its file is malformed.
    """
    score = published_score_beside(predictions, llm)
    return {} if score is None else {SECURITY: score.to_json()}


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
