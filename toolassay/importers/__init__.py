"""The importers: the built-in ones, and those of installed packages."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from toolassay.declarations import ChosenOptions
from toolassay.errors import UsageError
from toolassay.extras import installed_extensions
from toolassay.importers.importer import Importer

GROUP = "toolassay.importers"


def importers() -> tuple[Importer, ...]:
    """All importers: the built-in ones, then the installed ones by name.

    Raises:
        UsageError: An installed importer cannot be loaded, or has the name of another.
    """
    return _importers(tuple(sys.path))


@cache
def _importers(path: tuple[str, ...]) -> tuple[Importer, ...]:
    """Cached by `sys.path`, as another search path may have other installed importers."""
    from toolassay.importers import mcp, model_tools, openapi, python

    built_in: list[Any] = [  # an abstract class cannot be the type of the extensions
        *(mcp.IMPORTER, openapi.IMPORTER, model_tools.OPENAI, model_tools.ANTHROPIC, python.IMPORTER),
        *(model_tools.LANGCHAIN, model_tools.BFCL),
    ]
    return installed_extensions(GROUP, Importer, "importer", built_in)


def importer_named(name: str) -> Importer:
    """The importer of this kind.

    Raises:
        UsageError: There is none.
    """
    importers_by_name = {importer.name: importer for importer in importers()}
    if name not in importers_by_name:
        raise UsageError(f"unknown kind '{name}'", fix=f"use one of {', '.join(importers_by_name)}")
    return importers_by_name[name]


IMPORTER_OPTIONS = ChosenOptions(
    lambda: {importer.name: importer.options for importer in importers()},
    lambda arguments: importer_named(arguments["kind"]).name,
    "{flag} is not for the importer {owner}",
)
"""Options of the importer that `kind` names."""
