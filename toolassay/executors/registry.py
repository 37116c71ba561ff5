"""The executors behind `--executor`: built-in ones, those of benchmarks, those of installed packages."""

from __future__ import annotations

from importlib import import_module

from toolassay.errors import UsageError
from toolassay.executors.executor import Executor
from toolassay.extras import Option, installed_extensions

GROUP = "toolassay.executors"
# Each defines EXECUTOR and imports nothing heavy at the top.
_BUILT_IN = ("mcp", "python", "simulate")


def executors() -> tuple[Executor, ...]:
    """The built-in executors, then the installed ones by name.

    Raises:
        UsageError: An installed one cannot be loaded, or has the name of another.
    """
    built_in = [import_module(f"{__package__}.{name}").EXECUTOR for name in _BUILT_IN]
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
