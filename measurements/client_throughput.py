"""Requests per second of the client, beside a bare aiohttp session and other ways, against a local server.

    python -m measurements.client_throughput [--requests 4000] [--rounds 5] [--in-flight 50 200]
        [--delay 0.05]

The server has a process of its own and answers 1.6 kB after 50 ms. "ours" is the path of inference:
render the prompt, send, parse, append to the journal; the others only
send and read JSON. Every way sends the same prompts and takes its turn in every round; the median round
counts, and the ratio is that of the same round to the bare session. The SDK and litellm are measured where
they are installed: litellm in a virtual environment of its own, for it wants an openai SDK older than 3.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from toolassay.benchmarks.taskbench.inference import PARAMETERS, read_plan
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.console.tables import Table
from toolassay.models import ChatRequest, ModelOptions, create_model
from toolassay.models.options import ClientName
from toolassay.runs.journal import AnswerLine, ItemEntry, Journal, LineAddress
from toolassay.runs.runner import Loop, run_items
from toolassay.tools.library import ToolLibrary

ROOT = Path(__file__).resolve().parent.parent
SIZE = 1_600  # bytes of an answer
OPENAI = 3  # the oldest SDK that --client openai goes through; litellm wants an older one
LEAST = {50: 0.9, 200: 0.7}  # of the bare session

Ask = Callable[[str], Awaitable[None]]
Way = Callable[[str, list[str], int], Awaitable[None]]


def serve(delay: float, port: Connection) -> None:
    """Answer for ever."""

    async def run() -> None:
        nodes = [{"task": f"tool {n}", "arguments": [f"example {n}.jpg", "<node-0>"]} for n in range(4)]
        plan: dict[str, Any] = {"task_steps": [], "task_nodes": nodes, "task_links": []}
        while len(json.dumps({"content": json.dumps(plan)})) < SIZE - 200:
            plan["task_steps"].append(f"Step {len(plan['task_steps']) + 1}: use the next tool on the result")
        body = json.dumps(
            {
                "id": "chatcmpl-0",
                "choices": [{"index": 0, "message": {"content": json.dumps(plan)}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 2000, "completion_tokens": 300, "total_tokens": 2300},
            }
        ).encode()

        async def answer(request: web.Request) -> web.Response:
            await request.read()
            await asyncio.sleep(delay)
            return web.Response(body=body, content_type="application/json")

        application = web.Application(client_max_size=2**24)
        application.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


def body_of(prompt: str) -> dict[str, Any]:
    """The same request for everyone."""
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **PARAMETERS}


async def all_of(prompts: list[str], in_flight: int, ask: Ask) -> None:
    """Ask for every prompt, so many at a time."""
    stream = iter(prompts)

    async def worker() -> None:
        for prompt in stream:
            await ask(prompt)

    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(worker())


async def bare(base: str, requests: list[str], in_flight: int) -> None:
    """One aiohttp session, and nothing else."""
    rendered = prompt_of_library().render
    connector = aiohttp.TCPConnector(limit=in_flight)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(request: str) -> None:
            async with session.post(f"{base}/chat/completions", json=body_of(rendered(request))) as response:
                answer = await response.json()
                assert answer["choices"][0]["message"]["content"]

        await all_of(requests, in_flight, ask)


async def session_each(base: str, requests: list[str], in_flight: int) -> None:
    """A session for every request, as the published scripts do."""
    rendered = prompt_of_library().render

    async def ask(request: str) -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{base}/chat/completions", json=body_of(rendered(request))) as response,
        ):
            answer = await response.json()
            assert answer["choices"][0]["message"]["content"]

    await all_of(requests, in_flight, ask)


def ours(client: ClientName, *, fixed: bool = True) -> Way:
    """The path of inference over one of the transports."""

    async def way(base: str, requests: list[str], in_flight: int) -> None:
        prompt = prompt_of_library()
        options = ModelOptions(api_base=base, client=client, connections=in_flight if fixed else None)
        model = create_model("m", options)
        with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.jsonl") as journal:

            async def ask(numbered: tuple[int, str]) -> str:
                message = {"role": "user", "content": prompt.render(numbered[1])}
                response = await model.complete(ChatRequest([message], PARAMETERS))
                plan, _ = read_plan(response.text, "resource", response.finish_reason)
                assert plan is not None
                key = str(numbered[0])
                journal.add_answer(LineAddress(key, "planner"), AnswerLine.of(response))
                journal.append(key, ItemEntry(outcome="answered"))
                return "answered"

            try:
                summary = await run_items(enumerate(requests), ask, Loop(concurrency=in_flight))
            finally:
                await model.close()
            assert summary.outcomes["answered"] == len(requests) == len(journal), summary

    return way


async def sdk(base: str, requests: list[str], in_flight: int) -> None:
    """The openai SDK as it comes."""
    import openai

    rendered = prompt_of_library().render
    async with openai.AsyncOpenAI(base_url=base, api_key="none") as client:

        async def ask(request: str) -> None:
            answer = await client.chat.completions.create(**body_of(rendered(request)))
            assert answer.choices[0].message.content

        await all_of(requests, in_flight, ask)


async def litellm(base: str, requests: list[str], in_flight: int) -> None:
    """The client of litellm."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it asks the internet for prices
    import litellm as library

    rendered = prompt_of_library().render

    async def ask(request: str) -> None:
        body = {**body_of(rendered(request)), "model": "openai/m"}
        answer = await library.acompletion(**body, api_base=base, api_key="none")
        assert answer.choices[0].message.content

    await all_of(requests, in_flight, ask)


