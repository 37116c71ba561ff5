"""The end of waiting: when a run is to end with what is in flight, nothing more is sent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from toolassay.models.errors import ModelError


class Halt:
    """Ends the waits of the tasks that run under it; what they have sent goes on."""

    def __init__(self) -> None:
        self.called = False
        self._waiting: set[asyncio.Task[object]] = set()

    def call(self) -> int:
        """End them, now and from now on; how many there were."""
        self.called = True
        for task in self._waiting:
            task.cancel()
        return len(self._waiting)

    @contextlib.contextmanager
    def rules(self) -> Iterator[None]:
        """Tasks made in this block run under this halt."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    @contextlib.contextmanager
    def _ends(self, task: asyncio.Task[object], error: ModelError | None) -> Iterator[None]:
        if self.called:
            raise _not_run(error)
        self._waiting.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if self.called and task.uncancel() <= 0:  # else somebody else cancelled it too
                raise _not_run(error) from None
            raise
        finally:
            self._waiting.discard(task)


def waiting(error: ModelError | None = None) -> contextlib.AbstractContextManager[None]:
    """What this block awaits is a wait before something is sent, after `error` if there was one.

    Raises:
        ModelError: with outcome "not run": the run is to end.
    """
    halt, task = _CURRENT.get(), asyncio.current_task()
    return contextlib.nullcontext() if halt is None or task is None else halt._ends(task, error)


def _not_run(error: ModelError | None) -> ModelError:
    after = f" again after: {error}" if error else ""
    return ModelError(f"the run was ended before this was sent{after}", outcome="not run")


_CURRENT: ContextVar[Halt | None] = ContextVar("halt", default=None)
