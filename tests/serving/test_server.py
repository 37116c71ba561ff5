"""The server as its clients see it: over a real connection, some of them broken."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

import aiohttp
import pytest

from toolassay.serving.chat_server import ChatServer
from toolassay.serving.faults import KINDS
from toolassay.serving.offline_answers import DONE, WHAT_IT_KNOWS, OfflineAnswers
from toolassay.testkit import FakeServer

HELLO = [{"role": "user", "content": "Hello!"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather forecast of a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "the city"},
                "days": {"type": "integer", "description": "the number of days"},
            },
        },
    },
}


async def post(server: ChatServer, body: Any, path: str = "/chat/completions") -> tuple[int, str, str]:
    """Status, content type and text."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with aiohttp.ClientSession() as session, session.post(server.base + path, data=data) as response:
        return response.status, response.content_type, await response.text()


async def get(server: ChatServer, path: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(server.base + path) as response:
        return response.status, await response.json()


async def answer(fake_server: FakeServer, **more: Any) -> Any:
    status, _, text = await post(fake_server, {"model": "any/name", "messages": HELLO, **more})
    assert status == 200, text
    return json.loads(text)


@pytest.fixture
def offline_server() -> Any:
    server = FakeServer(OfflineAnswers())
    server.start()
    yield server
    server.stop()


async def test_a_chat_completion(fake_server: FakeServer) -> None:
    fake_server.characters_per_token = 4
    whole = await answer(fake_server)
    assert whole["object"] == "chat.completion"
    assert whole["model"] == "any/name"
    (choice,) = whole["choices"]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["role"] == "assistant"
    usage = whole["usage"]
    assert usage["prompt_tokens"] == 2  # six characters, four a token
    assert usage["total_tokens"] == 2 + usage["completion_tokens"]


@pytest.mark.parametrize(
    "body",
    [
        *(b"{", b"\xff", b"[]", {}, {"messages": []}, {"messages": "hi"}, {"messages": ["hi"]}),
        *(b'{"messages": [{}], "seed": ' + number + b"}" for number in (b"9" * 400, b"NaN", b"-1e999")),
    ],
)
async def test_an_unreadable_request_is_reported(fake_server: FakeServer, body: Any) -> None:
    status, _, text = await post(fake_server, body)
    assert status == 400
    assert json.loads(text)["error"]["type"] == "invalid_request_error"
    assert not fake_server.received


async def test_pages_of_other_sites_reach_nothing(fake_server: FakeServer) -> None:
    own, port = f"127.0.0.1:{fake_server.port}", fake_server.port
    cases = [
        ({"Host": "evil.example"}, 403),
        ({"Host": f"evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": f"127.0.0.1:{port + 1}"}, 403),
        ({"Host": f"127.0.0.1.evil.example:{port}"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": f"https://{own}"}, 403),
        ({"Host": f"LocalHost:{port}"}, 200),
        ({"Host": f"[::1]:{port}"}, 200),
        ({"Origin": f"http://{own}"}, 200),
        ({}, 200),
    ]
    form = {"purpose": "batch", "file": b"{}"}
    async with aiohttp.ClientSession() as session:
        for headers, status in cases:
            async with session.get(f"{fake_server.base}/models", headers=headers) as response:
                assert (response.status, "error" in await response.json()) == (status, status != 200), headers
            data = aiohttp.FormData()
            data.add_field("purpose", form["purpose"])
            data.add_field("file", form["file"], filename="a")
            async with session.post(f"{fake_server.base}/files", data=data, headers=headers) as response:
                assert response.status == status, headers
    assert len(fake_server.batches.files) == sum(status == 200 for _, status in cases)


async def test_what_is_held_is_bounded(fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"{}"

    async def send(**settings: Any) -> int:
        url = f"{fake_server.base}/chat/completions"
        async with aiohttp.ClientSession() as session, session.post(url, **settings) as response:
            assert (await response.json())["error"]["message"]
            return response.status

    assert await send(data=chunks()) == 411
    assert await send(data=b"{}", headers={"Content-Encoding": "gzip"}) == 411
    monkeypatch.setattr(fake_server, "_biggest", 100)
    assert await send(data=b" " * 101) == 413
    monkeypatch.setattr("toolassay.serving.loopback._MOST_BYTES", 100)
    fake_server.behaviour = lambda prompt, number: "hold"
    held = asyncio.create_task(answer(fake_server))
    await asyncio.to_thread(fake_server.wait_for, 1)
    assert await send(data=b" " * 60) == 429
    monkeypatch.setattr("toolassay.serving.loopback._MOST_REQUESTS", 1)
    assert await send(data=b"{}") == 429
    fake_server.release()
    assert (await held)["choices"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("hang", "refused")])
@pytest.mark.parametrize("stream", [False, True])
async def test_every_fault_is_met_and_over(fake_server: FakeServer, kind: str, stream: bool) -> None:
    """Once the fault, then the answer; what the fault is, on the wire."""
    fake_server.fail_first(kind)
    body = {"messages": HELLO, "stream": stream}
    outcome: Any
    try:
        outcome, _, _ = await post(fake_server, body)
    except aiohttp.ClientPayloadError:
        outcome = "truncated"
    except aiohttp.ClientConnectionError:
        outcome = "reset"
    except aiohttp.ClientResponseError:
        outcome = "garbage"
    expected = {"overflow": 400, "reset": "reset", "truncated": "truncated", "garbage": "garbage"}
    expected |= {kind: int(kind[:3]) for kind in KINDS if kind[:3].isdecimal()}
    assert outcome == expected.get(kind, 200)
    assert (await answer(fake_server))["choices"][0]["message"]["content"]
    assert fake_server.kinds == [kind, "whole"]
    assert fake_server.faulty == 1


async def test_a_hanging_server_says_nothing(fake_server: FakeServer) -> None:
    fake_server.fail_first("hang")
    fake_server.release()
    task = asyncio.create_task(post(fake_server, {"messages": HELLO}))
    await asyncio.to_thread(fake_server.wait_for, 1)
    await answer(fake_server)
    assert not task.done()
    task.cancel()


async def test_more_requests_than_its_capacity(fake_server: FakeServer) -> None:
    fake_server.capacity = 1
    fake_server.fail_first("hold")
    held = asyncio.create_task(post(fake_server, {"messages": HELLO}))
    await asyncio.to_thread(fake_server.wait_for, 1)
    assert (await post(fake_server, {"messages": HELLO}))[0] == 429
    fake_server.release()
    assert (await held)[0] == 200
    assert fake_server.kinds == ["hold", "429-bare"]


async def test_a_client_that_hangs_up_makes_room(fake_server: FakeServer) -> None:
    fake_server.capacity = 1
    fake_server.fail_first("hang")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(post(fake_server, {"messages": HELLO}), 0.2)
    while (await post(fake_server, {"messages": HELLO}))[0] == 429:  # until the server has noticed
        pass


async def refused(server: ChatServer) -> bool:
    try:
        await get(server, "/models")
    except aiohttp.ClientConnectorError:
        return True
    return False


async def test_a_server_that_restarts(fake_server: FakeServer) -> None:
    fake_server.outage = 1e6
    fake_server.fail_first("refused")
    with pytest.raises(aiohttp.ClientConnectionError):
        await post(fake_server, {"messages": HELLO})
    assert await refused(fake_server)
    fake_server.come_back()
    assert not await refused(fake_server)
    fake_server.go_away()
    assert await refused(fake_server)


async def test_the_sdk(offline_server: FakeServer) -> None:
    openai = import_module("openai")  # typed as Any: the requests here are plain dicts

    async with openai.AsyncOpenAI(base_url=offline_server.base, api_key="none", max_retries=0) as client:
        assert [model.id async for model in client.models.list()] == ["offline"]
        whole = await client.chat.completions.create(model="m", messages=HELLO)
        assert whole.choices[0].message.content == WHAT_IT_KNOWS
        stream = await client.chat.completions.create(
            model="m", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        assert (
            "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
            == WHAT_IT_KNOWS
        )
        assert chunks[-1].usage == whole.usage
        stream = await client.chat.completions.create(model="m", messages=HELLO, stream=True)
        assert all(chunk.usage is None for chunk in [chunk async for chunk in stream])
        with pytest.raises(openai.BadRequestError, match="messages"):
            await client.chat.completions.create(model="m", messages=[])


@pytest.mark.parametrize("stream", [False, True])
async def test_an_agent_loop_of_the_sdk(offline_server: FakeServer, stream: bool) -> None:
    openai = import_module("openai")  # typed as Any: the requests here are plain dicts

    messages: list[Any] = [{"role": "user", "content": "What is the weather in Oslo for the next 3 days?"}]
    async with openai.AsyncOpenAI(base_url=offline_server.base, api_key="none") as client:
        if stream:
            events = await client.chat.completions.create(
                model="m", messages=messages, tools=[WEATHER], stream=True
            )
            choices = [event.choices[0] async for event in events]
            (call,) = [call for choice in choices for call in choice.delta.tool_calls or []]
            assert choices[-1].finish_reason == "tool_calls"
            assert call.index == 0
        else:
            whole = await client.chat.completions.create(model="m", messages=messages, tools=[WEATHER])
            (call,) = whole.choices[0].message.tool_calls
            assert whole.choices[0].finish_reason == "tool_calls"
            assert whole.choices[0].message.content is None
            assert whole.usage.completion_tokens > 0
        assert call.function.name == "get_weather"
        assert json.loads(call.function.arguments) == {"city": "Oslo", "days": 3}
        said = {"id": call.id, "type": "function", "function": call.function.model_dump()}
        messages += [
            {"role": "assistant", "tool_calls": [said]},
            {"role": "tool", "tool_call_id": call.id, "content": "rain"},
        ]
        end = await client.chat.completions.create(model="m", messages=messages, tools=[WEATHER])
        assert end.choices[0].message.content == DONE
        assert end.choices[0].finish_reason == "stop"
