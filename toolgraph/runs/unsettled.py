"""A run over what its journal does not settle yet: the part that all benchmarks share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from toolgraph.models import ChatModel, ModelError
from toolgraph.runs.runner import RunSummary, run_items

Item = TypeVar("Item")


def run_unsettled(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[str]],
    *,
    settled: Callable[[Item], bool],
    models: Iterable[ChatModel],
    concurrency: int | None,
    done: Callable[[], None] = lambda: None,
    stopped: Callable[[Item, ModelError], None] = lambda item, error: None,
    interrupted: Callable[[int], None] = lambda in_flight: None,
    summary: RunSummary,
) -> int:
    """Do `work` on each item that is not settled, and let go of the models; how many were settled before.

    Args:
        items: the stream; taken only as there is room.
        work: as `run_items` takes it, and so are the others that are not named here.
        settled: whether an item has its end already.
        models: those that are asked; each is closed once.
        concurrency: items in flight at most; None leaves that to the models.
        done: called after each item, settled ones included.
        stopped: told of each item that the budget stops.
        interrupted: told at the first Ctrl-C how many items are waited for.
        summary: an empty one, which is filled.

    Raises:
        ToolgraphError: the run cannot go on.
        KeyboardInterrupt: at Ctrl-C, when what was in flight has ended.
    """
    already = 0

    def missing() -> Iterator[Item]:
        nonlocal already
        for item in items:
            if settled(item):
                already += 1
                done()
            else:
                yield item

    async def run() -> None:
        try:
            await run_items(
                missing(),
                work,
                concurrency=concurrency,
                done=done,
                stopped=stopped,
                interrupted=interrupted,
                summary=summary,
            )
        finally:
            for model in {id(model): model for model in models}.values():
                await model.close()

    asyncio.run(run())
    if summary.interrupted:
        raise KeyboardInterrupt
    return already
