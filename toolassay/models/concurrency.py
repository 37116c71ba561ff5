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
from toolassay.models.options import TIMEOUT
from toolassay.models.retry import LONGEST_RETRY_AFTER

START = 8  # limit after a fast first answer
SLOW_START = 2  # limit after a slow first answer: on a laptop, eight requests would queue for a minute
SLOW = 1.0  # seconds from which the first answer is slow
MOST = 512  # maximum limit
CUT = 0.8  # new limit after a 429, as a share of the requests in flight
NUDGE = 0.95  # the same for a 429 near the known ceiling, which is no news
USED = 0.8  # share of the limit that must have been in use: an unused limit shows nothing about capacity
PAUSE = 4  # answers after a 5xx before the limit grows again
FIRST_DWELL, LONGEST_DWELL = 8, 64  # round trips at the known ceiling before the next probe
FIRST_REST = 1  # windows at a limit before the next probe, at an endpoint that never sent a 429
STEP = 1.5  # factor of a probe; a smaller one is lost in the variance of answer lengths
SHARE = 0.2  # share of the step (in logarithms) by which the rate must grow: 15 % for a doubling
FEW, MANY = 8, 32  # minimum answers of a window, because their lengths vary: in slow start, later
CLEAR = 0.5  # log growth of the rate (65 %) from which slow start needs no further answers
HEADROOM = 1.5  # times the requests the endpoint processes: a short queue keeps it busy and covers the error
REMEASURE = 4  # every fourth probe goes down
WAIT_SHARE = 0.25  # maximum mean wait in the server's queue, as a share of the time-out
ALWAYS = 3  # growth up to this limit ignores `WAIT_SHARE`: too few answers are known to estimate the wait
QUEUED = 1.5  # latency over unqueued latency that shows a queue; less may be the variance of answer lengths
SHORT_QUEUE = 1.9  # requests waiting at the server that do not count as a queue
OWN_FAULT = 4.0  # a time-out this many times longer than the usual answer says nothing about the load
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
    answers: float = 0.0
    seconds: float = 0.0
    in_flight: float = 0.0
    peak: int = 0

    @property
    def latency(self) -> float:
        """Mean latency in seconds."""
        return max(self.seconds / max(self.answers, 1), _TICK)

    @property
    def rate(self) -> float:
        """Answers per second, by Little's law: requests in flight divided by latency."""
        return self.in_flight / max(self.answers, 1) / self.latency

    def log_ratio(self, before: Window) -> float:
        """Natural logarithm of this rate divided by that of `before`."""
        return math.log(self.rate / before.rate)

    def add(self, other: Window) -> None:
        """Add the measurements of a newer window at the same limit; the older ones count half."""
        self.answers = self.answers / 2 + other.answers
        self.seconds = self.seconds / 2 + other.seconds
        self.in_flight = self.in_flight / 2 + other.in_flight


