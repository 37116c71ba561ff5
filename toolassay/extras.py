"""Imports of optional libraries, which are installed with an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolassay.errors import UsageError, install


def needed(module: str, purpose: str, extra: str) -> Any:
    """Import a module that belongs to an extra.

    Args:
        module: Name of the module.
        purpose: What needs it, as the subject of the error message.
        extra: The extra of `pyproject.toml` that installs it.

    Returns:
        The module.

    Raises:
        UsageError: It is not installed.

    >>> needed("json", "reading", "chats").loads("1")
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(f"{purpose} needs the package {module.split('.')[0]}", fix=install(extra)) from error
