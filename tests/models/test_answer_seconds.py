"""`ChatResponse.seconds` is the time of the answering attempt alone; limits of agents rest on it."""

from __future__ import annotations

import asyncio
import time

import pytest

from toolassay.models import ChatRequest, ModelOptions
from toolassay.models.client import Client
from toolassay.models.options import ClientName
from toolassay.testkit import FakeServer

CLIENTS: list[tuple[ClientName, bool]] = [
    ("aiohttp", False),
    ("openai", True),
]
REQUEST = ChatRequest([{"role": "user", "content": "hello"}])


@pytest.mark.parametrize(("client", "stream"), CLIENTS)
async def test_the_wait_for_a_place_does_not_count(
    fake_server: FakeServer, client: ClientName, stream: bool
) -> None:
    fake_server.behaviour = lambda prompt, number: "whole" if number else "hold"
    options = ModelOptions(api_base=fake_server.base, client=client, stream=stream, connections=1)
    model = Client("m", options)
    first = asyncio.create_task(model.complete(REQUEST))
    await asyncio.to_thread(fake_server.wait_for, 1)
    second = asyncio.create_task(model.complete(REQUEST))
    await asyncio.sleep(0)
    released = time.perf_counter()
    fake_server.release()
    await first
    answer = await second
    assert answer.seconds is not None and answer.seconds <= time.perf_counter() - released
    await model.close()


@pytest.mark.parametrize(("client", "stream"), CLIENTS)
async def test_failed_attempts_and_the_wait_after_them_do_not_count(
    fake_server: FakeServer, client: ClientName, stream: bool
) -> None:
    fake_server.fail_first("500", "reset")
    waited = 0.0

    async def wait(seconds: float) -> None:
        nonlocal waited
        waited = time.perf_counter()

    model = Client("m", ModelOptions(api_base=fake_server.base, client=client, stream=stream), sleep=wait)
    answer = await model.complete(REQUEST)
    assert answer.attempts == 3
    assert answer.seconds is not None and answer.seconds <= time.perf_counter() - waited
    await model.close()
