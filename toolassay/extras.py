"""Libraries that only some commands need, and that come with an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolassay.errors import UsageError, install


def needed(module: str, purpose: str, extra: str) -> Any:
    """A module of an extra, imported when it is needed.

    Args:
        module: its name.
        purpose: what needs it, as the error says it.
        extra: the optional dependencies of `pyproject.toml` that bring it.

    Raises:
        UsageError: it is not installed.

    >>> needed("json", "reading", "chats").loads("1")
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(f"{purpose} needs the package {module.split('.')[0]}", fix=install(extra)) from error
