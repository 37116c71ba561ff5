from __future__ import annotations

import asyncio
import os
import signal
import threading
import tracemalloc
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from toolassay.errors import ToolassayError
from toolassay.models import ModelError
from toolassay.models.concurrency import QUEUE_TURN, Limiter
from toolassay.runs.event_loop import first_interrupt, run_coroutine
from toolassay.runs.runner import POOL, Loop, run_items


def test_outcomes_are_counted_and_failures_reported() -> None:
    async def work(item: int) -> str:
        if item % 3 == 0:
            raise ModelError(f"item {item}", outcome="context overflow" if item else "provider error")
        return "answered" if item % 2 else "malformed"

    told = []
    summary = asyncio.run(run_items(range(30), work, Loop(concurrency=4, done=lambda: told.append(1))))
    assert summary.outcomes == {"provider error": 1, "context overflow": 9, "answered": 10, "malformed": 10}
    assert summary.failed == 10
    assert len(summary.failures) == 5
    assert len(told) == 30


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_items_are_taken_when_there_is_room(concurrency: int) -> None:
    taken = running = most = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(40):
            taken += 1
            assert taken - finished <= concurrency
            yield number

    finished = 0

    async def work(item: int) -> str:
        nonlocal running, most, finished
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        finished += 1
        return "answered"

    summary = asyncio.run(run_items(items(), work, Loop(concurrency=concurrency)))
    assert summary.outcomes["answered"] == 40
    assert most <= concurrency


def test_an_error_in_the_stream_reaches_the_caller() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ToolassayError("the stream broke")

    async def work(item: int) -> str:
        return "answered"

    with pytest.raises(ToolassayError, match="the stream broke"):
        asyncio.run(run_items(items(), work, Loop(concurrency=3)))


async def test_the_same_failure_again_and_again_stops_a_run_that_has_no_answer() -> None:
    asked = 0

    async def refuse(item: int) -> str:
        nonlocal asked
        asked += 1
        raise ModelError("HTTP 400: no such model")

    with pytest.raises(ToolassayError, match="no such model"):
        await run_items(range(1_000), refuse, Loop(concurrency=1))
    assert asked == 10


async def test_any_answer_shows_that_the_model_is_there() -> None:
    async def work(item: int) -> str:
        if item:
            raise ModelError("HTTP 400: too long")
        return "malformed"

    summary = await run_items(range(100), work, Loop(concurrency=1))
    assert summary.outcomes == {"malformed": 1, "provider error": 99}


async def test_failures_of_a_million_items_are_not_kept() -> None:
    async def work(item: int) -> str:
        raise ModelError(f"{'x' * 1000} {chr(0x4E00 + item)}{chr(0x4E00 + item // 2)}")

    tracemalloc.start()
    await run_items(range(4_000), work, Loop(concurrency=4))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000


class Wallet:
    """Allows so many works, and so many at once."""

    def __init__(self, total: int, at_once: int) -> None:
        self.total, self.at_once = total, at_once
        self.spent = self.running = self.tries = 0

    async def work(self, item: int) -> str:
        self.tries += 1
        if self.spent + self.running >= self.total or self.running >= self.at_once:
            raise ModelError("--max_requests 1 is spent", outcome="budget stop")
        self.running += 1
        await asyncio.sleep(0)
        self.running -= 1
        self.spent += 1
        return "answered"


@pytest.mark.parametrize("concurrency", [4, None])
@pytest.mark.parametrize("at_once", [1, 3])
def test_a_budget_is_used_up_and_the_rest_is_not_run(concurrency: int | None, at_once: int) -> None:
    wallet, stopped = Wallet(40, at_once), []
    summary = asyncio.run(
        run_items(range(1000), wallet.work, Loop(concurrency), stopped=lambda item, _: stopped.append(item))
    )
    assert summary.outcomes["answered"] == 40
    assert summary.stop == "--max_requests 1 is spent"
    assert summary.outcomes["budget stop"] == len(stopped) == len(set(stopped)) > 0
    assert summary.outcomes.total() == 1000
    assert summary.unasked == 960 and not summary.complete
    assert wallet.tries < 2500


