"""Serves the offline models over HTTP on this machine, optionally with injected faults."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from toolassay.benchmarks.registry import has_plans
from toolassay.benchmarks.work_folder import graph_of
from toolassay.data_folder import DataFolder
from toolassay.runs.event_loop import run_coroutine
from toolassay.screen import DEFAULT, Screen
from toolassay.serving.faults import FaultPlan


def serve(
    *,
    port: int = 4000,
    data_dirs: Sequence[str | Path] = (),
    faults: Sequence[str] = (),
    seed: int = 0,
    delay: float = 0.0,
    capacity: int | None = None,
    retry_after: float = 1.0,
    screen: Screen = DEFAULT,
) -> None:
    """Answer chat completions on 127.0.0.1 until interrupted.

    Args:
        port: Port; 0 selects a free one.
        data_dirs: Data folders of the requests; tool types and links that a prompt omits are read from them.
        faults: Rules in the syntax of `toolassay.serving.faults.FaultPlan`.
        seed: Random seed of the faults.
        delay: Seconds before every answer.
        capacity: Maximum concurrent requests; further ones get status 429. None for no limit.
        retry_after: Seconds in the Retry-After header of the faults "429" and "500".
        screen: Receives the base URL once the server listens.

    Raises:
        UsageError: A fault is unknown, a folder has no tools, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """
    plan = FaultPlan(faults, seed)
    folders = [DataFolder(Path(name)).require() for name in data_dirs]
    # Prompts of benchmarks without plans contain everything that the answers depend on.
    planned = [folder for folder in folders if has_plans(folder)]
    known = [graph_of(folder, None, say=screen.say) for folder in planned]

    async def run() -> None:
        from toolassay.serving.chat_server import ChatServer
        from toolassay.serving.offline_answers import OfflineAnswers

        server = ChatServer(OfflineAnswers(known), plan)
        server.delay, server.capacity = delay, capacity
        server.retry_after, server.pause = retry_after, 0.1
        await server.open(port, listen=not plan.never_listens)
        folder = data_dirs[0] if data_dirs else "data_multimedia"
        screen.show(
            f"{server.base} answers; try: python -m toolassay infer --llm offline-served"
            f" --api_base {server.base} --data_dir {folder}"
        )
        try:
            await asyncio.Event().wait()
        finally:
            await server.close()
            screen.say(f"stopped after {server.count} requests, {server.faulty} of them with a fault")

    run_coroutine(run())
