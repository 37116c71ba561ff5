"""Where calls run (an MCP server, Python functions, a simulator), and how a plan is run there.

Here: the executors behind `--executor`, built-in ones and those of installed packages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from toolassay.declarations import Option
from toolassay.errors import UsageError
from toolassay.executors.executor import ExecutionContext, Executor, OpenExecutor
from toolassay.extras import installed_extensions

GROUP = "toolassay.executors"


def executors() -> tuple[Executor, ...]:
    """The built-in executors, then the installed ones by name.

    Raises:
        UsageError: An installed one cannot be loaded, or has the name of another.
    """
    built_in: list[Any] = [McpExecutor(), PythonExecutor(), SimulateExecutor()]
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


_Workspace = Annotated[
    str,
    Option(
        "mcp, python: folder to copy for each plan; {workspace} in the command, and /workspace in arguments "
        "and results, stand for the copy.",
        metavar="FOLDER",
    ),
]
_Fresh = Annotated[
    Literal["plan", "worker"],
    Option(
        "mcp, python: 'plan' starts a new process on a new copy for each plan, without --workspace after "
        "each "
        "plan that writes; 'worker' one process for many plans, whose copy is restored before each.",
    ),
]


@dataclass(frozen=True)
class McpExecution:
    """Options of the executor mcp."""

    section: ClassVar[str] = "Executors"

    server: Annotated[
        str,
        Option(
            "mcp: command line that starts the server, or its http(s) address.",
            metavar="COMMAND|URL",
            common=True,
        ),
    ] = ""
    mcp_config: Annotated[str, Option("mcp: configuration file with mcpServers.", metavar="FILE")] = ""
    header: Annotated[Sequence[str], Option("mcp: header for an address.", metavar="'NAME: VALUE'")] = field(
        default=(), repr=False
    )
    workspace: _Workspace = ""
    fresh: _Fresh = "plan"


@dataclass(frozen=True)
class PythonExecution:
    """Options of the executor python."""

    section: ClassVar[str] = "Executors"

    functions: Annotated[
        str,
        Option(
            "python: module or file with the functions; needs --allow_tools.",
            metavar="MODULE|FILE",
            common=True,
        ),
    ] = ""
    pass_env: Annotated[
        Sequence[str], Option("python: variable of the environment that the functions see.", metavar="NAME")
    ] = ()
    workspace: _Workspace = ""
    fresh: _Fresh = "plan"


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
