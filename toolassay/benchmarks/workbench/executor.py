"""The executor `workbench`: a sandbox of databases, forked for each plan."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated

from toolassay.declarations import Option
from toolassay.executors.executor import ExecutionContext, Executor, OpenExecutor


@dataclass(frozen=True)
class WorkplaceExecution:
    """Options of the executor."""

    section = "Executors"

    workplace: Annotated[
        str,
        Option("workbench: folder with the workplace, if that is not the data folder.", metavar="FOLDER"),
    ] = ""


class WorkplaceExecutor(Executor):
    """A sandbox of databases, forked for each plan."""

    name = "workbench"
    help = "a workplace: the data folder, or the folder of --workplace"
    options = WorkplaceExecution
    is_harmless = True

    def open(
        self, context: ExecutionContext, options: WorkplaceExecution
    ) -> AbstractAsyncContextManager[OpenExecutor]:
        """Load the sandbox; raises as `open_workplace_executor` does."""
        from toolassay.benchmarks.workbench.workplace_environment import open_workplace_executor

        return open_workplace_executor(context, options)


EXECUTOR = WorkplaceExecutor()
