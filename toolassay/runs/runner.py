"""The run loop: works on each item that its journal has not settled, a bounded number at a time."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from toolassay.errors import ToolassayError
from toolassay.models import ChatModel, ModelError
from toolassay.models.concurrency_limiter import QUEUE_TURN, Halt, QueueTurn
from toolassay.runs.event_loop import first_interrupt, run_coroutine
from toolassay.runs.retry_malformed import Again
from toolassay.screen import GRACE

Item = TypeVar("Item")

_SAME_FAILURES = 10
"""So many items failing in the same words, and none answered: the rest would fail too."""
_WORDINGS = 100  # of failures are told apart
_NUMBERS = re.compile(r"[0-9a-f-]*\d[0-9a-f-]*")  # counts and ids, which differ where the words do not
AT_A_LIMIT = "ended at a limit"
"""The outcome of an agent's task that its limit of steps or time ended."""
_ANSWERS = ("answered", "malformed", "refused", AT_A_LIMIT)

POOL = 512
"""Most items in progress where no number is given: how many requests are sent is up to the model's limit."""
BEGINNING = 16
"""Of these, the items that have begun and sent no request yet: the others are begun when there is room."""


class StoppedRun(ToolassayError):
    """A failure that every item would meet: the model cannot be asked as things are.

    Its `__cause__` is the `ModelError`.
    """


