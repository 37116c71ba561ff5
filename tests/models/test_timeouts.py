"""When an attempt ends: silence, the total, and the caller's own limit, over both clients."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from raw_server import STREAM_HEAD, Answer, RawServer, chunk, completion, delta, event, whole

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.options import ClientName

QUESTION = [{"role": "user", "content": "hello"}]
DONE = event("[DONE]")


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


async def stalled(writer: asyncio.StreamWriter, number: int) -> None:
    writer.write(STREAM_HEAD + chunk(event(delta("so "))))
    await writer.drain()
    await asyncio.sleep(30)


ENDLESS = trickling(event(delta("so ")), 300, END)


@pytest.mark.parametrize(
    ("answer", "limits", "own", "kind", "words"),
    [
        (stalled, {"max_tries": 1, "timeout": 0.2}, None, "timeout", "no byte for 0.2 s (--timeout)"),
        (ENDLESS, {"max_tries": 1, "total_timeout": 0.3}, None, "timeout", "0.3 s (--total_timeout)"),
        (silent, {"max_tries": 1, "total_timeout": 0.2}, 60.0, "timeout", "0.2 s (--total_timeout)"),
        (silent, {}, 0.3, "time limit", "no answer within its limit of 0.3 s"),
        (ENDLESS, {}, 0.3, "time limit", "no answer within its limit of 0.3 s"),
    ],
)
async def test_each_limit_ends_an_attempt_and_the_callers_own_is_not_tried_again(
    client: ClientName, answer: Answer, limits: dict[str, Any], own: float | None, kind: str, words: str
) -> None:
    async with RawServer(answer) as server:
        options = ModelOptions(api_base=server.base, client=client, stream=True, **limits)
        with pytest.raises(ModelError) as caught:
            await ask(ChatRequest(QUESTION, timeout=own), options)
        assert len(server.heads) == 1
    assert (caught.value.kind, caught.value.transient) == (kind, kind == "timeout")
    assert str(caught.value).startswith("timed out: ") and str(caught.value).endswith(words)
