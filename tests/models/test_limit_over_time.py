"""The limit over time, number by number, as the limiter's documentation says it."""

from __future__ import annotations

import asyncio

from simulated import Driver, http

from measurements.simulated_time import run
from toolassay.models.concurrency import SLOW_START, LimitChange, Limiter, Permit


def test_a_life_at_one_ceiling() -> None:
    """Slow start, a cut to 80 %, growth by a twentieth of the ceiling, rests, and probes that are refused."""

    async def main() -> None:
        driver = Driver()
        await driver.start_to(64)
        assert driver.limiter.limit == 64
        rests: list[int] = []
        await driver.fill()
        driver.end(http(429))  # 63 are borne
        for _ in range(6):
            rests.append(0)
            while driver.limiter.history[-1].why != "probe":
                await driver.round_trip()
                rests[-1] += driver.limiter.limit == 63
            await driver.fill()
            driver.end(http(429))
        history = [(change.limit, change.why) for change in driver.limiter.history]
        growing = [(50, "429"), *((limit, "growth") for limit in (53, 56, 59, 62, 63)), (64, "probe")]
        again = [(59, "429"), (62, "growth"), (63, "growth"), (64, "probe")]
        begun = [(1, "start"), *((limit, "slow start") for limit in (8, 16, 32, 64))]
        assert history == [*begun, *growing, *(5 * again), (59, "429")]
        assert rests == [8, 16, 32, 64, 64, 64]

    run(main())


def test_above_what_was_refused_once_the_rate_decides_again() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(64)
        driver.end(http(429))
        while driver.limiter.limit < 200:
            await driver.round_trip()
        limits = [change.limit for change in driver.limiter.history if change.limit > 63]
        assert limits == [64, 64, 96, 144, 216]  # slow start, the probe, probes that bring more answers

    run(main())


def test_the_history_says_when() -> None:
    async def main() -> None:
        driver = Driver()
        driver.time = 100.0
        limiter = Limiter(clock=lambda: driver.time)
        permit = await limiter.acquire()
        assert permit == Permit(number=1, sent=100.0, in_flight=1)
        driver.time = 102.12345
        limiter.release(permit)
        assert limiter.history == [LimitChange(0.0, 1, "start"), LimitChange(2.123, SLOW_START, "slow start")]

    run(main())


def test_growth_goes_on_when_the_seconds_asked_for_are_over() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(32)
        driver.end(http(429, retry_after=10.0))
        driver.end(http(429, retry_after=2.0))  # the longer one holds
        limit = driver.limiter.limit
        for driver.time in (9.9, 10.0):
            for _ in range(2):
                await driver.round_trip()
            assert (driver.limiter.limit > limit) == (driver.time == 10.0)

    run(main())


def test_late_refusals_lower_the_ceiling_no_further_than_by_half() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(64)
        await driver.fill()
        driver.end(http(429))  # 63 were borne, half of them are 31
        limits = []
        while driver.permits:
            driver.end(http(429))
            limits.append(driver.limiter.limit)
        assert limits == [50] * 13 + list(range(49, 30, -1)) + [31] * 31
        assert driver.limiter.in_flight == 0

    run(main())


def test_no_limit_is_below_one_and_none_above_the_most() -> None:
    async def main() -> None:
        limiter = Limiter(most=20)
        for _ in range(3):
            limiter.release(await limiter.acquire(), http(429))
            assert limiter.limit == 1
        assert (Limiter(0).limit, Limiter(-3).limit, Limiter(3).limit) == (1, 1, 3)
        limiter = Limiter(most=20, start=16)
        permits: list[Permit] = []
        for _ in range(100):
            while limiter.in_flight < limiter.limit:
                permits.append(await limiter.acquire())
            limiter.release(permits.pop(0))
        changes = [(change.limit, change.why) for change in limiter.history]
        assert changes[:3] == [(1, "start"), (16, "slow start"), (20, "slow start")]
        # The limiter reads the clock: on a loaded machine it may see a queue, and lower the limit afterwards.
        assert all(1 <= limit <= 20 for limit, _ in changes)
        assert [permit.number for permit in permits] == list(range(101, 101 + len(permits)))

    run(main())


def test_room_that_is_given_back_goes_to_the_longest_wait() -> None:
    async def main() -> None:
        limiter = Limiter(2)
        first, second = await limiter.acquire(), await limiter.acquire()
        order: list[int] = []

        async def wait(name: int) -> None:
            permit = await limiter.acquire()
            order.append(name)
            assert limiter.in_flight == 2
            limiter.release(permit)

        tasks = [asyncio.create_task(wait(name)) for name in range(4)]
        await asyncio.sleep(0)
        assert order == []
        limiter.release(first)
        await asyncio.gather(*tasks)
        assert (order, limiter.in_flight) == ([0, 1, 2, 3], 1)
        limiter.release(second)
        assert limiter.in_flight == 0

    run(main())


def test_a_refusal_far_below_the_ceiling_cuts_as_the_first_one_did() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(64)
        await driver.fill()
        driver.end(http(429))
        await driver.round_trip()
        while driver.limiter.in_flight > 40:
            driver.end()
        driver.permits.append(await driver.limiter.acquire())  # sent after the cut
        driver.permits.reverse()
        driver.end(http(429))
        assert driver.limiter.history[-1][1:] == (32, "429")  # 80 % of the 40 that are borne

    run(main())


def test_eight_in_ten_are_enough_to_grow() -> None:
    async def main() -> None:
        for used, limit in ((7, 10), (8, 20)):
            limiter = Limiter(start=10)
            limiter.release(await limiter.acquire())
            for _ in range(10):
                permits = [await limiter.acquire() for _ in range(used)]
                while permits:
                    limiter.release(permits.pop())
            assert limiter.limit == limit

    run(main())


def test_the_first_request_after_a_cut_counts_in_the_round_trip() -> None:
    async def main() -> None:
        driver = Driver()
        await driver.start_to(64)
        await driver.fill()
        driver.end(http(429))
        while driver.permits:  # sent before the cut
            driver.end()
        limit = driver.limiter.limit
        await driver.fill()
        for answered in range(1, limit + 1):
            driver.end()
            await driver.fill()
            assert (driver.limiter.limit > limit) == (answered == limit)

    run(main())
