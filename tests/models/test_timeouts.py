"""When an attempt ends: silence, the total, and the caller's own limit, over both clients."""

from __future__ import annotations

import asyncio

import pytest
from raw_server import STREAM_HEAD, Answer, RawServer, chunk, completion, delta, event, whole

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.options import ClientName

QUESTION = [{"role": "user", "content": "hello"}]
DONE = event("[DONE]")


@pytest.fixture(params=["aiohttp", "openai"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ClientName:
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    name: ClientName = request.param
    return name


async def ask(request: ChatRequest, options: ModelOptions) -> ChatResponse:
    model = Client("m", options)
    try:
        return await model.complete(request)
    finally:
        await model.close()


def trickling(piece: bytes, count: int, end: bytes) -> Answer:
    """A stream that sends a piece each 0.1 s."""

    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(STREAM_HEAD)
        for _ in range(count):
            writer.write(chunk(piece))
            await writer.drain()
            await asyncio.sleep(0.1)
        writer.write(chunk(end) + chunk(b""))

    return answer


async def silent(writer: asyncio.StreamWriter, number: int) -> None:
    await asyncio.sleep(30)


async def silent_once(writer: asyncio.StreamWriter, number: int) -> None:
    if number == 0:
        await asyncio.sleep(30)
    writer.write(whole(completion()))


END = event(delta("yes", "stop")) + DONE


@pytest.mark.parametrize(
    "piece", [event(delta("so ")), event(delta(None, reasoning_content="hm ")), b": still at work\n\n"]
)
async def test_a_stream_that_goes_on_is_alive(client: ClientName, piece: bytes) -> None:
    async with RawServer(trickling(piece, 12, END)) as server:
        options = ModelOptions(api_base=server.base, client=client, stream=True, max_tries=1, timeout=0.6)
        answer = await ask(ChatRequest(QUESTION), options)
    assert answer.text.endswith("yes")
    assert answer.seconds is not None
    assert answer.seconds > 0.6


async def test_silence_ends_an_attempt_and_the_next_is_answered(client: ClientName) -> None:
    async with RawServer(silent_once) as server:
        options = ModelOptions(api_base=server.base, client=client, timeout=0.2)
        answer = await ask(ChatRequest(QUESTION), options)
        assert (answer.text, answer.attempts, len(server.heads)) == ("yes", 2, 2)


async def test_silence_in_the_middle_of_a_stream_ends_it(client: ClientName) -> None:
    async def stall(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(STREAM_HEAD + chunk(event(delta("so "))))
        await writer.drain()
        await asyncio.sleep(30)

    async with RawServer(stall) as server:
        options = ModelOptions(api_base=server.base, client=client, stream=True, max_tries=1, timeout=0.2)
        with pytest.raises(ModelError) as caught:
            await ask(ChatRequest(QUESTION), options)
    assert (caught.value.kind, caught.value.transient) == ("timeout", True)
    assert str(caught.value) == "timed out: no byte for 0.2 s (--timeout)"


async def test_the_total_ends_a_stream_that_goes_on(client: ClientName) -> None:
    async with RawServer(trickling(event(delta("so ")), 300, END)) as server:
        options = ModelOptions(
            api_base=server.base, client=client, stream=True, max_tries=1, total_timeout=0.3
        )
        with pytest.raises(ModelError) as caught:
            await ask(ChatRequest(QUESTION), options)
    assert (caught.value.kind, caught.value.transient) == ("timeout", True)
    assert str(caught.value) == "timed out: no answer within 0.3 s (--total_timeout)"


@pytest.mark.parametrize("answer", [silent, trickling(event(delta("so ")), 300, END)])
async def test_the_callers_own_limit_is_not_tried_again(client: ClientName, answer: Answer) -> None:
    async with RawServer(answer) as server:
        options = ModelOptions(api_base=server.base, client=client, stream=True)
        with pytest.raises(ModelError) as caught:
            await ask(ChatRequest(QUESTION, timeout=0.3), options)
        assert len(server.heads) == 1
    assert (caught.value.kind, caught.value.transient) == ("time limit", False)
    assert str(caught.value) == "timed out: no answer within its limit of 0.3 s"


async def test_an_own_limit_beyond_the_total_changes_nothing(client: ClientName) -> None:
    async with RawServer(silent) as server:
        options = ModelOptions(api_base=server.base, client=client, max_tries=1, total_timeout=0.2)
        with pytest.raises(ModelError) as caught:
            await ask(ChatRequest(QUESTION, timeout=60.0), options)
    assert caught.value.kind == "timeout"
