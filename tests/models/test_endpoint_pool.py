"""Several endpoints of one model, in simulated time."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from simulated import PerMinute

from measurements.simulated_time import now, run
from toolassay.models import Attempt, ChatRequest, ChatResponse, ModelError, ModelOptions, create_model
from toolassay.models.concurrency_limiter import Halt
from toolassay.models.endpoint_pool import TOLD, UNCONFIRMED, EndpointPool
from toolassay.models.endpoint_queue import FAILURES, FIRST_PROBE, PROBE_SECONDS, EndpointQueue
from toolassay.models.protocol import Transport
from toolassay.models.retry import (
    Breaker,
    connection_broken,
    failed_answer,
    retry_delay,
    timed_out,
    unreachable,
)
from toolassay.runs import RunSummary, run_items
from toolassay.runs.runner import StoppedRun

PLACE = "http://server/v1/chat/completions"
TIMEOUT = 100.0

Behaviour = Callable[[float, str], str]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is simulated: here nothing needs to set the waits to zero."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", retry_delay)


def always(behaviour: str) -> Behaviour:
    return lambda time, item: behaviour


def between(start: float, end: float, behaviour: str) -> Behaviour:
    return lambda time, item: behaviour if start <= time < end else "whole"


class Load:
    """How many requests are at a server, or at several that share it."""

    def __init__(self) -> None:
        self.busy = self.most = 0

    def add(self, change: int) -> None:
        self.busy += change
        self.most = max(self.most, self.busy)


class Server:
    """Works on `capacity` requests at once, for about `seconds` each; the others queue.

    `behaviour(time, item)` is "whole", "refused" (no connection; what is in flight breaks), "hang", or a
    status.
    """

    def __init__(
        self,
        capacity: int = 4,
        seconds: float = 0.5,
        behaviour: Behaviour = lambda time, item: "whole",
        load: Load | None = None,
    ) -> None:
        self.capacity, self.seconds, self.behaviour = capacity, seconds, behaviour
        self.load = load or Load()
        self.answered: list[tuple[float, str]] = []
        self.asked: list[tuple[float, str]] = []
        self._random = random.Random(1)
        self._room: asyncio.Semaphore | None = None

    async def send(self, request: ChatRequest) -> ChatResponse:
        self._room = self._room or asyncio.Semaphore(self.capacity)
        self.asked.append((now(), request.item))
        self.load.add(1)
        try:
            return await self._answer(request)
        finally:
            self.load.add(-1)

    async def _answer(self, request: ChatRequest) -> ChatResponse:
        assert self._room is not None
        behaviour = self.behaviour(now(), request.item)
        if behaviour == "refused":
            raise unreachable(PLACE, "Connection refused")
        if behaviour == "hang":
            await asyncio.sleep(TIMEOUT)
            raise timed_out(TIMEOUT, silent=True)
        if behaviour != "whole":
            await asyncio.sleep(0.01)
            raise failed_answer(int(behaviour), f'{{"error": "no {request.item}"}}', None, PLACE)
        async with self._room:
            await asyncio.sleep(self.seconds * self._random.uniform(0.8, 1.2))
        if self.behaviour(now(), request.item) == "refused":
            raise connection_broken("reset by peer")
        self.answered.append((now(), request.item))
        return ChatResponse("yes", "stop", 1, 1)

    async def close(self) -> None: ...


class Meter:
    """Remembers attempts and what was announced."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.announced: list[str | None] = []

    def before(self, model: str, request: ChatRequest) -> None:
        self.announced.append(request.endpoint)

    def after(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)


@dataclass
class Run:
    """What came of a run."""

    summary: RunSummary
    seconds: float
    facts: list[dict[str, Any]]
    told: list[str]
    meter: Meter
    tries: dict[str, int]

    @property
    def states(self) -> list[str]:
        return [facts["state"] for facts in self.facts]


