"""How well the adaptive limit does on servers that queue, against the best fixed `--multiworker`.

    python -m measurements.adaptive_concurrency            # simulated time: a minute
    python -m measurements.adaptive_concurrency --real [--requests 300]

In simulated time the real client and limiter ask a server that works on 1, 4 or 50 requests at once and
queues the others, for 0.05, 5 or 60 s each; answers are equally long or lognormal (sigma 0.7), and after a
time-out the server drops the request or computes on. At capacity 1 and 4 all of 300 requests are timed, at
50 those after the first 20 x 50. `--real` asks an HTTP server in a process of its own.

Fails (exit code 1) under 90 % of the best fixed concurrency (1, 2, 4, … 128), where a request is lost, or
where more than 2 % are sent again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from multiprocessing.connection import Connection
from typing import Any

from aiohttp import web

from measurements.simulated_time import now, run
from toolassay.models import Attempt, ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.concurrency import Limiter
from toolassay.models.retry import timed_out

CAPACITIES = (1, 4, 50)
SECONDS = (0.05, 5.0, 60.0)
FIXED = (1, 2, 4, 8, 16, 32, 64, 128)
SIGMA = 0.7  # of lognormal answer lengths: one in twenty is three times the median
LEAST, MOST_AGAIN = 0.9, 0.02
ANSWER = json.dumps({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}).encode()


@dataclass(frozen=True)
class Case:
    """A server: how many requests it works on at once, for how long, and what it does after a hang-up."""

    capacity: int
    seconds: float
    lognormal: bool = False
    computes_on: bool = False
    seed: int = 1

    @property
    def warm_up(self) -> int:
        """Answers that are not timed."""
        return 20 * self.capacity if self.capacity > 4 else 0

    @property
    def requests(self) -> int:
        """How many are sent in all."""
        return self.warm_up + (300 if self.capacity <= 4 else 20 * self.capacity)


class QueueServer:
    """Works on `case.capacity` requests at once; the others wait, first come first served."""

    def __init__(self, case: Case, timeout: float = 600.0) -> None:
        self._case, self._timeout = case, timeout
        self._random = random.Random(case.seed)
        self._room = asyncio.Semaphore(case.capacity)
        self._abandoned: set[asyncio.Task[None]] = set()

    async def send(self, request: ChatRequest) -> ChatResponse:
        """Answer, or time out."""
        work = asyncio.ensure_future(self._work())
        try:
            async with asyncio.timeout(self._timeout):
                await (asyncio.shield(work) if self._case.computes_on else work)
        except TimeoutError:
            if self._case.computes_on:
                self._abandoned.add(work)
                work.add_done_callback(self._abandoned.discard)
            raise timed_out(self._timeout) from None
        return ChatResponse("yes", "stop", 1, 1)

    async def _work(self) -> None:
        length = self._random.lognormvariate(-SIGMA * SIGMA / 2, SIGMA) if self._case.lognormal else 1.0
        async with self._room:
            await asyncio.sleep(self._case.seconds * length)

    async def close(self) -> None:
        """Cancel what is still running."""
        for task in self._abandoned:
            task.cancel()


class Count:
    """A meter that counts attempts by outcome."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()

    def before(self, model: str, request: ChatRequest) -> None:
        """Allow everything."""

    def after(self, attempt: Attempt) -> None:
        """Count it."""
        self.outcomes[attempt.outcome] += 1


@dataclass(frozen=True)
class Result:
    """What a run came to: answers a second, attempts by outcome, requests lost, the limiter."""

    rate: float
    outcomes: Counter[str]
    lost: int
    limiter: Any

    @property
    def sent(self) -> int:
        """Requests sent, further tries included."""
        return self.outcomes.total()


async def ask(
    client: Client, count: int, warm_up: int, workers: int, clock: Callable[[], float]
) -> tuple[float, int]:
    """Answers a second after the first `warm_up`, and how many requests were lost."""
    left, ends, lost = iter(range(count)), [clock()], 0

    async def worker() -> None:
        nonlocal lost
        for number in left:
            try:
                await client.complete(ChatRequest([{"role": "user", "content": str(number)}]))
            except ModelError:
                lost += 1
            ends.append(clock())

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(worker())
    # The end, where less and less is in flight, counts as it does for a fixed number.
    return (count - lost - warm_up) / max(ends[-1] - ends[warm_up], 1e-9), lost


