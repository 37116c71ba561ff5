"""Derives the dependencies between tools from their schemas, names and descriptions."""

from __future__ import annotations

from collections.abc import Callable

from toolassay.graph.dependencies import Dependency
from toolassay.tools import ToolLibrary


def derive_dependencies(
    library: ToolLibrary, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> list[Dependency]:
    """The dependencies of a library, by source, then target, in library order."""
    return []


def explain(library: ToolLibrary, source: str, target: str) -> list[str]:
    """Why there is or is no link between two tools, in sentences."""
    return []
