"""How well the client finds the limit of an endpoint that answers 429 beyond so many requests at once.

    python -m measurements.endpoint_capacity [--requests 10000] [--capacity 50] [--delay 0.1]

The server has a process of its own. Ideal is capacity / delay requests a second. Fails (exit code 1) under
90 % of the ideal throughput, or where 5 % or more of the requests were answered 429.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import time
from multiprocessing.connection import Connection

from aiohttp import web

from toolassay.console.tables import Table
from toolassay.models import ChatRequest, ModelOptions, create_model
from toolassay.runs.runner import Loop, run_items

ANSWER = json.dumps({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}).encode()


def serve(capacity: int, delay: float, pipe: Connection) -> None:
    """Answer for ever; tell what happened when asked."""

    async def run() -> None:
        busy = answered = refused = 0

        async def answer(request: web.Request) -> web.Response:
            nonlocal busy, answered, refused
            if busy >= capacity:
                refused += 1
                return web.json_response({"error": {"message": "too many requests"}}, status=429)
            busy += 1
            await asyncio.sleep(delay)
            busy -= 1
            answered += 1
            return web.Response(body=ANSWER, content_type="application/json")

        application = web.Application()
        application.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        pipe.send(runner.addresses[0][1])
        await asyncio.to_thread(pipe.recv)
        pipe.send((answered, refused))

    asyncio.run(run())


async def ask_all(base: str, count: int) -> float:
    """Seconds for all requests, the limit found by the client itself."""
    model = create_model("m", ModelOptions(api_base=base))

    async def ask(number: int) -> str:
        await model.complete(ChatRequest([{"role": "user", "content": f"request {number}"}]))
        return "answered"

    start = time.perf_counter()
    summary = await run_items(range(count), ask, Loop())
    seconds = time.perf_counter() - start
    await model.close()
    assert summary.outcomes["answered"] == count, summary
    return seconds


def main() -> int:
    """Measure and print one row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--capacity", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.1)
    given = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(given.capacity, given.delay, there), daemon=True)
    server.start()
    seconds = asyncio.run(ask_all(f"http://127.0.0.1:{here.recv()}/v1", given.requests))
    here.send("tell")
    answered, refused = here.recv()
    server.join()
    ideal = given.capacity / given.delay
    share, lost = given.requests / seconds / ideal, refused / (answered + refused)
    heads = ("requests", "at once", "seconds", "of the ideal rate", "answered 429")
    cells = (
        f"{given.requests:,}",
        str(given.capacity),
        f"{seconds:.1f}",
        f"{share:.0%}",
        f"{refused} ({lost:.2%})",
    )
    print(Table(heads, [cells], "rrrrr").markdown())
    return 0 if share >= 0.9 and lost < 0.05 else 1


if __name__ == "__main__":
    raise SystemExit(main())
