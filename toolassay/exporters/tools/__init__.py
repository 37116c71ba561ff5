"""Tool libraries in the forms of model services and protocols, each with a list of what that form loses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolassay.data_folder import DEFAULT_BENCHMARK
from toolassay.errors import UsageError

if TYPE_CHECKING:
    from toolassay.exporters.tools.exported_tools import ExportedTools
    from toolassay.tools import ToolLibrary

TOOL_FORMS = ("openai", "anthropic", "mcp", DEFAULT_BENCHMARK)
"""The forms; the published tool file has the name of its benchmark."""


def tool_exporter(form: str) -> Callable[[ToolLibrary], ExportedTools]:
    """The function that writes a tool library in a form.

    Args:
        form: One of `TOOL_FORMS`.

    Raises:
        UsageError: There is no such form.
    """
    if form not in TOOL_FORMS:
        raise UsageError(f"unknown form '{form}'", fix=f"use one of {', '.join(TOOL_FORMS)}")
    from toolassay.exporters.tools import exported_tools as forms

    writers = (forms.write_openai, forms.write_anthropic, forms.write_mcp, forms.write_published)
    return writers[TOOL_FORMS.index(form)]
