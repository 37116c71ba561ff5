"""Gathering requests of items in progress, against the Batch API of the fake server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from running import lines_of

from toolassay.models import ChatModel, ChatRequest, ModelError, ModelOptions, create_model
from toolassay.runs import RunSummary, run_items
from toolassay.runs.batches.collector import Batches, BatchLimits
from toolassay.runs.batches.state import STATE
from toolassay.runs.books import Books
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.runner import StoppedRun
from toolassay.screen import Screen
from toolassay.testkit import FakeServer

Work = Callable[[dict[str, ChatModel], str], Awaitable[str]]


async def ask_once(models: dict[str, ChatModel], item: str) -> str:
    await ask(models["m"], item, f"question {item}")
    return "answered"


async def ask(model: ChatModel, item: str, text: str) -> str:
    request = ChatRequest([{"role": "user", "content": text}], {"max_tokens": 9}, item=item)
    return (await model.complete(request)).text


def run(
    server: FakeServer,
    folder: Path,
    items: Sequence[str],
    work: Work = ask_once,
    *,
    limits: BatchLimits | None = None,
    models: Sequence[str] = ("m",),
    says: list[str] | None = None,
    workers: int | None = None,
    quiet: float = 1000,
) -> RunSummary:
    """Run items as `Run` does, in a folder."""
    options = ModelOptions(api_base=server.base, batch="openai", max_tries=4)
    books = Books(models, None, None, options)
    screen = Screen(say=(says if says is not None else []).append)
    batches = Batches(folder, options, books, screen, limits=limits, quiet=quiet)

    async def loop() -> RunSummary:
        made = {name: create_model(name, batches.options(options), meter=batches) for name in models}
        try:
            return await run_items(
                items, lambda item: work(made, item), concurrency=workers or len(items), gathering=batches
            )
        finally:
            for model in made.values():
                await model.close()

    with books.open(folder, screen), batches.open():
        return run_coroutine(loop())


def sizes(server: FakeServer) -> list[int]:
    return [len(batch.lines) for batch in server.batches.batches]


def worked_on(server: FakeServer) -> Counter[str]:
    return Counter(server.prompts)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (BatchLimits(requests=2), [2, 2, 1]),
        (BatchLimits(requests=5), [5]),
        (BatchLimits(size=400), [2, 2, 1]),
        (BatchLimits(size=10), [1, 1, 1, 1, 1]),
    ],
)
def test_a_batch_has_a_limit(
    tmp_path: Path, fake_server: FakeServer, limits: BatchLimits, expected: list[int]
) -> None:
    summary = run(fake_server, tmp_path, list("abcde"), limits=limits)
    assert summary.outcomes == {"answered": 5}
    assert sizes(fake_server) == expected
    assert set(worked_on(fake_server).values()) == {1}
    uploads = [file for file in fake_server.batches.files if file.purpose == "batch"]
    assert all(len(file.content) <= limits.size or limits.size == 10 for file in uploads)
    assert not (tmp_path / "batches").exists()


@pytest.mark.parametrize(
    ("limits", "quiet"), [(BatchLimits(requests=2), 1000), (BatchLimits(requests=9), 0.05)]
)
def test_items_that_do_something_else_hold_nothing_up_for_long(
    tmp_path: Path, fake_server: FakeServer, limits: BatchLimits, quiet: float
) -> None:
    released = asyncio.Event()

    async def work(models: dict[str, ChatModel], item: str) -> str:
        if item == "late":
            await released.wait()
        await ask(models["m"], item, item)
        released.set()
        return "answered"

    run(fake_server, tmp_path, ["late", "a", "b"], work, limits=limits, quiet=quiet)
    assert sizes(fake_server) == [2, 1]


def test_one_batch_when_every_item_waits(tmp_path: Path, fake_server: FakeServer) -> None:
    async def work(models: dict[str, ChatModel], item: str) -> str:
        for _ in range(int(item)):
            await asyncio.sleep(0)
        await ask(models["m"], item, item)
        return "answered"

    # More items than workers: those that end make room for the next ones.
    run(fake_server, tmp_path, ["0", "7", "50", "3"], work, workers=3)
    assert sizes(fake_server) == [3, 1]


def test_further_requests_of_items_are_further_batches(tmp_path: Path, fake_server: FakeServer) -> None:
    async def work(models: dict[str, ChatModel], item: str) -> str:
        for turn in range(int(item)):
            await ask(models["m"], item, f"{item} {turn}")
        return "answered"

    assert run(fake_server, tmp_path, ["1", "3", "2"], work).complete
    assert sizes(fake_server) == [3, 2, 1]


def test_the_same_request_twice_in_one_item_is_sent_twice(tmp_path: Path, fake_server: FakeServer) -> None:
    async def work(models: dict[str, ChatModel], item: str) -> str:
        await asyncio.gather(ask(models["m"], item, "again"), ask(models["m"], item, "again"))
        await ask(models["m"], item, "again")
        return "answered"

    assert run(fake_server, tmp_path, ["a"], work).complete
    ids = [line["custom_id"] for batch in fake_server.batches.batches for line in batch.lines]
    assert len(ids) == len(set(ids)) == 3


def test_a_batch_is_for_one_model(tmp_path: Path, fake_server: FakeServer) -> None:
    async def work(models: dict[str, ChatModel], item: str) -> str:
        await asyncio.gather(*(ask(model, item, item) for model in models.values()))
        return "answered"

    assert run(fake_server, tmp_path, ["a", "b"], work, models=("m", "n")).complete
    models = [{line["body"]["model"] for line in batch.lines} for batch in fake_server.batches.batches]
    assert models == [{"m"}, {"n"}] and sizes(fake_server) == [2, 2]


def test_too_many_waiting_tokens_wait_for_another_batch(tmp_path: Path, fake_server: FakeServer) -> None:
    fake_server.batches.ending = lambda number: "token_limit" if number == 1 else "completed"
    fake_server.batches.working.clear()

    def fault(step: str, number: int) -> str:
        if step == "retrieve" and number == 3:  # the first batch is looked at again
            fake_server.release()
        return "whole"

    fake_server.batches.fault = fault
    assert run(fake_server, tmp_path, list("abcd"), limits=BatchLimits(requests=2)).complete
    assert [batch.status for batch in fake_server.batches.batches] == ["completed", "failed", "completed"]
    assert set(worked_on(fake_server).values()) == {1} and len(fake_server.received) == 4


def test_too_many_tokens_without_another_batch_end_the_run(tmp_path: Path, fake_server: FakeServer) -> None:
    fake_server.batches.ending = lambda number: "token_limit"
    with pytest.raises(StoppedRun, match=r"batch_1 failed: Enqueued token limit reached"):
        run(fake_server, tmp_path, ["a"])


@pytest.mark.parametrize("fault", ["500-after", "reset-after"])
@pytest.mark.parametrize("step", ["upload", "create"])
def test_a_lost_answer_of_the_server_makes_no_second_batch(
    tmp_path: Path, fake_server: FakeServer, step: str, fault: str
) -> None:
    fake_server.batches.fault = lambda done, number: fault if (done, number) == (step, 0) else "whole"
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert sizes(fake_server) == [2]
    assert len([file for file in fake_server.batches.files if file.purpose == "batch"]) == 1


def test_of_two_batches_of_one_key_the_second_is_cancelled(tmp_path: Path, fake_server: FakeServer) -> None:
    service = fake_server.batches
    service.working.clear()
    service.late = 1  # the search after the lost answer does not find the batch yet

    def fault(step: str, number: int) -> str:
        return "500-after" if (step, number) == ("create", 0) else "whole"

    service.fault = fault
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert [batch.status for batch in service.batches] == ["completed", "cancelled"]
    assert set(worked_on(fake_server).values()) == {1}


@pytest.mark.parametrize("fault", ["500", "429", "reset"])
@pytest.mark.parametrize("step", ["upload", "create", "retrieve", "content"])
def test_every_step_is_tried_again(tmp_path: Path, fake_server: FakeServer, step: str, fault: str) -> None:
    fake_server.batches.fault = lambda done, number: fault if done == step and number < 2 else "whole"
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert sizes(fake_server) == [2] and len(lines_of(tmp_path / "ledger.jsonl")) == 2


def test_a_server_that_is_away_ends_the_run_and_the_next_one_goes_on(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    fake_server.batches.fault = lambda step, number: "500" if step == "retrieve" else "whole"
    says: list[str] = []
    with pytest.raises(StoppedRun, match="HTTP 500: fault 500"):
        run(fake_server, tmp_path, ["a", "b"], says=says)
    assert any("batch_1 with 2 requests goes on at the server" in line for line in says)
    assert lines_of(tmp_path / "ledger.jsonl") == []
    fake_server.batches.fault = lambda step, number: "whole"
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert sizes(fake_server) == [2] and len(lines_of(tmp_path / "ledger.jsonl")) == 2


def test_a_wrong_key_ends_the_run_once(tmp_path: Path, fake_server: FakeServer) -> None:
    fake_server.behaviour = lambda prompt, number: "401"
    with pytest.raises(StoppedRun, match="refused the key"):
        run(fake_server, tmp_path, ["a", "b", "c"])
    fake_server.behaviour = lambda prompt, number: "whole"
    assert run(fake_server, tmp_path, ["a", "b", "c"]).complete
    assert sizes(fake_server) == [3, 3]
    outcomes = Counter(line["outcome"] for line in lines_of(tmp_path / "ledger.jsonl"))
    assert outcomes == {"HTTP 401": 3, "answered": 3}


def test_a_refused_parameter_is_left_out_in_the_next_batch(tmp_path: Path, fake_server: FakeServer) -> None:
    said = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    fake_server.refused_parameters = {"max_tokens": said}
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert sizes(fake_server) == [2, 2]
    assert {"max_completion_tokens"} <= fake_server.received[-1].body.keys()


def test_a_request_that_is_in_no_file_is_tried_again(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fake_server.batches._store
    lost: list[bytes] = []

    def losing(name: str, purpose: str, content: bytes) -> object:
        if purpose == "batch_output" and not lost:
            *lines, last = content.splitlines(keepends=True)
            lost.append(last)
            content = b"".join(lines)
        return store(name, purpose, content)

    monkeypatch.setattr(fake_server.batches, "_store", losing)
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert sizes(fake_server) == [2, 1]
    outcomes = [line["outcome"] for line in lines_of(tmp_path / "ledger.jsonl")]
    assert sorted(outcomes) == ["answered", "answered", "batch: missing"]


def test_an_item_without_budget_makes_no_batch_wait(tmp_path: Path, fake_server: FakeServer) -> None:
    async def work(models: dict[str, ChatModel], item: str) -> str:
        if item == "poor" and not fake_server.received:
            raise ModelError("too dear", outcome="budget stop")
        await ask(models["m"], item, item)
        return "answered"

    assert run(fake_server, tmp_path, ["a", "b", "poor"], work).complete
    assert sizes(fake_server) == [2, 1]


def test_the_state_names_no_text_of_a_request(tmp_path: Path, fake_server: FakeServer) -> None:
    run(fake_server, tmp_path, ["a"])
    assert "question" not in (tmp_path / STATE).read_text()
