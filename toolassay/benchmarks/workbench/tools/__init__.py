"""What can be called in a workplace: the 26 published tools and the directory, or tools of one's own."""

from __future__ import annotations

from toolassay.benchmarks.workbench.tools.registry import (
    PUBLISHED,
    TOOLKITS,
    TOOLS,
    call,
    listing,
    tool_called,
    tools_for,
    toolset_of,
)
from toolassay.benchmarks.workbench.tools.tool import Argument, Tool, ToolFailure
from toolassay.benchmarks.workbench.tools.toolset import Toolset

__all__ = [
    "PUBLISHED",
    "TOOLKITS",
    "TOOLS",
    "Argument",
    "Tool",
    "ToolFailure",
    "Toolset",
    "call",
    "listing",
    "tool_called",
    "tools_for",
    "toolset_of",
]
