"""The executors behind `--executor`: built-in ones, those of benchmarks, those of installed packages."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.executors.executor import Executor
from toolassay.extras import Option, installed_extensions

GROUP = "toolassay.executors"
_NOT_EXECUTORS = ("__init__", "executor", "registry")


def executors() -> tuple[Executor, ...]:
    """All executors, the built-in ones by name first.

    Raises:
        UsageError: An installed one cannot be loaded, or has the name of another.
    """
    folder = Path(__file__).parent
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem not in _NOT_EXECUTORS)
    modules = (import_module(f"{__package__}.{name}") for name in names)
    built_in = [module.EXECUTOR for module in modules if hasattr(module, "EXECUTOR")]
    return installed_extensions(GROUP, Executor, "executor", built_in)


def executor_named(name: str, more: tuple[Executor, ...] = ()) -> Executor:
    """The executor with a name.

    Args:
        name: Value of `--executor`.
        more: Executors that benchmarks bring.

    Raises:
        UsageError: There is none.
    """
    known = {one.name: one for one in (*executors(), *more)}
    if name not in known:
        raise UsageError(f"there is no executor '{name}'", fix=f"use one of {', '.join(known)}")
    return known[name]


def flags_of(every: tuple[Executor, ...]) -> tuple[Option, ...]:
    """The options of all executors, each name once."""
    return tuple({flag.name: flag for one in every for flag in one.flags}.values())
