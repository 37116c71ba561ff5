"""What a tool says of its parameters, as the gates ask for it."""

from __future__ import annotations

from toolgraph.parameters import is_required, source_of
from toolgraph.tools import Tool

__all__ = ["declares_parameters", "is_required", "source_of"]


def declares_parameters(tool: Tool) -> bool:
    """Whether the tool says which parameters it takes, be it none."""
    return bool(tool.parameters) or isinstance(tool.source.get("parameters"), list)
