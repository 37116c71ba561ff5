"""The executor `workbench`: calls run on a copy of a workplace, the published one or a team's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from toolassay.executors.executor import ExecutionContext, Executor, OpenExecutor
from toolassay.extras import Option


@dataclass(frozen=True)
class WorkplaceExecution:
    """Options of the executor.

    Attributes:
        workplace: Folder with the workplace; empty for the data folder itself.
    """

    workplace: str = ""


class WorkplaceExecutor(Executor):
    """A sandbox of databases, forked for each plan."""

    name = "workbench"
    help = "a workplace: the data folder, or the folder of --workplace"
    options = WorkplaceExecution
    is_harmless = True
    flags = (
        Option(
            "workplace",
            "workbench: folder with the workplace, if that is not the data folder.",
            metavar="FOLDER",
        ),
    )

    @asynccontextmanager
    async def open(
        self, context: ExecutionContext, options: WorkplaceExecution
    ) -> AsyncIterator[OpenExecutor]:
        """Load the sandbox.

        Raises:
            UsageError: There is none, or its tools may not be run.
        """
        from toolassay.benchmarks.workbench.workplace import open_workplace
        from toolassay.benchmarks.workbench.workplace_environment import OpenWorkplace

        place = Path(options.workplace) if options.workplace else context.folder.path
        yield OpenWorkplace(open_workplace(place, allow_tools=context.allow_tools), context)


EXECUTOR = WorkplaceExecutor()
