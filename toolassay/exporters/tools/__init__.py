"""Tool libraries in the forms of model services and protocols, each with a list of what that form loses."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from toolassay.errors import UsageError
from toolassay.exporters.tools.exported import ExportedTools, Loss
from toolassay.tools import ToolLibrary

__all__ = ["FORMS", "ExportedTools", "Loss", "write_tools"]

FORMS = ("openai", "anthropic", "mcp", "openapi", "taskbench")
"""The forms, each a module beside this file with a function `write`."""


def write_tools(library: ToolLibrary, form: str) -> ExportedTools:
    """A tool library in another form.

    Args:
        library: The tools.
        form: One of `FORMS`.

    Raises:
        UsageError: There is no such form.
    """
    if form not in FORMS:
        raise UsageError(f"unknown form '{form}'", fix=f"use one of {', '.join(FORMS)}")
    write = cast(Callable[[ToolLibrary], ExportedTools], import_module(f"{__package__}.{form}").write)
    return write(library)
