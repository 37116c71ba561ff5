"""What is imported late: libraries of an extra, entry points of other packages, and exports of our own."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from toolassay.errors import UsageError, install

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


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


_THREADS = "OPENBLAS_NUM_THREADS"


def import_numpy() -> None:
    """Import numpy without the threads of its linear algebra, one for each core, that scores do not need.

    Starting them takes a third of the CPU time of the import on two cores. A value that the user gave to
    `OPENBLAS_NUM_THREADS` counts.
    """
    if "numpy" in sys.modules or _THREADS in os.environ:
        return
    os.environ[_THREADS] = "1"
    try:
        import_module("numpy")
    finally:
        del os.environ[_THREADS]


def installed_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points that installed packages register under `group`.

    They are read again only when `sys.path` or one of its folders has changed: among 200 packages that takes
    15 ms, and every command needs them several times.

    >>> [point.name for point in installed_entry_points("console_scripts") if point.name == "pytest"]
    ['pytest']
    """
    return tuple(_entry_points(tuple((folder, _changed(folder)) for folder in sys.path)).select(group=group))


@functools.lru_cache(maxsize=1)
def _entry_points(search_path: tuple[tuple[str, int], ...]) -> Any:
    """All entry points; they have the method `select` in every version of Python."""
    from importlib.metadata import entry_points  # 15 ms, which many commands do not need

    return entry_points()


def _changed(folder: str) -> int:
    """When a file was last added to a folder or removed, in nanoseconds; 0 for a folder that is missing."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0


Extension = TypeVar("Extension")


def installed_extensions(
    group: str,
    kind: type[Extension],
    noun: str,
    built_in: Sequence[Extension],
    *,
    taken: Collection[str] = (),
    as_classes: bool = False,
) -> tuple[Extension, ...]:
    """The built-in extensions and those that installed packages register, which follow by name.

    Args:
        group: The entry-point group.
        kind: Class of the extensions, which have a `name`.
        noun: What they are called in messages.
        built_in: The built-in ones.
        taken: Further names that an installed one must not have.
        as_classes: Whether the extensions are subclasses of `kind`, and not instances.

    Raises:
        UsageError: An installed one cannot be loaded, is of another class, or has the name of another.
    """
    extensions: dict[str, Extension] = {_name_of(one): one for one in built_in}
    form = "a subclass" if as_classes else "an instance of a subclass"
    for point in sorted(installed_entry_points(group), key=lambda point: point.name):
        try:
            extension = point.load()
        except Exception as error:
            # Importing another package can raise anything.
            raise UsageError(
                f"{noun} '{point.name}' is registered as {point.value} but cannot be loaded: {error}",
                fix="fix or uninstall that package",
            ) from error
        is_class = inspect.isclass(extension) and issubclass(extension, kind)
        if not (is_class if as_classes else isinstance(extension, kind)):
            raise UsageError(
                f"{noun} '{point.name}' is registered as {point.value}, which is no {kind.__name__}",
                fix=f"register {form}, or uninstall that package",
            )
        if _name_of(extension) in extensions or _name_of(extension) in taken:
            raise UsageError(
                f"two {noun}s are called '{_name_of(extension)}'; one is {point.value}",
                fix="rename it or uninstall that package",
            )
        extensions[_name_of(extension)] = extension
    return tuple(extensions.values())


def _name_of(extension: Any) -> str:
    return str(extension.name)
