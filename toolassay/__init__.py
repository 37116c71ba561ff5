"""Toolassay: from a tool list to a benchmark, and to the model to trust with the tools.

The stages of the pipeline are functions of this package; each is imported when it is first used. In a
notebook they show progress and warnings; `screen=SCREEN` shows all that the command shows, `screen=SILENT`
nothing. `ModelSettings`, `Limits` and `RunChoices` hold what several stages take; their fields can be given
as plain keywords too.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolassay.version import __version__ as __version__


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'toolassay' has no attribute '{name}'")
    interface = import_module("toolassay.interface")  # `from toolassay import` would ask this function
    return [*interface.HOMES, "__version__"] if name == "__all__" else interface.public(name)


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
