"""Where calls run (an MCP server, Python functions, a simulator), and how a plan is run there.

Here: the executors behind `--executor`, built-in ones and those of installed packages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolassay.errors import UsageError
from toolassay.executors.executor import ExecutionContext, Executor, OpenExecutor
from toolassay.extras import Option, installed_extensions

GROUP = "toolassay.executors"


def executors() -> tuple[Executor, ...]:
    """The built-in executors, then the installed ones by name.

    Raises:
        UsageError: An installed one cannot be loaded, or has the name of another.
    """
    from toolassay.executors import mcp, python  # both import nothing heavy at the top

    built_in: list[Any] = [mcp.EXECUTOR, python.EXECUTOR, SimulateExecutor()]
    return installed_extensions(GROUP, Executor, "executor", built_in)


def executor_named(name: str, more: tuple[Executor, ...] = ()) -> Executor:
    """The executor with a name.

    Args:
        name: Value of `--executor`.
        more: Executors that benchmarks bring.

    Raises:
        UsageError: There is none.
    """
    executors_by_name = {executor.name: executor for executor in (*executors(), *more)}
    if name not in executors_by_name:
        raise UsageError(f"there is no executor '{name}'", fix=f"use one of {', '.join(executors_by_name)}")
    return executors_by_name[name]


def flags_of(all_executors: tuple[Executor, ...]) -> tuple[Option, ...]:
    """The options of all executors, each name once."""
    return tuple({flag.name: flag for executor in all_executors for flag in executor.flags}.values())


class SimulateExecutor(Executor):
    """Simulated tools."""

    name = "simulate"
    help = "made-up results that fit the schemas, without a server"
    is_harmless = True

    @asynccontextmanager
    async def open(self, context: ExecutionContext, options: Any) -> AsyncIterator[OpenExecutor]:
        """Nothing is started; what a tool needs is prepared with its first call."""
        from toolassay.executors.simulation import OpenSimulation

        yield OpenSimulation(context)