class Agent:
    """Asks a model so many times for each item; the model answers after a turn of the loop."""

    def __init__(self, steps: int, budget: int) -> None:
        self.begun = self.answered = self.most_begun = self.ended = 0
        self._steps, self._budget, self._limiter = steps, budget, Limiter(4)

    async def work(self, item: int) -> str:
        self.begun += 1
        for _ in range(self._steps):
            permit = await self._limiter.acquire()
            if self.answered + self._limiter.in_flight > self._budget:
                self._limiter.release(permit, unknown=True)
                raise ModelError("--max_requests is spent", outcome="budget stop")
            await asyncio.sleep(0)
            self.answered += 1
            self._limiter.release(permit)
        self.ended += 1
        self.most_begun = max(self.most_begun, self.begun - self.ended)
        return "answered"


def test_items_that_were_begun_are_finished_before_others_are_begun() -> None:
    agent = Agent(steps=5, budget=60)
    summary = asyncio.run(run_items(range(1000), agent.work, Loop()))
    assert agent.answered == 60
    assert summary.outcomes["answered"] >= 60 // 5 - 4  # four are in flight when the budget is spent
    assert agent.most_begun < 50
    assert summary.outcomes.total() == 1000


def test_a_pool_without_a_number_works_on_many_items_that_ask_at_once() -> None:
    running = most = 0
    limiter = Limiter(100)

    async def work(item: int) -> str:
        nonlocal running, most
        permit = await limiter.acquire()
        running += 1
        most = max(most, running)
        for _ in range(200):
            await asyncio.sleep(0)
        running -= 1
        limiter.release(permit)
        return "answered"

    summary = asyncio.run(run_items(range(300), work, Loop()))
    assert summary.outcomes == {"answered": 300}
    assert most == 100


async def test_what_the_grace_period_leaves_in_flight_is_cancelled_and_keeps_what_it_has() -> None:
    kept: list[int] = []
    told: list[int] = []

    async def work(item: int) -> str:
        if item < 2:
            return "answered"
        if item == 3:
            signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            kept.append(item)
            raise
        raise AssertionError

    summary = await run_items(range(100), work, Loop(concurrency=2, interrupted=told.append, grace=0))
    assert sorted(kept) == [2, 3] and told == [2]
    assert summary.interrupted and summary.outcomes == {"answered": 2, "not run": 2}


async def test_what_ends_within_the_grace_period_counts() -> None:
    async def work(item: int) -> str:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "answered"

    summary = await run_items(range(100), work, Loop(concurrency=1, grace=60))
    assert summary.interrupted and summary.outcomes == {"answered": 1}


class Counted:
    """Notes what a run tells of its items."""

    def __init__(self) -> None:
        self.busy = 0

    def count(self, change: int) -> None:
        self.busy += change


def test_what_gathers_requests_knows_who_may_still_ask() -> None:
    gathering, seen, waits = Counted(), [], iter([True])

    async def work(item: int) -> str:
        if item == 2 and next(waits, False):
            raise ModelError("too dear", outcome="budget stop")
        await asyncio.sleep(0.01)
        seen.append((item, gathering.busy))
        if item == 1:
            raise ModelError("gone")
        return "answered"

    run = run_items(range(3), work, Loop(concurrency=5, in_progress=gathering.count))
    assert asyncio.run(run).outcomes == {"answered": 2, "provider error": 1}
    # Two of five workers have no item, and the item without budget asks nothing until another one has ended.
    assert seen == [(0, 2), (1, 2), (2, 1)]
    assert gathering.busy == 0


@pytest.mark.parametrize("refused", [range(5, 6), range(5, 30)])
def test_items_that_are_refused_at_every_start_do_not_hold_up_the_others(refused: range) -> None:
    """The first five were answered by an earlier start."""
    kind = ModelError("no", status=403, kind="HTTP 403", stops_run=True)
    error = kind if len(refused) == 1 else ModelError("this item is refused", status=422, kind="HTTP 422")

    async def work(item: int) -> str:
        if item in refused:
            raise error
        return "answered"

    loop = Loop(concurrency=1)
    asyncio.run(run_items(range(5, 40), work, loop, has_answers=lambda: True))
    assert loop.summary.outcomes == {"provider error": len(refused), "answered": 35 - len(refused)}
    fresh = Loop(concurrency=1)
    with pytest.raises(ToolassayError):
        asyncio.run(run_items(refused, work, fresh))


