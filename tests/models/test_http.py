from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import pytest

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.address import Address
from toolassay.models.client import Client
from toolassay.models.options import MAX_TRIES, ClientName
from toolassay.models.retry import MAX_IDENTICAL
from toolassay.testkit import FakeServer

REQUEST = ChatRequest(
    [{"role": "user", "content": "# REQUEST #\nHello\n\nNow the JSON object:"}],
    {"temperature": 0.5, "max_tokens": 7},
    timeout=20,
)
TRANSIENT = ["429", "reset", "truncated", "null-content", "empty-choices"]


chosen: ClientName = "aiohttp"


@pytest.fixture(params=["aiohttp", "openai"], autouse=True)
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ClientName:
    """Every test of this file runs over both transports."""
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    name: ClientName = request.param
    monkeypatch.setattr("test_http.chosen", name)
    return name


def made(options: ModelOptions) -> Client:
    return Client("acme/model", replace(options, client=chosen))


def ask(options: ModelOptions, *requests: ChatRequest) -> list[ChatResponse]:
    async def run() -> list[ChatResponse]:
        model = made(options)
        try:
            return [await model.complete(request) for request in requests or (REQUEST,)]
        finally:
            await model.close()

    return asyncio.run(run())


def failure(options: ModelOptions, *requests: ChatRequest) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(options, *requests)
    return caught.value


def test_what_is_sent_and_what_comes_back(fake_server: FakeServer) -> None:
    options = ModelOptions(
        api_base=fake_server.base + "/", api_key="SECRET\n", extra_body={"top_k": 3, "max_tokens": 9}
    )
    (answer,) = ask(options)
    (received,) = fake_server.received
    assert received.path == "/v1/chat/completions"
    assert received.headers["Authorization"] == "Bearer SECRET"
    assert received.body == {
        "model": "acme/model",
        "messages": list(REQUEST.messages),
        "temperature": 0.5,
        "max_tokens": 9,
        "top_k": 3,
    }
    assert answer.finish_reason == "stop"
    assert answer.prompt_tokens == len(received.prompt)
    assert answer.completion_tokens == len(answer.text)


def test_no_key_no_authorization_header(fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ask(ModelOptions(api_base=fake_server.base))
    assert "Authorization" not in fake_server.received[0].headers


@pytest.mark.parametrize("fault", TRANSIENT)
def test_tries_end(fake_server: FakeServer, fault: str) -> None:
    fake_server.behaviour = lambda prompt, number: fault
    error = failure(ModelOptions(api_base=fake_server.base))
    assert error.kind == (f"HTTP {fault}" if fault.isdecimal() else fault.replace("-", " "))
    assert len(fake_server.received) == (MAX_TRIES if fault == "429" else MAX_IDENTICAL)
    assert error.outcome == "provider error"
    assert error.transient
    assert not error.stops_run
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("fault", "outcome", "stops"),
    [
        ("401", "provider error", True),
        ("404", "provider error", True),
        ("400", "provider error", False),
        ("overflow", "context overflow", False),
        ("413", "context overflow", False),
    ],
)
def test_a_refusal_is_tried_again_in_other_forms_only(
    fake_server: FakeServer, fault: str, outcome: str, stops: bool
) -> None:
    fake_server.behaviour = lambda prompt, number: fault
    error = failure(ModelOptions(api_base=fake_server.base))
    assert len(fake_server.received) == (4 if fault == "400" else 1)  # two defaults, in all combinations
    assert (error.outcome, error.stops_run) == (outcome, stops)


@pytest.mark.parametrize(
    "base",
    [
        *("http://localhost:99999/v1", "http://[::1/v1", "no address", "http:///v1", "ftp://localhost/v1"),
        "127.0.0.1:4711/v1",
    ],
)
def test_a_wrong_address_stops_the_run_in_words(base: str) -> None:
    error = failure(ModelOptions(api_base=base))
    assert error.stops_run
    assert not error.transient
    assert str(error).count(f"{Address.of(base).shown}/") == 1
    assert "http(s)://" in str(error) or " " in base


@pytest.mark.parametrize("first", ["whole", "400"])
def test_a_server_that_goes_away_later_is_waited_for(fake_server: FakeServer, first: str) -> None:
    async def run() -> ModelError:
        model = made(ModelOptions(api_base=fake_server.base))
        with contextlib.suppress(ModelError):
            await model.complete(REQUEST)
        await asyncio.to_thread(fake_server.stop)
        with pytest.raises(ModelError) as caught:
            await model.complete(REQUEST)
        await model.close()
        return caught.value

    fake_server.fail_first(first)
    error = asyncio.run(run())
    assert error.transient
    assert not error.stops_run
