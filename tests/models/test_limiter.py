from __future__ import annotations

import asyncio

import pytest
from simulated import Driver, Endpoint, ask_all, http

from measurements.simulated_time import now, run
from toolassay.models import ModelError
from toolassay.models.adaptive_concurrency import MOST, PAUSE, START
from toolassay.models.concurrency_limiter import Limiter, limiter_of
from toolassay.models.retry import LONGEST_RETRY_AFTER, retry_delay


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is simulated: here nothing needs to set the waits to zero."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", retry_delay)


@pytest.mark.parametrize(
    ("capacity", "retry_after", "count"),
    [(10, None, 2500), (50, 1.0, 15_000)],
)
def test_an_endpoint_is_kept_busy_and_seldom_refuses(
    capacity: int, retry_after: float | None, count: int
) -> None:
    outcome = ask_all(Endpoint(capacity, retry_after=retry_after), count)
    assert outcome.throughput >= 0.9
    assert outcome.refused < 0.05


def test_what_has_no_limit_is_asked_as_fast_as_there_is_work() -> None:
    outcome = ask_all(Endpoint(10_000), 6000, workers=1000)
    assert outcome.most == MOST == outcome.limiter.limit
    limits = [change.limit for change in outcome.limiter.history]
    assert limits[:8] == [1, START, 16, 32, 64, 128, 256, 512]
    assert set(limits[8:]) <= {341, 512}  # the latency is measured again now and then


def test_a_fixed_number_stays() -> None:
    outcome = ask_all(Endpoint(10), 200, fixed=7)
    assert outcome.limiter.limit == outcome.most == 7
    assert not outcome.limiter.adaptive
    assert len(outcome.limiter.history) == 1


@pytest.mark.parametrize(("first", "limits"), [(0.9, [1, 8, 16, 32, 64]), (1.0, [1, 2, 4, 8, 16])])
async def test_one_goes_ahead_then_slow_start_doubles(first: float, limits: list[int]) -> None:
    driver = Driver()
    assert driver.limiter.limit == 1
    await driver.fill()
    driver.time = first
    driver.end()
    await driver.start_to(limits[-1])
    assert [change.limit for change in driver.limiter.history] == limits


async def test_one_cut_per_round_trip() -> None:
    driver = Driver()
    await driver.start_to(64)
    await driver.fill()
    full = len(driver.permits)
    driver.end(http(429))
    cut = driver.limiter.limit
    assert cut == int((full - 1) * 0.8)
    for _ in range(3):  # sent before the cut: the same trouble
        driver.end(http(429))
    assert driver.limiter.limit == cut
    while driver.permits:  # answers to what was sent before the cut are no news
        driver.end()
    assert driver.limiter.limit == cut
    await driver.fill()
    driver.end(http(429))
    assert driver.limiter.limit < cut


async def test_trouble_pauses_growth_for_a_few_answers() -> None:
    driver = Driver()
    await driver.start_to(START)
    driver.end(http(500))
    for answers in range(PAUSE + START):
        assert driver.limiter.limit == START, answers
        await driver.fill()
        driver.end()
    assert driver.limiter.limit == 2 * START


async def test_much_trouble_pauses_growth_for_one_round_trip_and_no_longer() -> None:
    driver = Driver()
    await driver.start_to(32)
    limit = driver.limiter.limit
    for _ in range(5 * limit):
        await driver.fill()
        driver.end(http(500))
    await driver.round_trip()
    assert driver.limiter.limit == limit
    await driver.round_trip()
    assert driver.limiter.limit == 2 * limit


def test_a_steady_share_of_500_does_not_keep_an_endpoint_from_being_used() -> None:
    # Answers that take longer than the waits between tries: else it is these that are measured, at the end.
    outcome = ask_all(Endpoint(50, seconds=2.0, ill=0.05), 10_000)
    assert outcome.throughput >= 0.85  # of 0.95: a 500 takes its time too
    assert outcome.refused < 0.05


async def test_hours_asked_for_do_not_end_growth_for_hours() -> None:
    driver = Driver()
    await driver.start_to(32)
    driver.end(http(429, retry_after=36_000.0))
    limit = driver.limiter.limit
    driver.time = LONGEST_RETRY_AFTER + 1
    for _ in range(3):
        await driver.round_trip()
    assert driver.limiter.limit > limit


async def test_what_was_not_sent_teaches_nothing() -> None:
    driver = Driver()
    await driver.fill()
    driver.limiter.release(driver.permits.pop(), unknown=True)
    assert driver.limiter.limit == 1
    assert driver.limiter.in_flight == 0


async def test_a_cancelled_waiter_blocks_no_other() -> None:
    limiter = Limiter(1)
    first = await limiter.acquire()
    waiting = [asyncio.create_task(limiter.acquire()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    limiter.release(first)  # wakes the second …
    waiting[1].cancel()  # … which gives up before it has noticed
    await asyncio.wait(waiting)
    assert waiting[2].done()
    assert not waiting[2].cancelled()
    assert limiter.in_flight == 1
    limiter.release(waiting[2].result())
    assert limiter.in_flight == 0


def test_no_other_request_is_sent_at_once_into_what_ends_the_run() -> None:
    async def main() -> float:
        limiter = Limiter(1)
        permit = await limiter.acquire()
        next_one = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        limiter.release(permit, ModelError("wrong key", stops_run=True))
        await next_one
        return now()

    assert 0.05 <= run(main()) < 0.1


def test_models_at_one_endpoint_share_a_limiter() -> None:
    one = limiter_of("http://host/v1", None)
    assert limiter_of("http://host/v1", None) is one
    assert limiter_of("http://other/v1", None) is not one
    assert limiter_of("http://host/v1", 3) is not one


def test_the_history_does_not_grow_for_ever() -> None:
    async def main() -> int:
        driver = Driver()
        for _ in range(600):
            await driver.fill()
            driver.end(http(429))
            while driver.permits:
                driver.end()
            await driver.round_trip()
            await driver.round_trip()
        return len(driver.limiter.history)

    assert run(main()) <= 500