def ask(
    *servers: Transport,
    count: int = 200,
    weights: tuple[float, ...] = (),
    concurrency: int | None = None,
    foresees: bool = False,
    **options: Any,
) -> Run:
    """Ask a pool of these servers `count` times, as a run does."""
    random.seed(1)  # the jitter between tries

    async def main() -> Run:
        told: list[str] = []
        meter, tries, taken = Meter(), {}, 0
        base = ",".join(f"http://server{number}/v1" for number in range(len(servers)))
        given = ModelOptions(api_base=base, tell=told.append, timeout=TIMEOUT, **options)
        if weights:
            pairs = zip(given.endpoints, weights, strict=True)
            given = replace(given, pool=tuple(replace(one, weight=weight) for one, weight in pairs))
        queue = EndpointQueue(given.endpoints, given.connections, clock=asyncio.get_running_loop().time)
        breaker = Breaker(clock=queue.clock)
        pool = EndpointPool("m", given, meter, transports=servers, queue=queue, breaker=breaker)

        def items() -> Any:
            nonlocal taken
            for taken in range(1, count + 1):
                yield str(taken)

        async def work(item: str) -> str:
            response = await pool.complete(ChatRequest([], item=item))
            assert item not in tries
            tries[item] = response.attempts
            return "answered"

        summary = await run_items(
            items(),
            work,
            concurrency=concurrency,
            endpoints=len(servers),
            left=lambda: count - taken if foresees else None,
        )
        await pool.close()
        facts = [dict(one) for one in pool.facts()["endpoints"]]
        return Run(summary, now(), facts, told, meter, tries)

    return run(main())


def answered_once(servers: list[Server], count: int) -> bool:
    items = Counter(item for server in servers for _, item in server.answered)
    return items == Counter(map(str, range(1, count + 1)))


def test_all_endpoints_work_at_their_own_rate() -> None:
    servers = [Server(8, 0.1), Server(8, 0.2), Server(4, 0.4), Server(2, 1.0)]
    done = ask(*servers, count=4000, foresees=True)
    assert done.summary.outcomes == {"answered": 4000}
    assert answered_once(servers, 4000)
    ideal = sum(server.capacity / server.seconds for server in servers)
    assert 4000 / done.seconds >= 0.95 * ideal
    shares = [len(server.answered) / 4000 for server in servers]
    for server, share in zip(servers, shares, strict=True):
        assert share == pytest.approx(server.capacity / server.seconds / ideal, rel=0.25)


def test_no_request_waits_for_a_slow_endpoint_while_another_is_free() -> None:
    fast, slow = Server(8, 0.1), Server(1, 50.0)
    ask(fast, slow, count=500)
    by_fast = [time for time, _ in fast.answered]
    assert len(slow.answered) <= 4
    assert by_fast[-1] < 10


@pytest.mark.parametrize("foresees", [True, False])
def test_a_slow_endpoint_gets_no_request_that_the_others_answer_sooner(foresees: bool) -> None:
    fast, slow = Server(8, 0.1), Server(2, 10.0)
    done = ask(fast, slow, count=2500, foresees=foresees)
    assert answered_once([fast, slow], 2500)
    tail = done.seconds - fast.answered[-1][0]
    assert (tail < 1) == foresees


def test_a_short_run_is_not_left_to_the_fast_endpoint_alone() -> None:
    one, other = Server(4, 1.0), Server(4, 1.3)
    ask(one, other, count=60, foresees=True)
    assert len(other.answered) > 15


def test_a_fixed_number_limits_all_endpoints_together() -> None:
    load = Load()
    servers = [Server(50, 0.5, load=load), Server(50, 0.5, load=load)]
    done = ask(*servers, count=300, connections=6)
    assert answered_once(servers, 300)
    assert done.summary.outcomes["answered"] == 300
    assert load.most == 6
    assert min(len(server.answered) for server in servers) > 50


def test_endpoints_that_are_alike_share_a_light_load() -> None:
    servers = [Server(50, 1.0), Server(50, 1.02)]
    done = ask(*servers, count=400, concurrency=6)
    assert min(facts["answered"] for facts in done.facts) > 100


def test_a_light_load_goes_to_a_fast_endpoint() -> None:
    servers = [Server(50, 0.2), Server(50, 1.0)]
    done = ask(*servers, count=400, concurrency=6)
    assert done.facts[0]["answered"] > 350


def test_a_weight_counts_among_endpoints_that_have_room() -> None:
    servers = [Server(50, 1.0), Server(50, 1.1)]
    equal = ask(*servers, count=400, concurrency=2)
    even = [facts["answered"] for facts in equal.facts]
    servers = [Server(50, 1.0), Server(50, 1.1)]
    weighted = ask(*servers, count=400, concurrency=2, weights=(1.0, 4.0))
    assert even[0] > even[1]
    assert weighted.facts[1]["answered"] > 350


def test_a_weight_does_not_keep_a_free_endpoint_idle() -> None:
    servers = [Server(4, 0.5), Server(4, 0.5)]
    ask(*servers, count=2000, weights=(1.0, 1000.0))
    assert len(servers[0].answered) > 800


