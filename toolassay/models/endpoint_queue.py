"""`EndpointQueue`: one queue of requests for several endpoints, and the state of each endpoint.

Every endpoint has its own adaptive concurrency limit (`Limiter`). A request is bound to an endpoint only when
that has room, so no request waits for a slow endpoint while another is free.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from toolassay.models import retry
from toolassay.models.adaptive_concurrency import OWN_FAULT, TIMED_OUT, Permit
from toolassay.models.concurrency_limiter import QUEUE_TURN, Limiter, QueueTurn
from toolassay.models.errors import RESET, TIME_LIMIT, UNREACHABLE, ModelError
from toolassay.models.options import ModelOptions

FAILURES = 5
"""Failures in a row (5xx), each sent after the one before, after which an endpoint is down. One that fails a
tenth of its requests reaches three every few thousand."""
RESETS = 2
"""The same for broken connections: a server that is killed breaks all, and then those that were kept open."""
_PAUSE = 0.05
"""Seconds in which nothing is sent after a failure that may end the run, because all would fail that way."""
FIRST_PROBE, LONGEST_PROBE = 1.0, 60.0
"""Seconds from a failure to the next probe of an endpoint that is down; each failed probe doubles them."""
PROBE_SECONDS = 30.0
"""Seconds after which a probe is given up, if answers usually take less than a quarter of that."""
PROBE_SHARE = 4.0
"""The next probe comes this many times later than a failed one took, so that a silent endpoint holds one
request at most a fifth of the time."""
STUCK = 10.0
"""Minimum seconds of unusual silence; requests of that age are taken back from an endpoint that is down."""
_EARLY = 0.01  # seconds; a timer of the event loop may fire that much too early


@dataclass(eq=False, slots=True)
class Turn:
    """A request that is bound to an endpoint.

    Attributes:
        endpoint: The endpoint.
        permit: Permit of its limiter.
        sent: Clock time when it was bound.
        is_probe: Whether it finds out if an endpoint that is down answers again.
        timer: Ends the attempt, if it is taken back.
    """

    endpoint: PooledEndpoint
    permit: Permit
    sent: float
    is_probe: bool = False
    timer: asyncio.Timeout | None = None


class PooledEndpoint:
    """The state of one endpoint: its limit, how fast it answers, and whether it is up.

    Args:
        label: Its name in messages and files.
        weight: Its seconds per answer are divided by it when several endpoints have room.
        timeout: Seconds without a byte after which a request times out.
        clock: Monotonic clock, in seconds.

    Attributes:
        limiter: Its concurrency limit.
        seconds: Moving average of the time of an answer; None before the first one.
        turns: Its requests in flight.
        last_failure: Clock time of the last failure that counted.
        next_probe: While it is down, clock time from which it is probed.
        times_down: How often it went down.
        rests_until: Clock time until which it gets nothing, after 429s only.
    """

    def __init__(self, label: str, weight: float, timeout: float, clock: Callable[[], float]) -> None:
        self.label, self.weight = label, weight
        self.limiter = Limiter(timeout=timeout, clock=clock)
        self.seconds: float | None = None
        self._spacing: float | None = None  # moving average of the time between two answers while it is busy
        self._busy_since = 0.0  # clock time of the last answer, or of the first request after it was idle
        self.turns: set[Turn] = set()
        self.last_failure = float("-inf")
        self.next_probe = 0.0
        self.times_down = 0
        self.rests_until = float("-inf")
        self._down_since: float | None = None
        self._last_response = float("-inf")
        self._failures = self._timeouts = self._probes = 0
        self._refusals, self._last_refusal = 0, float("-inf")

    @property
    def is_up(self) -> bool:
        """Whether it gets requests besides probes."""
        return self._down_since is None

    @property
    def is_probed(self) -> bool:
        """Whether a probe is in flight."""
        return any(turn.is_probe for turn in self.turns)

    @property
    def rate(self) -> float:
        """Answers per second while it is busy; 0 before the first answer."""
        return 1 / self._spacing if self._spacing else 0.0

    @property
    def next_seconds(self) -> float | None:
        """Estimated time of an answer to the next request, behind those in flight; None if unknown."""
        if self.seconds is None:
            return None
        return max(self.seconds, (len(self.turns) + 1) * (self._spacing or 0.0))

    @property
    def _patience(self) -> float:
        """Seconds after which a request without an answer, or silence, is unusual."""
        return max(STUCK, OWN_FAULT * (self.seconds or 0.0))

    def has_room(self, now: float) -> bool:
        """Whether it takes a request at once."""
        return self.limiter.has_room and now >= self.rests_until - _EARLY

    def preference(self) -> tuple[float, float, float]:
        """Sorts endpoints with room: the fastest first, of two that are alike the emptier one.

        The seconds at the limit count twice: a server often answers more slowly the more it is asked.
        """
        used = len(self.turns) / self.limiter.limit
        return (self.next_seconds or 0.0) * (1 + used) / self.weight, -self.weight, used

    def take(self, now: float, *, is_probe: bool = False) -> Turn:
        """Bind a request to it."""
        if not self.turns:
            self._busy_since = now
        turn = Turn(self, self.limiter.take(), now, is_probe)
        self.turns.add(turn)
        return turn

    def responded(self, turn: Turn, now: float) -> bool:
        """Register a response, an error that is about the request included; whether it is up again."""
        self._last_response, self._failures, self._timeouts = now, 0, 0
        # Answers to what was sent before prove nothing: a server that shuts down finishes its requests.
        comes_back = self._down_since is not None and turn.sent > self._down_since
        if comes_back:
            self._down_since = None
        return comes_back

    def answered(self, turn: Turn, now: float) -> bool:
        """Register an answer; whether the endpoint is up again."""
        self.seconds = _average(self.seconds, now - turn.sent)
        self._spacing = _average(self._spacing, now - self._busy_since)
        self._busy_since = now
        self._refusals = 0
        return self.responded(turn, now)

    def failed(self, turn: Turn, error: ModelError, now: float) -> bool:
        """Judge a failure; whether the endpoint goes down by it.

        - No connection: down at once.
        - A time-out: down if nothing was answered for far longer than usual although other requests wait, or
          if it is the second one in a row; else the request is long.
        - 5xx: down after five in a row; broken connections: after two.
        - A 429: it rests if the next request is refused too; what the limiter does is enough for one.
        - Everything else is about the request.
        """
        if error.kind == UNREACHABLE:
            return self.goes_down(turn, now)
        if error.kind in ("timeout", TIME_LIMIT) or error.status in TIMED_OUT:
            self._timeouts += 1
            stuck = any(now - other.sent > self._patience for other in self.turns if other is not turn)
            silent = now - self._last_response > self._patience and (stuck or self._timeouts > 1)
            return (silent or turn.is_probe) and self.goes_down(turn, now)
        if error.status == 429:
            self.responded(turn, now)
            if turn.sent >= self._last_refusal:
                self._refusals, self._last_refusal = self._refusals + 1, now
            if self._refusals > 1:
                self.rests_until = now + retry.retry_delay(self._refusals - 1, error)
            return False
        if not error.transient and error.kind != RESET:
            self.responded(turn, now)
            return False
        if turn.sent >= self.last_failure:
            self._failures, self.last_failure = self._failures + 1, now
        most = RESETS if error.kind == RESET else FAILURES
        return (turn.is_probe or self._failures >= most) and self.goes_down(turn, now)

    def goes_down(self, turn: Turn, now: float) -> bool:
        """Send only probes from now on; whether it was up. A failed probe delays the next one."""
        was_up, self.last_failure = self.is_up, now
        if was_up:
            self._down_since, self._probes = now, 0
            self.times_down += 1
        elif not turn.is_probe:
            return False
        wait = min(LONGEST_PROBE, FIRST_PROBE * 2.0 ** min(self._probes, 30))
        self.next_probe = now + max(wait, PROBE_SHARE * (now - turn.sent) if turn.is_probe else 0.0)
        self._probes += 1
        return was_up

    def take_back(self, now: float) -> None:
        """End requests in flight that take far longer than usual, so that other endpoints get them."""
        for turn in self.turns:
            if turn.timer is not None and now - turn.sent > self._patience:
                turn.timer.reschedule(asyncio.get_running_loop().time())
                turn.timer = None  # it cannot be rescheduled once it has ended the attempt


@dataclass(slots=True)
class Trail:
    """Where one request has failed so far.

    Attributes:
        failed_at: Endpoints where it failed; after a 429 from all of them it starts again.
        last: The endpoint of the last failure.
        refused_by: The first endpoint that refused the request itself.
        free: Attempts that did not count as tries.
    """

    failed_at: set[PooledEndpoint] = field(default_factory=set)
    last: PooledEndpoint | None = None
    refused_by: PooledEndpoint | None = None
    free: int = 0


@dataclass(eq=False, slots=True)
class _Waiter:
    """A request in the queue.

    Attributes:
        future: Gets its turn.
        out: Endpoints that are left out for its model, with the reason; shared with the pool.
        suspects: Endpoints that its model avoids; shared with the pool.
        trail: Endpoints to avoid because it failed there.
        turn: Priority of its item.
        held_until: Clock time until which it waits for a faster endpoint although a slow one has room.
    """

    future: asyncio.Future[Turn]
    out: Mapping[PooledEndpoint, ModelError]
    suspects: Collection[PooledEndpoint]
    trail: Trail
    turn: QueueTurn | None
    held_until: float | None = None


class EndpointQueue:
    """The requests that wait for a set of endpoints, and who gets which. Shared by all models of a run.

    Requests go out in the order in which their items started, as in `Limiter`, each to the endpoint that
    answers fastest among those with room. An endpoint that is down gets one request now and then. If no
    endpoint is up, all are used, like a single one that fails.

    At the end of a run, a request waits for a fast endpoint rather than go to one that would take longer than
    the fast ones need for all that is left.

    Args:
        members: The options of each endpoint.
        most: Maximum requests in flight at all endpoints together; None for no limit.
        clock: Monotonic clock, in seconds.

    Attributes:
        endpoints: The endpoints, in the order of `members`.
        answers: Number of answers so far.
    """

    def __init__(
        self,
        members: Sequence[ModelOptions],
        most: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock = clock
        self.endpoints = [
            PooledEndpoint(one.label or one.endpoint, one.weight, one.timeout, clock) for one in members
        ]
        self.answers = 0
        self._paused_until = float("-inf")
        self._most = most
        self._waiting: list[tuple[int, int, _Waiter]] = []
        self._arrivals = itertools.count()
        self._items = self._sent = 0  # items and requests so far, for the mean number of requests of an item
        self._timer: asyncio.TimerHandle | None = None

    @property
    def probe_seconds(self) -> float:
        """Seconds after which a probe is given up."""
        return max(PROBE_SECONDS, OWN_FAULT * max(one.seconds or 0.0 for one in self.endpoints))

    def others(self, endpoint: PooledEndpoint, out: Collection[PooledEndpoint]) -> bool:
        """Whether another endpoint is up and not left out."""
        return any(one.is_up and one is not endpoint and one not in out for one in self.endpoints)

    async def turn(
        self,
        out: Mapping[PooledEndpoint, ModelError],
        suspects: Collection[PooledEndpoint],
        trail: Trail,
    ) -> Turn:
        """Wait until an endpoint takes the request; pass the turn to `answered`, `failed` or `ended`.

        Args:
            out: Endpoints that are left out, with the reason.
            suspects: Endpoints that are used only if no other one is up.
            trail: Where the request has failed; it goes elsewhere if possible.

        Raises:
            ModelError: All endpoints are left out.
        """
        turn = QUEUE_TURN.get()
        future: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        waiter = _Waiter(future, out, suspects, trail, turn)
        heapq.heappush(self._waiting, (turn.ordinal if turn else -1, next(self._arrivals), waiter))
        self._wake()
        try:
            given = await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                future.result().endpoint.limiter.release(future.result().permit, unknown=True)
                self.ended(future.result())
            raise
        if turn is not None:
            turn.is_sent()
        return given

    def answered(self, turn: Turn) -> bool:
        """End a request that was answered; whether its endpoint is up again."""
        self.answers += 1
        comes_back = turn.endpoint.answered(turn, self.clock())
        self.ended(turn)
        return comes_back

    def failed(self, turn: Turn, error: ModelError, *, refused: bool = False) -> bool:
        """End a request that failed; whether its endpoint goes down by it.

        Args:
            turn: The request.
            error: The failure.
            refused: Whether the endpoint answered before and now refuses everything (key, payment, model).
        """
        now, endpoint = self.clock(), turn.endpoint
        was_up = endpoint.is_up
        down = endpoint.goes_down(turn, now) if refused else endpoint.failed(turn, error, now)
        endpoint.turns.discard(turn)
        if not endpoint.is_up and (was_up or turn.is_probe) and self.others(endpoint, ()):
            endpoint.take_back(now)
        if error.stops_run:
            self._paused_until = now + _PAUSE
        self._wake()
        return down

    def ended(self, turn: Turn) -> None:
        """End a request without a result: it was cancelled, not sent, or taken back."""
        turn.endpoint.turns.discard(turn)
        self._wake()

    def _wake(self) -> None:
        """Give waiting requests to endpoints with room, and probes to endpoints that are down."""
        now = self.clock()
        kept: list[tuple[int, int, _Waiter]] = []
        if now >= self._paused_until - _EARLY:
            self._probe(now)
        while self._waiting and self._has_room(now):
            entry = heapq.heappop(self._waiting)
            waiter = entry[2]
            if waiter.future.done():
                continue
            if len(waiter.out) == len(self.endpoints):
                waiter.future.set_exception(_again(list(waiter.out.values())[-1]))
                continue
            endpoint = self._endpoint_for(waiter, now, len(self._waiting) + len(kept))
            if endpoint is None:
                kept.append(entry)
            else:
                self._give(waiter, endpoint, now)
        for entry in kept:
            heapq.heappush(self._waiting, entry)
        self._set_timer(now)

    def _has_room(self, now: float) -> bool:
        if now < self._paused_until - _EARLY:
            return False
        if self._most is not None and sum(len(one.turns) for one in self.endpoints) >= self._most:
            return False
        none_up = not any(one.is_up for one in self.endpoints)
        return any((none_up or one.is_up) and one.has_room(now) for one in self.endpoints)

    def _give(self, waiter: _Waiter, endpoint: PooledEndpoint, now: float, *, is_probe: bool = False) -> None:
        self._items += waiter.turn is not None and waiter.turn.is_new
        self._sent += 1
        waiter.future.set_result(endpoint.take(now, is_probe=is_probe))

    def _endpoint_for(self, waiter: _Waiter, now: float, behind: int) -> PooledEndpoint | None:
        """The endpoint for a request, with `behind` others in the queue; None if it has to wait."""
        allowed = [one for one in self.endpoints if one not in waiter.out]
        up = [one for one in allowed if one.is_up]
        if not up:
            free = [one for one in allowed if one.limiter.has_room]
            return min(free, key=lambda one: one.last_failure, default=None)
        # The one that refused the request would refuse it again.
        up = [one for one in up if one is not waiter.trail.refused_by] or up
        avoided = {*waiter.suspects, *waiter.trail.failed_at}
        usable = [one for one in up if one not in avoided]
        usable = usable or [one for one in up if one is not waiter.trail.last] or up
        endpoint = min(
            (one for one in usable if one.has_room(now)), key=PooledEndpoint.preference, default=None
        )
        if endpoint is None or not self._ends_sooner_elsewhere(waiter, endpoint, usable, behind):
            return endpoint
        if waiter.held_until is None:  # if the fast ones do not keep their rate, the slow one is better
            waiter.held_until = now + (endpoint.next_seconds or 0.0)
        return None if now < waiter.held_until - _EARLY else endpoint

    def _ends_sooner_elsewhere(
        self, waiter: _Waiter, endpoint: PooledEndpoint, usable: Sequence[PooledEndpoint], behind: int
    ) -> bool:
        """Whether faster endpoints do all that is left before this one would answer the request."""
        left = waiter.turn.left() if waiter.turn is not None else None
        seconds = endpoint.next_seconds
        if left is None or seconds is None:
            return False
        faster = [one for one in usable if one.seconds is not None and one.seconds < seconds]
        rate = sum(one.rate for one in faster)
        if not rate:
            return False
        requests = behind + 1 + left * self._sent / max(1, self._items)
        return seconds > requests / rate + min(one.seconds or 0.0 for one in faster)

    def _probe(self, now: float) -> None:
        """Send the request of the last item in the queue to each endpoint whose probe is due.

        None near the end of a run, which would wait for the probe.
        """
        for endpoint in self.endpoints:
            if endpoint.is_up or endpoint.is_probed or now < endpoint.next_probe - _EARLY:
                continue
            able = [entry for entry in self._waiting if self._may_probe(entry[2], endpoint)]
            if able:
                self._give(max(able)[2], endpoint, now, is_probe=True)

    def _may_probe(self, waiter: _Waiter, endpoint: PooledEndpoint) -> bool:
        left = waiter.turn.left() if waiter.turn is not None else None
        is_free = not waiter.future.done() and endpoint not in waiter.out
        return is_free and left != 0 and self.others(endpoint, waiter.out)

    def _set_timer(self, now: float) -> None:
        """Wake again at the next moment at which a request may go out although nothing ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        moments = [moment for moment in self._moments() if moment > now + _EARLY]
        if moments:
            self._timer = asyncio.get_running_loop().call_later(min(moments) - now, self._wake)

    def _moments(self) -> Iterator[float]:
        yield self._paused_until
        for endpoint in self.endpoints:
            yield endpoint.rests_until
            if not endpoint.is_up and not endpoint.is_probed:
                yield endpoint.next_probe
        for *_, waiter in self._waiting:
            if waiter.held_until is not None and not waiter.future.done():
                yield waiter.held_until


_SHARED: WeakValueDictionary[tuple[Any, ...], EndpointQueue] = WeakValueDictionary()


def queue_of(members: Sequence[ModelOptions], most: int | None) -> EndpointQueue:
    """The queue of a set of endpoints, shared by all models that are called there at the same time.

    Each thread has its own: a future of one event loop cannot be resolved from another loop.
    """
    names = tuple((one.base_url, one.label, one.weight, one.timeout) for one in members)
    key = (names, most, threading.get_ident())
    queue = _SHARED.get(key)
    if queue is None:
        queue = _SHARED[key] = EndpointQueue(members, most)
    return queue


def _average(before: float | None, value: float) -> float:
    """The moving average of about the last ten values."""
    return value if before is None else 0.9 * before + 0.1 * value


def _again(error: ModelError) -> ModelError:
    """The same failure for another request."""
    return ModelError(str(error), kind=error.kind, status=error.status, stops_run=True)
