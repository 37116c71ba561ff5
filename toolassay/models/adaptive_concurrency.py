"""The adaptive concurrency limit of an endpoint, from its answers, refusals and time-outs.

No event loop, no waiting: `Limiter` reports what happened, and reads `limit`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from toolassay.models.errors import TIME_LIMIT, ModelError
from toolassay.models.retry import LONGEST_RETRY_AFTER

START = 8
SLOW_START = 2  # the same, where the first answer was slow: eight would wait for a minute at a laptop
SLOW = 1.0  # seconds
MOST = 512
CUT = 0.8  # of what was in flight when the endpoint said 429
NUDGE = 0.95  # the same, where the 429 only confirms what was known
USED = 0.8  # of the limit: unused room says nothing about what the endpoint bears
PAUSE = 4  # answers after a 5xx before growth goes on
FIRST_DWELL, LONGEST_DWELL = 8, 64  # round trips at the known ceiling before the next probe
FIRST_REST = 1  # windows at a limit before the next probe, where the endpoint never said 429
STEP = 1.5  # of a probe; a smaller one drowns in the differences between answer lengths
SHARE = 0.2  # of the step that the rate has to follow: 15 % for a doubling
FEW, MANY = 8, 32  # answers that a window holds at least, for their lengths differ: in slow start, later
CLEAR = 0.5  # logarithm of the growth of the rate (65 %) after which slow start needs no further answers
HEADROOM = 1.5  # over what the endpoint works on: a short queue keeps it busy, and covers the error
REMEASURE = 4  # each so many probes one goes down
WAIT_SHARE = 0.25  # of the time-out: the longest mean wait in the server's queue that growth may lead to
ALWAYS = 3  # growth up to here ignores that: at two in flight one first answer is all that is known
QUEUED = 1.5  # times the latency without a queue: less may be the lengths of the answers
SHORT_QUEUE = 1.9  # requests: fewer waiting at the server are welcome
OWN_FAULT = 4.0  # a time-out so many times as long as the usual answer says nothing about the load
_TIMED_OUT = frozenset({408, 504, 524})  # how servers and gateways report a time-out
_HISTORY = 500
_TICK = 1e-9  # seconds: no answer is faster


class LimitChange(NamedTuple):
    """A change of the limit: seconds since the start, the new limit, and why."""

    seconds: float
    limit: int
    why: str


class Permit(NamedTuple):
    """The right to have one request in flight.

    `number` counts the requests sent; `sent` is the time of the clock; `in_flight` counts this one too.
    """

    number: int
    sent: float
    in_flight: int


@dataclass(slots=True)
class Window:
    """What was measured at one limit, of the requests sent under it.

    Attributes:
        limit: that limit.
        first: the number of the first request that counts.
        answers: how many came.
        seconds: their latencies, added up.
        in_flight: for each, the requests in flight when it was sent, itself included; added up.
        peak: most requests in flight.
    """

    limit: int
    first: int
    answers: float = 0.0
    seconds: float = 0.0
    in_flight: float = 0.0
    peak: int = 0

    @property
    def latency(self) -> float:
        """Mean seconds to an answer."""
        return max(self.seconds / max(self.answers, 1), _TICK)

    @property
    def rate(self) -> float:
        """Answers a second, by Little's law: requests in flight over latency."""
        return self.in_flight / max(self.answers, 1) / self.latency

    def log_ratio(self, before: Window) -> float:
        """Logarithm of this rate over that of `before`."""
        return math.log(self.rate / before.rate)

    def add(self, other: Window) -> None:
        """Add what another window at this limit measured; what is older counts half."""
        self.answers = self.answers / 2 + other.answers
        self.seconds = self.seconds / 2 + other.seconds
        self.in_flight = self.in_flight / 2 + other.in_flight


