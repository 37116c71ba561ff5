"""Ctrl-C, or a request to terminate: the first lets what is in flight finish, the second does not."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

from toolassay.runs.event_loop import interrupt_calls

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def first_interrupt(told: Callable[[], None]) -> Iterator[None]:
    """Call `told` at the first Ctrl-C or SIGTERM instead of ending; the second ends as before.

    Only where the running loop may handle signals (in the main thread), or where its caller passes on
    interrupts (in a notebook); elsewhere nothing changes. A signal that this process ignores (in the
    background of a script, under nohup) stays ignored.
    """
    with interrupt_calls(told) as passed_on:
        if passed_on:
            yield
            return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            if loop.remove_signal_handler(number):
                signal.signal(number, handler)

    def first() -> None:
        restore()
        told()

    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:
                loop.add_signal_handler(number, first)
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        restore()
