"""Where calls run (an MCP server, Python functions, a world), and how a plan is run there.

Here: the executors behind `--executor`, built-in ones and those of installed packages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from toolassay.errors import UsageError
from toolassay.executors.execution_options import McpExecution as McpExecution
from toolassay.executors.execution_options import PythonExecution as PythonExecution
from toolassay.executors.executor import ExecutionContext, Executor, OpenExecutor
from toolassay.extras import installed_extensions
from toolassay.plans.execution_record import SIMULATOR, WORLD

GROUP = "toolassay.executors"
_OLD_NAMES = {SIMULATOR: WORLD}


def executors() -> tuple[Executor, ...]:
    """The built-in executors, then the installed ones by name.

    Raises:
        UsageError: An installed one cannot be loaded, or has the name of another.
    """
    built_in: list[Any] = [McpExecutor(), PythonExecutor(), WorldExecutor()]
    return installed_extensions(GROUP, Executor, "executor", built_in)


def present_name(name: str) -> str:
    """The name that an executor has now."""
    return _OLD_NAMES.get(name, name)


def executor_named(name: str, more: tuple[Executor, ...] = ()) -> Executor:
    """The executor with a name.

    Args:
        name: Value of `--executor`.
        more: Executors that benchmarks bring.

    Raises:
        UsageError: There is none.
    """
    name = present_name(name)
    executors_by_name = {executor.name: executor for executor in (*executors(), *more)}
    if name not in executors_by_name:
        raise UsageError(f"there is no executor '{name}'", fix=f"use one of {', '.join(executors_by_name)}")
    return executors_by_name[name]


class McpExecutor(Executor):
    """Live MCP servers."""

    name = "mcp"
    help = "a live MCP server (--server or --mcp_config)"
    options = McpExecution

    def open(
        self, context: ExecutionContext, options: McpExecution
    ) -> AbstractAsyncContextManager[OpenExecutor]:
        """Start the servers once to see which tools they have; raises as `open_mcp` does."""
        from toolassay.executors.mcp import open_mcp

        return open_mcp(context, options)


class PythonExecutor(Executor):
    """Functions of a Python module."""

    name = "python"
    help = "functions of a Python module (--functions)"
    options = PythonExecution

    def open(
        self, context: ExecutionContext, options: PythonExecution
    ) -> AbstractAsyncContextManager[OpenExecutor]:
        """Import the module once, in a process; raises as `open_python` does."""
        from toolassay.executors.python import open_python

        return open_python(context, options)


class WorldExecutor(Executor):
    """The world of the folder."""

    name = WORLD
    help = "the folder's world.json, or a world by rules; without a server (old name: simulate)"
    is_harmless = True

    @asynccontextmanager
    async def open(self, context: ExecutionContext, options: Any) -> AsyncIterator[OpenExecutor]:
        """Nothing is started; raises as `OpenWorld` does."""
        from toolassay.executors.world import OpenWorld

        yield OpenWorld(context)
