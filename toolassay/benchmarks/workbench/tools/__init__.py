"""The tools of a workplace: the 26 published tools and the directory, or those of a user-defined
workplace.
"""

from __future__ import annotations

from toolassay.benchmarks.workbench.tools.tool import ToolArgument, ToolFailure, WorkplaceTool
from toolassay.benchmarks.workbench.tools.toolset import (
    PUBLISHED,
    TOOLS,
    Toolset,
    call,
    listing,
    toolset_of,
)

__all__ = [
    "PUBLISHED",
    "TOOLS",
    "ToolArgument",
    "ToolFailure",
    "Toolset",
    "WorkplaceTool",
    "call",
    "listing",
    "toolset_of",
]
