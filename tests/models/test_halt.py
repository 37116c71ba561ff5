from __future__ import annotations

import asyncio
import contextlib

import pytest

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.concurrency import Halt, Limiter, waiting


class Slow:
    """A transport that answers when it is let, or fails at once."""

    def __init__(self, error: ModelError | None = None) -> None:
        self.sent = 0
        self.let = asyncio.Event()
        self._error = error

    async def send(self, request: ChatRequest) -> ChatResponse:
        self.sent += 1
        if self._error is not None:
            raise self._error
        await self.let.wait()
        return ChatResponse("yes")

    async def close(self) -> None: ...


async def hours(seconds: float) -> None:
    await asyncio.sleep(36_000)


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_what_is_in_flight_goes_on_and_what_waits_for_room_is_not_sent() -> None:
    transport, limiter, halt = Slow(), Limiter(2), Halt()
    client = Client("m", ModelOptions(), transport=transport, limiter=limiter)
    with halt.rules():
        tasks = [asyncio.create_task(client.complete(ChatRequest([]))) for _ in range(5)]
    await turns()
    assert halt.call() == 3
    transport.let.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [getattr(one, "text", None) or getattr(one, "outcome", None) for one in done] == [
        "yes",
        "yes",
        "not run",
        "not run",
        "not run",
    ]
    assert transport.sent == 2
    assert limiter.in_flight == 0
    with halt.rules(), pytest.raises(ModelError, match="ended before this was sent"):
        await client.complete(ChatRequest([]))


async def test_an_ended_run_does_not_wait_for_a_retry() -> None:
    error = ModelError("HTTP 503: later", transient=True, kind="HTTP 503", status=503, retry_after=600.0)
    halt, limiter = Halt(), Limiter(2)
    client = Client("m", ModelOptions(), transport=Slow(error), limiter=limiter, sleep=hours)
    with halt.rules():
        task = asyncio.create_task(client.complete(ChatRequest([])))
    await turns()
    assert halt.call() == 1
    with pytest.raises(ModelError, match="again after: HTTP 503: later") as caught:
        await task
    assert caught.value.outcome == "not run"
    assert not caught.value.settles
    assert limiter.in_flight == 0


async def test_who_is_cancelled_by_others_too_stays_cancelled() -> None:
    halt = Halt()

    async def wait() -> None:
        with waiting():
            await hours(1)

    with halt.rules():
        task = asyncio.create_task(wait())
    await turns()
    halt.call()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def test_the_end_of_another_run_does_not_end_a_wait() -> None:
    released = asyncio.Event()

    async def wait() -> str:
        with waiting():
            await released.wait()
        return "waited"

    task = asyncio.create_task(wait())
    halt = Halt()
    with halt.rules():
        await turns()
        halt.call()
        await turns()
    released.set()
    assert await task == "waited"
