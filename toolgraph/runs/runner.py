"""Bounded concurrency over a stream of items: a few in flight, never all in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from toolgraph.errors import ToolgraphError
from toolgraph.models import ModelError

Item = TypeVar("Item")

_SAME_FAILURES = 10
"""So many items failing in the same words, and none answered: the rest would fail too."""


@dataclass
class RunSummary:
    """How a run ended: items by outcome, and the first few failures in words."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """Items without an answer, through no fault of the model."""
        return sum(self.outcomes[name] for name in ("provider error", "context overflow"))


async def run_items(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[str]],
    *,
    concurrency: int,
    done: Callable[[], None] = lambda: None,
) -> RunSummary:
    """Do `work` on each item, `concurrency` at a time; `work` returns the item's outcome.

    Items are taken from the stream only when there is room. A `ModelError` is the item's outcome, unless
    it would meet every other item too (it says so, or nothing but it has happened so far): then the run
    stops with one line.

    Raises:
        ToolgraphError: the run cannot go on (nobody listening, key refused, disk full).
    """
    summary = RunSummary()
    stream = iter(items)
    alike: Counter[str] = Counter()

    async def worker() -> None:
        for item in stream:
            try:
                summary.outcomes[await work(item)] += 1
            except ModelError as error:
                alike[str(error)] += 1
                nothing_else = not summary.outcomes["answered"] and alike[str(error)] >= _SAME_FAILURES
                if error.stops_run or nothing_else:
                    raise ToolgraphError(
                        str(error), fix="check --llm, --api_addr/--api_port or --api_base, and OPENAI_API_KEY"
                    ) from error
                summary.outcomes[error.outcome] += 1
                if len(summary.failures) < 5:
                    summary.failures.append(str(error))
            done()
            # A model that never waits (the offline one) would keep Ctrl-C waiting until the last item.
            await asyncio.sleep(0)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, concurrency)):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return summary
