from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from simulated import Driver, Endpoint, ask_all, http

from measurements.simulated_time import now, run
from toolassay.models import ModelError
from toolassay.models.concurrency import LONGEST_DWELL, MOST, PAUSE, START, Limiter, limiter_of
from toolassay.models.retry import LONGEST_RETRY_AFTER, retry_delay


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is simulated: here nothing needs to set the waits to zero."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", retry_delay)


@pytest.mark.parametrize(
    ("capacity", "retry_after", "count"),
    [(1, None, 500), (10, None, 2500), (50, 1.0, 15_000), (200, None, 20_000)],
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


def test_unused_room_is_no_reason_to_grow() -> None:
    outcome = ask_all(Endpoint(10_000), 1500, workers=20)
    assert 20 <= outcome.limiter.limit <= 32


def test_a_share_of_500_cuts_nothing() -> None:
    outcome = ask_all(Endpoint(10_000, ill=0.05), 1000)
    assert all(change.why != "429" for change in outcome.limiter.history)
    assert outcome.limiter.limit >= START


def test_a_fixed_number_stays() -> None:
    outcome = ask_all(Endpoint(10), 200, fixed=7)
    assert outcome.limiter.limit == outcome.most == 7
    assert not outcome.limiter.adaptive
    assert len(outcome.limiter.history) == 1


@pytest.mark.parametrize(("first", "limits"), [(0.9, [1, 8, 16, 32, 64]), (1.0, [1, 2, 4, 8, 16])])
def test_one_goes_ahead_then_slow_start_doubles(first: float, limits: list[int]) -> None:
    async def main() -> None:
        driver = Driver()
        assert driver.limiter.limit == 1
        await driver.fill()
        driver.time = first
        driver.end()
        await driver.start_to(limits[-1])
        assert [change.limit for change in driver.limiter.history] == limits

    run(main())


def test_one_cut_per_round_trip() -> None:
    async def main() -> None:
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

    run(main())


def test_after_a_cut_growth_is_slow_and_rests_at_the_ceiling() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(64)
        await driver.fill()
        ceiling = len(driver.permits) - 1
        driver.end(http(429))
        limits = []
        for _ in range(14):
            await driver.round_trip()
            limits.append(driver.limiter.limit)
        assert limits == sorted(limits)
        assert all(b - a <= max(1, ceiling // 20) for a, b in pairwise(limits))
        assert limits.count(ceiling) >= 8
        assert max(limits) <= ceiling + 1

    run(main())


def test_a_probe_refused_costs_little_and_the_next_comes_later() -> None:
    outcome = ask_all(Endpoint(50), 15_000)
    probes = [change.seconds for change in outcome.limiter.history if change.why == "probe"]
    waits = [b - a for a, b in pairwise(probes)]
    assert len(waits) >= 3
    assert waits[:3] == sorted(waits[:3])
    assert max(waits) < 0.05 * LONGEST_DWELL * 2
    steady = [change.limit for change in outcome.limiter.history if change.seconds > 1]
    assert min(steady) >= 45


def test_trouble_pauses_growth_for_a_few_answers() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(START)
        driver.end(http(500))
        for answers in range(PAUSE + START):
            assert driver.limiter.limit == START, answers
            await driver.fill()
            driver.end()
        assert driver.limiter.limit == 2 * START

    run(main())


def test_much_trouble_pauses_growth_for_one_round_trip_and_no_longer() -> None:
    async def main() -> None:
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

    run(main())


def test_a_steady_share_of_500_does_not_keep_an_endpoint_from_being_used() -> None:
    # Answers that take longer than the waits between tries: else it is these that are measured, at the end.
    outcome = ask_all(Endpoint(50, seconds=2.0, ill=0.05), 10_000)
    assert outcome.throughput >= 0.85  # of 0.95: a 500 takes its time too
    assert outcome.refused < 0.05


def test_hours_asked_for_do_not_end_growth_for_hours() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(32)
        driver.end(http(429, retry_after=36_000.0))
        limit = driver.limiter.limit
        driver.time = LONGEST_RETRY_AFTER + 1
        for _ in range(3):
            await driver.round_trip()
        assert driver.limiter.limit > limit

    run(main())


def test_retry_after_lengthens_the_pause() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(32)
        driver.end(http(429, retry_after=10.0))
        driver.permits.clear()
        driver.limiter.in_flight = 0
        limit = driver.limiter.limit
        for _ in range(5):
            await driver.round_trip()
        assert driver.limiter.limit == limit
        driver.time = 10.1
        for _ in range(2):
            await driver.round_trip()
        assert driver.limiter.limit > limit

    run(main())


def test_what_was_not_sent_teaches_nothing() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.fill()
        driver.limiter.release(driver.permits.pop(), unknown=True)
        assert driver.limiter.limit == 1
        assert driver.limiter.in_flight == 0

    run(main())


def test_a_cancelled_waiter_blocks_no_other() -> None:
    async def main() -> None:
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

    run(main())


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
