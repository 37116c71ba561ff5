"""The run loop: runs each item that the journal has not settled, with bounded concurrency."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from toolassay.console.screen import GRACE, WARNING, Screen
from toolassay.errors import ToolassayError
from toolassay.models import ModelError
from toolassay.models.concurrency import QUEUE_TURN, Halt, QueueTurn
from toolassay.runs.event_loop import first_interrupt
from toolassay.runs.manifest import RetryPlan

Item = TypeVar("Item")

_SAME_FAILURES = 10
"""Number of items with the same failure, and none answered, after which the run stops: the rest would fail
too."""
_SAME_FAILURES_BESIDE_ANSWERS = 100
"""The same where earlier starts have answers: some items may be such that the server refuses them alike."""
_WORDINGS = 100  # distinct failures that are counted; bounds memory
# Counts and ids, which differ between messages of one failure: matches "17" and "3f-a9" in "request 3f-a9",
# not "timeout".
_NUMBERS = re.compile(r"[0-9a-f-]*\d[0-9a-f-]*")
AT_A_LIMIT = "ended at a limit"
"""Outcome of an agent's task that reached its limit of steps or time."""
_ANSWERS = ("answered", "malformed", "refused", AT_A_LIMIT)

POOL = 512
"""Maximum items in progress without a fixed number; the model's concurrency limit decides how many requests
are sent."""
BEGINNING = 16
"""Maximum items in progress that have not sent a request yet; further ones start when these have."""


class StoppedRun(ToolassayError):
    """A failure that affects every item, such as a wrong key; `__cause__` is the `ModelError`."""


