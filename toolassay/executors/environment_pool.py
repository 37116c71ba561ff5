"""Environments that several plans use one after the other, each plan with the first content of the copy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar


class Reusable(Protocol):
    """An environment that can be given its first content again."""

    @property
    def is_usable(self) -> bool:
        """Whether nothing has failed in it, and its process or connection lives."""
        ...

    async def restore(self) -> None:
        """Give its copy the first content again."""
        ...

    async def close(self) -> None:
        """End its processes and delete its copy."""
        ...


Kind = TypeVar("Kind", bound=Reusable)


class EnvironmentPool(Generic[Kind]):
    """Makes environments, and keeps those that are still usable for later plans.

    Args:
        make: Makes an environment.
        reuses: Whether an environment serves several plans; if not, each is closed after one.
        restores: Whether a kept environment has its copy restored before it is used again.
    """

    def __init__(self, make: Callable[[], Awaitable[Kind]], *, reuses: bool, restores: bool) -> None:
        self._make, self._reuses, self._restores = make, reuses, restores
        self._idle: list[Kind] = []

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[Kind]:
        """An environment for one plan."""
        environment = await self._restored() or await self._make()
        is_whole = False
        try:
            yield environment
            is_whole = True
        finally:
            if is_whole and self._reuses and environment.is_usable:
                self._idle.append(environment)
            else:
                await environment.close()

    async def _restored(self) -> Kind | None:
        """One that an earlier plan has used; None if there is none. What cannot be used is closed."""
        while self._idle:
            environment, is_ready = self._idle.pop(), False
            try:
                if environment.is_usable:
                    if self._restores:
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
