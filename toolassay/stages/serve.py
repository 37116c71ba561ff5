"""The offline models as a server on this machine, with faults if asked."""

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
    pause: float = 0.1,
    outage: float = 1.0,
    screen: Screen = DEFAULT,
) -> None:
    """Answer chat completions on 127.0.0.1 until interrupted.

    Args:
        port: 0 takes a free one.
        data_dirs: folders that will be asked about: what a prompt does not show is read there.
        faults: rules, as `toolassay.serving.faults.FaultPlan` reads them.
        seed: of the faults.
        delay: seconds every answer takes.
        capacity: so many requests at once are served, the rest is told 429.
        retry_after: seconds that the faults "429" and "500" ask to wait.
        pause: seconds between the pieces of the fault "drip".
        outage: seconds that the fault "refused" lasts.
        screen: shown the base URL when there is one.

    Raises:
        UsageError: an unknown fault, a folder without tools, a port that is taken.
        KeyboardInterrupt: at Ctrl-C.
    """
    plan = FaultPlan(faults, seed)
    folders = [DataFolder(Path(name)).require() for name in data_dirs]
    # The prompts of the other benchmarks show all that the answers depend on.
    planned = [folder for folder in folders if has_plans(folder)]
    known = [graph_of(folder, None, say=screen.say) for folder in planned]

    async def run() -> None:
        from toolassay.serving.chat_server import ChatServer
        from toolassay.serving.offline_answers import OfflineAnswers

        server = ChatServer(OfflineAnswers(known), plan)
        server.delay, server.capacity = delay, capacity
        server.retry_after, server.pause, server.outage = retry_after, pause, outage
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