def test_a_hundred_alike_end_a_run_also_beside_earlier_answers() -> None:
    async def work(item: int) -> str:
        raise ModelError("the template is broken", kind="HTTP 400", status=400)

    loop = Loop(concurrency=1)
    with pytest.raises(ToolassayError, match="the template is broken"):
        asyncio.run(run_items(range(1, 1000), work, loop, has_answers=lambda: True))
    assert loop.summary.failed == 99


def test_a_model_that_never_waits_does_not_delay_an_interrupt() -> None:
    asked = []

    async def work(item: int) -> str:
        turn = QUEUE_TURN.get()
        assert turn is not None
        turn.is_sent()  # as the client of a built-in model does
        asked.append(item)
        if item == 5:
            signal.raise_signal(signal.SIGTERM)
        return "answered"

    summary = asyncio.run(run_items(range(3 * POOL), work, Loop()))
    assert summary.interrupted and len(asked) < 50


COLOUR = ContextVar("colour", default="none")


async def colour() -> str:
    await asyncio.sleep(0)
    return COLOUR.get()


def interrupt() -> None:
    """What Ctrl-C does, and a notebook that interrupts its cell."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


def test_without_a_running_loop_the_coroutine_runs_in_this_thread() -> None:
    async def where() -> threading.Thread:
        return threading.current_thread()

    assert run_coroutine(where()) is threading.current_thread()


def test_an_error_of_the_coroutine_has_no_other_one_behind_it() -> None:
    async def fails() -> None:
        raise OSError("refused")

    with pytest.raises(OSError, match="refused") as raised:
        run_coroutine(fails())
    assert raised.value.__context__ is None


async def test_within_a_running_loop_there_is_a_result_and_the_context_of_the_caller() -> None:
    COLOUR.set("green")
    assert run_coroutine(colour()) == "green"


async def test_a_coroutine_may_itself_run_another() -> None:
    async def outer() -> str:
        return run_coroutine(colour())

    assert run_coroutine(outer()) == "none"


async def test_an_interrupt_cancels_what_is_waited_for() -> None:
    ended = []

    async def wait() -> None:
        interrupt()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run_coroutine(wait())
    assert ended == [True]
    assert signal.getsignal(signal.SIGINT) is before


async def test_the_first_interrupt_lets_what_is_in_flight_finish() -> None:
    async def work() -> str:
        told = asyncio.Event()
        with first_interrupt(told.set):
            interrupt()
            await told.wait()
        return "finished"

    assert run_coroutine(work()) == "finished"


async def test_the_second_interrupt_cancels() -> None:
    told = []

    async def work() -> None:
        def first() -> None:
            told.append(True)
            interrupt()

        with first_interrupt(first):
            interrupt()
            await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        run_coroutine(work())
    assert told == [True]


async def test_an_interrupt_that_does_not_wake_the_waiting_thread_is_found() -> None:
    async def wait() -> None:
        signal.raise_signal(signal.SIGINT)  # in this thread: the lock of the main thread goes on waiting
        await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        run_coroutine(wait())


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the platform has no SIGHUP")
def test_a_closed_terminal_interrupts_once_though_it_signals_twice() -> None:
    told = []

    async def work() -> None:
        first, second = asyncio.Event(), asyncio.Event()

        def tell() -> None:
            told.append(True)
            first.set()

        with first_interrupt(tell):
            os.kill(os.getpid(), signal.SIGHUP)
            await first.wait()
            os.kill(os.getpid(), signal.SIGHUP)
            asyncio.get_running_loop().call_soon(second.set)
            await second.wait()

    before = signal.getsignal(signal.SIGHUP)
    run_coroutine(work())
    assert told == [True]
    assert signal.getsignal(signal.SIGHUP) is before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the platform has no SIGHUP")
def test_a_process_under_nohup_keeps_running() -> None:
    async def work() -> str:
        with first_interrupt(lambda: pytest.fail("interrupted")):
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
        return "finished"

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run_coroutine(work()) == "finished"
    finally:
        signal.signal(signal.SIGHUP, before)
