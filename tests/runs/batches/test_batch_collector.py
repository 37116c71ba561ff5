"""Gathering requests of items in progress, against the Batch API of the fake server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.support.running import lines_of, write_lines
from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError, UsageError
from toolassay.models import ChatRequest, ChatResponse, ModelOptions, create_model
from toolassay.runs.batches import refused_open_batches
from toolassay.runs.batches.collector import Batches, BatchLimits
from toolassay.runs.batches.state import STATE, BatchRequest, BatchState, Endpoint
from toolassay.runs.budget import Budget
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.items import Ask
from toolassay.runs.journal import Journal, LineAddress
from toolassay.runs.ledger import Ledger, prices_within
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.runner import Loop, RunSummary, StoppedRun, run_items
from toolassay.testkit import FakeServer

Answering = Callable[[ChatRequest], Awaitable[ChatResponse]]
"""A model under test, whose answers are recorded."""
Work = Callable[[dict[str, Answering], str], Awaitable[str]]


async def ask_once(models: dict[str, Answering], item: str) -> str:
    await ask(models["m"], f"question {item}")
    return "answered"


async def ask(model: Answering, text: str) -> str:
    request = ChatRequest([{"role": "user", "content": text}], {"max_tokens": 9}, role="planner")
    return (await model(request)).text


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
    kind: Literal["openai", "vllm"] = "openai",
    base: str | None = None,
    cancel: bool = False,
    budget: Budget | None = None,
    beside: Sequence[Path] = (),
) -> RunSummary:
    """Run items as `Run` does, in a folder."""
    options = ModelOptions(api_base=base or server.base, batch=kind, max_tries=4)
    screen = Screen(say=(says if says is not None else []).append)
    ledger = Ledger(
        folder / "ledger.jsonl",
        prices=prices_within(models, budget, None, options),
        budget=budget,
        beside=[one / "ledger.jsonl" for one in beside],
        screen=screen,
    )
    batches = Batches(folder, options, ledger, screen, cancel=cancel, limits=limits, quiet=quiet)

    async def answered() -> RunSummary:
        made = {name: create_model(name, batches.options(options), meter=batches) for name in models}

        async def send(request: ChatRequest, by: str | None) -> ChatResponse:
            return await made[by or models[0]].complete(request)

        async def answer(item: str) -> str:
            recorded = Ask(item, journal, send)
            return await work({name: partial(recorded, by=name) for name in models}, item)

        try:
            return await run_items(
                items, answer, Loop(concurrency=workers or len(items), in_progress=batches.count)
            )
        finally:
            for model in made.values():
                await model.close()

    with Journal(folder / JOURNAL) as journal, ledger, batches.open(journal, beside):
        return run_coroutine(answered())


def ended(folder: Path, *results: dict[str, Any]) -> None:
    """A batch that an earlier start has submitted and read, with these results."""
    state = BatchState(folder)
    requests = {line["custom_id"]: BatchRequest(LineAddress("x", "planner"), 100, 9) for line in results}
    batch = state.submit("openai", "m", Endpoint("http://host/v1", None), requests)
    state.result_file(batch).parent.mkdir(exist_ok=True)
    write_lines(state.result_file(batch), list(results))
    state.ended(batch, "completed")
    state.close()


def can_go_on_alone(folder: Path) -> bool:
    """Whether the run may go on without `--batch`."""
    try:
        with refused_open_batches(folder):
            return True
    except UsageError:
        return False


def sizes(server: FakeServer) -> list[int]:
    return [len(batch.lines) for batch in server.batches.batches]


def worked_on(server: FakeServer) -> Counter[str]:
    return Counter(server.prompts)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (BatchLimits(requests=2), [2, 2, 1]),
        (BatchLimits(size=400), [2, 2, 1]),
    ],
)
def test_a_batch_has_a_limit(
    tmp_path: Path, fake_server: FakeServer, limits: BatchLimits, expected: list[int]
) -> None:
    summary = run(fake_server, tmp_path, list("abcde"), limits=limits)
    assert summary.outcomes == {"answered": 5}
    assert sizes(fake_server) == expected
    assert set(worked_on(fake_server).values()) == {1}
    uploads = [file for file in fake_server.batches.files if file.facts["purpose"] == "batch"]
    assert all(len(file.content) <= limits.size or limits.size == 10 for file in uploads)
    assert not (tmp_path / "batches").exists()


@pytest.mark.parametrize(
    ("limits", "quiet"), [(BatchLimits(requests=2), 1000), (BatchLimits(requests=9), 0.05)]
)
def test_items_that_do_something_else_hold_nothing_up_for_long(
    tmp_path: Path, fake_server: FakeServer, limits: BatchLimits, quiet: float
) -> None:
    released = asyncio.Event()

    async def work(models: dict[str, Answering], item: str) -> str:
        if item == "late":
            await released.wait()
        await ask(models["m"], item)
        released.set()
        return "answered"

    run(fake_server, tmp_path, ["late", "a", "b"], work, limits=limits, quiet=quiet)
    assert sizes(fake_server) == [2, 1]


def test_further_requests_of_items_are_further_batches(tmp_path: Path, fake_server: FakeServer) -> None:
    async def work(models: dict[str, Answering], item: str) -> str:
        for turn in range(int(item)):
            await ask(models["m"], f"{item} {turn}")
        return "answered"

    assert run(fake_server, tmp_path, ["1", "3", "2"], work).complete
    assert sizes(fake_server) == [3, 2, 1]


def test_a_batch_is_for_one_model(tmp_path: Path, fake_server: FakeServer) -> None:
    async def work(models: dict[str, Answering], item: str) -> str:
        await asyncio.gather(*(ask(model, item) for model in models.values()))
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


@pytest.mark.parametrize("step", ["upload", "create"])
def test_a_lost_answer_of_the_server_makes_no_second_batch(
    tmp_path: Path, fake_server: FakeServer, step: str
) -> None:
    fake_server.batches.fault = lambda done, number: "reset-after" if (done, number) == (step, 0) else "whole"
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert sizes(fake_server) == [2]
    assert len([file for file in fake_server.batches.files if file.facts["purpose"] == "batch"]) == 1


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


@pytest.mark.parametrize("fault", ["500", "reset"])
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


def test_the_state_names_no_text_of_a_request(tmp_path: Path, fake_server: FakeServer) -> None:
    run(fake_server, tmp_path, ["a"])
    assert "question" not in (tmp_path / STATE).read_text()


def test_a_batch_that_reached_no_server_is_forgotten(tmp_path: Path, fake_server: FakeServer) -> None:
    with pytest.raises(StoppedRun, match="cannot reach"):
        run(fake_server, tmp_path, ["a", "b"], base="http://127.0.0.1:9/v1")
    assert can_go_on_alone(tmp_path)
    assert run(fake_server, tmp_path, ["a", "b"]).complete
    assert sizes(fake_server) == [2]


@pytest.mark.parametrize("lost", ["batch", "output"])
def test_what_the_server_has_lost_can_be_given_up(tmp_path: Path, fake_server: FakeServer, lost: str) -> None:
    service = fake_server.batches
    service.fault = lambda step, number: "500" if step == "retrieve" else "whole"
    with pytest.raises(StoppedRun, match="HTTP 500"):
        run(fake_server, tmp_path, ["a", "b"])
    service.fault = lambda step, number: "whole"
    fake_server.wait_for(2)
    while service.batches[0].status != "completed":
        fake_server.wait_for_step("retrieve")
    if lost == "batch":
        service.batches.clear()
    else:
        service.files.clear()
    with pytest.raises(ToolassayError, match=r"HTTP 404.*--batch_cancel true"):
        run(fake_server, tmp_path, ["a", "b"])
    says: list[str] = []
    assert run(fake_server, tmp_path, ["a", "b"], cancel=True, says=says).outcomes == {"not run": 2}
    assert any("batch_1 is given up: HTTP 404" in line for line in says)
    assert can_go_on_alone(tmp_path)
    assert run(fake_server, tmp_path, ["a", "b"]).complete


def test_a_failure_that_nothing_asks_for_is_booked_and_over(tmp_path: Path, fake_server: FakeServer) -> None:
    body = {"error": {"message": "Unsupported parameter: 'top_p'"}}
    ended(tmp_path, {"custom_id": "a0-1", "response": {"status_code": 400, "body": body}, "error": None})
    assert not can_go_on_alone(tmp_path)
    assert run(fake_server, tmp_path, ["a"]).complete
    outcomes = sorted(line["outcome"] for line in lines_of(tmp_path / "ledger.jsonl"))
    assert outcomes == ["HTTP 400", "answered"]
    assert can_go_on_alone(tmp_path)


def test_an_answer_of_an_item_that_goes_on_is_not_paid_for_twice(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    async def work(models: dict[str, Answering], item: str) -> str:
        for turn in ("first", "second"):
            await ask(models["m"], f"{turn} {item}")
        return "answered"

    fake_server.batches.ending = lambda number: "expired" if number == 1 else "completed"
    assert not run(fake_server, tmp_path, ["a", "b"], work).complete
    assert can_go_on_alone(tmp_path)  # the journal has the answers that came
    assert run(fake_server, tmp_path, ["a", "b"], work).complete
    assert set(worked_on(fake_server).values()) == {1}


def test_what_another_trial_has_submitted_counts_in_the_budget(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    fake_server.batches.fault = lambda step, number: "500" if step == "retrieve" else "whole"
    with pytest.raises(StoppedRun):
        run(fake_server, second, ["a", "b", "c"])
    fake_server.batches.fault = lambda step, number: "whole"
    done = run(fake_server, first, ["a", "b", "c"], budget=Budget(requests=5), beside=[second])
    assert done.outcomes["answered"] == 2
    assert sizes(fake_server) == [3, 2]
