"""Executes calls in the world of a data folder: `world.json`, or one that rules write for its library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    OpenExecutor,
    Refusal,
    State,
    one_line,
)
from toolassay.plans.execution_record import Arguments
from toolassay.tools.library import Tool
from toolassay.worlds.calls import WorldCalls
from toolassay.worlds.operations import RefusedError, WorldState
from toolassay.worlds.rules import time_on, world_by_rules
from toolassay.worlds.world import World, changes, read_world


class OpenWorld(OpenExecutor):
    """The world of a folder; each environment starts with its records as they are written.

    Raises:
        UsageError: `world.json` is malformed.
    """

    def __init__(self, context: ExecutionContext) -> None:
        now = time_on(context.folder.benchmark.today)
        world = read_world(context.folder.path) or world_by_rules(context.library, context.seed, now)
        self.calls = WorldCalls(world, context.library)
        self.limits = context.limits
        self.identity = {"world": world.digest}
        self.first_state = WorldState(world).places()
        self.stock = world.records

    @property
    def world(self) -> World:
        """The world."""
        return self.calls.world

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        """The world at its start."""
        yield _WorldEnvironment(self)

    def is_read_only(self, tool: Tool) -> bool:
        """Whether its operation changes nothing."""
        operation = self.world.tools.get(tool.id)
        return tool.is_marked_reading if operation is None else not changes(operation)

    def missing(self, tool: Tool) -> str:
        """Why the world does not cover a tool."""
        return self.calls.missing(tool.id)


class _WorldEnvironment:
    """The world of one plan."""

    def __init__(self, opened: OpenWorld) -> None:
        self._opened = opened
        self._state = WorldState(opened.world)

    async def state(self) -> State | None:
        """Its records and settings."""
        return self._state.places()

    async def call(self, tool: Tool, arguments: Arguments) -> CallResult:
        """See `Environment.call`."""
        try:
            result = CallResult.of(self._opened.calls.call(self._state, tool, arguments))
        except RefusedError as error:
            raise Refusal(one_line(error)) from None
        except ValueError as error:
            raise EnvironmentFailure(one_line(f"a schema of '{tool.id}' is not valid: {error}")) from None
        self._opened.limits.check(result.text)
        return result
