"""Ctrl-C: the first lets what is in flight finish, the second does not."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def first_interrupt(told: Callable[[], None]) -> Iterator[None]:
    """Call `told` at the first Ctrl-C instead of cancelling; the second does what the first did before.

    Only where the running loop may handle signals (in the main thread); elsewhere nothing changes.
    """
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)

    def restore() -> None:
        if loop.remove_signal_handler(signal.SIGINT):
            signal.signal(signal.SIGINT, before)

    def first() -> None:
        restore()
        told()

    try:
        loop.add_signal_handler(signal.SIGINT, first)
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        restore()
