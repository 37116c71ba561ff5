"""Environments with a copy of a folder, which several plans can use one after the other."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolassay.executors.executor import CallLimits, CallResult, Environment, OpenExecutor, State
from toolassay.executors.workspace import Workspace, copy_of, paths_in, stored
from toolassay.tools import Tool


class CopiedEnvironment(ABC):
    """An environment that works in a copy of a folder, if it has one.

    Attributes:
        workspace: The copy.
        has_failed: Whether a call has no result, after which the environment is not used any more.
    """

    def __init__(self, workspace: Workspace | None, keys: Sequence[str]) -> None:
        self.workspace, self._keys = workspace, keys
        self.has_failed = False

    @property
    @abstractmethod
    def is_usable(self) -> bool:
        """Whether nothing has failed in it, and its process or connection lives."""

    @abstractmethod
    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        """See `Environment.call`."""

    @abstractmethod
    async def close(self) -> None:
        """End its processes and delete its copy."""

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments with the path of the copy for `/workspace`."""
        given = dict(arguments)
        return given if self.workspace is None else dict(self.workspace.with_real_paths(given))

    def stored(self, value: Any) -> Any:
        """A JSON value as files keep it: `/workspace` for the path of the copy, `***` for each known key."""
        return stored(value, self.workspace, self._keys)

    async def restore(self) -> None:
        """Give its copy the first content again."""
        if self.workspace is not None:
            await asyncio.to_thread(self.workspace.restore)

    async def state(self) -> State | None:
        """What the copy holds."""
        if self.workspace is None:
            return None
        state: State = stored(await asyncio.to_thread(self.workspace.state), None, self._keys)
        return state


class PooledExecutor(OpenExecutor):
    """Makes environments, and keeps those that are still usable for later plans.

    Args:
        source: The folder that is copied for each environment.
        limits: Bounds on each call.
        is_isolated: Whether the copy is all that calls change; a kept environment has it restored.
        reuses: Whether an environment serves several plans; if not, each is closed after one.
    """

    def __init__(self, source: Path | None, limits: CallLimits, *, is_isolated: bool, reuses: bool) -> None:
        self._source, self.limits = source, limits
        self.is_isolated, self._reuses = is_isolated, reuses
        self._idle: list[CopiedEnvironment] = []

    @abstractmethod
    async def made(self, workspace: Workspace | None) -> CopiedEnvironment:
        """A new environment with a copy."""

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        """An environment for one plan: a new one, or one that an earlier plan has used."""
        environment = await self._restored()
        if environment is None:
            environment = await self.made(None if self._source is None else await copy_of(self._source))
        is_whole = False
        try:
            yield environment
            is_whole = True
        finally:
            if is_whole and self._reuses and environment.is_usable:
                self._idle.append(environment)
            else:
                await environment.close()

    async def _restored(self) -> CopiedEnvironment | None:
        """One that an earlier plan has used; None if there is none. What cannot be used is closed."""
        while self._idle:
            environment, is_ready = self._idle.pop(), False
            try:
                if environment.is_usable:
                    if self.is_isolated:
                        await environment.restore()
                    is_ready = True
                    return environment
            finally:
                if not is_ready:
                    await environment.close()
        return None

    async def close(self) -> None:
        """Close the idle environments."""
        while self._idle:
            await self._idle.pop().close()

    def paths(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of the workspace."""
        return ((), ()) if self._source is None else paths_in(self._source)