def prompt_of_library() -> PlanPrompt:
    """The prompt of a bundled library."""
    return PlanPrompt(ToolLibrary.load(ROOT / "data_multimedia" / "tool_desc.json"), "resource")


def ways() -> dict[str, Way]:
    """Every way that can be measured here."""
    found: dict[str, Way] = {
        "bare aiohttp session": bare,
        "ours": ours("aiohttp"),
        "ours, adaptive": ours("aiohttp", fixed=False),
        "new session per request": session_each,
    }
    if find_spec("openai"):
        if int(version("openai").partition(".")[0]) >= OPENAI:
            found["ours, --client openai"] = ours("openai")
        else:
            print(f"not measured: ours, --client openai (needs openai {OPENAI}, here is {version('openai')})")
        found["openai SDK"] = sdk
    if find_spec("litellm"):
        found["litellm"] = litellm
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--only", nargs="+", help="these ways only (and the bare session)")
    arguments = parser.parse_args()
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")
    server = context.Process(target=serve, args=(arguments.delay, sender), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{receiver.recv()}/v1"
    requests = [f"Request {n}: turn example.jpg into a video." for n in range(arguments.requests)]
    chosen = {
        name: way
        for name, way in ways().items()
        if not arguments.only or name in arguments.only or way is bare
    }
    try:
        for in_flight in arguments.in_flight:
            measure(base, requests, in_flight, arguments.rounds, chosen)
    finally:
        server.kill()


def measure(base: str, requests: list[str], in_flight: int, rounds: int, chosen: dict[str, Way]) -> None:
    """One table."""
    rates: dict[str, list[float]] = {name: [] for name in chosen}
    cpu: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(rounds):
        for name, way in chosen.items():
            # Slow ways get fewer requests: a rate needs no more.
            some = requests if way is bare or name.startswith("ours") else requests[: len(requests) // 2]
            started, used = time.perf_counter(), sum(os.times()[:2])
            asyncio.run(_run(way, base, some, in_flight))
            rates[name].append(len(some) / (time.perf_counter() - started))
            cpu[name].append((sum(os.times()[:2]) - used) / len(some) * 1000)
    rows = []
    first = next(iter(chosen))
    for name, values in rates.items():
        ratio = statistics.median(a / b for a, b in zip(values, rates[first], strict=True))
        rate, seconds = statistics.median(values), statistics.median(cpu[name])
        rows.append((name, f"{rate:,.0f}", f"{ratio:.1%}", f"{seconds:.2f}"))
        if name == "ours" and in_flight in LEAST and ratio < LEAST[in_flight]:
            print(f"ours reaches {ratio:.0%} of bare, not {LEAST[in_flight]:.0%}", file=sys.stderr)
    heads = (f"{in_flight} in flight", "requests/s", "of bare", "CPU s per 1,000")
    print(f"{Table(heads, rows).markdown()}\n")


async def _run(way: Way, base: str, requests: list[str], in_flight: int) -> None:
    await way(base, requests, in_flight)


if __name__ == "__main__":
    main()