class ConcurrencyControl:
    """The limit of one endpoint, after TCP's BBR (Cardwell et al. 2016); for 429, after TCP's CUBIC.

    What decides is the delivery rate, measured over windows of at least a round trip: the requests sent
    since the limit changed, as many as the limit, and enough for answers of very different lengths.

    - Start: one request goes ahead, so that a wrong key costs one; then 8, or 2 where the first answer took
      a second or more. The limit doubles each window, until the rate grows by less than 15 % (BBR: 25 %).
    - Drain: the limit becomes what the endpoint works on at a time (the rate times the latency at the last
      limit that was worth it), and half as much again.
    - Growth stops where the mean wait in the server's queue, at the rate so far, would exceed a quarter of
      the time-out: one in twenty answers takes three times as long as the usual one.
    - Then the limit rests. A probe up by half is kept where the rate follows, or no queue shows. A probe down
      by a third comes where more than half of what is in flight waits at the server (TCP Vegas's estimate),
      and each fourth time; it measures the latency without a queue again, and is kept where the rate stays.
      After each failed probe the rest is twice as long. A batch server whose latency rises while its rate
      grows is not throttled.
    - A time-out halves the limit, once per round trip; not where later requests were answered, and answers
      usually take less than a quarter of its time or show no queue, because then that one was stuck or long.
    - A 429 cuts the limit to 80 % of what was in flight, once per round trip; a 429 to a request that was
      sent before the last cut only lowers the ceiling, the number the endpoint is known to bear. Below the
      ceiling the limit grows each round trip by a twentieth of it, there it rests, then it probes one more;
      a probe refused costs 5 %, and the next rest is twice as long. Nothing grows in the seconds that a 429
      asked for (`Retry-After`).
    - A 5xx or a broken connection cuts nothing; it pauses growth for four answers, many of them for a round
      trip at most. Nothing grows unless 80 % of the limit was in use.

    Args:
        most: never more than this.
        start: the limit after a fast first answer.
        timeout: seconds after which a request without a byte is given up.
        clock: seconds that never go back.
    """

    def __init__(self, *, most: int, start: int, timeout: float, clock: Callable[[], float]) -> None:
        self.limit = 1
        self._longest_wait = WAIT_SHARE * timeout
        self._most, self._start, self._clock = most, start, clock
        self._started = clock()
        self._sent = 0
        self._latency: float | None = None  # of answers lately
        self._newest = 0  # request that was answered
        self._heed_from = 0  # what comes of requests before this one says nothing new
        self._pause_until = float("-inf")
        self._paused = 0  # answers to come before growth goes on
        self._starting = True
        self._window = Window(1, 1)
        self._held: Window | None = None  # what is known of the limit that rests, or of the one before
        self._unqueued: float | None = None  # seconds to an answer, without a queue
        self._probe = 0  # 1: up, -1: down, 0: at rest
        self._probes = 0
        self._rest = FIRST_REST
        self._rested = 0
        self._ceiling: int | None = None
        self._floor = 1  # of the ceiling, within one round trip
        self._dwell = FIRST_DWELL
        self._history: deque[LimitChange] = deque([LimitChange(0.0, 1, "start")], maxlen=_HISTORY)

    @property
    def history(self) -> list[LimitChange]:
        """The changes of the limit, the last 500 of them."""
        return list(self._history)

    def send(self, in_flight: int) -> Permit:
        """Count a request that is sent, `in_flight` with itself."""
        self._sent += 1
        self._window.peak = max(self._window.peak, in_flight)
        return Permit(self._sent, self._clock(), in_flight)

    def answered(self, permit: Permit) -> None:
        """Learn from an answer."""
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
        """Learn from a failure, with `in_flight` others still under way."""
        if error.status == 429:
            self._refused(permit, error, in_flight)
        elif error.transient and (error.kind == "timeout" or error.status in _TIMED_OUT):
            self._timed_out(permit)
        elif error.transient or error.kind == TIME_LIMIT:
            self._trouble()

    def _is_over(self, window: Window) -> bool:
        """Whether a window holds enough answers to judge by."""
        limit, answers = window.limit, window.answers
        if self._ceiling is not None or limit == 1:
            return answers >= limit
        if not self._starting:
            # Two round trips: after one, only the short answers are back. Probes up cost nothing.
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
        # At a ceiling every answer counts: it is no rate that is measured, but that nothing was refused.
        first = self._sent + 1 if self._ceiling is None else self._heed_from
        self._window = Window(self.limit, first)

    def _go_on(self, window: Window, used: bool) -> None:
        """Slow start."""
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
        """A window at rest."""
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
            worth = change >= 0  # a lower limit that loses a little each time ends at one
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
        """Whether much of what is in flight waits at the server: Vegas's estimate, by the latency."""
        waiting = window.limit * (1 - (self._unqueued or window.latency) / window.latency)
        return waiting > max(SHORT_QUEUE, window.limit / 2)

    def _most_in_time(self, window: Window) -> int:
        """The requests in flight at which the mean wait in the server's queue is as long as it may be."""
        unqueued = self._unqueued or window.latency
        if window.latency < QUEUED * unqueued:
            return self._most
        return max(ALWAYS, int(min(window.rate * (unqueued + self._longest_wait), self._most)))

    def _below_ceiling(self, window: Window, used: bool) -> None:
        """A round trip at an endpoint that refuses what is too much."""
        ceiling = self._ceiling
        if not used or ceiling is None:
            return
        if self.limit > ceiling:
            self._ceiling, self._dwell = None, FIRST_DWELL  # it bears more than was known
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
            seconds = min(error.retry_after, LONGEST_RETRY_AFTER)  # the longest wait before a next try
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
        """A failure that is not about numbers: for a while no growth, and no cut."""
        self._paused = min(self._paused + PAUSE, self.limit)

    def _set(self, limit: int, why: str) -> None:
        limit = max(1, min(limit, self._most))
        if limit != self.limit:
            self.limit = limit
            self._open_window()
            self._history.append(LimitChange(round(self._clock() - self._started, 3), limit, why))


def _bar(window: Window, before: Window) -> float:
    """What the logarithm of the rate has to grow by: a share of the step, and more than chance.

    The rate of N answers whose lengths differ by their mean is off by 1/sqrt(N).
    """
    return max(SHARE * math.log(window.limit / before.limit), 1 / math.sqrt(window.answers))
