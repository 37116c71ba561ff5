"""The executor `simulate`, whose results are made up (`simulation.py`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolassay.executors.executor import ExecutionContext, Executor, OpenExecutor


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


EXECUTOR = SimulateExecutor()