class ConcurrencyControl:
    """The limit of one endpoint, after TCP's BBR (Cardwell et al. 2016); for 429s, after TCP's CUBIC.

    It maximises the delivery rate, measured over windows of at least one round trip. A window counts the
    requests sent since the limit changed: at least as many as the limit, and enough that the varying lengths
    of answers average out.

    - Start: a single request first, so that a wrong key costs only one; then 8, or 2 if the first answer took
      a second or more. The limit doubles every window until the rate grows by less than 15 % (BBR: 25 %).
    - Drain: the limit becomes 1.5 times the number of requests that the endpoint processes at a time: the
      current rate times the latency at the last limit that increased the rate.
    - Growth stops where the mean wait in the server's queue, at the current rate, would exceed a quarter of
      the time-out, because one answer in twenty takes three times as long as the usual one.
    - Rest: then the limit rests. A probe raises it by half; it is kept if the rate follows or no queue shows.
      A probe lowers it by a third if more than half of the requests in flight wait at the server (TCP Vegas's
      estimate), and every fourth time; it measures the latency without a queue and is kept if the rate stays
      the same. After each failed probe the rest is twice as long. A batch server, whose latency rises while
      its rate grows, is not throttled.
    - A time-out halves the limit, once per round trip. It does not if later requests were answered and
      answers usually take less than a quarter of its time or show no queue: then that request was stuck or
      its answer long.
    - A 429 cuts the limit to 80 % of the requests in flight, once per round trip, and sets the ceiling: the
      number that the endpoint accepts. A 429 to a request sent before the last cut only lowers the ceiling.
      Below the ceiling the limit grows by a twentieth of it per round trip; at the ceiling it rests, then
      probes one more. A refused probe costs 5 %, and the next rest is twice as long. Nothing grows during the
      seconds of a `Retry-After`.
    - A 5xx or a broken connection does not cut the limit; it pauses growth for four answers, and several of
      them for at most a round trip. Nothing grows unless 80 % of the limit was in use.

    Args:
        most: Maximum limit.
        start: Limit after a fast first answer.
        timeout: Seconds without a byte after which a request times out.
        clock: Monotonic clock, in seconds.

    Attributes:
        limit: Current maximum of requests in flight.
    """

    def __init__(self, *, most: int, start: int, timeout: float, clock: Callable[[], float]) -> None:
        self.limit = 1
        self._longest_wait = WAIT_SHARE * timeout
        self._most, self._start, self._clock = most, start, clock
        self._started = clock()
        self._sent = 0
        self._latency: float | None = None  # moving average of latencies
        self._newest = 0  # highest sequence number that was answered
        self._heed_from = 0  # requests before this one were sent under an older limit and are ignored
        self._pause_until = float("-inf")  # clock time of the end of a `Retry-After`
        self._paused = 0  # answers to wait for before the limit grows again
        self._starting = True
        self._window = Window(1, 1)
        self._held: Window | None = None  # measurements of the resting limit; of the previous one in a probe
        self._unqueued: float | None = None  # latency without a queue, in seconds
        self._probe = 0  # 1: up, -1: down, 0: at rest
        self._probes = 0
        self._rest = FIRST_REST  # windows to rest
        self._rested = 0
        self._ceiling: int | None = None  # requests that the endpoint accepts, after a 429
        self._floor = 1  # lowest value of the ceiling within one round trip
        self._dwell = FIRST_DWELL  # round trips to rest at the ceiling
        self._history: deque[LimitChange] = deque([LimitChange(0.0, 1, "start")], maxlen=_HISTORY)

    @property
    def history(self) -> list[LimitChange]:
        """The last 500 changes of the limit."""
        return list(self._history)

    def send(self, in_flight: int) -> Permit:
        """Register a request that is sent; `in_flight` includes it."""
        self._sent += 1
        self._window.peak = max(self._window.peak, in_flight)
        return Permit(self._sent, self._clock(), in_flight)

    def answered(self, permit: Permit) -> None:
        """Register an answer, and end the window if it has enough of them."""
        now = self._clock()
        seconds = now - permit.sent
        self._latency = seconds if self._latency is None else 0.9 * self._latency + 0.1 * seconds
        self._newest = max(self._newest, permit.number)
        window = self._window
        if permit.number < max(self._heed_from, window.first) or now < self._pause_until:
            return
        if self._paused:
            self._paused -= 1
            return
        window.answers += 1
        window.seconds += seconds
        window.in_flight += permit.in_flight
        if self._is_over(window):
            self._end_window(window)

    def failed(self, permit: Permit, error: ModelError, in_flight: int) -> None:
        """Register a failure; `in_flight` counts the other requests."""
        if error.status == 429:
            self._refused(permit, error, in_flight)
        elif error.transient and (error.kind == "timeout" or error.status in TIMED_OUT):
            self._timed_out(permit)
        elif error.transient or error.kind == TIME_LIMIT:
            self._trouble()

    def _is_over(self, window: Window) -> bool:
        """Whether a window has enough answers to decide."""
        limit, answers = window.limit, window.answers
        if self._ceiling is not None or limit == 1:
            return answers >= limit
        if not self._starting:
            # A probe up lasts two round trips, because after one only the short answers are back.
            return answers >= (2 * max(MANY, limit) if self._probe > 0 else max(MANY, 2 * limit))
        if answers < max(FEW, limit):
            return False
        clear = self._held is None or window.log_ratio(self._held) >= CLEAR
        return clear or answers >= max(min(4 * limit, MANY), limit)

    def _end_window(self, window: Window) -> None:
        self._floor = 1
        used = window.peak >= USED * window.limit
        if self._starting:
            self._go_on(window, used)
        elif self._ceiling is not None:
            self._below_ceiling(window, used)
        elif self._probe:
            self._end_probe(window, used)
        else:
            self._stay(window, used)
        if self._window is window:
            self._open_window()

    def _open_window(self) -> None:
        # At a ceiling answers to earlier requests count too: no rate is measured, only the absence of 429s.
        first = self._sent + 1 if self._ceiling is None else self._heed_from
        self._window = Window(self.limit, first)

    def _go_on(self, window: Window, used: bool) -> None:
        """End a window of slow start: double the limit, or drain the queue if the rate did not grow."""
        if self.limit == 1:
            slow = window.latency >= SLOW
            self._unqueued = window.latency
            self._set(min(SLOW_START, self._start) if slow else self._start, "slow start")
        elif not used:
            return
        elif self._held is not None and window.log_ratio(self._held) < _bar(window, self._held):
            works_on = window.rate * self._held.latency
            self._starting, self._held = False, None
            limit = min(self.limit, int(HEADROOM * works_on) + 1)
            self._set(min(limit, self._most_in_time(window)), "queue")
        else:
            first = self._held is None and self._unqueued
            self._unqueued = min(first or window.latency, window.latency)
            limit = 2 * self.limit if self._held is None else min(2 * self.limit, self._most_in_time(window))
            self._held = window
            self._starting = self.limit < min(limit, self._most)
            self._set(max(limit, self.limit), "slow start")

    def _stay(self, window: Window, used: bool) -> None:
        """End a window at rest: probe down if there is a queue, or probe when the rest is over."""
        if self._held is None:
            self._held = window
        else:
            self._held.add(window)
        if self.limit == 1 or self._unqueued is None:
            self._unqueued = self._held.latency
        self._rested += 1
        if self._has_queue(self._held):
            self._start_probe(-1)
        elif used and self._rested >= self._rest:
            self._probes += 1
            self._start_probe(-1 if self._probes % REMEASURE == 0 else 1)

    def _start_probe(self, direction: int) -> None:
        self._rested = 0
        up, down = math.ceil(self.limit * STEP), max(2, round(self.limit / STEP))
        if direction > 0 and self._held is not None:
            up = max(self.limit, min(up, self._most_in_time(self._held)))
        limit = min(up, self._most) if direction > 0 else min(down, self.limit)
        if limit != self.limit:
            self._probe = direction
            self._set(limit, "probe")

    def _end_probe(self, window: Window, used: bool) -> None:
        held, direction, self._probe = self._held, self._probe, 0
        if held is None:
            return
        change = window.log_ratio(held)
        if direction < 0:
            worth = change >= 0  # tolerating a small loss each time would end at a limit of one
        else:
            worth = change >= SHARE * math.log(window.limit / held.limit) or not self._has_queue(window)
        keeps = used and worth
        if direction < 0:
            self._unqueued = (
                min(self._unqueued or window.latency, window.latency) if keeps else window.latency
            )
        if keeps:
            self._held, self._rest = window, FIRST_REST
            if self._has_queue(window) == (direction < 0):
                self._start_probe(direction)
        else:
            self._rest = min(LONGEST_DWELL, 2 * self._rest)
            self._set(held.limit, "probe over")

    def _has_queue(self, window: Window) -> bool:
        """Whether over half of the requests wait at the server, by TCP Vegas's estimate from the latency."""
        waiting = window.limit * (1 - (self._unqueued or window.latency) / window.latency)
        return waiting > max(SHORT_QUEUE, window.limit / 2)

    def _most_in_time(self, window: Window) -> int:
        """The limit at which the mean wait in the server's queue reaches its maximum (`WAIT_SHARE`)."""
        unqueued = self._unqueued or window.latency
        if window.latency < QUEUED * unqueued:
            return self._most
        return max(ALWAYS, int(min(window.rate * (unqueued + self._longest_wait), self._most)))

    def _below_ceiling(self, window: Window, used: bool) -> None:
        """End a round trip at an endpoint that sends 429s: grow to the ceiling, rest, then probe one more."""
        ceiling = self._ceiling
        if not used or ceiling is None:
            return
        if self.limit > ceiling:
            self._ceiling, self._dwell = None, FIRST_DWELL  # the probe passed: the ceiling is higher
            self._held, self._rested, self._rest = None, 0, FIRST_REST
        elif self.limit < ceiling:
            self._set(min(ceiling, self.limit + max(1, ceiling // 20)), "growth")
        else:
            self._rested += 1
            if self._rested >= self._dwell:
                self._rested = 0
                self._set(self.limit + 1, "probe")

    def _refused(self, permit: Permit, error: ModelError, in_flight: int) -> None:
        if error.retry_after:
            seconds = min(error.retry_after, LONGEST_RETRY_AFTER)  # as `retry_delay` caps it
            self._pause_until = max(self._pause_until, self._clock() + seconds)
        borne = max(1, in_flight)
        if permit.number < self._heed_from and self._ceiling is not None:
            self._ceiling = max(self._floor, min(self._ceiling, borne))
            self._set(min(self.limit, self._ceiling), "429")
            return
        known = self._ceiling is not None and borne >= 0.9 * self._ceiling
        self._dwell = min(LONGEST_DWELL, 2 * self._dwell) if known else FIRST_DWELL
        self._ceiling = min(borne, self._most)
        self._floor = max(1, borne // 2)
        self._cut(min(self.limit, int(borne * (NUDGE if known else CUT))), "429")

    def _timed_out(self, permit: Permit) -> None:
        waited = self._clock() - permit.sent
        usual, alone = self._latency or _TICK, self._unqueued or _TICK
        own_fault = waited > OWN_FAULT * usual or usual < QUEUED * alone
        if self.limit == 1 or (self._newest > permit.number and own_fault):
            self._trouble()
        elif permit.number >= self._heed_from:
            self._ceiling, self._rest = None, min(LONGEST_DWELL, 2 * self._rest)
            self._cut(self.limit // 2, "time-out")

    def _cut(self, limit: int, why: str) -> None:
        self._starting, self._probe, self._held = False, 0, None
        self._rested = 0
        self._heed_from = self._sent + 1
        self._open_window()
        self._set(limit, why)

    def _trouble(self) -> None:
        """Pause growth after a failure that is not about the number of requests; the limit is not cut."""
        self._paused = min(self._paused + PAUSE, self.limit)

    def _set(self, limit: int, why: str) -> None:
        limit = max(1, min(limit, self._most))
        if limit != self.limit:
            self.limit = limit
            self._open_window()
            self._history.append(LimitChange(round(self._clock() - self._started, 3), limit, why))


def _bar(window: Window, before: Window) -> float:
    """The minimum growth of the log rate: a share of the step, and more than its standard error.

    The standard error is 1/sqrt(N) for N answers whose lengths have a standard deviation equal to their mean.
    """
    return max(SHARE * math.log(window.limit / before.limit), 1 / math.sqrt(window.answers))


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