@pytest.mark.parametrize("max_tries", [1, 8])
def test_an_endpoint_that_dies_loses_nothing_and_gets_work_again(max_tries: int) -> None:
    servers = [Server(), Server(behaviour=between(10, 25, "refused"))]
    done = ask(*servers, count=800, max_tries=max_tries)
    assert done.summary.outcomes == {"answered": 800}
    assert answered_once(servers, 800)
    assert done.states == ["up", "up"] and done.facts[1]["times_down"] == 1
    times = [time for time, _ in servers[1].answered]
    assert not [time for time in times if 10.7 < time < 25]
    assert len([time for time in times if time > 30]) > 50
    probes = [time for time, _ in servers[1].asked if 11 < time < 25]
    assert 3 <= len(probes) <= 5  # one at a time, each twice as late as the one before
    down, up = done.told
    assert down.startswith("http://server1/v1 is down (") and ("reset" in down or "refused" in down)
    assert up == "http://server1/v1 answers again"


@pytest.mark.parametrize("behaviour", ["500", "503"])
def test_an_endpoint_that_only_fails_is_drained_and_no_item_pays_for_it(behaviour: str) -> None:
    servers = [Server(), Server(behaviour=between(5, 20, behaviour))]
    done = ask(*servers, count=600, max_tries=1)
    assert done.summary.outcomes == {"answered": 600}
    assert done.facts[1]["times_down"] == 1
    failed = [attempt for attempt in done.meter.attempts if attempt.outcome == f"HTTP {behaviour}"]
    assert FAILURES <= len(failed) <= FAILURES * 20
    assert len(servers[1].answered) > 100


def test_an_endpoint_that_is_silent_is_drained_once_and_its_requests_are_taken_back() -> None:
    servers = [Server(), Server(behaviour=between(5, 1000, "hang"))]
    done = ask(*servers, count=1500, max_tries=1)
    assert done.summary.outcomes == {"answered": 1500}
    assert answered_once(servers, 1500)
    assert done.states == ["up", "down"]
    outcomes = Counter(attempt.outcome for attempt in done.meter.attempts)
    assert outcomes["timeout"] + outcomes["cancelled"] == done.facts[1]["failed"] > 0
    assert servers[1].load.busy == 0
    probes = [time for time, _ in servers[1].asked if time > 5 + TIMEOUT + 1]
    assert all(later - earlier >= PROBE_SECONDS for earlier, later in pairwise(probes))


def test_one_long_answer_does_not_take_an_endpoint_out() -> None:
    servers = [Server(), Server(behaviour=lambda time, item: "hang" if item == "7" else "whole")]
    servers[0].behaviour = servers[1].behaviour
    done = ask(*servers, count=6000, max_tries=2)
    assert done.summary.outcomes == {"answered": 5999, "provider error": 1}
    assert [facts["times_down"] for facts in done.facts] == [0, 0]


def test_a_share_of_failures_takes_no_endpoint_out_and_loses_no_item() -> None:
    chance = random.Random(3)
    servers = [Server(8, 0.2), Server(8, 0.2)]
    for server in servers:
        server.behaviour = lambda time, item: "500" if chance.random() < 0.05 else "whole"
    done = ask(*servers, count=2000)
    assert done.summary.outcomes == {"answered": 2000}
    assert sum(facts["times_down"] for facts in done.facts) == 0


def test_an_endpoint_that_flaps_is_reported_a_few_times_only() -> None:
    flaps = Server(behaviour=lambda time, item: "refused" if time % 6 > 3 else "whole")
    done = ask(Server(), flaps, count=1000)
    assert done.summary.outcomes == {"answered": 1000}
    assert done.facts[1]["times_down"] > TOLD
    assert sum(" is down (" in text for text in done.told) == TOLD
    assert "not reported again" in [text for text in done.told if " is down (" in text][-1]


def stopped(*servers: Server, **options: Any) -> str:
    with pytest.raises(StoppedRun) as caught:
        ask(*servers, **options)
    return str(caught.value)


def test_endpoints_that_were_never_there_end_the_run_at_once() -> None:
    servers = [Server(behaviour=always("refused")), Server(behaviour=always("refused"))]
    assert "cannot reach" in stopped(*servers)
    assert sum(len(server.asked) for server in servers) <= 4


def test_endpoints_that_all_die_end_the_run_as_a_single_one_does() -> None:
    servers = [Server(behaviour=between(5, 1e9, "refused")), Server(behaviour=between(6, 1e9, "refused"))]
    error = stopped(*servers, count=5000, max_tries=1000)
    assert "the server is down" in error and "the same command continues" in error


def test_an_outage_of_all_endpoints_is_survived() -> None:
    servers = [Server(behaviour=between(5, 25, "refused")) for _ in range(2)]
    done = ask(*servers, count=600, max_tries=50)
    assert done.summary.outcomes == {"answered": 600}
    assert min(sum(time > 25 for time, _ in server.answered) for server in servers) > 100


