"""Endpoints that live in simulated time, a limiter driven by hand, and a meter that remembers."""

from __future__ import annotations

import asyncio
import random

from measurements.simulated_time import now, run
from toolassay.models import Attempt, ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.concurrency import Limiter, Permit


def http(status: int, retry_after: float | None = None) -> ModelError:
    return ModelError(
        f"HTTP {status}", transient=True, kind=f"HTTP {status}", status=status, retry_after=retry_after
    )


class Books:
    """A meter that remembers, and allows so many attempts."""

    def __init__(self, allowed: int | None = None) -> None:
        self.attempts: list[Attempt] = []
        self.announced = 0
        self._allowed = allowed

    def before(self, model: str, request: ChatRequest) -> None:
        if self._allowed is not None and self.announced >= self._allowed:
            raise ModelError("the budget is spent", outcome="budget stop", stops_run=True)
        self.announced += 1

    def after(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def total(self, name: str) -> int:
        return sum(getattr(attempt, name) or 0 for attempt in self.attempts)


class Driver:
    """A limiter kept full by hand, with a clock of its own."""

    def __init__(self) -> None:
        self.time = 0.0
        self.limiter = Limiter(clock=lambda: self.time)
        self.permits: list[Permit] = []

    async def fill(self) -> None:
        while self.limiter.in_flight < self.limiter.limit:
            self.permits.append(await self.limiter.acquire())

    def end(self, error: ModelError | None = None) -> None:
        self.limiter.release(self.permits.pop(0), error)

    async def start_to(self, limit: int) -> None:
        """Slow start, at an endpoint that answers faster the more it is asked, until this limit."""
        while self.limiter.limit < limit:
            await self.round_trip()
        await self.fill()

    async def round_trip(self) -> None:
        await self.fill()
        for _ in range(len(self.permits)):
            self.end()
            await self.fill()


class Endpoint:
    """Bears `capacity` requests at once, each for about 0.05 s; answers the others with 429 after 1 ms."""

    seconds = 0.05

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.busy = self.most = self.answered = self.refused = 0
        self._random = random.Random(1)

    async def send(self, request: ChatRequest) -> ChatResponse:
        if self.busy >= self.capacity:
            self.refused += 1
            await asyncio.sleep(0.001)
            raise http(429)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await asyncio.sleep(self.seconds * self._random.uniform(0.8, 1.2))
        finally:
            self.busy -= 1
        self.answered += 1
        return ChatResponse("yes", "stop", 1, 1)

    async def close(self) -> None: ...


class PerMinute:
    """Answers so many requests in a minute, each after 0.5 s; answers the others with 429."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.answered = self.refused = 0
        self._minute, self._taken = -1, 0

    async def send(self, request: ChatRequest) -> ChatResponse:
        minute = int(now() // 60)
        if minute != self._minute:
            self._minute, self._taken = minute, 0
        if self._taken >= self.count:
            self.refused += 1
            await asyncio.sleep(0.01)
            raise http(429)
        self._taken += 1
        await asyncio.sleep(0.5)
        self.answered += 1
        return ChatResponse("yes", "stop", 1, 1)

    async def close(self) -> None: ...


class Outcome:
    """What came of asking an endpoint so many times."""

    def __init__(self, endpoint: Endpoint, limiter: Limiter, seconds: float, ideal: float) -> None:
        self.limiter = limiter
        self.throughput = ideal / seconds
        self.refused = endpoint.refused / (endpoint.refused + endpoint.answered)
        self.most = endpoint.most


def ask_all(endpoint: Endpoint, count: int, *, workers: int = 512, fixed: int | None = None) -> Outcome:
    """Ask an endpoint `count` times through a client, in virtual time."""

    random.seed(1)  # the jitter between tries

    async def main() -> Outcome:
        limiter = Limiter(fixed, clock=asyncio.get_running_loop().time)
        client = Client("m", ModelOptions(max_tries=50), transport=endpoint, limiter=limiter)
        left = iter(range(count))

        async def worker() -> None:
            for number in left:
                await client.complete(ChatRequest([], item=str(number)))

        started = now()
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(worker())
        ideal = count * endpoint.seconds / endpoint.capacity
        return Outcome(endpoint, limiter, now() - started, ideal)

    return run(main())
