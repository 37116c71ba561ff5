"""`EndpointPool`: a model at several endpoints, which take its requests from one queue (`endpoint_queue`)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from toolassay.models import retry
from toolassay.models.client import Client
from toolassay.models.concurrency_limiter import waiting
from toolassay.models.endpoint_queue import EndpointQueue, PooledEndpoint, Trail, Turn, queue_of
from toolassay.models.errors import RESET, TIME_LIMIT, UNREACHABLE, ModelError
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import ChatRequest, ChatResponse, Meter, Transport

UNCONFIRMED = 3
"""Requests that an endpoint without any answer has refused, after which it gets no more until another one has
answered or refused them, too. If that answers as many, the endpoint is left out."""
TOLD = 3
"""How often one endpoint is reported to be down; a flapping one would fill the screen."""


@dataclass(slots=True)
class _Tally:
    """What one endpoint did for one model; times by the clock."""

    answered: int = 0
    failed: int = 0
    first_sent: float | None = None
    last_answer: float = 0.0

    @property
    def rate(self) -> float | None:
        """Answers per second from the first request to the last answer."""
        if self.first_sent is None or not self.answered or self.last_answer <= self.first_sent:
            return None
        return self.answered / (self.last_answer - self.first_sent)


class EndpointPool:
    """The model `name` at the endpoints of `options`, as one `ChatModel`.

    A failure sends the request to another endpoint. It does not count as a try as long as the request has not
    failed at all endpoints that are up, nor if the endpoint goes down by it; otherwise the rules of `Client`
    apply. A refusal of the request itself (most 4xx) is final when a second endpoint has confirmed it. An
    endpoint that refuses everything before its first answer (key, model, address) is left out.

    Args:
        name: Name of the model at all endpoints.
        options: The options, with several `endpoints`.
        meter: As for `Client`.
        transports: Transport of each endpoint [default: by `options.client`].
        queue: The queue [default: shared by the models at these endpoints].
        breaker: Detects that nothing answers anywhere, which ends the run [default: a new `Breaker`].
        sleep: Waits between attempts, in seconds.
    """

    def __init__(
        self,
        name: str,
        options: ModelOptions,
        meter: Meter | None = None,
        *,
        transports: Sequence[Transport] | None = None,
        queue: EndpointQueue | None = None,
        breaker: retry.Breaker | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        members = options.endpoints
        self.name = name
        self._members = members
        self._queue = queue or queue_of(members, options.connections)
        self._tell = options.tell or (lambda text: None)
        self._sleep = sleep
        self._max_tries = options.max_tries
        # A bound for endpoints that go down and up forever.
        self._most_free = options.max_tries * len(members)
        breaker = breaker or retry.Breaker()
        given: Sequence[Transport | None] = transports or [None] * len(members)
        self._clients: dict[PooledEndpoint, Client] = {
            endpoint: Client(name, one, meter, transport=transport, limiter=endpoint.limiter, breaker=breaker)
            for endpoint, one, transport in zip(self._queue.endpoints, members, given, strict=True)
        }
        self._out: dict[PooledEndpoint, ModelError] = {}
        # By endpoint without an answer: requests that it refused and no other one, and those that another
        # one answered.
        self._unconfirmed, self._contradicted = Counter[PooledEndpoint](), Counter[PooledEndpoint]()
        self._suspects: set[PooledEndpoint] = set()
        self._tallies = {endpoint: _Tally() for endpoint in self._clients}

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request.

        Raises:
            ModelError: As `Client.complete`.
        """
        trail = Trail()
        try:
            response = await self._answer(request, trail)
        except BaseException:
            if trail.refused_by is not None:
                self._doubt(trail.refused_by, -1)
            raise
        if trail.refused_by is not None:
            self._contradict(trail.refused_by)
        return response

    async def _answer(self, request: ChatRequest, trail: Trail) -> ChatResponse:
        """Make attempts until one is answered or the failure is final."""
        tries = retry.Tries(self._max_tries)
        answers, last, numbers = self._queue.answers, None, count(1)
        while True:
            asked = self._queue.clock()
            with waiting(last):
                turn = await self._queue.turn(self._out, self._suspects, trail)
            try:
                return await self._attempt(turn, request, numbers, turn.sent - asked)
            except ModelError as error:
                last = error
                if self._moves_on(turn.endpoint, error, trail):
                    trail.free += 1
                    continue
                tried = tries.number
                if not tries.again(error, others_answered=self._queue.answers > answers):
                    raise
                answers = self._queue.answers
                if error.status == 429:  # all endpoints have refused it since the last try that counted
                    trail.failed_at.clear()
                self._clients[turn.endpoint].report_wait(error)
                with waiting(error):
                    await self._sleep(retry.retry_delay(tried, error))

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.close()

    def facts(self) -> Mapping[str, Any]:
        """For the manifest: what each endpoint did for this model, in the order of their addresses."""
        most = self._members[0].connections
        return {
            "concurrency": "adaptive" if most is None else most,
            "endpoints": [self._facts_of(endpoint) for endpoint in self._clients],
        }

    def _facts_of(self, endpoint: PooledEndpoint) -> dict[str, Any]:
        tally = self._tallies[endpoint]
        state = "left out" if endpoint in self._out else "up" if endpoint.is_up else "down"
        if not tally.answered and not tally.failed:
            state = "not used"
        return {
            "endpoint": endpoint.label,
            "state": state,
            "answered": tally.answered,
            "failed": tally.failed,
            "times_down": endpoint.times_down,
            "answers_per_second": None if tally.rate is None else round(tally.rate, 3),
            **self._clients[endpoint].facts(),
        }

    async def _attempt(
        self, turn: Turn, request: ChatRequest, numbers: Iterator[int], queued: float
    ) -> ChatResponse:
        """Make one attempt at the endpoint of `turn`, and learn about the endpoint from its result."""
        endpoint, queue = turn.endpoint, self._queue
        tally = self._tallies[endpoint]
        if tally.first_sent is None:
            tally.first_sent = turn.sent
        try:
            async with asyncio.timeout(queue.probe_seconds if turn.is_probe else None) as timer:
                turn.timer = timer
                response = await self._clients[endpoint].attempt(request, numbers, turn.permit, queued)
        except ModelError as error:
            if error.outcome in ("budget stop", "not run"):
                queue.ended(turn)
            else:
                tally.failed += 1
                self._failed(turn, error)
            raise
        except TimeoutError:
            tally.failed += 1
            silent = ModelError(
                f"no answer from {endpoint.label}, which is down", transient=True, kind="timeout"
            )
            if turn.is_probe:
                queue.failed(turn, silent)
            else:
                queue.ended(turn)
            raise silent from None
        except BaseException:
            queue.ended(turn)
            raise
        tally.answered, tally.last_answer = tally.answered + 1, queue.clock()
        if queue.answered(turn) and endpoint.times_down <= TOLD:
            self._tell(f"{endpoint.label} answers again")
        return response

    def _failed(self, turn: Turn, error: ModelError) -> None:
        """Leave an endpoint out, or report that it is down."""
        endpoint = turn.endpoint
        refuses_all = error.stops_run and not error.is_resolved and error.kind not in (UNREACHABLE, RESET)
        if refuses_all and not self._clients[endpoint].answers:
            self._leave_out(endpoint, error)
        if self._queue.failed(turn, error, refused=refuses_all and endpoint not in self._out):
            if endpoint.times_down > TOLD or not self._queue.others(endpoint, self._out):
                return
            last = "" if endpoint.times_down < TOLD else "; this is not reported again"
            self._tell(
                f"{endpoint.label} is down ({error}): the other endpoints get its requests, and it is tried "
                f"again from time to time{last}"
            )

    def _leave_out(self, endpoint: PooledEndpoint, error: ModelError) -> None:
        if endpoint in self._out:
            return
        self._out[endpoint] = error
        if len(self._out) < len(self._clients):  # else the error itself ends the run
            self._tell(f"{endpoint.label} is left out, the other endpoints do its work: {error}")

    def _moves_on(self, endpoint: PooledEndpoint, error: ModelError, trail: Trail) -> bool:
        """Whether a request that failed is sent again at once, mostly elsewhere, without counting a try."""
        if error.is_resolved:
            return True
        if error.outcome in ("budget stop", "not run") or error.kind == TIME_LIMIT:
            return False
        if endpoint in self._out:
            return len(self._out) < len(self._clients)
        trail.last = endpoint
        if not self._queue.others(endpoint, self._out) or trail.free >= self._most_free:
            return False
        if error.stops_run or not endpoint.is_up:
            return True
        if not error.transient:
            if trail.refused_by not in (None, endpoint):
                return False
            if trail.refused_by is None:
                trail.refused_by = endpoint
                self._doubt(endpoint)
            trail.failed_at.add(endpoint)
            return True
        trail.failed_at.add(endpoint)
        return self._queue.others(endpoint, {*self._out, *trail.failed_at})

    def _doubt(self, endpoint: PooledEndpoint, change: int = 1) -> None:
        """Count a request that an endpoint refused and no other one yet; with several it is avoided."""
        self._unconfirmed[endpoint] += change
        if self._unconfirmed[endpoint] >= UNCONFIRMED and not self._clients[endpoint].answers:
            self._suspects.add(endpoint)
        else:
            self._suspects.discard(endpoint)

    def _contradict(self, endpoint: PooledEndpoint) -> None:
        """Count a request that an endpoint refused and another one answered."""
        if self._clients[endpoint].answers:
            self._suspects.discard(endpoint)
            return
        self._contradicted[endpoint] += 1
        if self._contradicted[endpoint] >= UNCONFIRMED:
            refuses = ModelError("it refuses requests that another endpoint answers", stops_run=True)
            self._leave_out(endpoint, refuses)
