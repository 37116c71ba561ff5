"""The Batch API over HTTP: searches in long lists, and addresses."""

from __future__ import annotations

import time
from io import BytesIO
from pathlib import Path

import pytest

from toolassay.models import ModelError, ModelOptions
from toolassay.models.address import VersionPath
from toolassay.runs.batches.openai_batches import KEY, OpenAIBatches
from toolassay.runs.batches.state import Batch, BatchRequest, BatchState, Endpoint
from toolassay.runs.journal import LineAddress
from toolassay.serving.batch_service import StoredBatch
from toolassay.testkit import FakeServer


def stored(server: FakeServer, name: str, *, key: str = "", seconds_ago: int = 0) -> None:
    facts = {"created_at": int(time.time()) - seconds_ago, "metadata": {KEY: key}, "input_file_id": "file-1"}
    server.batches.batches.append(StoredBatch(name, [], facts, "completed"))


def batch_of(folder: Path) -> tuple[BatchState, Batch]:
    state = BatchState(folder)
    one = BatchRequest(LineAddress("7", "planner"), 400, 100)
    return state, state.submit("openai", "m", Endpoint("http://host/v1", None), {"a-1": one})


async def find(server: FakeServer, batch: Batch) -> str | None:
    service = OpenAIBatches(ModelOptions(api_base=server.base))
    try:
        return await service.find(batch)
    finally:
        await service.close()


async def test_a_batch_is_found_on_a_later_page(tmp_path: Path, fake_server: FakeServer) -> None:
    _, batch = batch_of(tmp_path)
    stored(fake_server, "old", key=batch.key, seconds_ago=200_000)  # of another life: never looked at
    for number in range(40):
        stored(fake_server, f"older{number}", seconds_ago=100_000)
    stored(fake_server, "mine", key=batch.key)
    stored(fake_server, "twin", key=batch.key)
    for number in range(230):
        stored(fake_server, f"newer{number}", key="another")
    assert await find(fake_server, batch) == "mine"
    assert fake_server.batches.steps["list"] == 3


async def test_without_its_data_and_its_file_nothing_is_created(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    state, batch = batch_of(tmp_path)
    service = OpenAIBatches(ModelOptions(api_base=fake_server.base))
    assert not await service.submit(state, batch, None, again=True)
    assert "create" not in fake_server.batches.steps
    await service.close()


async def test_an_address_without_a_version(tmp_path: Path) -> None:
    server = FakeServer(prefix="/tenant")
    server.start()
    state, batch = batch_of(tmp_path)
    options = ModelOptions(api_base=server.base.removesuffix("/v1"), api_key="sk-secret-of-16-letters")
    told: list[str] = []
    paths = VersionPath(options.address, None, told.append)
    service = OpenAIBatches(ModelOptions(api_base=options.api_base, version_path=paths))
    assert await service.submit(state, batch, BytesIO(), again=False)
    assert batch.id == "batch_1" and told == ["/v1"]
    await service.close()
    server.stop()


async def test_errors_name_the_place_and_no_key(tmp_path: Path, fake_server: FakeServer) -> None:
    _, batch = batch_of(tmp_path)
    batch.id = "batch_9"
    options = ModelOptions(api_base=fake_server.base, api_key="sk-secret-of-16-letters", max_tries=1)
    service = OpenAIBatches(options)
    with pytest.raises(ModelError, match=r"HTTP 404 from http://127\.0\.0\.1:\d+/v1/batches: No batch found"):
        await service.progress(batch)
    await service.close()
    fake_server.go_away()
    service = OpenAIBatches(options)
    with pytest.raises(ModelError, match="cannot reach") as raised:
        await service.progress(batch)
    assert "sk-secret" not in str(raised.value)
    await service.close()


async def test_azure_gets_no_batch_although_its_variables_are_set(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    azure = FakeServer()
    azure.start()
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", azure.base.removesuffix("/v1"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-secret-of-16-letters")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    monkeypatch.setenv("OPENAI_BASE_URL", fake_server.base)
    _, batch = batch_of(tmp_path)
    stored(fake_server, "mine", key=batch.key)
    service = OpenAIBatches(ModelOptions(batch="openai"))
    assert await service.find(batch) == "mine"
    await service.close()
    assert azure.count == 0 and not azure.batches.steps
    azure.stop()


async def test_the_reason_of_a_failure_names_no_key(tmp_path: Path, fake_server: FakeServer) -> None:
    _, batch = batch_of(tmp_path)
    batch.id = "mine"
    stored(fake_server, "mine", key=batch.key)
    (kept,) = fake_server.batches.batches
    reason = {"code": "invalid", "message": "sk-secret-of-16-letters may not use this model", "line": 1}
    kept.facts["errors"] = {"object": "list", "data": [reason]}
    service = OpenAIBatches(ModelOptions(api_base=fake_server.base, api_key="sk-secret-of-16-letters"))
    progress = await service.progress(batch)
    await service.close()
    assert "may not use this model (line 1)" in progress.problem and "sk-secret" not in progress.problem


async def test_the_key_is_sent(tmp_path: Path, fake_server: FakeServer) -> None:
    state, batch = batch_of(tmp_path)
    options = ModelOptions(
        api_base=fake_server.base, api_key="sk-secret-of-16-letters", extra_headers={"X-Team": "seven"}
    )
    service = OpenAIBatches(options)
    line = (
        b'{"custom_id": "a-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", '
        b'"messages": [{"role": "user", "content": "hi"}]}}\n'
    )
    assert await service.submit(state, batch, BytesIO(line), again=False)
    fake_server.wait_for(1)
    await service.close()
    (received,) = fake_server.received
    assert received.key == "sk-secret-of-16-letters"
    assert {name.lower(): value for name, value in received.headers.items()}["x-team"] == "seven"
