"""The concurrency limit of an endpoint, fixed or adaptive.

`ConcurrencyControl` adapts the limit to answers, 429s and time-outs. It does not wait and needs no event
loop: `Limiter`, which enforces the limit, reports each result and reads `limit`. `Halt` cancels the waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakValueDictionary

from toolassay.models.errors import TIME_LIMIT, ModelError
from toolassay.models.retry import LONGEST_RETRY_AFTER

START = 8  # limit after a fast first answer
SLOW_START = 2  # limit after a slow first answer: on a laptop, eight requests would queue for a minute
SLOW = 1.0  # seconds from which the first answer is slow
MOST = 512  # maximum limit
USED = 0.8  # share of the limit that must have been in use: an unused limit shows nothing about capacity
PAUSE = 4  # answers after a 5xx before the limit grows again
STEP = 1.5  # factor of a probe; a smaller one is lost in the variance of answer lengths
SHARE = 0.2  # share of the step (in logarithms) by which the rate must grow: 15 % for a doubling
CLEAR = 0.7  # share of the step from which slow start needs no further answers
# minimum answers of a window, because their lengths vary: in slow start, later
FEW = 8
MANY = 32
# windows before the next probe: after a 429, at most
DWELL = 8
LONGEST_REST = 64
OWN_FAULT = 0.5  # share of a time-out's wait in which later requests were answered: this one was stuck
TIMED_OUT = frozenset({408, 504, 524})  # statuses with which servers and gateways report a time-out
_HISTORY = 500  # changes that are kept
_TICK = 1e-9  # seconds; a lower bound on latency, against division by zero


class LimitChange(NamedTuple):
    """A change of the limit: seconds since the start, the new limit, and the reason."""

    seconds: float
    limit: int
    why: str


class Permit(NamedTuple):
    """One request in flight.

    Attributes:
        number: Sequence number of the request, from 1.
        sent: Clock time when it was sent.
        in_flight: Requests in flight at that moment, this one included.
    """

    number: int
    sent: float
    in_flight: int


@dataclass(slots=True)
class Window:
    """Measurements of the requests that were sent under one limit.

    Attributes:
        limit: The limit.
        first: Sequence number of the first request that counts.
        answers: Number of answers.
        seconds: Sum of their latencies.
        in_flight: Sum of the requests in flight when each was sent, itself included.
        peak: Maximum of requests in flight.
    """

    limit: int
    first: int
    answers: int = 0
    seconds: float = 0.0
    in_flight: int = 0
    peak: int = 0

    @property
    def rate(self) -> float:
        """Answers per second, by Little's law: requests in flight divided by latency."""
        return self.in_flight / max(self.seconds, _TICK)

    def gain(self, before: Window) -> float:
        """Growth of the rate since `before`, divided by the growth of the limit (both as logarithms)."""
        return math.log(self.rate / before.rate) / math.log(self.limit / before.limit)


