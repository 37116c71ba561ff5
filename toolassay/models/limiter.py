"""How many requests may be in flight at an endpoint: a fixed number, or as many as it turns out to bear."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakValueDictionary

from toolassay.models.errors import ModelError
from toolassay.models.retry import LONGEST_RETRY_AFTER

START = 8
MOST = 512
CUT = 0.8  # of what was in flight when the endpoint said 429
NUDGE = 0.95  # the same, where the 429 only confirms what was known
USED = 0.8  # of the limit: unused room says nothing about what the endpoint bears
PAUSE = 4  # answers after a 5xx before growth goes on
FIRST_DWELL, LONGEST_DWELL = 8, 64  # round trips at the known ceiling before the next probe
_HISTORY = 500


class Change(NamedTuple):
    """A change of the limit: seconds since the limiter was made, the new limit, and why."""

    seconds: float
    limit: int
    why: str


class Permit(NamedTuple):
    """The right to have one request in flight; `number` counts the requests sent."""

    number: int


class Limiter:
    """Finds the limit of one endpoint, after the adaptive concurrency of inspect_ai and TCP's CUBIC.

    One request goes ahead, so that a wrong key costs one. Slow start: after it eight; every success adds
    one, so the limit doubles each round trip, until the first 429. A 429
    cuts the limit to 80 % of what was in flight, once per round trip: a 429 to a request that was sent
    before the last cut only lowers the ceiling, the number the endpoint is known to bear. After a cut the
    limit grows once per round trip: up to the ceiling by a twentieth of it, there it rests, then it
    probes one more; a probe refused costs 5 %, and the next rest is twice as long. Nothing grows unless
    80 % of the limit was in use, nor in the seconds that a 429 asked for. A 5xx, a timeout or a broken
    connection cuts nothing; it pauses growth for four answers, many of them for a round trip at most, so
    that a steady few do not keep an endpoint from being used.

    Args:
        fixed: this many and no others; None finds the number.
        most: never more than this.
        start: the limit after the first answer.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        fixed: int | None = None,
        *,
        most: int = MOST,
        start: int = START,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.adaptive = fixed is None
        self.limit = 1 if fixed is None else max(1, fixed)
        self.in_flight = 0
        self._most = most
        self._start = start
        self._clock = clock
        self._started = clock()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._sent = 0
        self._heed_from = 0  # answers to requests sent before this one say nothing new
        self._pause_until = float("-inf")
        self._paused = 0  # answers to come before growth goes on
        self._slow_start = True
        self._ceiling: int | None = None
        self._floor = 1  # of the ceiling, within one round trip
        self._dwell = FIRST_DWELL
        self._rested = 0
        self._successes = 0
        self._peak = 0
        self._history: deque[Change] = deque([Change(0.0, self.limit, "start")], maxlen=_HISTORY)

    @property
    def history(self) -> list[Change]:
        """The changes of the limit, the last 500 of them, for the manifest."""
        return list(self._history)

    async def acquire(self) -> Permit:
        """Wait for room, first come first served."""
        if self._waiting or self.in_flight >= self.limit:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter  # whoever wakes us has counted us in
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self.in_flight -= 1
                self._wake()
                raise
        else:
            self.in_flight += 1
        if self.in_flight > self._peak:
            self._peak = self.in_flight
        self._sent += 1
        return Permit(self._sent)

    def release(self, permit: Permit, error: ModelError | None = None, *, unknown: bool = False) -> None:
        """Give the room back and learn from what came of the request.

        Args:
            permit: of the request.
            error: its failure; None for an answer.
            unknown: nothing came of it (not sent, or given up): there is nothing to learn.
        """
        in_use = self.in_flight
        self.in_flight -= 1
        if self.adaptive and not unknown:
            if error is None:
                self._success(permit, in_use)
            elif error.status == 429:
                self._refusal(permit, error)
            elif error.transient:
                # Trouble that is not about numbers: for a while no growth, and no cut.
                self._paused = min(self._paused + PAUSE, self.limit)
        if error is not None and error.stops_run:
            # The run ends in a moment: nobody is sent after it into the same wall.
            asyncio.get_running_loop().call_later(0.05, self._wake)
        else:
            self._wake()

    def _success(self, permit: Permit, in_use: int) -> None:
        if permit.number < self._heed_from or self._clock() < self._pause_until:
            return
        if self._paused:
            self._paused -= 1
            return
        if self._slow_start:
            if self.limit < self._start:
                self._set(self._start, "slow start")
            elif in_use >= USED * self.limit:
                self._set(self.limit + 1, "slow start")
            return
        self._successes += 1
        if self._successes < self.limit:
            return
        # A round trip is over.
        used = self._peak >= USED * self.limit
        self._successes, self._peak, self._floor = 0, self.in_flight, 1
        if not used:
            return
        ceiling = self._ceiling
        if ceiling is None or self.limit > ceiling:
            self._ceiling, self._dwell = None, FIRST_DWELL  # it bears more than was known
            self._set(self.limit + max(1, self.limit // 20), "growth")
        elif self.limit < ceiling:
            self._set(min(ceiling, self.limit + max(1, ceiling // 20)), "growth")
        else:
            self._rested += 1
            if self._rested >= self._dwell:
                self._rested = 0
                self._set(self.limit + 1, "probe")

    def _refusal(self, permit: Permit, error: ModelError) -> None:
        if error.retry_after:
            seconds = min(error.retry_after, LONGEST_RETRY_AFTER)  # nobody waits longer for a next try
            self._pause_until = max(self._pause_until, self._clock() + seconds)
        borne = max(1, self.in_flight)
        if permit.number < self._heed_from and self._ceiling is not None and not self._slow_start:
            self._ceiling = max(self._floor, min(self._ceiling, borne))
            self._set(min(self.limit, self._ceiling), "429")
            return
        known = not self._slow_start and self._ceiling is not None and borne >= 0.9 * self._ceiling
        self._dwell = min(LONGEST_DWELL, 2 * self._dwell) if known else FIRST_DWELL
        self._slow_start = False
        self._ceiling = min(borne, self._most)
        self._floor = max(1, borne // 2)
        self._rested = self._successes = self._peak = 0
        self._heed_from = self._sent + 1
        self._set(min(self.limit, int(borne * (NUDGE if known else CUT))), "429")

    def _set(self, limit: int, why: str) -> None:
        limit = max(1, min(limit, self._most))
        if limit == self.limit:
            return
        self.limit = limit
        last = self._history[-1]
        change = Change(round(self._clock() - self._started, 3), limit, why)
        # One line for every doubling in slow start is enough.
        if why == last.why == "slow start" and limit & (limit - 1) and limit < self._most:
            return
        self._history.append(change)

    def _wake(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self.in_flight += 1
                waiter.set_result(None)


_SHARED: WeakValueDictionary[tuple[str, int | None, int], Limiter] = WeakValueDictionary()


def limiter_of(endpoint: str, fixed: int | None) -> Limiter:
    """The limiter of an endpoint: one for all the models that are asked there at the same time.

    Runs in several threads have one each: a future of one event loop cannot be resolved from another.
    """
    key = (endpoint, fixed, threading.get_ident())
    limiter = _SHARED.get(key)
    if limiter is None:
        limiter = _SHARED[key] = Limiter(fixed)
    return limiter
