"""Runs a coroutine from synchronous code, also inside a notebook, and handles Ctrl-C, SIGTERM and SIGHUP.

The first interrupt lets the requests in flight finish; the second ends the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")

# Seconds after which the waiting thread looks for a signal that came just before it began to wait for a lock:
# Python handles it only when the lock is had, or the next signal comes.
LOST_INTERRUPT = 0.5


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end and return its result.

    Without a running event loop this is `asyncio.run`. Inside one (a notebook cell, an async function) the
    coroutine runs in a worker thread with its own loop and the caller's context variables, and the caller
    blocks. Ctrl-C, or interrupting the cell, reaches the coroutine as in the main thread.

    Raises:
        KeyboardInterrupt: An interrupt cancelled the coroutine.

    >>> async def answer():
    ...     return 42
    >>> run_coroutine(answer())
    42
    """
    loop = None
    with contextlib.suppress(RuntimeError):  # it must not be the context of every error of the coroutine
        loop = asyncio.get_running_loop()
    return asyncio.run(coroutine) if loop is None else _Worker(coroutine).result()


@contextlib.contextmanager
def interrupt_calls(first: Callable[[], None]) -> Iterator[bool]:
    """Make the first interrupt of the blocked caller call `first` instead of cancelling, in this block.

    Yields:
        Whether the coroutine runs in a worker thread of `run_coroutine`; if not, nothing changes.
    """
    worker = _WORKER.get()
    if worker is None:
        yield False
        return
    first_before = worker.first
    worker.first = first
    try:
        yield True
    finally:
        worker.first = first_before


class _Worker(Generic[Result]):
    """Runs a coroutine in its own thread while the caller waits."""

    def __init__(self, coroutine: Coroutine[Any, Any, Result]) -> None:
        self.first: Callable[[], None] | None = None
        self._coroutine = coroutine
        self._future: Future[Result] = Future()
        self._started = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False

    def result(self) -> Result:
        """Start the thread and wait for the result.

        The first interrupt calls `first` if it is set; the next one cancels; a third one stops waiting.
        """
        # A daemon thread, so that a coroutine that ignores cancellation does not keep the process alive.
        thread = threading.Thread(target=copy_context().run, args=(self._run,), daemon=True)
        with _at_interrupt(self._interrupted):
            thread.start()
            while not wait([self._future], LOST_INTERRUPT).done:
                pass
            return self._future.result()

    def _interrupted(self) -> None:
        """Handle an interrupt in the waiting thread."""
        if self._cancelled:
            raise KeyboardInterrupt
        self._started.wait()
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has closed, so the result is about to arrive
                self._loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        first = self.first
        self.first = None
        if first is not None:
            first()
        elif self._task is not None:
            self._cancelled = True
            self._task.cancel()

    def _run(self) -> None:
        token = _WORKER.set(self)
        try:
            with asyncio.Runner() as runner:
                self._loop = runner.get_loop()
                result = runner.run(self._main())
        except BaseException as error:
            # Also `SystemExit`: it belongs to the thread that waits, and would end only this one.
            cancelled = self._cancelled and isinstance(error, asyncio.CancelledError)
            self._future.set_exception(KeyboardInterrupt() if cancelled else error)
        else:
            self._future.set_result(result)
        finally:
            self._started.set()
            _WORKER.reset(token)

    async def _main(self) -> Result:
        self._task = asyncio.current_task()
        self._started.set()
        return await self._coroutine


@contextlib.contextmanager
def _at_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """Call `call` on Ctrl-C, if this is the main thread (signals reach no other).

    Replaces Python's handler, whose exception may be raised at any line, and that of `asyncio.run`, which
    would cancel through the blocked loop. A process that ignores Ctrl-C keeps ignoring it.
    """
    handler_before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or handler_before is None or handler_before == signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: call())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler_before)


_WORKER: ContextVar[_Worker[Any] | None] = ContextVar("worker", default=None)


# SIGHUP, of a terminal that is closed, is unknown to Windows.
SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__
)


@contextlib.contextmanager
def first_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """Call `call` on the first Ctrl-C, SIGTERM or SIGHUP instead of ending; a later Ctrl-C ends as usual.

    SIGTERM and SIGHUP count once: `timeout` and a terminal that is closed send them several times.

    This works where the running loop may handle signals (in the main thread) or where its caller forwards
    interrupts (in a notebook); elsewhere nothing changes. A signal that the process ignores (in the
    background of a script, under nohup) stays ignored. A block within another one has the signals meanwhile.
    """
    with interrupt_calls(call) as passed_on:
        if passed_on:
            yield
            return
    loop = asyncio.get_running_loop()
    if loop in _CALLS:
        _CALLS[loop].append(call)
        try:
            yield
        finally:
            _CALLS[loop].pop()
        return
    handlers_before = {number: signal.getsignal(number) for number in SIGNALS}

    is_interrupted = False

    def restore(*kept_signals: signal.Signals) -> None:
        for number, handler in handlers_before.items():
            if number not in kept_signals and loop.remove_signal_handler(number):
                signal.signal(number, handler)

    def first(number: signal.Signals) -> None:
        nonlocal is_interrupted
        if not is_interrupted:
            is_interrupted = True
            restore(*(set(SIGNALS) - {signal.SIGINT} if number != signal.SIGINT else ()))
            calls[-1]()

    calls = [call]
    try:
        for number, handler in handlers_before.items():
            if handler != signal.SIG_IGN:
                loop.add_signal_handler(number, first, number)
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    _CALLS[loop] = calls
    try:
        yield
    finally:
        del _CALLS[loop]
        restore()


# What the first interrupt of a loop calls, the innermost block last.
_CALLS: WeakKeyDictionary[asyncio.AbstractEventLoop, list[Callable[[], None]]] = WeakKeyDictionary()


async def interruptible(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that Ctrl-C, SIGTERM and SIGHUP cancel, so that what it started is ended too.

    Raises:
        KeyboardInterrupt: It was cancelled by one of them.
    """
    task = asyncio.current_task()
    assert task is not None
    interrupted = False

    def stop() -> None:
        nonlocal interrupted
        interrupted = True
        task.cancel()

    with first_interrupt(stop):
        try:
            return await coroutine
        except asyncio.CancelledError:
            if interrupted:
                raise KeyboardInterrupt from None
            raise
