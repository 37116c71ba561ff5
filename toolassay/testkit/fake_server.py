"""The server of `toolassay serve` in a thread of its own, remembering what it was asked."""

from __future__ import annotations

import asyncio
import threading

from toolassay.serving.completions import Received, Reply
from toolassay.serving.faults import WHOLE
from toolassay.serving.server import Answer, ChatServer
from toolassay.testkit.canned import canned_answer


class FakeServer(ChatServer):
    """A chat-completions server for tests, on a free port of 127.0.0.1.

    `behaviour`, `delay`, `capacity` and the other attributes of `ChatServer` may be set while it runs. By
    default it answers at once with `canned_answer`. A token is a character here. `prefix` is a path before
    `/v1`.

    Attributes:
        received: every request, in the order it came.
        kinds: what became of each.

    >>> server = FakeServer()
    >>> server.start()
    >>> server.fail_first("429", "reset")
    >>> server.base.startswith("http://127.0.0.1:")
    True
    >>> server.stop()
    """

    def __init__(self, answer: Answer | None = None, *, prefix: str = "") -> None:
        super().__init__(answer or _canned, prefix=prefix)
        self.characters_per_token = 1  # which tests can count
        self.received: list[Received] = []
        self.kinds: list[str] = []
        self._arrived = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def prompts(self) -> list[str]:
        """What was asked, in the order it came."""
        return [request.prompt for request in self.received]

    def fail_first(self, *faults: str) -> None:
        """Let the first requests meet these faults, and answer the rest."""
        self.behaviour = lambda prompt, number: faults[number] if number < len(faults) else WHOLE

    def fail_once_each(self, fault: str) -> None:
        """Let every prompt meet the fault the first time, and answer it the second."""
        seen: set[str] = set()

        def behaviour(prompt: str, number: int) -> str:
            first = prompt not in seen
            seen.add(prompt)
            return fault if first else WHOLE

        self.behaviour = behaviour

    def forget(self) -> None:
        """Count from 0 again."""
        self.received.clear()
        self.kinds.clear()
        self.count = self.faulty = 0
        self.whole_tokens = (0, 0)

    def wait_for(self, count: int, *, seconds: float = 60) -> None:
        """Return when `count` requests have come."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.received) >= count, seconds), self.received

    def release(self) -> None:
        """Let what is held go on."""
        self._loop.call_soon_threadsafe(self.released.set)

    def start(self) -> None:
        """Begin to listen, on a free port."""
        self._thread.start()
        assert self._ready.wait(30)

    def go_away(self) -> None:
        """Break all connections and refuse new ones until `come_back`."""
        asyncio.run_coroutine_threadsafe(self.refuse(), self._loop).result(30)

    def come_back(self) -> None:
        """Listen again, on the same port."""
        asyncio.run_coroutine_threadsafe(self.listen(), self._loop).result(30)

    def stop(self) -> None:
        """Stop listening."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def seen(self, received: Received, kind: str) -> None:
        """Remember a request."""
        with self._arrived:
            self.received.append(received)
            self.kinds.append(kind)
            self._arrived.notify_all()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.open())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self.close())
        self._loop.close()


async def _canned(received: Received) -> Reply:
    return Reply(canned_answer(received.prompt))
