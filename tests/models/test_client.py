"""A client against a real server: attempts and their books, times, and the end of a run."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.simulated import Books
from toolassay.errors import UsageError
from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.address import Address, VersionPath
from toolassay.models.client import Client
from toolassay.models.concurrency import START, Halt, Limiter, waiting
from toolassay.models.options import ClientName
from toolassay.models.protocol import ToolCall
from toolassay.models.retry import Breaker
from toolassay.runs.budget import Budget
from toolassay.runs.ledger import Ledger
from toolassay.runs.prices import Price
from toolassay.runs.runner import Loop, RunSummary, run_items
from toolassay.testkit import FakeServer

BOTH = pytest.mark.parametrize("client", ["aiohttp", "openai"])


def question(number: int) -> ChatRequest:
    text = f"# REQUEST #\nDo {number}.\n\nNow the JSON object:"
    return ChatRequest([{"role": "user", "content": text}], role="judge", item=str(number))


def ask(
    options: ModelOptions,
    requests: list[ChatRequest],
    *,
    books: Books | None = None,
    workers: int = 1,
    **settings: Any,
) -> dict[str, ChatResponse]:
    """Answers by item."""

    async def run() -> dict[str, ChatResponse]:
        model = Client("m", options, books, **settings)
        answers: dict[str, ChatResponse] = {}
        left = iter(requests)

        async def worker() -> None:
            for request in left:
                assert request.item not in answers
                answers[request.item] = await model.complete(request)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(worker())
        finally:
            await model.close()
        return answers

    return asyncio.run(run())


def options_of(server: FakeServer, client: str = "aiohttp", **settings: Any) -> ModelOptions:
    name: ClientName = "openai" if client == "openai" else "aiohttp"
    return ModelOptions(api_base=server.base, client=name, **settings)


# The timeout leaves a busy machine the time to answer.
def test_every_request_is_answered_through_every_fault(fake_server: FakeServer) -> None:
    chance, faults = random.Random(7), ["429", "500", "reset", "truncated", "hang"]
    kinds = [fault for fault in faults for _ in range(30)] + ["whole"] * 450
    chance.shuffle(kinds)
    fake_server.behaviour = lambda prompt, number: kinds[number] if number < len(kinds) else "whole"
    books = Books()
    requests = [question(number) for number in range(600)]
    options = options_of(fake_server, connections=100, max_tries=20, timeout=2.5)
    answers = ask(options, requests, books=books, workers=100)
    assert len(answers) == 600
    for request in requests:
        assert f"Do {request.item}." in answers[request.item].text
    # The books say what the server's log says.
    assert len(books.attempts) == books.announced == len(fake_server.received) == 750
    seen = Counter(attempt.outcome for attempt in books.attempts)
    assert seen["answered"] == fake_server.kinds.count("whole") == 600
    told = {
        "429": "HTTP 429",
        "500": "HTTP 500",
        "reset": "reset",
        "truncated": "truncated",
        "hang": "timeout",
    }
    assert {kind: seen[outcome] for kind, outcome in told.items()} == dict.fromkeys(faults, 30)
    assert (books.total("prompt_tokens"), books.total("completion_tokens")) == fake_server.whole_tokens
    assert sum(answer.attempts for answer in answers.values()) == 750


def test_what_the_books_say_of_one_request(fake_server: FakeServer) -> None:
    books = Books()
    fake_server.fail_first("500", "null-content", "whole")
    (answer,) = ask(options_of(fake_server), [question(5)], books=books).values()
    assert answer.attempts == 3
    assert answer.seconds is not None
    first, second, third = books.attempts
    assert [(a.model, a.role, a.item) for a in books.attempts] == [("m", "judge", "5")] * 3
    assert [a.number for a in books.attempts] == [1, 2, 3]
    assert [a.outcome for a in books.attempts] == ["HTTP 500", "null content", "answered"]
    assert [a.status for a in books.attempts] == [500, None, 200]
    assert first.prompt_tokens is None
    assert second.prompt_tokens == third.prompt_tokens == len(fake_server.received[0].prompt)
    assert third.seconds is not None and third.seconds > 0


def test_a_meter_forbids_an_attempt(fake_server: FakeServer) -> None:
    fake_server.behaviour = lambda prompt, number: "500"
    books = Books(allowed=2)
    limiter = Limiter(1)
    with pytest.raises(ExceptionGroup) as caught:
        ask(options_of(fake_server), [question(1)], books=books, limiter=limiter)
    (error,) = caught.value.exceptions
    assert isinstance(error, ModelError)
    assert error.outcome == "budget stop"
    assert len(fake_server.received) == len(books.attempts) == 2
    assert limiter.in_flight == 0


@pytest.mark.parametrize("budget", [Budget(requests=300), Budget(tokens=60_000), Budget(cost=0.6)])
def test_two_hundred_in_flight_never_overstep_a_limit(
    fake_server: FakeServer, tmp_path: Path, budget: Budget
) -> None:
    chance = random.Random(5)
    faults = ["500", "reset", "truncated", *["whole"] * 7]
    fake_server.behaviour = lambda prompt, number: chance.choice(faults) if number else "whole"
    prices = {"m": Price(10, 10, "2026-01-01")}  # dollars are tokens, by a hundred thousand

    async def run() -> RunSummary:
        with Ledger(tmp_path / "ledger.jsonl", prices=prices, budget=budget) as ledger:
            model = Client("m", options_of(fake_server, connections=200), ledger)

            async def work(number: int) -> str:
                await model.complete(replace(question(number), parameters={"max_tokens": 400}))
                return "answered"

            # The first says how long a token is.
            await run_items(range(1000, 1001), work, Loop(concurrency=1))
            summary = await run_items(range(1001, 3000), work, Loop(concurrency=200))
            await model.close()
            return summary

    for _ in range(2):
        summary = asyncio.run(run())
        assert summary.stop is not None
        assert summary.outcomes.total() == 1999
        assert len(fake_server.received) <= 300 or budget.requests is None
        assert sum(fake_server.whole_tokens) <= 60_000 or budget.requests is not None
    assert len(fake_server.received) > 100


def test_a_request_given_up_is_in_the_books(fake_server: FakeServer) -> None:
    fake_server.behaviour = lambda prompt, number: "hold"
    books, limiter = Books(), Limiter(1)

    async def run() -> None:
        model = Client("m", options_of(fake_server), books, limiter=limiter)
        task = asyncio.create_task(model.complete(question(1)))
        await asyncio.to_thread(fake_server.wait_for, 1)
        task.cancel()
        await asyncio.wait([task])
        await model.close()

    asyncio.run(run())
    assert [attempt.outcome for attempt in books.attempts] == ["cancelled"]
    assert limiter.in_flight == 0


@BOTH
@pytest.mark.parametrize(
    ("kind", "text", "reason", "refused"),
    [
        ("declined", "I will not.", "stop", True),
        ("filtered", "", "content_filter", True),
        ("thought", "", "length", False),
    ],
)
def test_a_refusal_and_a_cut_answer_are_kept(
    fake_server: FakeServer, client: str, kind: str, text: str, reason: str, refused: bool
) -> None:
    fake_server.behaviour = lambda prompt, number: kind
    books = Books()
    (answer,) = ask(options_of(fake_server, client), [question(1)], books=books).values()
    assert (answer.text, answer.finish_reason, answer.refused) == (text, reason, refused)
    assert [a.outcome for a in books.attempts] == ["refused" if refused else "answered"]


@BOTH
def test_a_stream_shows_the_time_to_the_first_token(fake_server: FakeServer, client: str) -> None:
    options = options_of(fake_server, client)
    books = Books()
    (whole,) = ask(options, [question(1)]).values()
    (streamed,) = ask(replace(options, stream=True), [question(1)], books=books).values()
    assert streamed.text == whole.text
    assert (streamed.finish_reason, streamed.prompt_tokens, streamed.completion_tokens) == (
        whole.finish_reason,
        whole.prompt_tokens,
        whole.completion_tokens,
    )
    assert fake_server.received[1].body["stream_options"] == {"include_usage": True}
    assert streamed.seconds is not None
    assert streamed.first_token_seconds is not None
    assert 0 < streamed.first_token_seconds <= streamed.seconds
    assert books.attempts[0].first_token_seconds == streamed.first_token_seconds


@BOTH
def test_extra_headers_are_sent_and_never_shown(fake_server: FakeServer, client: str) -> None:
    options = options_of(
        fake_server, client, extra_headers={"Authorization": "Bearer PLANTED-1", "X-Team": "a"}
    )
    ask(options, [question(1)])
    headers = {name.lower(): value for name, value in fake_server.received[0].headers.items()}
    assert (headers["authorization"], headers["x-team"]) == ("Bearer PLANTED-1", "a")
    assert "PLANTED" not in repr(options)
    fake_server.behaviour = lambda prompt, number: "401"
    with pytest.raises(ExceptionGroup) as caught:
        ask(options, [question(2)])
    assert "PLANTED" not in str(caught.value.exceptions[0])
    assert "***" in str(caught.value.exceptions[0])


def test_a_wrong_key_costs_one_request(fake_server: FakeServer) -> None:
    fake_server.behaviour = lambda prompt, number: "401"
    with pytest.raises(ExceptionGroup):
        ask(options_of(fake_server), [question(number) for number in range(500)], workers=100)
    assert len(fake_server.received) == 1


@pytest.mark.parametrize(("first", "stops"), [((), True), (("whole",), False)])
def test_a_403_is_about_everything_until_something_was_answered(
    fake_server: FakeServer, first: tuple[str, ...], stops: bool
) -> None:
    fake_server.behaviour = lambda prompt, number: first[number] if number < len(first) else "403"
    with pytest.raises(ExceptionGroup) as caught:
        ask(options_of(fake_server), [question(number) for number in range(2)])
    (error,) = caught.value.exceptions
    assert isinstance(error, ModelError)
    assert error.stops_run is stops


def test_a_server_that_died_ends_the_run_in_one_line(fake_server: FakeServer) -> None:
    async def run() -> ModelError:
        breaker = Breaker(failures=20, seconds=0)
        model = Client("m", options_of(fake_server, max_tries=1000), breaker=breaker)
        await model.complete(question(1))
        await asyncio.to_thread(fake_server.stop)
        with pytest.raises(ModelError) as caught:
            await model.complete(question(2))
        await model.close()
        return caught.value

    error = asyncio.run(run())
    assert error.stops_run
    assert "the server is down" in str(error)
    assert "the same command continues" in str(error)
    assert "\n" not in str(error)


def test_facts_for_the_manifest(fake_server: FakeServer) -> None:
    async def run(connections: int | None) -> Any:
        model = Client("m", options_of(fake_server, connections=connections))
        await model.complete(question(1))
        await model.close()
        return model.facts()

    assert asyncio.run(run(3)) == {"concurrency": 3, "limits": [[0.0, 3, "start"]]}
    facts = asyncio.run(run(None))
    assert facts["concurrency"] == "adaptive"
    assert [limit for _, limit, _ in facts["limits"]] == [1, START]


def test_an_azure_address_with_a_login_and_a_query(
    fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fake_server.base.removesuffix("/v1")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "AZURE-SECRET")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{place.replace('//', '//me:LOGIN-SECRET@')}?t=QUERY-SECRET")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    options = ModelOptions(client="openai")
    fake_server.behaviour = lambda prompt, number: "400-echo"
    with pytest.raises(ExceptionGroup) as caught:
        ask(options, [question(1)])
    said = str(caught.value.exceptions[0])
    (received,) = fake_server.received
    assert "t=QUERY-SECRET" in received.query and "api-version=2024-10-21" in received.query
    assert received.headers["Authorization"].startswith("Basic ")
    assert "HTTP 400" in said and "SECRET" not in said
    assert received.headers["Authorization"].removeprefix("Basic ") not in said
    assert received.headers["api-key"] == "AZURE-SECRET"
    assert options.endpoint == f"{place}?t=***".replace("//", "//***@")
    monkeypatch.delenv("OPENAI_API_VERSION")
    with pytest.raises(UsageError, match="API version"):
        Client("m", ModelOptions(client="openai"))


class EchoesKey:
    """A transport whose answers, text and calls, repeat a key."""

    def __init__(self, key: str) -> None:
        self._key = key

    async def send(self, request: ChatRequest) -> ChatResponse:
        call = ToolCall("c1", "login", f'{{"key": "{self._key}"}}')
        return ChatResponse(f"Your key is {self._key}", tool_calls=(call,), reasoning=f"It is {self._key}")

    async def close(self) -> None:
        pass


def test_a_key_is_taken_out_of_what_a_model_wants_called() -> None:
    key = "sk-0123456789-abcdef"
    options = ModelOptions(api_base="http://nowhere/calls", api_key=key)
    (answer,) = ask(options, [question(1)], transport=EchoesKey(key)).values()
    assert (answer.text, answer.reasoning) == ("Your key is ***", "It is ***")
    assert answer.tool_calls == (ToolCall("c1", "login", '{"key": "***"}'),)


def test_the_meter_gets_what_is_sent(fake_server: FakeServer) -> None:
    fake_server.refused_parameters = {"top_p": {"message": "no"}}
    heard: list[Any] = []

    class Listening(Books):
        def before(self, model: str, request: ChatRequest) -> None:
            heard.append(request.parameters)

    options = options_of(fake_server, extra_body={"top_k": 4, "max_tokens": 9})
    ask(options, [replace(question(1), parameters={"max_tokens": 5, "top_p": 1})], books=Listening())
    renamed = {"max_completion_tokens": 9, "top_p": 1, "top_k": 4}
    assert heard == [{"max_tokens": 9, "top_p": 1, "top_k": 4}, renamed, {"max_tokens": 9, "top_k": 4}]


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_that_a_content_filter_stops_is_refused(
    fake_server: FakeServer, client: ClientName, *, stream: bool
) -> None:
    fake_server.behaviour = lambda prompt, number: "400-filter"
    books = Books()
    options = ModelOptions(api_base=fake_server.base, client=client, stream=stream)
    answer = ask(options, [question(0)], books=books)["0"]
    assert answer.refused and answer.finish_reason == "content_filter"
    assert "stopped by the content filter" in answer.text
    (attempt,) = books.attempts
    assert (attempt.outcome, attempt.status, attempt.prompt_tokens) == ("refused", 400, None)
    assert attempt.unbilled


@BOTH
@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (3, []),
        (3600, ["the server asks to wait 3600 s before the next attempt (HTTP 429); waiting 600 s"]),
    ],
)
def test_a_long_wait_requested_by_the_server_is_reported_once(
    fake_server: FakeServer, client: ClientName, seconds: float, told: list[str]
) -> None:
    fake_server.retry_after = seconds
    fake_server.fail_first("429", "429", "429")
    heard: list[str] = []
    options = ModelOptions(api_base=fake_server.base, client=client, tell=heard.append)
    assert len(ask(options, [question(0), question(1)])) == 2
    assert heard == told


@BOTH
@pytest.mark.parametrize("end", ["/chat/completions/", "/chat/completions?key=abc"])
def test_an_address_that_ends_in_the_path_of_a_request_is_taken_without_it(
    fake_server: FakeServer, client: ClientName, end: str
) -> None:
    options = ModelOptions(api_base=fake_server.base + end, client=client)
    assert options.names_a_request and options.endpoint.partition("?")[0] == fake_server.base
    assert ask(options, [question(0)])
    (received,) = fake_server.received
    assert received.path == "/v1/chat/completions" and ("key" in end) == (received.query == "key=abc")


@BOTH
@pytest.mark.parametrize("connections", [None, 4])
def test_an_address_without_v1_is_tried_with_it_and_kept(
    fake_server: FakeServer, client: ClientName, connections: int | None
) -> None:
    told: list[str] = []
    base = fake_server.base.removesuffix("/v1")
    options = ModelOptions(api_base=base, client=client, connections=connections)
    options = replace(options, version_path=VersionPath(options.address, on_change=told.append))
    books = Books()
    assert len(ask(options, [question(n) for n in range(20)], books=books, workers=4)) == 20
    assert told == ["/v1"] and options.shown_url == f"{base}/v1/chat/completions"
    lost = Counter(attempt.outcome for attempt in books.attempts)["HTTP 404"]
    assert 1 <= lost <= (connections or 1)


@BOTH
def test_where_v1_is_no_better_the_first_address_is_named(
    fake_server: FakeServer, client: ClientName
) -> None:
    base = fake_server.base.removesuffix("/v1") + "/elsewhere"
    books = Books()
    with pytest.raises(ExceptionGroup) as caught:
        ask(ModelOptions(api_base=base, client=client), [question(0)], books=books)
    (error,) = caught.value.exceptions
    assert isinstance(error, ModelError) and error.stops_run
    assert "/***/chat/completions" in str(error) and "(also tried under /v1)" in str(error)
    assert [attempt.outcome for attempt in books.attempts] == ["HTTP 404"] * 2


@BOTH
def test_an_address_that_says_a_version_or_has_answered_is_not_changed(
    fake_server: FakeServer, client: ClientName
) -> None:
    fake_server.behaviour = lambda prompt, number: "404"
    with pytest.raises(ExceptionGroup):
        ask(ModelOptions(api_base=fake_server.base, client=client), [question(0)])
    assert len(fake_server.received) == 1
    paths = VersionPath(Address.of("http://host"))
    assert not paths.learn("", 200) and not paths.learn("", 404) and paths.path == ""


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
