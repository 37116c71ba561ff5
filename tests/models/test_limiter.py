"""The adaptive limit in simulated time: against the best fixed number, and number by number."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurements.adaptive_concurrency import LEAST, Case, best_fixed, simulate
from measurements.simulated_time import now, run
from tests.support.simulated import Driver, Endpoint, PerMinute, ask_all, http
from toolassay.models import ChatRequest, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.concurrency import (
    DWELL,
    MOST,
    PAUSE,
    QUEUE_TURN,
    START,
    Limiter,
    QueueTurn,
    limiter_of,
)
from toolassay.models.retry import LONGEST_RETRY_AFTER, over_time_limit, retry_delay, timed_out


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is simulated: here nothing needs to set the waits to zero."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", retry_delay)


def test_an_endpoint_is_kept_busy_and_seldom_refuses() -> None:
    outcome = ask_all(Endpoint(10), 2500)
    assert outcome.throughput >= 0.9
    assert outcome.refused < 0.05


def test_what_has_no_limit_is_asked_as_fast_as_there_is_work() -> None:
    outcome = ask_all(Endpoint(10_000), 9000, workers=1000)
    assert outcome.most == MOST == outcome.limiter.limit
    assert [change.limit for change in outcome.limiter.history] == [1, START, 16, 32, 64, 128, 256, 512]


@pytest.mark.parametrize(("first", "limits"), [(0.9, [1, 8, 16, 32, 64]), (1.0, [1, 2, 4, 8, 16])])
async def test_one_goes_ahead_then_slow_start_doubles(first: float, limits: list[int]) -> None:
    driver = Driver()
    assert driver.limiter.limit == 1
    await driver.fill()
    driver.time = first
    driver.end()
    await driver.start_to(limits[-1])
    assert [change.limit for change in driver.limiter.history] == limits


async def test_trouble_pauses_growth_for_a_few_answers() -> None:
    driver = Driver()
    await driver.start_to(START)
    driver.end(http(500))
    for answers in range(PAUSE + START):
        assert driver.limiter.limit == START, answers
        await driver.fill()
        driver.end()
    assert driver.limiter.limit == 2 * START


async def test_hours_asked_for_do_not_end_growth_for_hours() -> None:
    driver = Driver()
    await driver.start_to(32)
    driver.end(http(429, retry_after=36_000.0))
    limit = driver.limiter.limit
    driver.time = LONGEST_RETRY_AFTER + 1
    for _ in range(DWELL + 1):
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


@pytest.mark.parametrize(("a_minute", "fixed"), [(8, 50), (20, None)])
def test_no_request_is_lost_at_a_limit_per_minute(a_minute: int, fixed: int | None) -> None:
    endpoint = PerMinute(a_minute)
    lost, minutes = lost_and_minutes(endpoint, 10 * a_minute, fixed)
    assert lost == 0
    assert endpoint.answered == 10 * a_minute
    assert minutes < 20  # 9 are the least


def test_a_limit_that_never_opens_ends_every_request() -> None:
    endpoint = PerMinute(0)
    assert lost_and_minutes(endpoint, 20, None)[0] == 20
    assert endpoint.refused == 20 * ModelOptions().max_tries


# measurements/adaptive_concurrency.py has every combination.
@pytest.mark.parametrize(
    ("capacity", "seconds", "computes_on"),
    [
        (1, 0.05, False),
        (4, 0.05, True),
        (8, 1.0, False),
        pytest.param(50, 60.0, False, marks=pytest.mark.slow),
    ],
)
def test_a_server_that_queues_is_used_as_by_the_best_fixed_number(
    capacity: int, seconds: float, computes_on: bool
) -> None:
    case = Case(capacity, seconds, computes_on=computes_on)
    result = simulate(case)
    assert result.rate >= LEAST * best_fixed(case)[1].rate
    assert result.lost == 0
    assert result.sent == case.requests
    assert result.limiter.limit <= max(START, 4 * capacity)


def test_answers_that_are_too_long_for_the_time_out_do_not_end_in_one_request_at_a_time() -> None:
    # One in twenty takes more than the 600 s of --timeout, whatever else is in flight.
    case = Case(50, 250.0, lognormal=True, computes_on=True, seed=1)
    result = simulate(case)
    assert result.lost == 0
    assert result.rate >= 0.5 * case.capacity / case.seconds


async def _time_out_all(limiter: Limiter, count: int) -> None:
    permits = [await limiter.acquire() for _ in range(min(count, limiter.limit))]
    for permit in permits:
        limiter.release(permit, timed_out(600.0))


async def test_time_outs_halve_the_limit_once_a_round_trip() -> None:
    limiter = Limiter()
    limiter.release(await limiter.acquire())
    limits = []
    for _ in range(4):
        await _time_out_all(limiter, 8)
        limits.append(limiter.limit)
    assert limits == [4, 2, 1, 1]
    assert {change.why for change in limiter.history[2:]} == {"time-out"}


@pytest.mark.parametrize("status", [408, 504, 524])
async def test_a_time_out_that_a_gateway_reports_is_one(status: int) -> None:
    limiter = Limiter()
    limiter.release(await limiter.acquire())
    limiter.release(await limiter.acquire(), http(status))
    assert limiter.limit == 4


@pytest.mark.parametrize(("waited", "limit"), [(19.0, 4), (21.0, 8)])
async def test_one_request_that_is_stuck_cuts_nothing(waited: float, limit: int) -> None:
    time = 0.0
    limiter = Limiter(clock=lambda: time)
    first = await limiter.acquire()
    time = 0.5
    limiter.release(first)
    stuck = await limiter.acquire()
    for _ in range(200):  # later requests are answered, each after 10 s or so
        permit = await limiter.acquire()
        time += 10
        limiter.release(permit)
        if limiter.limit != 8:
            return
    stuck = stuck._replace(sent=time - waited)
    limiter.release(stuck, timed_out(waited))
    assert limiter.limit == limit


async def test_an_own_limit_of_the_caller_cuts_nothing() -> None:
    limiter = Limiter()
    limiter.release(await limiter.acquire())
    limiter.release(await limiter.acquire(), over_time_limit(5.0))
    assert limiter.limit == 8


async def test_the_item_that_began_first_goes_first() -> None:
    limiter = Limiter(1)
    permit = await limiter.acquire()
    order: list[int] = []

    async def step(ordinal: int) -> None:
        QUEUE_TURN.set(QueueTurn(ordinal))
        held = await limiter.acquire()
        order.append(ordinal)
        limiter.release(held)

    tasks = []
    for ordinal in (5, 3, 4, 3, 0):
        tasks.append(asyncio.create_task(step(ordinal)))
        await asyncio.sleep(0)
    limiter.release(permit)
    await asyncio.gather(*tasks)
    assert order == [0, 3, 3, 4, 5]


OUTCOMES: list[ModelError | None] = [
    None,
    http(429),
    http(429, 3.0),
    http(500),
    http(504),
    timed_out(600.0),
    over_time_limit(1.0),
    ModelError("reset", transient=True, kind="reset"),
    ModelError("HTTP 400"),
]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, len(OUTCOMES) + 12), st.floats(0, 100), st.integers(0, 40)), max_size=150
    ),
    st.integers(1, 40),
)
async def test_whatever_happens_the_limit_holds_and_all_are_served(
    events: list[tuple[int, float, int]], most: int
) -> None:
    time, served = 0.0, 0
    limiter = Limiter(most=most, clock=lambda: time)
    gate: asyncio.Queue[ModelError | None] = asyncio.Queue()

    async def ask(number: int) -> None:
        nonlocal served
        permit = await limiter.acquire()
        assert limiter.in_flight >= 1
        limiter.release(permit, await gate.get())
        served += 1
        assert 1 <= limiter.limit <= most
        assert 0 <= limiter.in_flight <= most

    tasks = [asyncio.create_task(ask(number)) for number in range(len(events))]
    for kind, seconds, _ in events:
        await asyncio.sleep(0)
        time += seconds
        gate.put_nowait(OUTCOMES[kind] if kind < len(OUTCOMES) else None)
    await asyncio.gather(*tasks)
    assert served == len(events)
    assert limiter.in_flight == 0


async def test_a_life_at_one_ceiling() -> None:
    """Slow start, a cut to what is borne, rests, and probes that are refused."""

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
    begun = [(1, "start"), *((limit, "slow start") for limit in (8, 16, 32, 64))]
    assert history == [*begun, *(6 * [(63, "429"), (64, "probe")]), (63, "429")]
    assert rests == [8, 16, 32, 64, 64, 64]


async def test_above_what_was_refused_once_the_rate_decides_again() -> None:
    driver = Driver()
    await driver.start_to(64)
    driver.end(http(429))
    while driver.limiter.limit < 200:
        await driver.round_trip()
    limits = [change.limit for change in driver.limiter.history if change.limit > 63]
    assert limits == [64, 64, 96, 144, 216]  # slow start, the probe, probes that bring more answers


async def test_growth_goes_on_when_the_seconds_asked_for_are_over() -> None:
    driver = Driver()
    await driver.start_to(32)
    driver.end(http(429, retry_after=10.0))
    driver.end(http(429, retry_after=2.0))  # the longer one holds
    limit = driver.limiter.limit
    for driver.time in (9.9, 10.0):
        for _ in range(DWELL + 1):
            await driver.round_trip()
        assert (driver.limiter.limit > limit) == (driver.time == 10.0)


async def test_late_refusals_lower_the_ceiling_no_further_than_by_half() -> None:
    driver = Driver()
    await driver.start_to(64)
    await driver.fill()
    driver.end(http(429))
    limits = []
    while driver.permits:
        driver.end(http(429))
        limits.append(driver.limiter.limit)
    assert limits == [*range(62, 31, -1), *(32 * [32])]
    assert driver.limiter.in_flight == 0


async def test_room_that_is_given_back_goes_to_the_longest_wait() -> None:
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


async def test_eight_in_ten_are_enough_to_grow() -> None:
    for used, limit in ((7, 10), (8, 20)):
        limiter = Limiter(start=10)
        limiter.release(await limiter.acquire())
        for _ in range(10):
            permits = [await limiter.acquire() for _ in range(used)]
            while permits:
                limiter.release(permits.pop())
        assert limiter.limit == limit


async def test_the_first_request_after_a_cut_counts_in_the_rest() -> None:
    driver = Driver()
    await driver.start_to(64)
    await driver.fill()
    driver.end(http(429))
    while driver.permits:  # sent before the cut
        driver.end()
    limit = driver.limiter.limit
    await driver.fill()
    for answered in range(1, DWELL * limit + 1):
        driver.end()
        await driver.fill()
        assert (driver.limiter.limit > limit) == (answered == DWELL * limit)