@dataclass
class RunSummary:
    """The result of a run.

    Attributes:
        outcomes: Items by outcome: answered, malformed, refused, ended at a limit, context overflow, provider
            error, in doubt, budget stop, not run.
        failed: Items whose work raised a `ModelError`.
        failures: Messages of the first five of these.
        stop: Message of the budget if it ended the run, else None.
        interrupted: Whether Ctrl-C ended the run.
        changed: Recorded answers that were not used, because the request is another one now.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    stop: str | None = None
    interrupted: bool = False
    changed: int = 0

    def add(self, other: RunSummary) -> None:
        """Count the items of another part of the run too."""
        self.outcomes.update(other.outcomes)
        self.failed += other.failed
        self.failures += other.failures[: 5 - len(self.failures)]

    @property
    def unasked(self) -> int:
        """Items without an answer because the budget was spent or the run ended."""
        return self.outcomes["budget stop"] + self.outcomes["not run"]

    @property
    def complete(self) -> bool:
        """Whether every item has an answer."""
        return not (self.failed or self.unasked or self.interrupted or self.outcomes["in doubt"])


def report_failures(summary: RunSummary, screen: Screen) -> None:
    """Warn of requests without an answer."""
    if summary.failed:
        failures = "".join(f"\n  {failure}" for failure in summary.failures)
        screen.say(
            f"{WARNING}{summary.failed} requests have no answer: the same command asks them again{failures}"
        )


def report_stop(summary: RunSummary, screen: Screen, *, again: str = "") -> None:
    """Say that the budget ended the run, and how to go on."""
    if summary.stop is not None:
        flag = summary.stop.partition(" ")[0]
        screen.say(
            f"{WARNING}stopped: {summary.stop}; {summary.unasked} left. "
            f"The same command{again} with a higher {flag} goes on where this one stopped"
        )


@dataclass(frozen=True)
class Loop:
    """Options of the run loop.

    Attributes:
        concurrency: Maximum items in progress. None: up to 512, as far as the model's concurrency limit
            allows (`toolassay.models.concurrency`), with at most 16 that have not sent a request yet.
            Requests of items that started earlier are sent first.
        done: Called after each item, settled ones included.
        interrupted: Called at the first Ctrl-C with the number of items in flight. Items that wait before a
            request or retry end at once as "not run".
        summary: An empty summary to fill, to show progress from.
        retry: Answered items to run again.
        in_progress: Called with each change of the number of items that are in progress, or about to be.
        spread: Runs the items on an engine instead of in this process, and counts them in `summary`.
        grace: Seconds that items in flight have to finish after the first Ctrl-C. Then their work is
            cancelled, so that it can save its state, and they end as "not run".
    """

    concurrency: int | None = None
    done: Callable[[], None] = lambda: None
    interrupted: Callable[[int], None] = lambda in_flight: None
    summary: RunSummary = field(default_factory=RunSummary)
    retry: RetryPlan = field(default_factory=RetryPlan)
    in_progress: Callable[[int], None] = lambda change: None
    spread: Callable[[Iterator[Any], Loop], None] | None = None
    grace: float = GRACE


async def run_items(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[str]],
    loop: Loop,
    *,
    stopped: Callable[[Item, ModelError], None] = lambda item, error: None,
    has_answers: Callable[[], bool] = lambda: False,
) -> RunSummary:
    """Call `work` on each item with bounded concurrency; it returns the outcome of the item.

    Items are taken from the iterable only when one can start. A `ModelError` is the item's outcome, unless
    it affects every item (it says so, or the first ten items failed alike): then the run stops.

    An item that the budget stops while others are in flight waits until one of them ends, because that frees
    the difference between its worst case and its actual use, and is tried again. With nothing in flight the
    run ends, and the remaining items count as "not run".

    Args:
        items: The items.
        work: Called for each item; called again for an item that the budget stopped.
        loop: Concurrency and callbacks.
        stopped: Called with each item whose outcome is "budget stop", and the error.
        has_answers: Returns whether earlier starts have answers. Then a 403 is about one item, and a hundred
            items may fail alike before the run stops.

    Returns:
        The summary of `loop`.

    Raises:
        asyncio.CancelledError: At the second Ctrl-C; `run_coroutine` raises KeyboardInterrupt for it.
        ToolassayError: The run cannot continue (no server, key rejected, disk full).
    """
    workers = POOL if loop.concurrency is None else max(1, loop.concurrency)
    beginning = asyncio.Semaphore(BEGINNING if loop.concurrency is None else workers)
    run = _Run(iter(items), work, loop, stopped, has_answers, beginning)
    loop.in_progress(workers)
    try:
        with run.halt.rules(), first_interrupt(lambda: loop.interrupted(run.interrupt())):
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(run.worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if run.summary.stop is not None:
        unasked = sum(1 for _ in run.stream)
        if unasked:
            run.summary.outcomes["not run"] += unasked
    return run.summary


@dataclass
class _Run(Generic[Item]):
    stream: Iterator[Item]
    work: Callable[[Item], Awaitable[str]]
    loop: Loop
    stopped: Callable[[Item, ModelError], None]
    has_answers: Callable[[], bool]
    beginning: asyncio.Semaphore
    halt: Halt = field(default_factory=Halt)
    gave_up: bool = False
    begun: Iterator[int] = field(default_factory=itertools.count)
    working: set[asyncio.Task[None]] = field(default_factory=set)
    alike: Counter[str] = field(default_factory=Counter)
    waiting: deque[asyncio.Event] = field(default_factory=deque)

    @property
    def summary(self) -> RunSummary:
        return self.loop.summary

    def interrupt(self) -> int:
        """Start and send nothing more, and cancel after the grace period; returns the number in flight."""
        self.summary.interrupted = True
        self._wake_all()
        asyncio.get_running_loop().call_later(self.loop.grace, self._give_up)
        return len(self.working) - self.halt.call()

    def _give_up(self) -> None:
        self.gave_up = True
        for task in self.working:
            task.cancel()

    @property
    def _over(self) -> bool:
        return self.summary.interrupted or self.summary.stop is not None

    async def worker(self) -> None:
        try:
            while True:
                await self.beginning.acquire()
                turn = QueueTurn(next(self.begun), self.beginning.release)
                QUEUE_TURN.set(turn)
                try:
                    # Yield to the event loop while others may not begin: a model that never waits (the
                    # offline one) would delay Ctrl-C until every worker has had an item.
                    await asyncio.sleep(0)
                    item = _END if self._over else next(self.stream, _END)
                    if item is _END:
                        return
                    if await self._finish(item):  # type: ignore[arg-type]
                        self.loop.done()
                finally:
                    turn.is_sent()
        finally:
            self.loop.in_progress(-1)

    async def _finish(self, item: Item) -> bool:
        """Work on an item until it has an outcome; whether it was run."""
        refusal = _NO_BUDGET
        task = asyncio.current_task()
        assert task is not None
        while True:
            self.working.add(task)
            try:
                outcome: str | None = await self.work(item)
            except asyncio.CancelledError:
                if not self.gave_up:
                    raise
                outcome = "not run"
            except ModelError as error:
                if error.outcome != "budget stop":
                    outcome = self._failed(error)
                else:
                    outcome = None
                    refusal = error
            finally:
                self.working.discard(task)
            if outcome is not None:
                self.summary.outcomes[outcome] += 1
                self._wake_one()
                return outcome != "not run"
            if not await self._room():
                self._end(item, refusal)
                return False

    async def _room(self) -> bool:
        """Wait until an item in flight has ended; False if there is none or the run is over."""
        if not self.working or self._over:
            return False
        event = asyncio.Event()
        self.waiting.append(event)
        self.loop.in_progress(-1)
        await event.wait()
        self.loop.in_progress(1)
        return not self._over

    def _wake_one(self) -> None:
        if self.waiting:
            self.waiting.popleft().set()

    def _wake_all(self) -> None:
        while self.waiting:
            self._wake_one()

    def _end(self, item: Item, error: ModelError) -> None:
        if self.summary.interrupted:
            self.summary.outcomes["not run"] += 1
            return
        self.summary.outcomes["budget stop"] += 1
        self.summary.stop = self.summary.stop or str(error)
        self.stopped(item, error)
        self._wake_all()

    def _failed(self, error: ModelError) -> str:
        if error.outcome == "not run":
            return error.outcome
        ends_all = error.stops_run and not (error.status == 403 and self.has_answers())
        if ends_all or self._nothing_else(error):
            usual = (
                "check --llm, --api_addr/--api_port or --api_base, and OPENAI_API_KEY or ANTHROPIC_API_KEY"
            )
            raise StoppedRun(str(error), fix=error.fix or usual) from error
        self.summary.failed += 1
        if len(self.summary.failures) < 5:
            self.summary.failures.append(str(error))
        return error.outcome

    def _nothing_else(self, error: ModelError) -> bool:
        """Whether ten items failed like this and none has an answer.

        A context overflow never counts: it is about a single long request.
        """
        if error.outcome == "context overflow" or any(self.summary.outcomes[name] for name in _ANSWERS):
            return False
        words = f"{error.kind} {_NUMBERS.sub('#', str(error))}"
        if words in self.alike or len(self.alike) < _WORDINGS:
            self.alike[words] += 1
        return self.alike[words] >= (_SAME_FAILURES_BESIDE_ANSWERS if self.has_answers() else _SAME_FAILURES)


_END = object()
_NO_BUDGET = ModelError("the budget is spent", outcome="budget stop")