def test_a_request_that_fails_everywhere_fails_after_its_tries_and_takes_nothing_out() -> None:
    servers = [Server(behaviour=lambda time, item: "500" if item == "9" else "whole") for _ in range(2)]
    done = ask(*servers, count=600)
    assert done.summary.outcomes == {"answered": 599, "provider error": 1}
    assert done.states == ["up", "up"]
    assert [facts["times_down"] for facts in done.facts] == [0, 0]
    assert sum(item == "9" for server in servers for _, item in server.asked) == 5  # four identical, one free


@pytest.mark.parametrize("status", ["400", "413", "422"])
def test_a_bad_request_is_confirmed_by_another_endpoint_and_takes_none_out(status: str) -> None:
    bad = {"3", "30", "31", "32", "33"}
    servers = [Server(behaviour=lambda time, item: status if item in bad else "whole") for _ in range(3)]
    done = ask(*servers, count=300)
    assert done.summary.outcomes["answered"] == 300 - len(bad)
    assert done.states == ["up"] * 3 and done.told == []
    sent = Counter(item for server in servers for _, item in server.asked)
    assert {sent[item] for item in bad} == {2}


@pytest.mark.parametrize("failure", ["500", "429"])
def test_a_request_that_one_endpoint_refuses_is_tried_again_at_the_other(failure: str) -> None:
    long = {str(number) for number in range(10, 100, 10)}
    failed = set[str]()

    def fails_once(time: float, item: str) -> str:
        if item not in long or item in failed:
            return "whole"
        failed.add(item)
        return failure

    servers = [Server(behaviour=lambda time, item: "400" if item in long else "whole")]
    servers.append(Server(behaviour=fails_once))
    done = ask(*servers, count=100)
    assert failed == long
    assert done.summary.outcomes == {"answered": 100}
    refused = Counter(item for _, item in servers[0].asked if item in long)
    assert set(refused.values()) <= {1}


@pytest.mark.parametrize("status", ["401", "402", "403", "404"])
def test_an_endpoint_with_a_wrong_key_or_model_is_left_out(status: str) -> None:
    servers = [Server(), Server(behaviour=always(status))]
    done = ask(*servers, count=100, max_tries=1)
    assert done.summary.outcomes == {"answered": 100}
    assert done.states == ["up", "left out"]
    (told,) = done.told
    assert told.startswith("http://server1/v1 is left out") and f"HTTP {status}" in told
    assert len(servers[1].asked) == 1


def test_endpoints_that_all_refuse_the_key_end_the_run() -> None:
    servers = [Server(behaviour=always("401")), Server(behaviour=always("401"))]
    assert "refused the key (HTTP 401)" in stopped(*servers)
    assert sum(len(server.asked) for server in servers) == 2


def test_a_key_that_expires_drains_an_endpoint_that_may_come_back() -> None:
    servers = [Server(), Server(behaviour=between(5, 15, "401"))]
    done = ask(*servers, count=600, max_tries=1)
    assert done.summary.outcomes == {"answered": 600}
    assert done.states == ["up", "up"] and done.facts[1]["times_down"] == 1


def test_an_endpoint_that_refuses_what_another_answers_is_left_out() -> None:
    servers = [Server(), Server(behaviour=always("400"))]
    done = ask(*servers, count=200)
    assert done.summary.outcomes == {"answered": 200}
    assert done.states == ["up", "left out"]
    assert UNCONFIRMED <= len(servers[1].asked) <= UNCONFIRMED + 1
    assert "refuses requests that another endpoint answers" in done.told[0]


def test_a_down_endpoint_that_comes_back_may_serve_alone() -> None:
    """One is left out, the other one dies for a while: its requests wait for it, as for a single endpoint."""
    servers = [Server(behaviour=between(3, 8, "refused")), Server(behaviour=always("401"))]
    done = ask(*servers, count=200, max_tries=30)
    assert done.summary.outcomes == {"answered": 200}


def test_endpoints_with_a_rate_limit_lose_no_request_and_are_used_together() -> None:
    endpoints = [PerMinute(30), PerMinute(60)]
    done = ask(*endpoints, count=900)
    assert done.summary.outcomes == {"answered": 900}
    assert endpoints[0].answered > 200 and endpoints[1].answered > 400
    assert done.seconds <= 13 * 60
    assert sum(endpoint.refused for endpoint in endpoints) < 900


def test_a_429_goes_to_another_endpoint_without_a_wait() -> None:
    servers = [Server(), Server(behaviour=always("429"))]
    done = ask(*servers, count=50, max_tries=1)
    assert done.summary.outcomes == {"answered": 50}
    assert done.seconds < 15


