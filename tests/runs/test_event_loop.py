from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from toolassay.runs.event_loop import first_interrupt, run_coroutine

COLOUR = ContextVar("colour", default="none")


@pytest.fixture(autouse=True)
def heard_interrupts() -> Iterator[None]:
    """Interrupts are heard also where tests run in the background of a shell, which makes them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