class ConcurrencyControl:
    """The limit of one endpoint: it grows while the rate of answers does, and yields to 429s and time-outs.

    The rate is measured over windows, of the requests sent since the limit changed: at least as many as the
    limit, and enough that the varying lengths of answers average out.

    - Slow start: a single request first, so that a wrong key costs only one; then 8, or 2 if the first answer
      took a second or more. The limit doubles every window until the rate grows by less than 15 %.
    - Rest: the limit returns to the last one that increased the rate. From time to time a probe raises it by
      half, and is kept if the rate grows by at least 8 %. After each failed probe the rest is twice as long.
      A batch server, whose latency rises while its rate grows, is not throttled.
    - A 429 lowers the limit to the number of the other requests in flight, which the endpoint accepts, but
      in one round trip at most by half. Probes then add one request. A probe that passes ends this, one
      that is refused doubles the rest. Nothing grows during the seconds of a `Retry-After`.
    - A time-out halves the limit, once per round trip. It does not if requests sent later were answered in
      half of its time: then that request was stuck or its answer long.
    - A 5xx or a broken connection does not cut the limit; it pauses growth for four answers, and several of
      them for at most a round trip. Nothing grows unless 80 % of the limit was in use.

    Args:
        most: Maximum limit.
        start: Limit after a fast first answer.
        clock: Monotonic clock, in seconds.

    Attributes:
        limit: Current maximum of requests in flight.
        history: The last 500 changes of the limit.
    """

    def __init__(self, *, most: int, start: int, clock: Callable[[], float]) -> None:
        self.limit = 1
        self.history: deque[LimitChange] = deque([LimitChange(0.0, 1, "start")], maxlen=_HISTORY)
        self._most = most
        self._start = start
        self._clock = clock
        self._started = clock()
        self._sent = 0
        self._newest = self._started  # when the newest request that was answered was sent
        self._heed_from = 0  # requests before this one were sent before the last cut
        self._floor = 1  # lowest limit after 429s within one round trip
        self._pause_until = float("-inf")  # clock time of the end of a `Retry-After`
        self._paused = 0  # answers to wait for before the limit grows again
        self._starting = True
        self._has_ceiling = False  # after a 429
        self._windows_to_probe = 1  # windows before the next probe
        self._held: Window | None = None  # measurements of the resting limit, during a probe
        self._window = Window(1, 1)

    def send(self, in_flight: int) -> Permit:
        """Register a request that is sent; `in_flight` includes it."""
        self._sent += 1
        self._window.peak = max(self._window.peak, in_flight)
        return Permit(self._sent, self._clock(), in_flight)

    def answered(self, permit: Permit) -> None:
        """Register an answer, and end the window if it has enough of them."""
        now = self._clock()
        window = self._window
        self._newest = max(self._newest, permit.sent)
        if permit.number < window.first or now < self._pause_until:
            return
        if self._paused:
            self._paused -= 1
            return
        window.answers += 1
        window.seconds += now - permit.sent
        window.in_flight += permit.in_flight
        if window.answers >= self._answers_needed(window):
            self._end_window(window)

    def failed(self, permit: Permit, error: ModelError, in_flight: int) -> None:
        """Register a failure; `in_flight` counts the other requests."""
        is_news = permit.number >= self._heed_from
        if error.status == 429:
            if error.retry_after:
                seconds = min(error.retry_after, LONGEST_RETRY_AFTER)  # as `retry_delay` caps it
                self._pause_until = max(self._pause_until, self._clock() + seconds)
            if is_news:
                self._floor = max(1, self.limit // 2)
                self._windows_to_probe = (
                    min(LONGEST_REST, 2 * self._windows_to_probe) if self._has_ceiling else DWELL
                )
            self._has_ceiling = True
            self._cut(max(self._floor, min(self.limit, in_flight)), "429", is_news)
        elif error.transient and (error.kind == "timeout" or error.status in TIMED_OUT):
            was_stuck = self._newest - permit.sent > OWN_FAULT * (self._clock() - permit.sent)
            if self.limit == 1 or was_stuck:
                self._pause()
            elif is_news:
                self._has_ceiling = False
                self._windows_to_probe = min(LONGEST_REST, 2 * self._windows_to_probe)
                self._cut(self.limit // 2, "time-out", is_news)
        elif error.transient or error.kind == TIME_LIMIT:
            self._pause()

    def _pause(self) -> None:
        self._paused = min(self._paused + PAUSE, self.limit)

    def _cut(self, limit: int, why: str, is_news: bool) -> None:
        self._starting = False
        self._held = None
        if is_news:
            self._heed_from = self._sent + 1
        self._set(limit, why)

    def _answers_needed(self, window: Window) -> int:
        limit = window.limit
        held_window = self._held
        if limit == 1 and self._starting:
            return 1
        if self._starting:
            is_clear = held_window is None or window.gain(held_window) >= CLEAR
            return max(FEW if is_clear else MANY, limit)
        windows = self._windows_to_probe if held_window is None else 1
        # A probe lasts two round trips, because after one only the short answers are back.
        return windows * (limit if self._has_ceiling else 2 * max(MANY, limit))

    def _end_window(self, window: Window) -> None:
        held_window = self._held
        if window.peak < USED * window.limit:
            self._window = Window(self.limit, self._sent + 1)
        elif self._starting and self.limit == 1:
            self._set(min(SLOW_START, self._start) if window.seconds >= SLOW else self._start, "slow start")
        elif held_window is not None and not self._has_ceiling and window.gain(held_window) < SHARE:
            self._windows_to_probe = 1 if self._starting else min(LONGEST_REST, 2 * self._windows_to_probe)
            self._starting = False
            self._held = None
            self._set(held_window.limit, "probe over")
        else:
            if held_window is not None and self._has_ceiling:
                self._has_ceiling = False
                self._windows_to_probe = 1
            self._held = window if self.limit < self._most else None
            step = 2 if self._starting else STEP
            self._set(
                self.limit + 1 if self._has_ceiling else math.ceil(step * self.limit),
                "slow start" if self._starting else "probe",
            )
            self._starting = self._starting and self.limit < self._most

    def _set(self, limit: int, why: str) -> None:
        self.limit = max(1, min(limit, self._most))
        self._window = Window(self.limit, self._sent + 1)
        if self.limit != self.history[-1].limit:
            self.history.append(LimitChange(round(self._clock() - self._started, 3), self.limit, why))


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
    halt = _CURRENT.get()
    task = asyncio.current_task()
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

    def __init__(self, ordinal: int, sent: Callable[[], None] = lambda: None) -> None:
        self.ordinal = ordinal
        self._sent: Callable[[], None] | None = sent

    @property
    def is_new(self) -> bool:
        """Whether no request of the item was sent yet."""
        return self._sent is not None

    def is_sent(self) -> None:
        """Report that a request of the item was sent, or that the item ends without one."""
        if self._sent is not None:
            sent = self._sent
            self._sent = None
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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.in_flight = 0
        self._fixed = None if fixed is None else max(1, fixed)
        self._control = ConcurrencyControl(most=most, start=start, clock=clock)
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
        return (
            list(self._control.history) if self._fixed is None else [LimitChange(0.0, self._fixed, "start")]
        )

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


_SHARED: WeakValueDictionary[tuple[str, int | None, int], Limiter] = WeakValueDictionary()


def limiter_of(endpoint: str, fixed: int | None) -> Limiter:
    """The limiter of an endpoint, shared by all models that are called there at the same time.

    Each thread has its own: a future of one event loop cannot be resolved from another loop.
    """
    key = (endpoint, fixed, threading.get_ident())
    limiter = _SHARED.get(key)
    if limiter is None:
        limiter = _SHARED[key] = Limiter(fixed)
    return limiter
