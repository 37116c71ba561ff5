"""The workplace of a data folder: the published one, or somebody's own."""

from __future__ import annotations

from pathlib import Path

from toolassay.benchmarks.workbench.own.loading import load_own, own_tools_file
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.errors import UsageError


def open_workplace(path: str | Path, *, allow_tools: bool = False) -> Sandbox:
    """The sandbox of a folder (or of a `sandbox.sqlite` in the published layout), with its tools.

    Args:
        path: the folder.
        allow_tools: run the folder's own tools, which are a program: only of folders that are trusted.

    Raises:
        UsageError: a file is missing or cannot be used, or the folder has tools and they are not allowed.
    """
    tools = own_tools_file(Path(path))
    if tools is None:
        return Sandbox.load(path)
    if not allow_tools:
        raise UsageError(
            "this folder brings a program, its own tools",
            file=tools,
            fix="read it, and add --allow_tools if you trust it",
        )
    return load_own(Path(path))
