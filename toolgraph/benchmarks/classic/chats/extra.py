"""Libraries that only this room needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolgraph.errors import UsageError, install


def needed(module: str, purpose: str, extra: str = "chats") -> Any:
    """A module of an extra, imported when it is needed.

    Raises:
        UsageError: it is not installed.

    >>> needed("json", "reading").loads("1")
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(f"{purpose} needs the package {module.split('.')[0]}", fix=install(extra)) from error
