"""What other packages add: libraries that come with an extra, and entry points of installed packages."""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
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


def installed_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points that installed packages register under `group`.

    They are read again only when `sys.path` or one of its folders has changed: among 200 packages that takes
    15 ms, and every command needs them several times.

    >>> [point.name for point in installed_entry_points("console_scripts") if point.name == "pytest"]
    ['pytest']
    """
    return _entry_points(group, tuple((folder, _changed(folder)) for folder in sys.path))


@functools.lru_cache(maxsize=8)
def _entry_points(group: str, search_path: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def _changed(folder: str) -> int:
    """When a file was last added to a folder or removed, in nanoseconds; 0 for a folder that is missing."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0