def test_attempts_and_announcements_say_which_endpoint_it_is() -> None:
    servers = [Server(), Server(behaviour=between(0, 2, "500"))]
    done = ask(*servers, count=60)
    assert set(done.meter.announced) == {"http://server0/v1", "http://server1/v1"}
    assert len(done.meter.announced) == len(done.meter.attempts)
    by_endpoint = Counter(attempt.endpoint for attempt in done.meter.attempts)
    assert by_endpoint["http://server1/v1"] == len(servers[1].asked)
    again = {item for item, attempts in done.tries.items() if attempts > 1}
    assert again == {item for time, item in servers[1].asked if time < 2}


def test_what_waits_is_not_sent_when_the_run_is_halted() -> None:
    async def main() -> tuple[int, list[Any], int]:
        servers = [Server(1, 5.0), Server(1, 5.0)]
        options = ModelOptions(api_base="http://a/v1,http://b/v1")
        queue = EndpointQueue(options.endpoints, clock=asyncio.get_running_loop().time)
        pool, halt = EndpointPool("m", options, transports=servers, queue=queue), Halt()
        with halt.rules():
            tasks = [asyncio.create_task(pool.complete(ChatRequest([]))) for _ in range(6)]
        await asyncio.sleep(1)
        halted = halt.call()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        in_flight = sum(endpoint.limiter.in_flight for endpoint in queue.endpoints)
        return halted, [getattr(one, "outcome", "answered") for one in done], in_flight

    halted, outcomes, in_flight = run(main())
    assert halted == 4 and in_flight == 0
    assert Counter(outcomes) == {"answered": 2, "not run": 4}


def test_a_cancelled_request_gives_its_place_back() -> None:
    async def main() -> tuple[int, int]:
        servers = [Server(1, 5.0), Server(1, 5.0)]
        options = ModelOptions(api_base="http://a/v1,http://b/v1")
        queue = EndpointQueue(options.endpoints, clock=asyncio.get_running_loop().time)
        pool = EndpointPool("m", options, transports=servers, queue=queue)
        tasks = [asyncio.create_task(pool.complete(ChatRequest([]))) for _ in range(20)]
        await asyncio.sleep(1)
        for task in tasks[:10]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        answered = sum(len(server.answered) for server in servers)
        return answered, sum(len(endpoint.turns) + endpoint.limiter.in_flight for endpoint in queue.endpoints)

    assert run(main()) == (10, 0)


def test_the_meter_may_forbid_an_attempt() -> None:
    class Spent(Meter):
        def before(self, model: str, request: ChatRequest) -> None:
            raise ModelError("the budget is spent", outcome="budget stop", stops_run=True)

    async def main() -> tuple[ModelError, int]:
        options = ModelOptions(api_base="http://a/v1,http://b/v1")
        queue = EndpointQueue(options.endpoints, clock=asyncio.get_running_loop().time)
        pool = EndpointPool("m", options, Spent(), transports=[Server(), Server()], queue=queue)
        with pytest.raises(ModelError) as caught:
            await pool.complete(ChatRequest([]))
        return caught.value, sum(endpoint.limiter.in_flight for endpoint in queue.endpoints)

    error, in_flight = run(main())
    assert error.outcome == "budget stop" and in_flight == 0


def test_two_models_of_a_run_share_the_queue_and_a_model_that_is_missing_at_one_does_not() -> None:
    async def main() -> list[list[str]]:
        options = ModelOptions(api_base="http://a/v1,http://b/v1")
        queue = EndpointQueue(options.endpoints, clock=asyncio.get_running_loop().time)
        here, there = Server(2, 0.5), Server(2, 0.5)
        missing = Server(behaviour=always("404"))
        one = EndpointPool("one", options, transports=[here, there], queue=queue)
        two = EndpointPool("two", options, transports=[here, missing], queue=queue)
        asked = [pool.complete(ChatRequest([], item=str(n))) for n in range(60) for pool in (one, two)]
        assert len(await asyncio.gather(*asked)) == 120
        return [[str(facts["state"]) for facts in pool.facts()["endpoints"]] for pool in (one, two)]

    assert run(main()) == [["up", "up"], ["up", "left out"]]


def test_a_list_makes_a_pool_and_one_address_does_not() -> None:
    several = create_model("m", ModelOptions(api_base="http://a/v1,http://b/v1"))
    one = create_model("m", ModelOptions(api_base="http://a/v1"))
    assert isinstance(several, EndpointPool) and not isinstance(one, EndpointPool)
    assert FIRST_PROBE < PROBE_SECONDS
