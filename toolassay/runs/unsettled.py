"""A run over what its journal does not settle yet: the part that all benchmarks share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from toolassay.models import ChatModel, ModelError
from toolassay.runs.again import Again
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.runner import RunSummary, run_items

Item = TypeVar("Item")


@dataclass(frozen=True)
class Loop:
    """How a run goes over its items, and who is told: handed down as it is, from the stage to the runner.

    Attributes:
        concurrency: items in flight at most; None leaves that to the models.
        done: called after each item, settled ones included.
        interrupted: told at the first Ctrl-C how many items are waited for.
        summary: an empty one, which is filled.
        again: which items with an answer are asked all the same.
    """

    concurrency: int | None = None
    done: Callable[[], None] = lambda: None
    interrupted: Callable[[int], None] = lambda in_flight: None
    summary: RunSummary = field(default_factory=RunSummary)
    again: Again = field(default_factory=Again)


def run_unsettled(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[str]],
    *,
    settled: Callable[[Item], bool],
    models: Iterable[ChatModel],
    loop: Loop,
    stopped: Callable[[Item, ModelError], None] = lambda item, error: None,
) -> int:
    """Do `work` on each item that is not settled, and let go of the models; how many were settled before.

    Args:
        items: the stream; taken only as there is room.
        work: as `run_items` takes it.
        settled: whether an item is passed over: it has its end already, or `loop.again` leaves it out.
        models: those that are asked; each is closed once.
        loop: how many items are in flight, and who is told.
        stopped: told of each item that the budget stops.

    Raises:
        ToolassayError: the run cannot go on.
        KeyboardInterrupt: at Ctrl-C, when what was in flight has ended.
    """
    already = 0

    def missing() -> Iterator[Item]:
        nonlocal already
        for item in items:
            if settled(item):
                already += 1
                loop.done()
            else:
                yield item

    async def run() -> None:
        try:
            await run_items(
                missing(),
                work,
                concurrency=loop.concurrency,
                done=loop.done,
                stopped=stopped,
                interrupted=loop.interrupted,
                summary=loop.summary,
            )
        finally:
            for model in {id(model): model for model in models}.values():
                await model.close()

    run_coroutine(run())
    if loop.summary.interrupted:
        raise KeyboardInterrupt
    return already - loop.again.left