def simulate(case: Case, fixed: int | None = None, limiter_type: Callable[..., Any] = Limiter) -> Result:
    """Ask a simulated server, with a fixed number in flight or the adaptive limit."""
    random.seed(case.seed)  # the jitter between tries

    async def main() -> Result:
        limiter = limiter_type(fixed, clock=asyncio.get_running_loop().time)
        count, server = Count(), QueueServer(case)
        client = Client("m", ModelOptions(), count, transport=server, limiter=limiter)
        rate, lost = await ask(client, case.requests, case.warm_up, 512, now)
        await client.close()
        return Result(rate, count.outcomes, lost, limiter)

    return run(main())


def best_fixed(case: Case) -> tuple[int, Result]:
    """The fixed number that answers most in the same time, and what came of it.

    More than four times the capacity only adds to the queue, or times out.
    """
    numbers = [number for number in FIXED if case.capacity <= 2 * number <= 8 * case.capacity]
    results = {number: simulate(case, number) for number in numbers}
    best = max(results, key=lambda number: results[number].rate)
    return best, results[best]


def cases(seed: int = 1) -> list[Case]:
    """All of them."""
    kinds = product(CAPACITIES, SECONDS, (False, True), (False, True))
    return [Case(*kind, seed) for kind in kinds]


def demonstrate(seed: int) -> bool:
    """Print one row a case; whether all are good."""
    counts = "sent | again | time-outs | lost | limit"
    print(f"| capacity | seconds | lengths | after a hang-up | of best fixed | {counts} |")
    print(f"| ---: | ---: | --- | --- |{' ---: |' * 6}")
    good = True
    for case in cases(seed):
        number, best = best_fixed(case)
        result = simulate(case)
        share, again = result.rate / best.rate, result.sent - case.requests
        enough = share >= LEAST and not result.lost and again <= MOST_AGAIN * case.requests
        good &= enough
        print(
            f"| {case.capacity} | {case.seconds:g} | {'lognormal' if case.lognormal else 'constant'} "
            f"| {'computes on' if case.computes_on else 'drops it'} "
            f"| {share:.1%} of that at {number}{'' if enough else ', NOT ENOUGH'} "
            f"| {result.sent} | {again} | {result.outcomes['timeout']} | {result.lost} "
            f"| {result.limiter.limit} |",
            flush=True,
        )
    return good


def serve(capacity: int, seconds: float, pipe: Connection) -> None:
    """An HTTP server that works on so many requests at once and queues the others; it computes on."""

    async def run_server() -> None:
        room = asyncio.Semaphore(capacity)

        async def answer(request: web.Request) -> web.Response:
            async with room:
                await asyncio.sleep(seconds)
            return web.Response(body=ANSWER, content_type="application/json")

        application = web.Application()
        application.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(application, access_log=None, handler_cancellation=False)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        pipe.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run_server())


def ask_real(capacity: int, seconds: float, requests: int) -> bool:
    """Ask a server in a process of its own, and print a line; whether it is good.

    Fast answers are compared with twice the capacity in flight, on the same server; for slow ones this is
    the capacity over the seconds.
    """
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(capacity, seconds, there), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{here.recv()}/v1"

    async def main(fixed: int | None = None) -> Result:
        count = Count()
        client = Client("m", ModelOptions(api_base=base, connections=fixed), count)
        rate, lost = await ask(client, requests, 0, 512, time.monotonic)
        await client.close()
        return Result(rate, count.outcomes, lost, client.limiter)

    try:
        result = asyncio.run(main())
        best = asyncio.run(main(2 * capacity)).rate if seconds < 1 else capacity / seconds
    finally:
        server.kill()
    rate, lost, sent, limit = result.rate, result.lost, result.sent, result.limiter.limit
    share = rate / best
    enough = share >= LEAST and not lost and sent - requests <= MOST_AGAIN * requests
    print(
        f"{capacity:8} {seconds:8g} {requests:9} {60 * rate:12.1f} {share:8.1%} {sent:6} "
        f"{result.outcomes['timeout']:10} {lost:5} {limit:6}{'' if enough else '   NOT ENOUGH'}",
        flush=True,
    )
    return enough


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--real", action="store_true", help="ask an HTTP server, in real time")
    parser.add_argument("--requests", type=int, default=300, help="with --real")
    parser.add_argument("--capacity", type=int, nargs="+", default=[1, 4], help="with --real")
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.05, 5.0], help="with --real")
    parser.add_argument("--seed", type=int, default=1, help="of the simulated answer lengths")
    given = parser.parse_args()
    if not given.real:
        return 0 if demonstrate(given.seed) else 1
    print("capacity  seconds  requests  answers/min  of best   sent  time-outs  lost  limit")
    good = [
        ask_real(capacity, seconds, given.requests)
        for capacity, seconds in product(given.capacity, given.seconds)
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
