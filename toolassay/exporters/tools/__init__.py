"""Tool libraries in the forms of model services and protocols, each with a list of what that form loses."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from toolassay.data_folder import DEFAULT_BENCHMARK
from toolassay.errors import UsageError

if TYPE_CHECKING:
    from toolassay.exporters.tools.exported_tools import ExportedTools
    from toolassay.tools import ToolLibrary

_MODULES = {
    **{name: name for name in ("openai", "anthropic", "mcp")},
    DEFAULT_BENCHMARK: "published",  # the published tool file, which has the name of its benchmark
}
TOOL_FORMS = tuple(_MODULES)
"""The forms, each a module beside this file with a function `write`."""


def tool_exporter(form: str) -> Callable[[ToolLibrary], ExportedTools]:
    """The function that writes a tool library in a form.

    Args:
        form: One of `TOOL_FORMS`.

    Raises:
        UsageError: There is no such form.
    """
    if form not in TOOL_FORMS:
        raise UsageError(f"unknown form '{form}'", fix=f"use one of {', '.join(TOOL_FORMS)}")
    write = import_module(f"{__package__}.{_MODULES[form]}").write
    return cast("Callable[[ToolLibrary], ExportedTools]", write)