@dataclass
class RunSummary:
    """How a run ended: items by outcome, and the first few failures in words.

    Attributes:
        outcomes: answered, malformed, refused, ended at a limit, context overflow, provider error,
            budget stop, not run.
        failed: items without an answer, through no fault of the model: those whose work raised a failure.
        failures: the first few failures.
        stop: what the budget said when it ended the run; None if it did not.
        interrupted: whether Ctrl-C ended the run.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    stop: str | None = None
    interrupted: bool = False

    @property
    def unasked(self) -> int:
        """Items that the end of the budget left without an answer."""
        return self.outcomes["budget stop"] + self.outcomes["not run"]

    @property
    def complete(self) -> bool:
        """Whether every item has what the model had to say."""
        return not (self.failed or self.unasked or self.interrupted)


async def run_items(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[str]],
    *,
    concurrency: int | None,
    done: Callable[[], None] = lambda: None,
    stopped: Callable[[Item, ModelError], None] = lambda item, error: None,
    interrupted: Callable[[int], None] = lambda in_flight: None,
    summary: RunSummary | None = None,
    grace: float = GRACE,
) -> RunSummary:
    """Do `work` on each item, `concurrency` at a time; `work` returns the item's outcome.

    Items are taken from the stream only when there is room. A `ModelError` is the item's outcome, unless
    it would meet every other item too (it says so, or nothing but it has happened so far): then the run
    stops with one line. An item that the budget stops while others are in flight, whose worst case is
    reserved, waits for one of them and is tried again; if there is nothing to wait for, no more items are
    taken and those left in the stream are counted as "not run".

    Args:
        items: the stream.
        work: may be called again for an item that was stopped by the budget.
        concurrency: items in progress; None for as many as the model's own limit lets send (see
            `toolassay.models.concurrency_limiter`), 512 at most. An item that waits for its first request
            keeps no more than 15 others from waiting too; requests of items that began earlier go first.
        done: called after each item that was asked; not for one that the end of the run left out.
        stopped: told of each item that ends as "budget stop".
        interrupted: called at the first Ctrl-C with the number of items in flight. Items that wait for their
            turn or their next try end at once as "not run".
        summary: an empty one to fill, for somebody who watches.
        grace: seconds that items in flight have to finish after the first Ctrl-C. Then their work is
            cancelled, so that it can keep what it has, and they end as "not run".

    Raises:
        asyncio.CancelledError: at the second Ctrl-C, which `run_coroutine` makes a KeyboardInterrupt.
        ToolassayError: the run cannot go on (nobody listening, key refused, disk full).
    """
    workers = POOL if concurrency is None else max(1, concurrency)
    beginning = asyncio.Semaphore(BEGINNING if concurrency is None else workers)
    run = _Run(items, work, done, stopped, RunSummary() if summary is None else summary, beginning, grace)
    try:
        with run.halt.rules(), first_interrupt(lambda: interrupted(run.interrupt())):
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(run.worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if run.summary.stop is not None:
        left = sum(1 for _ in run.stream)
        if left:
            run.summary.outcomes["not run"] += left
    return run.summary


class _Run(Generic[Item]):
    def __init__(
        self,
        items: Iterable[Item],
        work: Callable[[Item], Awaitable[str]],
        done: Callable[[], None],
        stopped: Callable[[Item, ModelError], None],
        summary: RunSummary,
        beginning: asyncio.Semaphore,
        grace: float,
    ) -> None:
        self.stream = iter(items)
        self.halt = Halt()
        self._beginning = beginning
        self._begun = itertools.count()
        self.summary = summary
        self._grace = grace
        self._gave_up = False
        self._working: set[asyncio.Task[None]] = set()
        self._work, self._done, self._stopped = work, done, stopped
        self._alike: Counter[str] = Counter()
        self._waiting: deque[asyncio.Event] = deque()

    def interrupt(self) -> int:
        """Take and send no more, and cancel what the grace period leaves in flight; returns how many are."""
        self.summary.interrupted = True
        self._wake_all()
        asyncio.get_running_loop().call_later(self._grace, self._give_up)
        return len(self._working) - self.halt.call()

    def _give_up(self) -> None:
        self._gave_up = True
        for task in self._working:
            task.cancel()

    @property
    def _over(self) -> bool:
        return self.summary.interrupted or self.summary.stop is not None

    async def worker(self) -> None:
        while True:
            await self._beginning.acquire()
            turn = QueueTurn(next(self._begun), self._beginning.release)
            QUEUE_TURN.set(turn)
            try:
                item = _END if self._over else next(self.stream, _END)
                if item is _END:
                    return
                if await self._finish(item):  # type: ignore[arg-type]
                    self._done()
            finally:
                turn.is_sent()
            # A model that never waits (the offline one) would keep Ctrl-C waiting until the last item.
            await asyncio.sleep(0)

    async def _finish(self, item: Item) -> bool:
        """Bring an item to its one outcome; whether it was asked."""
        refusal = _NO_BUDGET
        task = asyncio.current_task()
        assert task is not None
        while True:
            self._working.add(task)
            try:
                outcome: str | None = await self._work(item)
            except asyncio.CancelledError:
                if not self._gave_up:
                    raise
                outcome = "not run"
            except ModelError as error:
                if error.outcome != "budget stop":
                    outcome = self._failed(error)
                else:
                    outcome, refusal = None, error
            finally:
                self._working.discard(task)
            if outcome is not None:
                self.summary.outcomes[outcome] += 1
                self._wake_one()
                return outcome != "not run"
            if not await self._room():
                self._end(item, refusal)
                return False

    async def _room(self) -> bool:
        """Wait until something in flight has ended; False where the budget allows nothing more."""
        if not self._working or self._over:
            return False
        event = asyncio.Event()
        self._waiting.append(event)
        await event.wait()
        return not self._over

    def _wake_one(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()

    def _wake_all(self) -> None:
        while self._waiting:
            self._wake_one()

    def _end(self, item: Item, error: ModelError) -> None:
        if self.summary.interrupted:
            self.summary.outcomes["not run"] += 1
            return
        self.summary.outcomes["budget stop"] += 1
        self.summary.stop = self.summary.stop or str(error)
        self._stopped(item, error)
        self._wake_all()

    def _failed(self, error: ModelError) -> str:
        if error.outcome == "not run":
            return error.outcome
        if error.stops_run or self._nothing_else(error):
            raise StoppedRun(
                str(error), fix="check --llm, --api_addr/--api_port or --api_base, and OPENAI_API_KEY"
            ) from error
        self.summary.failed += 1
        if len(self.summary.failures) < 5:
            self.summary.failures.append(str(error))
        return error.outcome

    def _nothing_else(self, error: ModelError) -> bool:
        """Whether this has happened to many items and nothing else to any; a long request tells of itself."""
        if error.outcome == "context overflow" or any(self.summary.outcomes[name] for name in _ANSWERS):
            return False
        words = f"{error.kind} {_NUMBERS.sub('#', str(error))}"
        if words in self._alike or len(self._alike) < _WORDINGS:
            self._alike[words] += 1
        return self._alike[words] >= _SAME_FAILURES


_END = object()
_NO_BUDGET = ModelError("the budget is spent", outcome="budget stop")


UnsettledItem = TypeVar("UnsettledItem")


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
    items: Iterable[UnsettledItem],
    work: Callable[[UnsettledItem], Awaitable[str]],
    *,
    settled: Callable[[UnsettledItem], bool],
    models: Iterable[ChatModel],
    loop: Loop,
    stopped: Callable[[UnsettledItem, ModelError], None] = lambda item, error: None,
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

    def missing() -> Iterator[UnsettledItem]:
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
