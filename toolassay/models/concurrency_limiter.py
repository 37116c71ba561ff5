"""Waits for a place under the concurrency limit of an endpoint, fixed or adaptive; `Halt` ends the waits."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from weakref import WeakValueDictionary

from toolassay.models.adaptive_concurrency import MOST, START, ConcurrencyControl, LimitChange, Permit
from toolassay.models.errors import ModelError
from toolassay.models.options import TIMEOUT


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


class QueueTurn:
    """The place of an item in its run: requests of items that began earlier go first.

    Args:
        ordinal: that place.
        sent: called once, when the first request of the item is sent.
    """

    def __init__(self, ordinal: int, sent: Callable[[], None] = lambda: None) -> None:
        self.ordinal = ordinal
        self._sent: Callable[[], None] | None = sent

    def is_sent(self) -> None:
        """A request of the item is sent, or it ends without any."""
        if self._sent is not None:
            sent, self._sent = self._sent, None
            sent()


QUEUE_TURN: ContextVar[QueueTurn | None] = ContextVar("turn", default=None)
"""The item that the current task works on; None outside a run, which goes first."""


class Limiter:
    """Lets so many requests be in flight at one endpoint.

    Who waits is served in the order in which the items began, not the requests: the next step of an agent,
    or a further try, goes before the first request of a later item. So what was begun is finished first.

    Args:
        fixed: this many and no others; None finds the number (see `ConcurrencyControl`).
        most: never more than this.
        start: the limit after a fast first answer.
        timeout: seconds after which a request without a byte is given up.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        fixed: int | None = None,
        *,
        most: int = MOST,
        start: int = START,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.in_flight = 0
        self._fixed = None if fixed is None else max(1, fixed)
        self._control = ConcurrencyControl(most=most, start=start, timeout=timeout, clock=clock)
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._arrivals = itertools.count()

    @property
    def adaptive(self) -> bool:
        """Whether the limit follows what the endpoint bears."""
        return self._fixed is None

    @property
    def limit(self) -> int:
        """Requests that may be in flight."""
        return self._control.limit if self._fixed is None else self._fixed

    @property
    def history(self) -> list[LimitChange]:
        """The changes of the limit, the last 500 of them, for the manifest."""
        return self._control.history if self._fixed is None else [LimitChange(0.0, self._fixed, "start")]

    async def acquire(self) -> Permit:
        """Wait for room."""
        turn = QUEUE_TURN.get()
        if self._waiting or self.in_flight >= self.limit:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (turn.ordinal if turn else -1, next(self._arrivals), waiter))
            try:
                await waiter  # whoever wakes us has counted us in
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self.in_flight -= 1
                self._wake()
                raise
        else:
            self.in_flight += 1
        if turn is not None:
            turn.is_sent()
        return self._control.send(self.in_flight)

    def release(self, permit: Permit, error: ModelError | None = None, *, unknown: bool = False) -> None:
        """Give the room back and learn from what came of the request.

        Args:
            permit: of the request.
            error: its failure; None for an answer.
            unknown: nothing came of it (not sent, or given up): there is nothing to learn.
        """
        self.in_flight -= 1
        if error is not None:
            self._control.failed(permit, error, self.in_flight)
        elif not unknown:
            self._control.answered(permit)
        if error is not None and error.stops_run:
            # The run ends in a moment: nobody is sent after it into the same wall.
            asyncio.get_running_loop().call_later(0.05, self._wake)
        else:
            self._wake()

    def _wake(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            _, _, waiter = heapq.heappop(self._waiting)
            if not waiter.done():
                self.in_flight += 1
                waiter.set_result(None)


_SHARED: WeakValueDictionary[tuple[str, int | None, float, int], Limiter] = WeakValueDictionary()


def limiter_of(endpoint: str, fixed: int | None, timeout: float = TIMEOUT) -> Limiter:
    """The limiter of an endpoint: one for all the models that are asked there at the same time.

    Runs in several threads have one each: a future of one event loop cannot be resolved from another.
    """
    key = (endpoint, fixed, timeout, threading.get_ident())
    limiter = _SHARED.get(key)
    if limiter is None:
        limiter = _SHARED[key] = Limiter(fixed, timeout=timeout)
    return limiter
