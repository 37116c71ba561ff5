"""Time and memory of many agents of WorkBench at once, without a server and with one.

    python -m measurements.workbench_agents [--tasks 2070] [--in-flight 100 1000] [--delay 0.5] [--profile]

The tasks are those of data_workbench, again and again with other words at the end. "offline" is the agent
that needs no server; "served" asks a server in a process of its own, which takes `--delay` seconds an answer:
two searches, then a mail, then the end. Every row is a process of its own; "peak" is the most memory it had,
as the operating system counts, "before" that ahead of the run.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import multiprocessing
import pstats
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data_workbench"


def serve(delay: float, port: Connection) -> None:
    """Answer for ever."""
    import asyncio

    from toolassay.models import ToolCall
    from toolassay.serving.chat_server import ChatServer
    from toolassay.serving.completions import Received, Reply

    mail = {"recipient": "a@b.example", "subject": "Report", "body": "Here is what you asked for."}
    steps = [
        [
            ToolCall("", "calendar__search_events", json.dumps({"query": "review"})),
            ToolCall("", "email__search_emails", json.dumps({"query": "budget"})),
        ],
        [ToolCall("", "email__send_email", json.dumps(mail))],
    ]

    async def answer(received: Received) -> Reply:
        said = sum(message["role"] == "assistant" for message in received.body["messages"])
        return Reply(tool_calls=steps[said]) if said < len(steps) else Reply("Done.")

    async def run() -> None:
        server = ChatServer(answer)
        server.delay = delay
        await server.open()
        port.send(server.port)
        await asyncio.Event().wait()

    asyncio.run(run())


def folder_of(path: Path, count: int) -> None:
    """A data folder with so many tasks."""
    for name in ("benchmark.json", "sandbox.sqlite"):
        shutil.copy(DATA / name, path / name)
    known = [json.loads(line) for line in (DATA / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    with (path / "tasks.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(count):
            task, turn = known[number % len(known)], number // len(known)
            more = {"id": f"{task['id']}-{turn}", "query": task["query"] + " Please." * turn}
            stream.write(json.dumps({**task, **more}) + "\n")


def peak() -> float:
    """The most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(path: Path, base: str, in_flight: int, *, profile: bool) -> dict[str, Any]:
    """One run in this process."""
    from toolassay import infer
    from toolassay.models import ModelOptions

    before, profiler = peak(), cProfile.Profile()
    began, cpu = time.perf_counter(), time.process_time()
    options = ModelOptions(api_base=base, connections=in_flight) if base else None
    if profile:
        profiler.enable()
    result = infer(path, llm="served" if base else "offline", options=options, multiworker=in_flight)
    profiler.disable()
    seconds, used = time.perf_counter() - began, time.process_time() - cpu
    assert result.summary.outcomes["answered"] == result.written, result.summary
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(35)
    return {"tasks": result.written, "seconds": seconds, "cpu": used, "before": before, "peak": peak()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tasks", type=int, default=2070)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--profile", action="store_true", help="also show where the time goes")
    parser.add_argument("--measure", nargs=3, metavar=("FOLDER", "BASE", "IN_FLIGHT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        path, base, in_flight = arguments.measure
        print(json.dumps(measure(Path(path), base, int(in_flight), profile=arguments.profile)))
        return
    receiver, sender = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(arguments.delay, sender), daemon=True
    )
    server.start()
    base = f"http://127.0.0.1:{receiver.recv()}/v1"
    print("| model | tasks | in flight | seconds | tasks/s | CPU seconds | before | peak |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    try:
        for name, address in (("offline", ""), (f"served, {arguments.delay:g} s", base)):
            for in_flight in arguments.in_flight:
                with tempfile.TemporaryDirectory() as folder:
                    folder_of(Path(folder), arguments.tasks)
                    command = [
                        sys.executable,
                        "-m",
                        "measurements.workbench_agents",
                        "--measure",
                        folder,
                        address,
                        str(in_flight),
                    ]
                    command += ["--profile"] if arguments.profile else []
                    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
                found = json.loads(done.stdout)
                rate = found["tasks"] / found["seconds"]
                print(
                    f"| {name} | {found['tasks']:,} | {in_flight:,} | {found['seconds']:.1f} | {rate:.0f} "
                    f"| {found['cpu']:.1f} | {found['before']:.0f} MB | {found['peak']:.0f} MB |"
                )
    finally:
        server.kill()


if __name__ == "__main__":
    main()
