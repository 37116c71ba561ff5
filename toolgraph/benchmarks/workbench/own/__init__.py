"""A workplace of one's own: a database, tools in a Python file, tasks. What such a file imports is here."""

from __future__ import annotations

from toolgraph.benchmarks.workbench.own.marking import ToolError, now, tool, user

__all__ = ["ToolError", "now", "tool", "user"]
