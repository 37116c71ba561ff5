"""What several endpoints of different speed do in one run, and what happens when one of them is killed.

    python -m measurements.endpoint_pool [--seconds 30] [--endpoints 8x0.1 8x0.2 4x0.4 2x1.0]

Each endpoint is an HTTP server in a process of its own, `capacity x seconds`: it works on that many requests
at once, sleeps so long for each, and queues the others. First each one is asked alone, then all together with
the requests of all; every run finds its limits itself and appends to a journal. "Whole run" counts from the
first request to the last answer, ramp-up and tail included; "after ramp-up" leaves out the first quarter of
the answers. Last, the fastest server is killed (`kill -9`) after a third of the requests and started again on
its port three seconds later.

Fails (exit code 1) under 95 % of the sum of the single rates, where a request is lost or answered twice, or
where the killed server gets no work when it is back.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from aiohttp import web

from toolassay.models import ChatModel, ChatRequest, ModelOptions, create_model
from toolassay.runs import Journal
from toolassay.runs.record import endpoint_lines
from toolassay.runs.runner import Loop, RunSummary, run_unsettled

LEAST = 0.95
AWAY = 3.0  # seconds that the killed server is gone: two probes find nothing
ANSWER = json.dumps(
    {
        "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
).encode()


@dataclass(frozen=True)
class Speed:
    """How many requests a server works on at once, and for how long."""

    capacity: int
    seconds: float

    @classmethod
    def of(cls, text: str) -> Speed:
        """Parse `8x0.1`."""
        capacity, _, seconds = text.partition("x")
        return cls(int(capacity), float(seconds))

    @property
    def rate(self) -> float:
        """Answers per second when it is never idle."""
        return self.capacity / self.seconds


def serve(speed: Speed, port: int, pipe: Connection) -> None:
    """Answer for ever; sends its port."""

    async def run() -> None:
        room = asyncio.Semaphore(speed.capacity)

        async def answer(request: web.Request) -> web.Response:
            await request.read()
            async with room:
                await asyncio.sleep(speed.seconds)
            return web.Response(body=ANSWER, content_type="application/json")

        application = web.Application()
        application.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
        pipe.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


@dataclass
class Server:
    """A server in a process of its own."""

    speed: Speed
    port: int = 0
    process: BaseProcess | None = None

    @property
    def base(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start it, on the port it had before."""
        here, there = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=serve, args=(self.speed, self.port, there), daemon=True)
        self.process.start()
        self.port = here.recv()

    def kill(self) -> None:
        """Kill it; its connections break."""
        if self.process is not None:
            self.process.kill()
            self.process.join()


