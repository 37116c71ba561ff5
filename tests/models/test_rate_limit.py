"""An endpoint that counts requests per minute, in simulated time."""

from __future__ import annotations

import asyncio
import random

import pytest
from simulated import PerMinute

from measurements.simulated_time import now, run
from toolassay.models import ChatRequest, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.concurrency import Limiter
from toolassay.models.retry import retry_delay


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is simulated: here nothing needs to set the waits to zero."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", retry_delay)


def lost_and_minutes(endpoint: PerMinute, count: int, fixed: int | None) -> tuple[int, float]:
    """How many of `count` requests end without an answer, and how long all of them take."""
    random.seed(1)  # the jitter between tries

    async def main() -> tuple[int, float]:
        limiter = Limiter(fixed, clock=asyncio.get_running_loop().time)
        client = Client("m", ModelOptions(), transport=endpoint, limiter=limiter)
        left, lost = iter(range(count)), 0

        async def worker() -> None:
            nonlocal lost
            for number in left:
                try:
                    await client.complete(ChatRequest([], item=str(number)))
                except ModelError:
                    lost += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(fixed or 512):
                group.create_task(worker())
        return lost, now() / 60

    return run(main())


@pytest.mark.parametrize(
    ("a_minute", "fixed", "tells"),
    [(8, None, True), (8, 50, False), (60, None, False), (60, 5, True), (500, None, True)],
)
def test_no_request_is_lost_at_a_limit_per_minute(a_minute: int, fixed: int | None, tells: bool) -> None:
    endpoint = PerMinute(a_minute, tells=tells)
    lost, minutes = lost_and_minutes(endpoint, 10 * a_minute, fixed)
    assert lost == 0
    assert endpoint.answered == 10 * a_minute
    assert minutes < 20  # 9 are the least


def test_a_limit_that_never_opens_ends_every_request() -> None:
    endpoint = PerMinute(0)
    assert lost_and_minutes(endpoint, 20, None)[0] == 20
    assert endpoint.refused == 20 * ModelOptions().max_tries
