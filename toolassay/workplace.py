"""The public API for the `tools.py` of your own workplace; this import path is stable.

from toolassay.workplace import tool, ToolError, now, user
"""

from __future__ import annotations

from toolassay.benchmarks.workbench.own.typed_tool import ToolError, now, tool, user

__all__ = ["ToolError", "now", "tool", "user"]