@dataclass
class Run:
    """What came of a run: clock times of the answers, the endpoints that gave them, the journal's lines."""

    started: float
    times: list[float] = field(default_factory=list)
    by: list[str | None] = field(default_factory=list)
    facts: Mapping[str, Any] = field(default_factory=dict)
    summary: RunSummary = field(default_factory=RunSummary)
    told: list[str] = field(default_factory=list)
    in_journal: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Answers per second of the whole run."""
        return len(self.times) / (self.times[-1] - self.started)

    @property
    def later_rate(self) -> float:
        """Answers per second after the first quarter of the answers."""
        first = len(self.times) // 4
        return (len(self.times) - first) / (self.times[-1] - self.times[first - 1])


def ask(bases: list[str], count: int, at: Callable[[int], None] = lambda answers: None) -> Run:
    """Ask `count` requests as a stage does; `at` is called with the number of answers after each."""
    run = Run(time.monotonic())
    model: ChatModel = create_model("m", ModelOptions(api_base=",".join(bases), tell=run.told.append))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        with Journal(path) as journal:

            async def work(item: str) -> str:
                message = {"role": "user", "content": f"request {item}"}
                response = await model.complete(ChatRequest([message], item=item))
                journal.append(item, {"outcome": "answered", "response": response.text})
                run.times.append(time.monotonic())
                run.by.append(response.endpoint)
                at(len(run.times))
                return "answered"

            run_unsettled(
                map(str, range(count)),
                work,
                settled=lambda item: item in journal,
                models=[model],
                loop=Loop(summary=run.summary, endpoints=len(bases), size=count),
            )
        lines = path.read_text(encoding="utf-8").splitlines()
        run.in_journal = Counter(str(json.loads(line)["key"]) for line in lines)
    run.facts = {"model": "m", **model.facts()}  # type: ignore[attr-defined]
    return run


def rates(servers: list[Server], seconds: float) -> bool:
    """Print the single rates and the rate of all together; whether that is enough."""
    print("endpoint     requests   seconds   answers/s, whole run   after ramp-up   of capacity x seconds")
    whole = later = 0.0
    for server in servers:
        count = round(server.speed.rate * seconds)
        run = ask([server.base], count)
        whole, later = whole + run.rate, later + run.later_rate
        name = f"{server.speed.capacity} x {server.speed.seconds:g} s"
        print(
            f"{name:12} {count:8} {run.times[-1] - run.started:9.1f} {run.rate:22.2f} {run.later_rate:15.2f} "
            f"{run.rate / server.speed.rate:12.1%}",
            flush=True,
        )
    ideal = sum(server.speed.rate for server in servers)
    print(f"{'sum':12} {'':8} {'':9} {whole:22.2f} {later:15.2f} {whole / ideal:12.1%}")
    used = time.process_time()
    count = round(ideal * seconds)
    run = ask([server.base for server in servers], count)
    used = time.process_time() - used
    print(
        f"{'all together':12} {count:8} {run.times[-1] - run.started:9.1f} {run.rate:22.2f} "
        f"{run.later_rate:15.2f} {run.rate / ideal:12.1%}"
    )
    for line in endpoint_lines([run.facts]):
        print(line)
    share = run.rate / whole
    once = set(run.in_journal.values()) == {1} and len(run.in_journal) == count
    print(
        f"together: {share:.1%} of the sum of the single rates in the whole run, "
        f"{run.later_rate / later:.1%} after ramp-up; {used:.1f} s of CPU for the client; "
        f"{'each request once in the journal' if once else 'LOST OR TWICE'}"
    )
    return share >= LEAST and once


def killed(servers: list[Server], seconds: float) -> bool:
    """Kill the fastest server in the middle of a run; whether all went well."""
    victim = max(servers, key=lambda server: server.speed.rate)
    count = round(sum(server.speed.rate for server in servers) * seconds)
    answers_when_back = count
    restart: asyncio.Task[None] | None = None

    async def start_again() -> None:
        nonlocal answers_when_back
        await asyncio.sleep(AWAY)
        await asyncio.to_thread(victim.start)
        answers_when_back = answered

    answered = 0

    def at(answers: int) -> None:
        nonlocal answered, restart
        answered = answers
        if answers == count // 3:
            victim.kill()
            restart = asyncio.get_running_loop().create_task(start_again())

    run = ask([server.base for server in servers], count, at)
    name = f"{victim.speed.capacity} x {victim.speed.seconds:g} s"
    print(f"\n{name} is killed after {count // 3} of {count} answers and started again {AWAY:g} s later")
    for text in run.told:
        print(f"  notice: {text}")
    for line in endpoint_lines([run.facts]):
        print(line)
    after = Counter(run.by[answers_when_back:])[victim.base]
    once = set(run.in_journal.values()) == {1} and len(run.in_journal) == count
    good = once and run.summary.outcomes == {"answered": count} and after > 0
    print(
        f"{run.times[-1] - run.started:.1f} s; {len(run.in_journal)} items in the journal, "
        f"{sum(run.in_journal.values())} lines; outcomes {dict(run.summary.outcomes)}; "
        f"{after} answers of the killed server after it came back{'' if good else '   NOT GOOD'}"
    )
    return good


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="of each run, without ramp-up")
    speeds = [Speed(8, 0.1), Speed(8, 0.2), Speed(4, 0.4), Speed(2, 1.0)]
    parser.add_argument("--endpoints", type=Speed.of, nargs="+", default=speeds, metavar="CAPACITYxSECONDS")
    given = parser.parse_args()
    servers = [Server(speed) for speed in given.endpoints]
    try:
        for server in servers:
            server.start()
        good = [rates(servers, given.seconds), killed(servers, given.seconds)]
    finally:
        for server in servers:
            server.kill()
    return 0 if all(good) else 1


if __name__ == "__main__":
    os.environ.pop("OPENAI_API_KEY", None)
    raise SystemExit(main())
