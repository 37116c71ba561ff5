"""The Batch API of the fake server as OpenAI's SDK uses it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from typing import Any, Literal

import aiohttp
import pytest
from openai import APIStatusError, AsyncOpenAI

from toolassay.serving.batch_service import STEP_FAULTS
from toolassay.testkit import FakeServer

URL: Literal["/v1/chat/completions"] = "/v1/chat/completions"


def line(name: str, **more: Any) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": f"say {name}"}]}
    return {"custom_id": name, "method": "POST", "url": URL, "body": body, **more}


def jsonl(*lines: Any) -> bytes:
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines).encode()


@pytest.fixture
async def sdk(fake_server: FakeServer) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=fake_server.base, api_key="k", max_retries=0) as client:
        yield client


async def create(sdk: AsyncOpenAI, *lines: Any, **metadata: str) -> str:
    file = await sdk.files.create(file=("in.jsonl", jsonl(*lines)), purpose="batch")
    batch = await sdk.batches.create(
        input_file_id=file.id, endpoint=URL, completion_window="24h", metadata=metadata
    )
    assert batch.status == "validating"
    return batch.id


async def ended(sdk: AsyncOpenAI, batch_id: str) -> Any:
    while True:
        batch = await sdk.batches.retrieve(batch_id)
        if batch.status in ("completed", "failed", "expired", "cancelled"):
            return batch
        await asyncio.sleep(0)


async def lines_of(sdk: AsyncOpenAI, file_id: str | None) -> list[dict[str, Any]]:
    if file_id is None:
        return []
    text = (await sdk.files.content(file_id)).text
    return [json.loads(one) for one in text.splitlines()]


async def test_a_batch_from_upload_to_answers(fake_server: FakeServer, sdk: AsyncOpenAI) -> None:
    kinds = {"say b": "500", "say c": "hang", "say d": "filtered"}
    fake_server.behaviour = lambda prompt, number: kinds.get(prompt, "whole")
    batch = await ended(sdk, await create(sdk, *map(line, "abcd"), team="seven"))
    assert (batch.status, batch.metadata, batch.endpoint) == ("completed", {"team": "seven"}, URL)
    counts = batch.request_counts
    assert (counts.total, counts.completed, counts.failed) == (4, 2, 2)
    answers = await lines_of(sdk, batch.output_file_id)
    assert [one["custom_id"] for one in answers] == ["a", "d"]
    assert answers[0]["response"]["status_code"] == 200 and answers[0]["error"] is None
    assert answers[0]["response"]["body"]["object"] == "chat.completion"
    errors = await lines_of(sdk, batch.error_file_id)
    assert errors[0]["response"]["status_code"] == 500 and errors[0]["custom_id"] == "b"
    assert errors[1]["response"] is None and errors[1]["error"]["code"] == "request_timeout"
    assert fake_server.prompts == ["say a", "say b", "say c", "say d"]
    stored = fake_server.batches.files[1].facts
    assert (stored["purpose"], stored["filename"]) == ("batch_output", "batch_1_output.jsonl")


async def test_a_cancelled_batch_keeps_its_answers(fake_server: FakeServer, sdk: AsyncOpenAI) -> None:
    def behaviour(prompt: str, number: int) -> str:
        fake_server.batches.working.clear()
        return "whole"

    fake_server.behaviour = behaviour
    batch_id = await create(sdk, *map(line, "abc"))
    await asyncio.to_thread(fake_server.wait_for, 1)
    assert (await sdk.batches.retrieve(batch_id)).status == "in_progress"
    assert (await sdk.batches.cancel(batch_id)).status == "cancelling"
    batch = await ended(sdk, batch_id)
    assert batch.status == "cancelled" and len(fake_server.received) == 1
    assert {one["error"]["code"] for one in await lines_of(sdk, batch.error_file_id)} == {"batch_cancelled"}
    with pytest.raises(APIStatusError, match="cannot be cancelled"):
        await sdk.batches.cancel(batch_id)


@pytest.mark.parametrize(
    ("lines", "code", "number"),
    [
        ([line("a"), "no JSON"], "invalid_json_line", 2),
        ([line("a"), line("a")], "duplicate_custom_id", 2),
        ([line("a", url="/v1/embeddings")], "invalid_json_line", 1),
        ([line("a", body={"model": "m", "messages": [{}], "stream": True})], "invalid_json_line", 1),
        ([line("a"), line("b", body={"model": "n", "messages": [{}]})], "mismatched_model", None),
        ([], "invalid_request", None),
    ],
)
async def test_a_malformed_input_file_fails(
    fake_server: FakeServer, sdk: AsyncOpenAI, lines: list[Any], code: str, number: int | None
) -> None:
    batch = await ended(sdk, await create(sdk, *lines))
    assert batch.status == "failed" and batch.output_file_id is None
    assert [(one.code, one.line) for one in batch.errors.data] == [(code, number)]
    assert not fake_server.received


@pytest.mark.parametrize("fault", STEP_FAULTS)
async def test_a_fault_comes_before_or_after_the_deed(
    fake_server: FakeServer, sdk: AsyncOpenAI, fault: str
) -> None:
    fake_server.batches.fault = lambda step, number: fault if (step, number) == ("upload", 0) else "whole"
    upload = asyncio.create_task(sdk.files.create(file=("in.jsonl", jsonl(line("a"))), purpose="batch"))
    is_done = fault.endswith("after") or fault == "hold-middle"
    if fault.startswith("hold"):
        await asyncio.to_thread(fake_server.wait_until_held)
        assert bool(fake_server.batches.files) == is_done and not upload.done()
        fake_server.release()
        assert (await upload).id == "file-1"
    else:
        with pytest.raises(Exception, match=r"fault|Connection error"):
            await upload
        assert bool(fake_server.batches.files) == is_done


async def test_batches_in_progress_are_bounded(
    fake_server: FakeServer, sdk: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(work: Awaitable[Any]) -> int:
        with pytest.raises(APIStatusError) as caught:
            await work
        return caught.value.status_code

    module = "toolassay.serving.batch_service"
    file = await sdk.files.create(file=("a.jsonl", jsonl(line("a"))), purpose="batch")
    batch = {"input_file_id": file.id, "endpoint": URL, "completion_window": "24h"}
    monkeypatch.setattr(f"{module}._MOST_AT_ONCE", 1)
    fake_server.batches.working.clear()
    await sdk.post("/batches", body=batch, cast_to=object)
    assert await refused(sdk.post("/batches", body=batch, cast_to=object)) == 429
    odd_bodies: list[Any] = [[], "x", {"input_file_id": 10**400}]
    for body in odd_bodies:
        assert await refused(sdk.post("/batches", body=body, cast_to=object)) == 400
    fake_server.batches.working.set()
    monkeypatch.undo()
    headers = {"Content-Type": "multipart/form-data; boundary=a"}
    odd = b'--a\r\nContent-Disposition: form-data; name="file"\r\nContent-Transfer-Encoding: x\r\n\r\n--a--'
    async with aiohttp.ClientSession(headers=headers) as session:
        for content in (b"x", odd):
            async with session.post(f"{fake_server.base}/files", data=content) as response:
                assert response.status == 400
