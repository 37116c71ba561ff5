"""`Limiter`: enforces the concurrency limit of an endpoint, fixed or adaptive. `Halt` cancels the waits."""

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
    """Cancels the waits of tasks that run under it (`rules`); requests in flight continue."""

    def __init__(self) -> None:
        self.called = False
        self._waiting: set[asyncio.Task[object]] = set()

    def call(self) -> int:
        """Cancel all current and future waits.

        Returns:
            Number of waits that were cancelled.
        """
        self.called = True
        for task in self._waiting:
            task.cancel()
        return len(self._waiting)

    @contextlib.contextmanager
    def rules(self) -> Iterator[None]:
        """Tasks that are created in this block run under this halt."""
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
            if self.called and task.uncancel() <= 0:  # above 0: something else cancelled the task too
                raise _not_run(error) from None
            raise
        finally:
            self._waiting.discard(task)


def waiting(error: ModelError | None = None) -> contextlib.AbstractContextManager[None]:
    """Mark what the block awaits as a wait that `Halt` may cancel.

    Args:
        error: Failure of the previous attempt, if any.

    Raises:
        ModelError: The run is ending; the outcome is "not run".
    """
    halt, task = _CURRENT.get(), asyncio.current_task()
    return contextlib.nullcontext() if halt is None or task is None else halt._ends(task, error)


def _not_run(error: ModelError | None) -> ModelError:
    after = f" again after: {error}" if error else ""
    return ModelError(f"the run ended before this was sent{after}", outcome="not run")


_CURRENT: ContextVar[Halt | None] = ContextVar("halt", default=None)


class QueueTurn:
    """The priority of an item's requests: those of items that started earlier are sent first.

    Args:
        ordinal: Position of the item in its run.
        sent: Called once, when the first request of the item is sent.
    """

    def __init__(
        self,
        ordinal: int,
        sent: Callable[[], None] = lambda: None,
    ) -> None:
        self.ordinal = ordinal
        self._sent: Callable[[], None] | None = sent

    @property
    def is_new(self) -> bool:
        """Whether no request of the item was sent yet."""
        return self._sent is not None

    def is_sent(self) -> None:
        """Report that a request of the item was sent, or that the item ends without one."""
        if self._sent is not None:
            sent, self._sent = self._sent, None
            sent()


QUEUE_TURN: ContextVar[QueueTurn | None] = ContextVar("turn", default=None)
"""Priority of the current task; None outside a run, whose requests are sent first."""


class Limiter:
    """Limits the requests in flight at one endpoint.

    Waiting requests are served in the order in which their items started: the next step of an agent, or a
    retry, comes before the first request of a later item. So items that have started finish first.

    Args:
        fixed: Fixed limit; None adapts the limit to the endpoint (`ConcurrencyControl`).
        most: Maximum of the adaptive limit.
        start: Adaptive limit after a fast first answer.
        timeout: Seconds without a byte after which a request times out.
        clock: Monotonic clock, in seconds.

    Attributes:
        in_flight: Current number of requests in flight.
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
        """Whether the limit adapts to the endpoint."""
        return self._fixed is None

    @property
    def limit(self) -> int:
        """Current maximum of requests in flight."""
        return self._control.limit if self._fixed is None else self._fixed

    @property
    def history(self) -> list[LimitChange]:
        """The last 500 changes of the limit, for the manifest."""
        return self._control.history if self._fixed is None else [LimitChange(0.0, self._fixed, "start")]

    async def acquire(self) -> Permit:
        """Wait until a request may be sent; pass the permit to `release` afterwards."""
        turn = QUEUE_TURN.get()
        if self._waiting or self.in_flight >= self.limit:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (turn.ordinal if turn else -1, next(self._arrivals), waiter))
            try:
                await waiter  # `_wake` has already counted this request as in flight
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
        """End a request and adapt the limit to its result.

        Args:
            permit: Permit of the request.
            error: Its failure; None for an answer.
            unknown: The request has no result (not sent, or cancelled), so the limit does not change.
        """
        self.in_flight -= 1
        if error is not None:
            self._control.failed(permit, error, self.in_flight)
        elif not unknown:
            self._control.answered(permit)
        if error is not None and error.stops_run:
            # The run is about to end, and every further request would fail the same way. Give it time to.
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
    """The limiter of an endpoint, shared by all models that are called there at the same time.

    Each thread has its own: a future of one event loop cannot be resolved from another loop.
    """
    key = (endpoint, fixed, timeout, threading.get_ident())
    limiter = _SHARED.get(key)
    if limiter is None:
        limiter = _SHARED[key] = Limiter(fixed, timeout=timeout)
    return limiter
