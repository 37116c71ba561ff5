"""The adaptive limit on servers that queue: against the best fixed number, in simulated time."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import http

from measurements.adaptive_concurrency import LEAST, MOST_AGAIN, Case, best_fixed, simulate
from measurements.simulated_time import run
from toolassay.models import ModelError
from toolassay.models.concurrency import QUEUE_TURN, START, Limiter, QueueTurn
from toolassay.models.retry import over_time_limit, retry_delay, timed_out


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is simulated: here nothing needs to set the waits to zero."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", retry_delay)


# measurements/adaptive_concurrency.py has every combination.
@pytest.mark.parametrize(
    ("capacity", "seconds", "computes_on"),
    [(1, 0.05, False), (1, 60.0, True), (4, 5.0, False), (4, 0.05, True), (50, 60.0, False), (50, 5.0, True)],
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


@pytest.mark.parametrize(("capacity", "seconds"), [(1, 60.0), (4, 60.0), (50, 5.0)])
def test_answers_of_very_different_lengths(capacity: int, seconds: float) -> None:
    shares = []
    for seed in range(1, 4):
        case = Case(capacity, seconds, lognormal=True, computes_on=True, seed=seed)
        result = simulate(case)
        shares.append(result.rate / best_fixed(case)[1].rate)
        assert result.lost == 0
        assert result.sent <= (1 + MOST_AGAIN) * case.requests
    assert sum(shares) / len(shares) >= LEAST
    assert min(shares) >= LEAST - 0.1


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


def test_time_outs_halve_the_limit_once_a_round_trip() -> None:
    async def main() -> None:
        limiter = Limiter()
        limiter.release(await limiter.acquire())
        limits = []
        for _ in range(4):
            await _time_out_all(limiter, 8)
            limits.append(limiter.limit)
        assert limits == [4, 2, 1, 1]
        assert {change.why for change in limiter.history[2:]} == {"time-out"}

    run(main())


@pytest.mark.parametrize("status", [408, 504, 524])
def test_a_time_out_that_a_gateway_reports_is_one(status: int) -> None:
    async def main() -> None:
        limiter = Limiter()
        limiter.release(await limiter.acquire())
        limiter.release(await limiter.acquire(), http(status))
        assert limiter.limit == 4

    run(main())


@pytest.mark.parametrize(("waited", "limit"), [(39.0, 4), (41.0, 8)])
def test_one_request_that_is_stuck_cuts_nothing(waited: float, limit: int) -> None:
    async def main() -> None:
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

    run(main())


def test_an_own_limit_of_the_caller_cuts_nothing() -> None:
    async def main() -> None:
        limiter = Limiter()
        limiter.release(await limiter.acquire())
        limiter.release(await limiter.acquire(), over_time_limit(5.0))
        assert limiter.limit == 8

    run(main())


def test_the_item_that_began_first_goes_first() -> None:
    async def main() -> None:
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

    run(main())


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
def test_whatever_happens_the_limit_holds_and_all_are_served(
    events: list[tuple[int, float, int]], most: int
) -> None:
    async def main() -> None:
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

    run(main())
